// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// phone makes the tab a phone.
func phone(b *browsertest.Tab) {
	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(2)))
	b.Until(`innerWidth === 390`)
}

func onAPhone(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	phone(b)
	narrow := func(state string) {
		t.Helper()
		b.Screenshot("phone-" + state)
		if wide := browsertest.Eval[[]string](b, `[document.documentElement, document.body, ...document.querySelectorAll('.lists, .panel, .bar, .banners, dialog')].filter((e) => e.scrollWidth > Math.max(innerWidth, e.clientWidth)).map((e) => e.tagName + e.className)`); len(wide) > 0 {
			t.Errorf("%s: wider than the phone: %v", state, wide)
		}
	}
	b.Until(`document.querySelector('.alarm').getBoundingClientRect().bottom <= document.querySelector('#net').getBoundingClientRect().top && document.querySelector('#net').getBoundingClientRect().height > 300`)
	b.Until(`getComputedStyle(document.querySelector('.row.net').closest('section')).display === 'none'`)
	b.Until(`Number(document.querySelector('#net').dataset.camera.split(' ')[2]) > 0.45`) // what is stuck can be read, and nothing is over it
	x, y := b.Point(s.at(node(s, "paymentUnclear")))
	b.Until(fmt.Sprintf(`document.elementFromPoint(%f, %f)?.id === 'net'`, x, y))
	narrow("first")
	f.change(func() { deadlocked(f, s); f.actions = true })
	b.Click(".group > .alarm")
	b.Until(`document.querySelector('#net').getBoundingClientRect().height > 300`)
	narrow("deadlocked")
	b.Click("#menu")
	b.Until(`document.querySelector('.row.net').getBoundingClientRect().height > 0 && document.elementFromPoint(100, 500).closest('#lists')`)
	narrow("lists")
	b.Click("#menu")
	b.Click(".inner .group > .alarm")
	b.Click(".inner .inner .alarm")
	b.Until(`!document.querySelector('#panel').hidden && document.activeElement.id === 'panel'`)
	b.Keys(kb.Escape)
	b.Until(`document.querySelector('#panel').hidden && document.activeElement.matches('.inner .inner .alarm')`)
	f.change(func() { f.alarms, f.acts = []map[string]any{}, true })
	b.Until(`getComputedStyle(document.querySelector('#lists')).display === 'none'`)
	b.Keys("h")
	b.Until(`document.querySelector('#panel .tokens button') && document.activeElement.id === 'panel'`)
	narrow("place")
	b.Click("#panel .do")
	b.Until(`document.querySelector('.confirm input')`)
	narrow("confirm")
	b.Keys(kb.Escape)
	b.Click("#panel .all")
	b.Until(`document.querySelectorAll('.instances tbody tr').length === 50`)
	narrow("instances")
	b.Clean(f.addr, false)
}

// A reader with a keyboard is where the drawer is once it is open, and back when it closes;
// one with a mouse on the drawing stays there.
func theFocusFollowsTheDrawer(t *testing.T, chromium *browsertest.Browser) {
	b, f, s := opened(t, chromium)
	b.Do(chromedp.Focus(chromedp.CSS(".alarm")))
	b.Keys("\r")
	b.Until(`document.activeElement.id === 'panel'`)
	b.Until(`document.querySelector('#panel .tokens button')`)
	b.Keys("\t", "\t", "\t", "\t", "\r") // past the links, to the oldest instance
	b.Until(`document.querySelector('#panel h2').innerText === 'berlin/customer 17' && document.activeElement.id === 'panel'`)
	b.Keys(kb.Escape)
	b.Until(`document.querySelector('#panel').hidden && document.activeElement.matches('.alarm')`)
	b.Keys("0")
	browsertest.Eval[bool](b, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))") // the drawing has its width
	x, y := b.Point(s.at(node(s, "paid")))
	b.Do(chromedp.MouseClickXY(x, y))
	b.Until(`document.querySelector('#panel h2')?.innerText === 'Paid' && document.activeElement.id === 'net'`)
	b.Clean(f.addr, false)
}
