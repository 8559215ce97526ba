// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/internal/npmtest"
)

// violations runs axe with the rules of %s, none for all, once no colour changes any more, and returns what it finds.
const violations = `Promise.all(document.getAnimations().map((a) => a.finished)).then(() => axe.run(document, {resultTypes: ['violations']%s})).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ': ' + n.target.join(' ') + ' ' + (n.any[0]?.message ?? ''))))`

// colours are the rules of axe that look at colours.
const colours = `, runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}`

// axeFindsNothing looks at each state of the page, in both themes, on a screen and a phone.
func axeFindsNothing(t *testing.T, chromium *browsertest.Browser) {
	axe, err := os.ReadFile(filepath.Join(npmtest.Install(t, "npm"), "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, view := range [][2]int64{views[0], views[2]} {
		t.Run(fmt.Sprint(view[0]), func(t *testing.T) {
			t.Parallel()
			axeLooks(t, chromium, string(axe), view)
		})
	}
}

// axeLooks goes from state to state in a window of a size.
func axeLooks(t *testing.T, chromium *browsertest.Browser, axe string, view [2]int64) {
	t.Helper()
	b, f, s := opened(t, chromium)
	resize(b, view)
	b.Do(chromedp.Evaluate[chromedp.Void](axe))
	clean := func(state string) {
		t.Helper()
		for _, c := range []struct{ theme, rules string }{{"dark", ""}, {"light", colours}} { // themes differ in colours only
			themed(b, c.theme)
			for _, v := range browsertest.Eval[[]string](b, fmt.Sprintf(violations, c.rules)) {
				t.Errorf("%s, %s: %s", c.theme, state, v)
			}
		}
	}
	clean("first")
	f.change(func() {
		deadlocked(f, s)
		f.alarms = append(f.alarms, losses(s)[4:]...) // unknown
		f.actions, f.acts = true, true
		f.alarms[1]["acknowledged"] = map[string]any{"by": "ada", "at": moment(nowMS()), "comment": "seen"}
		f.alarms[2]["silenced_until"] = moment(nowMS() + 60*minute)
		f.silences = []map[string]any{{"id": "a", "until": moment(nowMS() + 60*minute), "by": "eve", "comment": "upgrade", "net": "order*"}}
	})
	b.Click(".group > .alarm")
	b.Click(".inner .group > .alarm")
	b.Click(".acts .ack")
	b.Click(".filter summary")
	clean("alarms")
	if view[0] >= 500 {
		b.Click(".plan-it")
		b.Do(chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector('.note-form [aria-label=When]'); s.value = 'weekly'; s.dispatchEvent(new Event('change')); })()`))
		clean("plan of a silence")
		b.Keys(kb.Escape)
	}
	if view[0] < 500 {
		b.Click("#menu")
		clean("lists")
		b.Click("#menu")
	}
	b.Click(".inner .inner .alarm")
	b.Until(`!document.querySelector('#panel').hidden`)
	b.Keys("h")
	b.Until(`document.querySelector('#panel .do')`)
	clean("place")
	b.Click("#panel .do")
	b.Until(`document.querySelector('.confirm .waits')`)
	clean("confirmation")
	b.Click(".confirm [type=button]")
	b.Click("#panel .all")
	b.Until(`document.querySelectorAll('.instances tbody tr').length === 50`)
	clean("instances")
	b.Click(".instances tbody th button")
	b.Until(`document.querySelector('#panel .seen, #panel .note')`)
	clean("instance")
	b.Keys("?")
	b.Until(`document.querySelector('#help').open`)
	clean("help")
	b.Click("#help button")
	b.Until(`!document.querySelector('#help').open && !document.querySelector('.instances')`)
	b.Keys("s")
	b.Until(`document.querySelector('#share').open`)
	clean("share")
	b.Click("#share > button")
	b.Until(`!document.querySelector('#share').open`)
	b.Keys("t")
	b.Until(`document.querySelector('.tables tbody tr')`)
	clean("table")
	b.Keys("[")
	b.Until(`document.querySelector('.banner.past')`)
	clean("past")
	b.Keys("c")
	b.Until(`document.querySelector('.table:not([hidden]) thead').innerText.includes('then')`)
	clean("comparison")
	b.Keys("t")
	f.change(func() { f.past.none = map[string]bool{"overview": true, "history": true} })
	b.Keys("[")
	b.Until(`!document.querySelector('#empty').hidden`)
	clean("no data")
	b.Visit(f.url())
	b.Until(`document.querySelector('#home .net-card .line')`)
	b.Do(chromedp.Evaluate[chromedp.Void](axe))
	clean("home")
	for _, address := range []string{"embed?net=" + s.def.ID, "embed?alarms"} {
		b.Visit(f.url() + address)
		b.Until(`document.querySelector('#link')?.textContent === 'live' && document.querySelector('#note')`)
		b.Do(chromedp.Evaluate[chromedp.Void](axe))
		clean(address)
	}
}
