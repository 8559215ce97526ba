// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// forgotten is the reason of an alarm whose source was forgotten.
const forgotten = `source "osaka" is silent since 2026-03-01T08:00:00Z and was forgotten`

// losses are the alarms of a net after one source was lost, and another one was forgotten.
func losses(s *scripted) []map[string]any {
	stuck := func(index, place int, more map[string]any) map[string]any {
		p := s.def.Places[place]
		a := map[string]any{"index": index, "alarm": "tokenStuck", "severity": "minor", "net": s.def.ID, "net_name": s.def.Name, "place": p.ID, "name": p.Name, "affected": 3, "after_seconds": 600, "since": moment(nowMS() - 20*minute), "text": "stuck"}
		for k, v := range more {
			a[k] = v
		}
		return a
	}
	lost := func(index int, source string, more map[string]any) map[string]any {
		a := map[string]any{"index": index, "alarm": "sourceLost", "severity": "major", "source": source, "affected": 1, "since": moment(nowMS() - 10*minute), "text": "silent"}
		for k, v := range more {
			a[k] = v
		}
		return a
	}
	unknown := map[string]any{"unknown": forgotten, "lost": "osaka", "outdated": true}
	gone := map[string]any{"unknown": strings.Replace(forgotten, `source "osaka"`, "it", 1), "lost": "osaka", "outdated": true}
	return []map[string]any{stuck(7, 0, nil), lost(20, "berlin", nil), stuck(21, 1, map[string]any{"follows": "berlin"}), stuck(22, 2, map[string]any{"follows": "berlin"}),
		lost(30, "osaka", gone), stuck(31, 3, unknown), stuck(32, 4, map[string]any{"follows": "osaka", "unknown": forgotten, "lost": "osaka", "outdated": true})}
}

// What is unknown stands apart, with its reason, and what follows is behind its cause.
func unknownAlarmsStandApart(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	f.change(func() { f.alarms = losses(s) })
	const held, doubted = `document.querySelectorAll('.lists section')[0]`, `document.querySelectorAll('.lists section')[1]`
	b.Until(`document.title.startsWith('▲1 ') && ` + held + `.querySelector('h2').innerText === 'Alarms 2' && ` + doubted + `.querySelector('h2').innerText === 'Unknown alarms 2'`)
	b.Until(`[...` + held + `.querySelectorAll('.alarm .text:not(.noted)')].map((x) => x.innerText).sort().join() === '1 net without messages · 2 follow from it,3 tokens for more than 10 min'`)
	b.Until(doubted + `.querySelectorAll('.alarm').length === 1 && ` + doubted + `.querySelector('.alarm .text').innerText === 'Unknown: it is silent since 2026-03-01T08:00:00Z and was forgotten' && ` + doubted + `.querySelector('.name').innerText === 'osaka'`)
	b.Until(doubted + `.querySelector('.mark').innerText === '?' && ` + doubted + `.querySelector('.mark').className === 'mark warn' && /reports again or stops cleanly. If it never comes back, close them: pnagent alarms close/.test(` + doubted + `.innerText)`)
	b.Until(`document.querySelector('.row.net[aria-current] .text').innerText.endsWith('1 alarm, 1 unknown, 3 following from a lost source')`)
	b.Until(`document.querySelectorAll('.acts').length === 0`)
	b.MoveMouse(5, 5)
	b.Screenshot("unknown")
	b.Until(`(() => { ` + held + `.querySelector('.group > .alarm').click(); return true; })()`)
	b.Until(held + `.querySelectorAll('.inner .alarm').length === 2 && ` + held + `.querySelector('.inner .group .num').innerText === '2'`)
	b.Until(`(() => { ` + doubted + `.querySelector('.group > .alarm').click(); return true; })()`)
	b.Until(`[...` + doubted + `.querySelectorAll(':scope > .rows > .group > .inner > li > .alarm .text:not(.noted)')].map((x) => x.innerText).sort().join() === '1 net without messages, when it was last known · 1 follow from it,3 tokens for more than 10 min, when it was last known'`)
	b.Until(`[...` + doubted + `.querySelectorAll('.noted')].some((x) => x.innerText === 'minor · unknown: ` + forgotten + `')`)
	b.Screenshot("unknown-open")
	f.change(func() { f.alarms = f.alarms[4:] })
	b.Until(`document.title.startsWith('?1 ') && document.querySelector('.row.net[aria-current] .mark').innerText === '?' && document.querySelector('.row.net[aria-current] .mark').className === 'mark warn'`)
	f.change(func() { f.alarms = []map[string]any{f.alarms[0], f.alarms[2]} }) // what follows does not make a net well
	b.Until(`document.title.startsWith('Order') && document.querySelector('.row.net[aria-current] .mark').className === 'mark warn' && document.querySelector('.row.net[aria-current] .text').innerText.endsWith('0 alarms, 1 following from a lost source')`)
	b.Clean(f.addr, false)
}

// Only what is unknown can be closed: all of a lost source by one button.
func unknownAlarmsAreClosedByAButton(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	f.change(func() { f.alarms, f.actions = losses(s), true })
	b.Until(`document.querySelectorAll('.close-it').length === 1 && document.querySelectorAll('.acts').length > 1`)
	b.Click(".close-it")
	b.Until(`/Its end is sent to all receivers/.test(document.querySelector('.note-form').innerText)`)
	b.Screenshot("close")
	b.Keys("t", "\r")
	f.wantPosted(t, b, `close {"source":"osaka","comment":"t"}`)
	f.change(func() { f.holding = []int{31} })
	b.Click(".close-it")
	b.Keys("\r")
	b.Until(`document.querySelector('.note').innerText === 'Closed. Not closed, because known to hold: 1 alarm of source osaka. Mend its cause, or acknowledge or silence it.'`)
	f.change(func() {
		f.alarms, f.refusal, f.status = f.alarms[5:6], "the alarm is known to hold, so it cannot be closed", http.StatusConflict
	})
	b.Until(`document.querySelectorAll('.alarm').length === 1`)
	b.Click(".close-it")
	b.Keys("\r")
	b.Until(`document.querySelector('.note').innerText === 'Not closed: ` + s.def.Places[3].Name + ` is known to hold again. Mend its cause, or acknowledge or silence it.'`)
	f.change(func() { f.refusal = "" })
	b.Keys("\r") // the form stays until what it asks for is done
	f.wantPosted(t, b, `close {"source":"osaka"}`, `close {"indices":[31]}`)
	f.change(func() { f.alarms = losses(s)[:1] }) // the source is back, and the alarm holds
	b.Until(`document.querySelectorAll('.alarm').length === 1 && !document.querySelector('.close-it') && document.querySelectorAll('.lists section')[1].hidden`)
}

// A silence and another severity change the row of an alarm, and end nothing.
func aSilenceNeverSaysOver(t *testing.T, chromium *browsertest.Browser) {
	b, f, _ := opened(t, chromium)
	b.Until(`(window.row = document.querySelector('.alarm')) && document.querySelector('.row.net[aria-current] .mark').title === 'alarm, minor'`)
	f.change(func() { f.alarms[0]["silenced_until"] = moment(nowMS() + 60*minute) })
	b.Until(`/^minor · silenced until \d\d:/.test(document.querySelector('.alarm .noted').innerText)`)
	f.change(func() { f.alarms[0]["severity"] = "critical" })
	b.Until(`document.querySelector('.alarm .mark').title === 'critical' && document.querySelector('.row.net[aria-current] .mark').title === 'alarm, critical'`)
	b.Until(`document.querySelector('.alarm') === window.row && document.title.startsWith('▲1 ') && document.querySelector('.lists h2').innerText === 'Alarms 1'`)
	if n := browsertest.Eval[int](b, `document.querySelectorAll('.alarm-marks .cleared').length`); n != 0 {
		t.Errorf("%d marks of an end; want none", n)
	}
	b.Clean(f.addr, false)
}
