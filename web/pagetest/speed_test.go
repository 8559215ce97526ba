// SPDX-License-Identifier: Apache-2.0

package pagetest

import (
	"testing"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// pan drags the drawing to and fro for two seconds, moving with every frame of
// the screen, and returns the frames a second and the slowest tenth's pause.
const pan = `new Promise((done) => {
	const c = document.querySelector('#net'), box = c.getBoundingClientRect();
	const at = (type, x, y) => c.dispatchEvent(new PointerEvent(type, {pointerId: 1, button: 0, bubbles: true, isPrimary: true, clientX: box.left + x, clientY: box.top + y}));
	c.setPointerCapture = () => {};
	at('pointerdown', 400, 300);
	const begun = performance.now(), pauses = [];
	let last = begun;
	const step = (now) => {
		pauses.push(now - last);
		last = now;
		const s = (now - begun) / 1000;
		if (s >= 2) {
			at('pointerup', 400, 300);
			delete c.setPointerCapture;
			pauses.sort((a, b) => a - b);
			done([pauses.length / s, pauses[Math.floor(pauses.length * 0.9)]]);
			return;
		}
		at('pointermove', 400 + 300 * Math.sin(3 * s), 300 + 150 * Math.sin(5 * s));
		requestAnimationFrame(step);
	};
	requestAnimationFrame(step);
})`

// The numbers are for people: what a machine that others use at the same time
// reaches proves nothing. That the drawing follows at all is asserted.
func aThousandNodesFollowTheHand(t *testing.T, chromium *browsertest.Browser) {
	s := large(1000, nowMS())
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Open(f.url())
	b.MoveMouse(5, 5)
	b.Screenshot("large")
	for _, look := range []struct {
		name string
		keys []string
	}{{"all of it", nil}, {"near", []string{"+", "+", "+", "+", "+", "+", "+", "+"}}} {
		b.Keys(look.keys...)
		got := browsertest.Eval[[]float64](b, pan)
		t.Logf("%s: %.0f frames/s while panning, nine of ten within %.0f ms", look.name, got[0], got[1])
		if got[0] < 10 {
			t.Errorf("%s: %.1f frames/s; the drawing does not follow", look.name, got[0])
		}
	}
	b.Screenshot("large-near")
	b.Clean(f.addr, false)
}

// A page that shows a net in which nothing happens asks for no frames.
func noFramesWhileNothingChanges(t *testing.T, chromium *browsertest.Browser) {
	s := shop(t, nowMS())
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Media("prefers-reduced-motion", "reduce")
	b.Open(f.url())
	frames := browsertest.Eval[int](b, `new Promise((done) => {
		const real = window.requestAnimationFrame;
		let asked = 0;
		window.requestAnimationFrame = (f) => { asked++; return real.call(window, f); };
		setTimeout(() => { window.requestAnimationFrame = real; done(asked); }, 2000);
	})`)
	if frames > 20 { // numbers come twice, ages grow once a second
		t.Errorf("%d frames were asked for within two seconds in which little changed", frames)
	}
}
