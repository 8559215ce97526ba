// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// unreadable lists what is wider than the window or outside of it, numbers that are cut,
// texts that are cut without a sign, and letters below 10 pixels. What scrolls may be outside.
const unreadable = `(() => {
	const faults = [], of = (e) => e.tagName.toLowerCase() + (e.id && '#' + e.id) + (e.className && '.' + String(e.className).replaceAll(' ', '.')) + ' “' + e.textContent.trim().slice(0, 40) + '”';
	for (const e of [document.documentElement, document.body]) if (e.scrollWidth > innerWidth) faults.push(e.tagName + ' is ' + e.scrollWidth + ' pixels wide');
	const cuts = (e) => ['hidden', 'clip'].includes(getComputedStyle(e).overflowX);
	for (const e of document.querySelectorAll('body *:not(canvas, svg *, script)')) {
		const box = e.getBoundingClientRect(), style = getComputedStyle(e);
		const own = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
		const hidden = !e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || box.width < 2 || box.height < 2 || style.clipPath !== 'none' || e.closest('.djs-container') || e.id === 'link' && innerWidth < 500; // a dot there
		if (!own || hidden) continue;
		if (Number.parseFloat(style.fontSize) < 10) faults.push('letters of ' + style.fontSize + ' in ' + of(e));
		if (cuts(e) && e.scrollWidth > e.clientWidth + 1 && style.textOverflow !== 'ellipsis') faults.push('cut without a sign: ' + of(e));
		const number = e.closest('.num');
		if (number && cuts(e) && e.scrollWidth > e.clientWidth + 1) faults.push('a number is cut: ' + of(e));
		for (let p = e.parentElement; p; p = p.parentElement) {
			if (['auto', 'scroll'].includes(getComputedStyle(p).overflowX)) break;
			const around = p === document.documentElement ? { left: 0, right: innerWidth } : p.getBoundingClientRect();
			const outside = box.right > around.right + 1 || box.left < around.left - 1;
			if (outside && (p === document.documentElement || number && cuts(p))) faults.push('outside of ' + of(p).slice(0, 30) + ': ' + of(e));
		}
	}
	return faults;
})()`

// faint lists what the page says of its state, in banners or instead of a drawing, with a contrast
// below 4.5, as WCAG defines it. What is in front of another colour than the page's is opaque.
const faint = `(() => {
	const light = (c) => {
		const [r, g, b] = c.match(/[\d.]+/g).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const behind = (e) => [e, ...function* () { while ((e = e.parentElement)) yield e; }()].map((p) => getComputedStyle(p).backgroundColor).find((c) => !/, 0\)$/.test(c));
	const texts = [...document.querySelectorAll(':is(.banner, #empty) :is(bdi, button, a, code, mark, h2, p, dt, dd, pre)')].filter((e) => e.textContent.trim() && e.checkVisibility());
	const contrast = (e) => { const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x); return (a + 0.05) / (b + 0.05); };
	return texts.filter((e) => contrast(e) < 4.5).map((e) => 'a contrast of ' + contrast(e).toFixed(1) + ': ' + e.textContent.slice(0, 40));
})()`

// scene is something that readers see, and what opens it.
type scene struct {
	name string
	open func(b *browsertest.Tab, f *fake, s *scripted)
}

// scenes are what readers see most.
func scenes() []scene {
	return []scene{
		{"first look", func(_ *browsertest.Tab, _ *fake, _ *scripted) {}},
		{"a deadlocked net", func(b *browsertest.Tab, f *fake, s *scripted) {
			f.change(func() { deadlocked(f, s); f.actions = true })
			b.Click(".group > .alarm")
			b.Until(`document.querySelectorAll('.inner .alarm').length > 0`)
		}},
		{"a place", func(b *browsertest.Tab, f *fake, _ *scripted) {
			f.change(func() { f.actions, f.acts = true, true })
			b.Keys("h")
			b.Until(`document.querySelector('#panel .tokens button')`)
		}},
		{"its instances", func(b *browsertest.Tab, _ *fake, _ *scripted) {
			b.Keys("h")
			b.Click("#panel .all")
			b.Until(`document.querySelectorAll('.instances tbody tr').length === 50`)
		}},
		{"the tables", func(b *browsertest.Tab, _ *fake, _ *scripted) {
			b.Keys("t")
			b.Until(`document.querySelector('.tables tbody tr')`)
		}},
		{"the past", func(b *browsertest.Tab, _ *fake, _ *scripted) {
			b.Keys("[")
			b.Until(`document.querySelector('.banner.past')`)
		}},
		{"a comparison", func(b *browsertest.Tab, f *fake, s *scripted) {
			f.change(func() { changed(f, s); f.past.archive = 60 * time.Hour })
			slide(b, 24)
			b.Until(`document.querySelector('.banner.past')`)
			b.Keys("c")
			b.Until(`document.querySelector('.row.net .text').innerText.includes('→')`)
		}},
		{"a past that is not kept", func(b *browsertest.Tab, f *fake, _ *scripted) {
			f.change(func() { f.past.at = func(at time.Time) time.Time { return at.Add(-10 * time.Minute) } })
			slide(b, 24)
			b.Until(`!document.querySelector('#empty').hidden`)
		}},
		{"search", func(b *browsertest.Tab, _ *fake, _ *scripted) {
			b.Keys("/", "p")
			b.Until(`document.querySelector('[role=option]')`)
		}},
		{"share", func(b *browsertest.Tab, _ *fake, _ *scripted) {
			b.Keys("s")
			b.Until(`document.querySelector('#share').open`)
		}},
		{"help", func(b *browsertest.Tab, _ *fake, _ *scripted) {
			b.Keys("?")
			b.Until(`document.querySelector('#help').open`)
		}},
	}
}

// resize gives a tab the size of a window; a narrow one is a phone.
func resize(b *browsertest.Tab, view [2]int64) {
	if view[0] < 500 {
		phone(b)
	} else {
		b.Do(chromedp.EmulateViewport(view[0], view[1]))
	}
	b.Until(fmt.Sprintf(`innerWidth === %d`, view[0]))
}

// frames waits until two frames were drawn, so that all that was to be done is done.
const frames = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`

// themed has the reader's system prefer a theme, and waits until the page has it.
func themed(b *browsertest.Tab, theme string) {
	b.Media("prefers-color-scheme", theme)
	b.Until(`document.documentElement.dataset.theme === '` + theme + `'`)
	browsertest.Eval[bool](b, frames)
}

// readable looks at what a tab shows in windows of each size, in both themes, which differ in
// colours only. The pictures are for people.
func readable(t *testing.T, b *browsertest.Tab, name string) {
	t.Helper()
	for _, view := range views {
		resize(b, view)
		for _, c := range []struct{ theme, faults string }{{"dark", unreadable + `, ` + faint}, {"light", faint}} {
			b.Media("prefers-color-scheme", c.theme)
			is := `(document.documentElement.dataset.theme === '` + c.theme + `' ? [] : ['it has the other theme'])`
			for _, fault := range browsertest.Eval[[]string](b, frames+`.then(() => [`+is+`, `+c.faults+`].flat())`) {
				t.Errorf("%d %s: %s", view[0], c.theme, fault)
			}
			b.Screenshot(fmt.Sprintf("%s-%d-%s", strings.ReplaceAll(name, " ", "-"), view[0], c.theme))
		}
	}
}

// everySceneIsReadable looks at each scene.
func everySceneIsReadable(t *testing.T, chromium *browsertest.Browser) {
	for _, scene := range scenes() {
		t.Run(scene.name, func(t *testing.T) {
			t.Parallel()
			f, s := served(t)
			b := chromium.Tab(t)
			b.Open(f.url() + "#net=" + s.def.ID)
			b.MoveMouse(5, 5)
			b.Until(`document.querySelector('#vitals').innerText.includes('oldest')`)
			scene.open(b, f, s)
			readable(t, b, scene.name)
			b.Clean(f.addr, false)
		})
	}
}
