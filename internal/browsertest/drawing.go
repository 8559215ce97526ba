// SPDX-License-Identifier: Apache-2.0

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

// Changes returns how often the drawing changed within two seconds.
func (b *Tab) Changes() int {
	b.t.Helper()
	return Eval[int](b, `new Promise((done) => {
		const c = document.querySelector('#net'), begun = performance.now();
		let before = '', changes = 0;
		const look = () => {
			const now = c.toDataURL();
			if (before && now !== before) changes++;
			before = now;
			if (performance.now() - begun < 2000) requestAnimationFrame(look); else done(changes);
		};
		look();
	})`)
}
