// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"testing"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// pan drags the drawing back and forth for 0.8 seconds and ten frames at least, moving with
// every frame of the screen, and returns the frames a second, the slowest tenth's pause, and
// by how much the drawing was ever elsewhere than the hand, in pixels.
const pan = `new Promise((done) => {
	const c = document.querySelector('#net'), box = c.getBoundingClientRect();
	const at = (type, x, y) => c.dispatchEvent(new PointerEvent(type, {pointerId: 1, button: 0, bubbles: true, isPrimary: true, clientX: box.left + x, clientY: box.top + y}));
	c.setPointerCapture = () => {};
	at('pointerdown', 400, 300);
	const begun = performance.now(), pauses = [];
	const camera = () => c.dataset.camera.split(' ').map(Number), [x0, y0] = camera();
	let last = begun, hand = [0, 0], behind = 0;
	const step = (now) => {
		const [x, y] = camera();
		behind = Math.max(behind, Math.abs(x - x0 - hand[0]), Math.abs(y - y0 - hand[1]));
		pauses.push(now - last);
		last = now;
		const s = (now - begun) / 1000;
		if (s >= 0.8 && pauses.length >= 10) {
			at('pointerup', 400, 300);
			delete c.setPointerCapture;
			pauses.sort((a, b) => a - b);
			done([pauses.length / s, pauses[Math.floor(pauses.length * 0.9)], behind]);
			return;
		}
		hand = [300 * Math.sin(3 * s), 150 * Math.sin(5 * s)];
		at('pointermove', 400 + hand[0], 300 + hand[1]);
		requestAnimationFrame(step);
	};
	requestAnimationFrame(step);
})`

// The numbers are for people: what a machine that others use at the same time
// reaches proves nothing. That the drawing is where the hand is, is asserted.
func aThousandNodesFollowTheHand(t *testing.T, chromium *browsertest.Browser) {
	s := large(1000, nowMS())
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Motion()
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
		if got[2] > 6 { // up to 5 a click may slip
			t.Errorf("%s: the drawing was %.1f pixels behind the hand", look.name, got[2])
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
	b.Open(f.url())
	frames := browsertest.Eval[[]float64](b, `new Promise((done) => {
		const real = window.requestAnimationFrame, begun = performance.now();
		let asked = 0;
		window.requestAnimationFrame = (f) => { asked++; return real.call(window, f); };
		setTimeout(() => { window.requestAnimationFrame = real; done([asked, (performance.now() - begun) / 1000]); }, 2000);
	})`)
	if most := 10 * max(2, frames[1]); frames[0] > most { // numbers come twice, ages grow once a second
		t.Errorf("%v frames were asked for within %v seconds in which little changed", frames[0], frames[1])
	}
}
