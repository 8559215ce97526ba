// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// slide moves the slider to a number of minutes ago, in a span of an hour.
func slide(b *browsertest.Tab, minutes float64) {
	browsertest.Eval[bool](b, fmt.Sprintf(`(() => { const s = document.querySelector('#time'); s.value = Math.round(s.max * (1 - %f / 60));
		s.dispatchEvent(new Event('input', {bubbles: true})); return true; })()`, minutes))
}

// noted has a page remember what it last painted into each canvas as text.
const noted = `(() => {
	const { fillRect, fillText } = CanvasRenderingContext2D.prototype;
	window.painted = new Map();
	CanvasRenderingContext2D.prototype.fillRect = function (x, y, w, h) {
		if (!x && !y && w > 300) window.painted.set(this, []);
		fillRect.call(this, x, y, w, h);
	};
	CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
		window.painted.get(this)?.push(text);
		fillText.call(this, text, x, y);
	};
	window.drawn = () => [...window.painted.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
})()`

// ofParts evaluates to how many minutes ago each part of the page is of: the title, the net in
// the list, its oldest token there and in the headline, the alarm, the drawing, the table and the link;
// "" for a part that shows no time. What is stuck got stuck 42 minutes ago, its alarm began 32 minutes ago.
const ofParts = `(() => {
	const minutes = (text) => { const m = /(\d+) m/.exec(text ?? ''); return m ? Number(m[1]) : NaN; };
	const at = /at (\d+):(\d+):(\d+) –/.exec(document.title), then = new Date();
	if (at) then.setHours(at[1], at[2], at[3], 0);
	const row = [...document.querySelectorAll('.row.net')].find((r) => r.innerText.includes('Order fulfilment'));
	const tokens = /(\d+) tokens/.exec(row?.innerText ?? '');
	const stuck = [...document.querySelectorAll('#tables:not([hidden]) tbody tr')].find((r) => r.innerText.includes('Payment unclear'));
	const age = window.drawn?.().find((t) => /^\d+ min$/.test(t));
	return {
		title: (Date.now() - then) / 60e3,
		list: tokens ? 130 - Number(tokens[1]) : '',
		oldest: row ? 42 - minutes(row.querySelector('.age').innerText) : '',
		headline: document.querySelector('#vitals').hidden ? '' : 42 - minutes(document.querySelector('#vitals').innerText),
		alarm: document.querySelector('.alarm') ? 32 - minutes(document.querySelector('.alarm .age').innerText) : '',
		drawing: age && document.querySelector('#tables').hidden ? 42 - parseInt(age) : '',
		table: stuck ? 42 - minutes(stuck.children[1].innerText) : '',
		link: document.querySelector('#link').innerText === 'live' ? 0 : at ? (Date.now() - then) / 60e3 : NaN,
	};
})()`

// together is true if all parts are of one moment that many minutes ago.
func together(minutes float64, parts string) string {
	return fmt.Sprintf(`(() => { const all = %s; return %s.split(' ').every((p) => Math.abs(all[p] - %f) < 1.1); })()`, ofParts, "'"+parts+"'", minutes)
}

const everyPart = "title list oldest headline alarm drawing link"

// watch notes each picture of the page in which two parts are of different moments. Sizes are
// observed after all that is done for a picture, so it looks when the size of an element changes.
const watch = `(() => {
	window.mixed = [];
	window.pictures = 0;
	const last = document.body.appendChild(document.createElement('i'));
	last.style.cssText = 'position: fixed; visibility: hidden; height: 1px';
	const next = () => {
		if (!window.watching) return last.remove();
		last.style.width = 1 + (window.pictures % 2) + 'px';
		requestAnimationFrame(next);
	};
	new ResizeObserver(() => {
		const all = Object.entries(` + ofParts + `).filter(([, v]) => v !== '');
		const values = all.map(([, v]) => v);
		window.pictures++;
		if (!(Math.max(...values) - Math.min(...values) < 1.3)) window.mixed.push(JSON.stringify(all));
	}).observe(last);
	window.watching = true;
	requestAnimationFrame(next);
	return true;
})()`

func notMixed(t *testing.T, b *browsertest.Tab) {
	t.Helper()
	if got := browsertest.Eval[[]string](b, `(window.watching = false, window.mixed)`); len(got) > 0 {
		t.Errorf("%d pictures mix moments, the first %s", len(got), got[0])
	}
	if n := browsertest.Eval[int](b, `window.pictures`); n < 5 {
		t.Errorf("%d pictures were looked at", n)
	}
}

// openedPast is the page of the shop's net, whose drawing can be read.
func openedPast(t *testing.T, chromium *browsertest.Browser) (*browsertest.Tab, *fake, *scripted) {
	t.Helper()
	f, s := served(t)
	b := chromium.Tab(t)
	b.Before(noted)
	b.Open(f.url() + "#net=" + s.def.ID)
	b.Until(`!document.querySelector('#time').disabled`)
	return b, f, s
}

func allPartsShowOneMoment(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := openedPast(t, chromium)
	b.Until(together(0, everyPart))
	browsertest.Eval[bool](b, watch)
	slide(b, 24)
	b.Until(together(24, everyPart))
	b.Until(`document.title.includes(' at ') && document.title.startsWith('▲1 ') && document.querySelector('#timeline output').innerText.endsWith('24 min 00 s ago')`)
	b.Keys("t")
	b.Until(together(24, "title list oldest headline alarm table link"))
	slide(b, 12)
	b.Until(together(12, "title list oldest headline alarm table link"))
	b.Keys("t")
	slide(b, 36) // before the alarm, after something got stuck
	b.Until(together(36, "title list oldest headline drawing link"))
	b.Until(`!document.querySelector('.alarm') && !document.title.includes('▲')`)
	b.Keys("l")
	b.Until(together(0, everyPart) + ` && !document.title.includes(' at ')`)
	notMixed(t, b)
	b.Clean(f.addr, false)
}

// Answers that come late, and in another order than they were asked for, are never shown beside
// those of another moment.
func lateAnswersAreNotMixedIn(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := openedPast(t, chromium)
	var mu sync.Mutex
	gates := map[string]chan struct{}{}
	gate := func(key string) chan struct{} {
		mu.Lock()
		defer mu.Unlock()
		if gates[key] == nil {
			gates[key] = make(chan struct{})
		}
		return gates[key]
	}
	asked := make(chan string, 100)
	f.change(func() {
		f.past.gate = func(r *http.Request) {
			at, err := time.Parse(time.RFC3339, r.URL.Query().Get("at"))
			if err != nil {
				return
			}
			key := fmt.Sprintf("%s %.0f", r.URL.Path[len("/api/v1/"):], time.Since(at).Minutes())
			asked <- key
			select {
			case <-gate(key):
			case <-r.Context().Done():
			}
		}
	})
	t.Cleanup(func() { f.change(func() { f.past.gate = nil }) })
	wantAsked := func(keys ...string) {
		t.Helper()
		want := map[string]bool{}
		for _, k := range keys {
			want[k] = true
		}
		for len(want) > 0 {
			select {
			case k := <-asked:
				delete(want, k)
			case <-time.After(time.Minute):
				t.Fatalf("not asked: %v", want)
			}
		}
	}
	browsertest.Eval[bool](b, watch)
	slide(b, 24)
	wantAsked("overview 24", "history 24")
	close(gate("history 24")) // half of it
	b.Until(`document.querySelector('#timeline').getAttribute('aria-busy') === 'true'`)
	browsertest.Eval[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	b.Until(together(0, everyPart)) // now is still shown
	slide(b, 12)
	wantAsked("overview 12", "history 12")
	close(gate("overview 24")) // it was given up
	close(gate("overview 12"))
	browsertest.Eval[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	b.Until(together(0, everyPart))
	close(gate("history 12"))
	b.Until(together(12, everyPart))
	notMixed(t, b)
	b.Clean(f.addr, true)
}

// Where overviews are kept at other times than frames, both are of the earlier one.
func bothHalvesAreOfOneTime(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := openedPast(t, chromium)
	for _, seldom := range []string{"overview", "history"} {
		f.change(func() { f.past.seldom = map[string]time.Duration{seldom: time.Minute} })
		at := time.Now().Add(-20 * time.Minute).Truncate(time.Minute).Add(40 * time.Second).UnixMilli()
		got := browsertest.Eval[[]int64](b, fmt.Sprintf(`import('/moments.js').then(({ Moments }) => new Moments().ask('order-fulfilment', %d, undefined, new AbortController().signal))
			.then((m) => [m.at - m.asked, Date.parse(m.overview.at) - m.asked, m.frame.at - m.asked])`, at))
		if d := cmp.Diff([]int64{-40_000, -40_000, -40_000}, got); d != "" {
			t.Errorf("with few documents of %s, a moment is of (-want +got):\n%s", seldom, d)
		}
	}
	b.Clean(f.addr, false)
}

// Where one half of a moment is missing, the page says which, and shows no numbers of now.
func whatIsNotKeptIsSaid(t *testing.T, chromium *browsertest.Browser) {
	for _, c := range []struct {
		rule   string
		change func(*fake, *scripted)
		words  string // of the notice
		lists  bool   // whether nets are listed
		net    bool   // whether the net has numbers
	}{
		{"nothing is kept of so long ago", func(f *fake, _ *scripted) {
			f.past.from = func(now time.Time) time.Time { return now.Add(-10 * time.Minute) }
		},
			`^No data is kept for \d\d:\d\d:\d\d\. The sidecar keeps \d\d:\d\d:\d\d to now\.`, false, false},
		{"nothing was kept for some time", func(f *fake, _ *scripted) {
			f.past.at = func(at time.Time) time.Time { return at.Add(-10 * time.Minute) }
		}, `^No data is kept for \d\d:\d\d:\d\d: nothing was kept after \d\d:\d\d:\d\d until then\.`, false, false},
		{"the overview is missing", func(f *fake, _ *scripted) { f.past.none = map[string]bool{"overview": true} },
			`^The data shown is of \d\d:\d\d:\d\d, 24 min .* ago\. Nets, alarms and sources are not kept for \d\d:\d\d:\d\d\.`, false, true},
		{"the frame is missing", func(f *fake, _ *scripted) { f.past.none = map[string]bool{"history": true} },
			`^The data shown is of .* The numbers of this net are not kept for \d\d:\d\d:\d\d\.`, true, false},
		{"the net had another definition", func(f *fake, _ *scripted) { f.past.frame = func(doc map[string]any) { doc["drawing"] = "another" } },
			`had another definition at \d\d:\d\d:\d\d, so its numbers cannot be shown on this drawing\.`, true, false},
		{"the net was not there", func(f *fake, s *scripted) {
			s.absent = true
			f.past.none = map[string]bool{"history": true}
		}, `This net was not there at \d\d:\d\d:\d\d\.`, true, false},
		{"the archive is away", func(f *fake, _ *scripted) {
			f.past.from = func(now time.Time) time.Time { return now.Add(-10 * time.Minute) }
			f.past.archive, f.past.failed = time.Hour, "Prometheus does not answer"
		}, `^The data of \d\d:\d\d:\d\d cannot be loaded: Prometheus does not answer\.`, false, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			b, f, s := openedPast(t, chromium)
			f.change(func() { c.change(f, s) })
			at := time.Now().Add(-24 * time.Minute).UTC().Format(time.RFC3339)
			b.Open(f.url() + "?again#net=" + s.def.ID + "&at=" + at)
			b.Until(fmt.Sprintf(`new RegExp(%q).test(document.querySelector('.banner.past bdi')?.innerText)`, c.words))
			b.Screenshot("no-data-" + strings.ReplaceAll(c.rule, " ", "-"))
			b.Until(fmt.Sprintf(`[...document.querySelectorAll('.row.net')].some((r) => /\d+ tokens/.test(r.innerText)) === %v`, c.lists))
			b.Until(fmt.Sprintf(`document.querySelector('#vitals').hidden === %v && document.querySelector('#empty').hidden === %v`, !c.net, c.net))
			b.Until(fmt.Sprintf(`window.drawn().some((t) => /^\d+m?$/.test(t)) === %v`, c.net))
			if !c.net {
				b.Until(`document.querySelector('#empty h2').innerText === 'No data to show' && document.querySelector('#stage').classList.contains('no-data')`)
				b.Keys("t")
				b.Until(`document.querySelector('.tables tbody tr')`)
				if got := browsertest.Eval[string](b, `[...document.querySelectorAll('.tables table')].slice(0, 2).flatMap((t) => [...t.querySelectorAll('td')]).map((c) => c.innerText).filter((c) => c !== '–' && c !== 'finished').join()`); got != "" {
					t.Errorf("the table shows %s", got)
				}
				b.Keys("t")
				b.Click("#empty .go:last-child")
				b.Until(together(0, everyPart) + ` && document.querySelector('#empty').hidden`)
			}
		})
	}
}

// Each picture of play is one moment, and it ends at now.
func playGoesToNow(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := openedPast(t, chromium)
	b.Motion()
	b.Do(chromedp.SetValue(chromedp.CSS("#speed"), "600"))
	browsertest.Eval[bool](b, `document.querySelector('#speed').dispatchEvent(new Event('change'))`)
	slide(b, 30)
	b.Until(together(30, everyPart))
	browsertest.Eval[bool](b, watch)
	b.Click("#play")
	b.Until(`document.querySelector('#play').getAttribute('aria-label').startsWith('Pause') && !document.querySelector('#live').classList.contains('on')`)
	b.Until(`130 - /(\d+) tokens/.exec([...document.querySelectorAll('.row.net')].find((r) => r.innerText.includes('Order fulfilment')).innerText)[1] < 22`)
	b.Keys("p") // pauses
	b.Until(`document.querySelector('#play').getAttribute('aria-label').startsWith('Play')`)
	b.Screenshot("play")
	paused := browsertest.Eval[string](b, `location.hash + document.querySelector('#timeline output span').innerText`)
	if !strings.Contains(paused, "at=") {
		t.Errorf("paused at %s; want the moment in the address", paused)
	}
	browsertest.Eval[bool](b, `new Promise((done) => setTimeout(() => done(true), 600))`)
	if again := browsertest.Eval[string](b, `location.hash + document.querySelector('#timeline output span').innerText`); again != paused {
		t.Errorf("it was paused at %s and is at %s", paused, again)
	}
	b.Keys("p")
	b.Until(`document.querySelector('#link').innerText === 'live' && !location.hash.includes('at=')`)
	b.Until(`document.querySelector('#play').getAttribute('aria-label').startsWith('Play')`)
	notMixed(t, b)
	b.Keys("p") // from the first moment
	b.Until(`/at=/.test(location.hash) && document.querySelector('.banner.past')`)
	slide(b, 5) // the hand stops it
	b.Until(`document.querySelector('#play').getAttribute('aria-label').startsWith('Play')`)
	b.Until(together(5, everyPart))
	b.Clean(f.addr, true)
}

// While it plays, dots move as fast as it plays, and not for who prefers that.
func playMovesDots(t *testing.T, chromium *browsertest.Browser) {
	b, _, _ := openedPast(t, chromium)
	b.Motion()
	slide(b, 50)
	b.Until(`document.querySelector('.banner.past') && document.querySelector('.worth').textContent === ''`)
	b.Keys("p")
	b.Until(`/\d+ firings/.test(document.querySelector('.worth').textContent)`)
	b.Media("prefers-reduced-motion", "reduce")
	b.Until(`document.querySelector('.worth').textContent === ''`)
	b.Keys("l")
	b.Until(`document.querySelector('#link').innerText === 'live'`)
}

// changed are the alarms for a comparison: one that lasts, one that is gone, one that is new.
func changed(f *fake, s *scripted) {
	f.past.cleared = []map[string]any{{"index": 3, "alarm": "transitionStarved", "severity": "major", "net": s.def.ID, "net_name": s.def.Name, "transition": "ship", "name": "Ship", "affected": 2, "after_seconds": 60,
		"since": moment(nowMS() - 30*minute), "until": moment(nowMS() - 20*minute), "text": "starved"}}
	f.alarms = append(f.alarms, map[string]any{"index": 9, "alarm": "netDeadlocked", "severity": "critical", "net": s.def.ID, "net_name": s.def.Name, "affected": 5, "since": moment(nowMS() - 6*minute), "text": "deadlocked"})
}

func thePastIsComparedWithNow(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := openedPast(t, chromium)
	f.change(func() { changed(f, s) })
	if !browsertest.Eval[bool](b, `document.querySelector('#compare').disabled`) {
		t.Error("now can be compared with now")
	}
	slide(b, 24)
	b.Until(together(24, "title list oldest headline drawing link"))
	b.Click("#compare")
	b.Until(`location.hash.includes('compare') && document.querySelector('#compare').getAttribute('aria-pressed') === 'true'`)
	b.Keys("+", "+", "+", "+")
	b.Until(`window.drawn().some((t) => /^[+−]\d+$/.test(t)) && window.drawn().some((t) => t === 'same, +24 min')`)
	b.Screenshot("compare-near")
	if _, text := pictures(t, b, b.Downloads(), "compare"); !strings.Contains(text, ">same, +24 min<") || !strings.Contains(text, "compared with ") {
		t.Errorf("the picture has not what differs from now: %s", text)
	}
	b.Keys("0")
	b.Until(`[...document.querySelectorAll('.row.net')].every((r) => /\d+ → \d+ \(\+2[345]\) tokens/.test(r.innerText))`)
	b.Until(`document.querySelector('#lists section:not([hidden]) h2 .num').innerText === '2' && /critical.*new since \d\d:\d\d:\d\d.*gone since|1 new since \d\d:\d\d:\d\d · 1 gone since/.test(document.querySelector('.group .noted').innerText)`)
	b.Click(".group > .alarm")
	b.Until(`[...document.querySelectorAll('.inner .alarm')].map((a) => a.dataset.changed).sort().join() === ',gone,new'`)
	b.Until(`/^new since \d\d:\d\d:\d\d · critical/.test(document.querySelector('[data-changed=new] .noted').innerText) && /^gone since/.test(document.querySelector('[data-changed=gone] .noted').innerText)`)
	b.Screenshot("compare")
	b.Keys("t")
	b.Until(`/place tokens then tokens now difference oldest then oldest now same token/.test([...document.querySelectorAll('.table:not([hidden]) thead')][0].innerText.replace(/\s+/g, ' '))`)
	b.Until(`[...document.querySelectorAll('.table:not([hidden]) tbody tr')].some((r) => /Payment unclear 3 3 0 18 min .* 42 min .* still there, 24 min .* older/.test(r.innerText.replace(/\s+/g, ' ')))`)
	b.Until(`(() => { const by = [...document.querySelectorAll('.table:not([hidden]) tbody tr td:nth-child(4)')].slice(0, 8).map((c) => Math.abs(parseInt(c.innerText.replace('−', '-')))); return by[0] > 0 && by.slice(1).every((v, i) => v <= by[i]); })()`)
	b.Screenshot("compare-table")
	link := browsertest.Eval[string](b, "location.href")
	other := chromium.Tab(t)
	other.Open(link)
	other.Until(`document.querySelector('#compare').getAttribute('aria-pressed') === 'true' && document.querySelector('.table:not([hidden]) thead')?.innerText.includes('then')`)
	other.Until(`[...document.querySelectorAll('.row.net')].every((r) => /→/.test(r.innerText))`)
	b.Keys("c")
	b.Until(`!location.hash.includes('compare') && !document.querySelector('.table:not([hidden]) thead').innerText.includes('then')`)
	b.Clean(f.addr, false)
}

// Nothing can be done to the past, and the drawer has no numbers of now.
func thePastCannotBeChanged(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := openedPast(t, chromium)
	f.change(func() { f.actions, f.acts = true, true })
	b.Click(".alarm")
	b.Until(`document.querySelector('.acts button') && document.querySelector('#panel .do')`)
	slide(b, 24)
	b.Until(together(24, everyPart))
	b.Until(`!document.querySelector('.acts') && document.querySelector('.past-note').innerText === 'Alarms of the past cannot be acknowledged or silenced.'`)
	b.Until(`/^As of \d\d:\d\d:\d\d, 24 min/.test(document.querySelector('#panel .note').innerText) && document.querySelector('#panel dl').innerText.includes('18 min')`)
	b.Until(`document.querySelectorAll('#panel figure').length === 2 && /^Oldest token *18 min|^Oldest token *17 min/.test(document.querySelectorAll('#panel figcaption')[1].innerText.replace(/\s+/g, ' '))`)
	b.Screenshot("past-place")
	b.Until(`/^berlin.customer 17 18 min \d\d s since/.test(document.querySelector('#panel .tokens li').innerText.replace(/\s+/g, ' ')) && document.querySelectorAll('#panel .tokens li').length === 3`)
	if got := b.Text("#panel"); strings.Contains(got, "42 min") || strings.Contains(got, "clear it: ") || strings.Contains(got, "waits") {
		t.Errorf("the drawer has numbers of now: %q", got)
	}
	if n := browsertest.Eval[int](b, `document.querySelectorAll('#panel .do, #panel .commands').length`); n != 0 {
		t.Errorf("%d requests in the past", n)
	}
	b.Keys("i")
	b.Until(`document.querySelector('.instances .note').innerText.startsWith('These are the instances that wait now')`)
	b.Click(".pager button:last-child")
	b.Click("#panel [data-key=now]")
	b.Until(`document.querySelector('.acts button') && document.querySelector('#panel .do') && document.querySelector('#panel .tokens')`)
	b.Click("#panel .tokens button")
	b.Until(`document.querySelector('#panel .seen')`)
	slide(b, 24)
	b.Until(`/Where it was seen then/.test(document.querySelector('#panel').innerText) && document.querySelector('#panel [data-key="then 0"]')?.innerText === 'Payment unclear'`)
	b.Clean(f.addr, false)
}

// With an archive the slider spans more than an hour.
func theSliderSpansDays(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := openedPast(t, chromium)
	if !browsertest.Eval[bool](b, `document.querySelector('#range').hidden`) {
		t.Error("without an archive there is a choice of one")
	}
	f.change(func() { f.past.archive = 60 * time.Hour; changed(f, s) })
	b.Until(`[...document.querySelector('#range').options].map((o) => o.text).join() === '1 h,6 h,24 h,7 d'`)
	b.Until(`document.querySelectorAll('.ticks span').length > 5 && /^\d\d:\d\d$/.test(document.querySelector('.ticks span').innerText)`)
	b.Do(chromedp.SetValue(chromedp.CSS("#range"), "24h"))
	browsertest.Eval[bool](b, `document.querySelector('#range').dispatchEvent(new Event('change'))`)
	b.Until(`location.hash.includes('range=24h') && document.querySelector('#time').max === '1440'`)
	b.Keys("[")
	b.Until(`/ 1 min 0\d s ago$/.test(document.querySelector('#timeline output').innerText)`)
	slide(b, 30) // of 60: the half of a day
	b.Until(`/12 h 0\d min ago$/.test(document.querySelector('#timeline output').innerText) && /from the archive/.test(document.querySelector('.banner.past').innerText)`)
	b.Screenshot("day")
	at := time.Now().Add(-50 * time.Hour).UTC().Format(time.RFC3339)
	b.Open(f.url() + "?again#net=" + s.def.ID + "&at=" + at)
	b.Until(`document.querySelector('#range').value === '7d' && /2 d 2 h ago$/.test(document.querySelector('#timeline output').innerText)`)
	b.Until(`/^\d+ \w\w\w \d\d:\d\d:\d\d · /.test(document.querySelector('#timeline output').innerText) && Number(document.querySelector('#time').value) > 0`)
	b.Until(`[...document.querySelectorAll('.ticks span')].some((t) => /^\d+ [A-Z]/.test(t.innerText))`)
	b.Screenshot("week")
	b.Clean(f.addr, false)
}

// Marks above the slider lead to where alarms were raised and cleared.
func marksShowAlarms(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := openedPast(t, chromium)
	b.Until(`document.querySelectorAll('.alarm-marks .raised').length === 1 && document.querySelector('.alarm-marks .raised').matches('.warn') && document.querySelector('.alarm-marks .raised').textContent === '△'`) // it is a minor one
	f.change(func() {
		changed(f, s)
		f.alarms = f.alarms[1:] // the first is cleared
		f.past.cleared = append(f.past.cleared, map[string]any{"index": 7, "alarm": "tokenStuck", "severity": "minor", "net": s.def.ID, "place": "paymentUnclear", "affected": 3, "after_seconds": 600,
			"since": moment(nowMS() - 32*minute), "until": moment(nowMS() - 3*minute), "text": "stuck"})
	})
	b.Do(chromedp.Focus(chromedp.CSS("#time")))
	b.Until(`document.querySelectorAll('.alarm-marks .raised').length >= 3 && document.querySelectorAll('.alarm-marks .cleared').length === 2`)
	b.Until(`/^major alarm \d\d:\d\d:\d\d cleared: Ship: 2 instances/.test(document.querySelector('.alarm-marks .cleared').title)`)
	b.Screenshot("marks")
	b.Keys("{")
	b.Until(together(3, "title list oldest headline drawing link") + ` && document.title.startsWith('▲1 ')`)
	b.Keys("{")
	b.Until(together(6, "title list oldest headline drawing link") + ` && document.title.startsWith('▲2 ')`)
	b.Keys("{")
	b.Until(together(20, "title list oldest headline drawing link") + ` && document.title.startsWith('▲1 ')`)
	b.Keys("}")
	b.Until(together(6, "title list oldest headline drawing link"))
	b.Click(".alarm-marks .cleared")
	b.Until(together(20, "title list oldest headline drawing link"))
	b.Clean(f.addr, false)
}

func thePastOnAPhone(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := openedPast(t, chromium)
	phone(b)
	f.change(func() { f.past.archive = 60 * time.Hour; changed(f, s) })
	fits := func(state string) {
		t.Helper()
		b.Screenshot("phone-" + state)
		if out := browsertest.Eval[[]string](b, `[...document.querySelectorAll('#timeline :is(button, select, output, input)')].filter((e) => !e.hidden && !e.closest('.alarm-marks')).filter((e) => { const r = e.getBoundingClientRect(); return r.width < 1 || r.left < 0 || r.right > innerWidth || r.bottom > innerHeight; }).map((e) => e.id + e.className)`); len(out) > 0 {
			t.Errorf("%s: not on the screen: %v", state, out)
		}
		if wide := browsertest.Eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
			t.Errorf("%s: wider than the phone", state)
		}
	}
	b.Until(`!document.querySelector('#range').hidden`)
	fits("now")
	slide(b, 24)
	b.Until(together(24, "title list oldest headline link"))
	fits("past")
	b.Click("#compare")
	b.Until(`location.hash.includes('compare')`)
	fits("compare")
	b.Click("#play")
	b.Until(`document.querySelector('#play').classList.contains('on')`)
	b.Click("#play")
	b.Clean(f.addr, true)
	f.change(func() {
		f.past.from = func(now time.Time) time.Time { return now.Add(-time.Minute) }
		f.past.archive = 0
	})
	b.Open(f.url() + "?again#net=" + s.def.ID + "&at=" + time.Now().Add(-24*time.Minute).UTC().Format(time.RFC3339))
	b.Until(`!document.querySelector('#empty').hidden`)
	fits("no-data")
}
