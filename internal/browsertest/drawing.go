// SPDX-License-Identifier: Apache-2.0

//go:build peers

package browsertest

import "fmt"

// Point returns where a point of the drawing is in the window.
func (b *Tab) Point(drawnX, drawnY float64) (x, y float64) {
	b.t.Helper()
	at := Eval[[]float64](b, `(() => {
		const c = document.querySelector('#net'), box = c.getBoundingClientRect();
		return [...c.dataset.camera.split(' ').map(Number), box.left, box.top];
	})()`)
	return drawnX*at[2] + at[0] + at[3], drawnY*at[2] + at[1] + at[4]
}

// Colour returns red, green and blue of the drawing at a point of the window.
func (b *Tab) Colour(x, y float64) [3]int {
	b.t.Helper()
	return [3]int(Eval[[]int](b, fmt.Sprintf(`(() => {
		const c = document.querySelector('#net'), box = c.getBoundingClientRect(), r = c.width / box.width;
		return [...c.getContext('2d').getImageData((%f - box.left) * r, (%f - box.top) * r, 1, 1).data].slice(0, 3);
	})()`, x, y)))
}

// Moves has tokens move, and waits until the drawing has changed eight times more than four
// times a second. Numbers that come and tokens that grow older change it three times a second,
// however few frames a busy machine draws.
func (b *Tab) Moves() {
	b.t.Helper()
	b.Motion()
	more := Eval[float64](b, fmt.Sprintf(`new Promise((done) => {
		const c = document.querySelector('#net'), begun = performance.now();
		let before = null, last = begun, more = 0;
		const look = (now) => {
			const pixels = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
			const changed = before?.length === pixels.length && pixels.some((p, i) => p !== before[i]);
			more = Math.max(0, more - (4 * (now - last)) / 1000) + changed;
			[before, last] = [pixels, now];
			if (more < 8 && now - begun < %d) requestAnimationFrame(look); else done(more);
		};
		requestAnimationFrame(look);
	})`, patience.Milliseconds()))
	if more < 8 {
		b.t.Errorf("the drawing changed %.1f times more than four times a second; want 8, as tokens move", more)
	}
}
