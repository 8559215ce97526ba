// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pnagent/pnagent/internal/browsertest"
)

func anAlarmLeadsToItsPlace(t *testing.T, chromium *browsertest.Browser) {
	b, _, _ := opened(t, chromium)
	b.Click(".alarm")
	b.Until(`document.querySelector('#panel h2')?.innerText === 'Payment unclear'`)
}

func anAlarmShowsItsSeverityAndNotes(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	b.Until(`document.querySelector('.alarm .noted').innerText === 'minor' && document.querySelector('.alarm .mark').getAttribute('aria-label') === 'minor'`)
	b.Until(`document.querySelector('.alarm .text').innerText === '3 tokens for more than 10 min' && document.querySelector('.alarm .name').title === 'paymentUnclear'`)
	f.change(func() {
		f.alarms[0]["acknowledged"] = map[string]any{"by": "<b>ada</b>", "at": moment(nowMS()), "comment": "seen"}
		f.alarms[0]["silenced_until"] = moment(nowMS() + 60*minute)
		f.alarms = append(f.alarms, map[string]any{"index": 8, "alarm": "netDeadlocked", "severity": "critical", "net": s.def.ID, "since": moment(nowMS()), "affected": 2, "text": "2"})
		f.silences = []map[string]any{{"id": "a", "until": moment(nowMS() + 60*minute), "by": "eve", "comment": "upgrade", "net": "order*"}}
	})
	b.Until(`document.querySelector('.group .noted').innerText === '1 critical · 1 minor · 1 acknowledged · 1 silenced'`)
	b.Click(".group > .alarm")
	b.Until(`/^minor · acknowledged by <b>ada<.b>: seen · silenced until \d\d:/.test([...document.querySelectorAll('.alarm .noted')].at(-1).innerText)`)
	b.Until(`document.querySelectorAll('.alarm.silenced').length === 1 && document.querySelector('.inner .alarm .noted').innerText === 'critical'`)
	b.Screenshot("alarms")
	b.Until(`/order\*[^]*until [^]* by eve: upgrade/.test(document.querySelector('.silence').innerText)`)
	if n := browsertest.Eval[int](b, `document.querySelectorAll('.acts, .silence button').length`); n != 0 {
		t.Errorf("%d buttons although the server takes no changes", n)
	}
	b.Clean(f.addr, false)
}

func alarmsAreAcknowledgedAndSilencedByButtons(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	f.change(func() { f.actions = true })
	b.Until(`document.querySelectorAll('.first .acts button').length === 2`)
	b.Screenshot("actions")
	b.Click(".acts .ack")
	b.Click(".acts .ack") // closes what it asks
	b.Until(`!document.querySelector('.note-form')`)
	b.Click(".acts .ack")
	b.Keys("t", "\r") // a comment, and not the table
	b.Until(`!document.querySelector('.note-form') && document.querySelector('#tables').hidden`)
	f.change(func() {
		f.alarms[0]["acknowledged"] = map[string]any{"by": "ada", "at": moment(nowMS())}
		f.silences = []map[string]any{{"id": "a", "until": moment(nowMS() + 60*minute), "by": "eve", "net": "*"}}
	})
	b.Until(`document.querySelector('.acts .ack').innerText === 'Withdraw'`)
	b.Click(".acts .ack")
	b.Click(".acts button:last-child")
	b.Do(chromedp.SetValue(chromedp.CSS(".note-form [aria-label='For how long']"), "900"))
	b.Screenshot("silence")
	b.Click(".note-form [type=submit]")
	b.Click(".silence button")
	f.wantPosted(t, b, `ack {"indices":[7],"comment":"t"}`, `unack {"indices":[7]}`, `silence {"for_seconds":900,"alarm":"tokenStuck","net":"`+s.def.ID+`","place":"paymentUnclear"}`, `unsilence {"id":"a"}`)
	f.change(func() { f.refusal = "the client is not known" })
	b.Click(".acts .ack") // withdraws
	b.Until(`!document.querySelector('.note').hidden && document.querySelector('.note').innerText === 'Not done: the client is not known'`)
}

// A silence may begin later or recur, also of alarms that are not there yet; the keyboard is enough for it.
func aSilenceBeginsLaterOrRecurs(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	f.change(func() { f.actions = true })
	b.Until(`document.querySelector('.acts .silence-it')`)
	zone := browsertest.Eval[string](b, `Intl.DateTimeFormat().resolvedOptions().timeZone`)
	focused := func(what string) { b.Until(`document.activeElement.matches(` + fmt.Sprintf("%q", what) + `)`) }
	b.Do(chromedp.Focus(chromedp.CSS(".acts .silence-it")))
	b.Keys("\r")
	focused(".note-form input[type=text]")
	b.Until(`document.querySelectorAll('.note-form fieldset:not([hidden])').length === 0`)
	b.Keys("d", "b", "\t", "e") // every week
	b.Until(`document.querySelectorAll('.note-form fieldset:not([hidden])').length === 2 && [...document.querySelectorAll('.note-form label')].filter((l) => l.checkVisibility()).length === 9`)
	b.Keys("\t")
	focused(".note-form input[value=mon]")
	b.Keys("\r")
	b.Until(`!document.querySelector('.note-form').checkValidity() && document.querySelector('.note-form input[value=mon]').validationMessage.includes('day')`)
	b.Keys(" ", "\t", "\t", "\t", "\t", "\t", " ") // Monday and Saturday
	b.Do(chromedp.SetValue(chromedp.CSS(".note-form input[type=time]"), "03:30"))
	b.Screenshot("silence-weekly")
	b.Keys("\r")
	b.Until(`!document.querySelector('.note-form')`)
	focused(".acts .silence-it")

	b.Click(".acts .silence-it")
	b.Do(chromedp.SetValue(chromedp.CSS(".note-form select"), "later"))
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector('.note-form select').dispatchEvent(new Event('change'))`))
	b.Do(chromedp.SetValue(chromedp.CSS(".note-form input[type=datetime-local]"), "2099-12-24T18:00"))
	b.Click(".note-form [type=submit]")
	later := browsertest.Eval[string](b, `new Date('2099-12-24T18:00').toISOString()`)

	f.change(func() { f.refusal = "the zone is not known" })
	b.Click(".plan-it")
	for i, value := range []string{"sourceLost", "*", "cron"} {
		b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { const s = document.querySelectorAll('.note-form select')[%d]; s.value = %q; s.dispatchEvent(new Event('change')); })()`, i, value)))
	}
	b.Do(chromedp.SendKeys(chromedp.CSS(".note-form [placeholder='0 2 1 * *']"), "0 4 1 * *"))
	b.Do(chromedp.SetValue(chromedp.CSS(".note-form input[type=date]"), "2099-12-31"))
	b.Screenshot("silence-planned")
	b.Click(".note-form [type=submit]")
	b.Until(`document.querySelector('.lists > .note').innerText === 'Not done: the zone is not known' && document.querySelector('.note-form [type=submit]').disabled === false`) // nothing that was typed is lost
	f.change(func() { f.refusal = "" })
	b.Click(".note-form [type=submit]")
	ends := browsertest.Eval[string](b, `new Date('2099-12-31T23:59:59').toISOString()`)
	f.wantPosted(t, b, `silence {"for_seconds":3600,"cron":"30 3 * * mon,sat","zone":"`+zone+`","alarm":"tokenStuck","net":"`+s.def.ID+`","place":"paymentUnclear","comment":"db"}`,
		`silence {"for_seconds":3600,"from":"`+later+`","alarm":"tokenStuck","net":"`+s.def.ID+`","place":"paymentUnclear"}`,
		`silence {"net":"*","alarm":"sourceLost","for_seconds":3600,"cron":"0 4 1 * *","zone":"`+zone+`","ends":"`+ends+`"}`)
	f.change(func() {
		f.silences = []map[string]any{{"id": "a", "pending": true, "from": moment(nowMS() + 30*minute), "until": moment(nowMS() + 90*minute), "by": "eve", "net": "*", "cron": "30 3 * * mon,sat", "zone": "Europe/Berlin"}}
	})
	b.Until(`/from \d\d:.* until .* every Mon, Sat at 03:30 Europe.Berlin by eve/.test(document.querySelector('.silence').innerText)`)
	for _, said := range b.Complaints() {
		if !strings.Contains(said, "403") { // the refusal
			t.Errorf("the page complains: %s", said)
		}
	}
}

// deadlocked is a net of which every place is stuck.
func deadlocked(f *fake, s *scripted) {
	f.alarms = []map[string]any{{"index": 1, "alarm": "netDeadlocked", "severity": "major", "net": s.def.ID, "net_name": s.def.Name, "affected": 9, "since": moment(nowMS() - minute), "text": "deadlocked"}}
	for i, p := range s.def.Places {
		f.alarms = append(f.alarms, map[string]any{"index": 2 + i, "alarm": "tokenStuck", "severity": "minor", "net": s.def.ID, "net_name": s.def.Name, "place": p.ID, "name": p.Name, "affected": 9, "after_seconds": 20, "since": moment(nowMS() - minute), "text": "stuck"})
	}
}

func aDeadlockedNetIsOneLine(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	f.change(func() { deadlocked(f, s); f.actions = true })
	places := len(s.def.Places)
	b.Until(`document.querySelectorAll('.alarm').length === 1 && document.querySelector('.alarm').innerText.includes('Order fulfilment')`)
	b.Until(fmt.Sprintf(`document.querySelector('.alarm .text').innerText === '1 deadlocked net, %d stuck places' && document.querySelector('.alarm .mark').title === 'major'`, places))
	b.MoveMouse(5, 5)
	b.Screenshot("deadlocked")
	b.Click(".group > .alarm")
	b.Until(`document.querySelectorAll('.inner .alarm').length === 2 && document.querySelector('.inner .text').innerText === '9 instances deadlocked'`)
	b.Click(".inner .group > .alarm")
	b.Until(fmt.Sprintf(`document.querySelectorAll('.inner .inner .alarm').length === %d`, places))
	b.Screenshot("deadlocked-open")
	b.Click(".inner .group > .acts .ack")
	b.Keys("\r")
	b.Click(".inner .group > .acts .silence-it")
	b.Keys("\r")
	all := ""
	for i := range places {
		all += fmt.Sprint(",", i+2)
	}
	f.wantPosted(t, b, `ack {"indices":[`+all[1:]+`]}`, `silence {"for_seconds":3600,"net":"order-fulfilment","alarm":"tokenStuck"}`)
	b.Clean(f.addr, false)
}

func filtersAreInTheAddress(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	f.change(func() {
		deadlocked(f, s)
		f.alarms[1]["acknowledged"] = map[string]any{"by": "ada", "at": moment(nowMS())}
	})
	b.Until(`!document.querySelector('.filter').hidden`)
	b.Click(".filter summary")
	choose := func(name, value string) {
		t.Helper()
		browsertest.Eval[bool](b, fmt.Sprintf(`(() => { const s = document.querySelector('.filter [name=%s]'); s.value = %q; s.dispatchEvent(new Event('change')); return true; })()`, name, value))
	}
	choose("severity", "minor")
	choose("acknowledged", "yes")
	b.Until(fmt.Sprintf(`document.querySelector('.filter summary').innerText === '1 of %d shown: severity minor, acknowledged yes' && document.querySelectorAll('.alarm').length === 1`, len(s.def.Places)+1))
	b.Screenshot("filter")
	link := browsertest.Eval[string](b, "location.href")
	other := chromium.Tab(t)
	other.Open(link)
	other.Until(`document.querySelectorAll('.alarm').length === 1 && document.querySelector('.alarm .name').title === ` + fmt.Sprintf("%q", s.def.Places[0].ID))
	b.Click(".filter .link-like")
	b.Until(`document.querySelector('.alarm .num').innerText === '` + fmt.Sprint(len(s.def.Places)+1) + `' && !location.hash.includes('severity')`)
	b.Clean(f.addr, false)
}

// Every place with an alarm is named, in front of other names, and no age is on another node.
func placesWithAlarmsAreNamed(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	for _, scale := range []string{"0.14", "0.35", "0.6"} {
		faults := browsertest.Eval[[]string](b, `(async () => {
			const [{Scene}, {Painter}] = await Promise.all([import('/scene.js'), import('/painter.js')]);
			const scene = new Scene(await (await fetch('/api/v1/drawing?net=order-fulfilment')).json());
			const texts = [];
			const ctx = new Proxy({measureText: (t) => ({width: 6 * t.length})}, {get: (o, k) => k in o ? o[k] : (...a) => { if (k === 'fillText') texts.push(a); }, set: (o, k, v) => { o[k] = v; return true; }});
			const painter = new Painter(ctx, {heat: {fill: () => '', ink: () => ''}});
			const alarmed = [...Array(scene.placeCount).keys()].filter((i) => i % 3 === 0);
			const now = 1e12, places = Array.from({length: scene.placeCount}, () => ({tokens: 3, since: now - 42 * 60000}));
			const frame = {places, transitions: [], oldestAge: (i) => (now - places[i].since) / 1000, byAge: () => [...places.keys()]};
			painter.paint(scene, frame, {scale: `+scale+`, x: 0, y: 0, width: 1e6, height: 1e6, now, alarmed: new Set(alarmed), doubted: new Set(), mild: new Set(), marks: new Uint8Array(scene.nodes.length), version: 0});
			const out = [];
			for (const i of alarmed) {
				const first = scene.nodes[i].name.split(' ')[0].slice(0, 8);
				if (!texts.some(([t]) => t.startsWith(first))) out.push('no name of ' + scene.nodes[i].name);
			}
			const names = texts.filter(([t]) => !/^(42 min|3|3, 42 min)$/.test(t)).map(([t]) => t), last = scene.nodes[alarmed[0]].name;
			if (!last.startsWith(names.at(-1)) && !last.endsWith(names.at(-1))) out.push('in front is ' + names.at(-1));
			const ages = texts.filter(([t]) => t === '42 min');
			if (!ages.length && !texts.some(([t]) => t === '3, 42 min')) out.push('no ages');
			for (const [, x, y] of ages) for (const n of scene.nodes) {
				const s = painter.scale;
				if (Math.abs(x - n.x * s) < n.w * s / 2 && Math.abs(y - n.y * s) < n.h * s / 2) out.push('an age is in ' + n.id);
			}
			return out;
		})()`)
		for _, fault := range faults {
			t.Errorf("at scale %s: %s", scale, fault)
		}
	}
	b.Clean(f.addr, false)
}
