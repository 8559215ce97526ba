// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"testing"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// covered paints a net at several scales on a canvas that only notes what is written, and
// returns what is written on a node or on another text. Numbers in places and labels in
// boxes are not looked at.
const covered = `(async () => {
	const [{Scene}, {Painter}] = await Promise.all([import('/scene.js'), import('/painter.js')]);
	const scene = new Scene(await (await fetch('/api/v1/drawing?net=plant')).json());
	const now = 1e12, places = scene.nodes.slice(0, scene.placeCount).map((_, i) => ({tokens: i % 3, since: now - i * 1000}));
	const frame = {places, transitions: scene.nodes.slice(scene.placeCount).map(() => ({rate: 0})), oldestAge: (i) => (places[i].tokens ? (now - places[i].since) / 1000 : null), byAge: () => [...places.keys()].reverse()};
	const alarmed = new Set([...places.keys()].filter((i) => i % Math.ceil(places.length / 30) === 1));
	const fit = Math.min(1100 / (scene.box.right - scene.box.left), 800 / (scene.box.bottom - scene.box.top));
	const faults = [], written = [];
	for (const scale of [fit / 2, fit, 0.05, 0.08, 0.119, 0.12, 0.2, 0.35, 0.5, 0.69, 0.7, 1, 2]) {
		const texts = [], middles = new Set(scene.nodes.slice(0, scene.placeCount).map((n) => n.x * scale + ' ' + (n.y * scale + 0.5)));
		const ctx = new Proxy({measureText: (t) => ({width: 6 * t.length})}, {get: (o, k) => k in o ? o[k] : (...a) => { if (k === 'fillText' && !middles.has(a[1] + ' ' + a[2])) texts.push(a); }, set: (o, k, v) => { o[k] = v; return true; }});
		new Painter(ctx, {heat: {fill: () => '', ink: () => ''}}).paint(scene, frame, {scale, x: 0, y: 0, width: 1e6, height: 1e6, now, alarmed, doubted: new Set(), mild: new Set(), marks: new Uint8Array(scene.nodes.length), version: 0});
		const boxes = scene.nodes.map((n, i) => {
			const place = i < scene.placeCount, r = place ? Math.max(scene.radius(i, scale), scale < 0.12 && places[i].tokens ? 3.6 : 0) : 0;
			const w = Math.max(n.w * scale / 2, r), h = Math.max(n.h * scale / 2, r);
			return {what: n.id, node: true, left: n.x * scale - w, right: n.x * scale + w, top: n.y * scale - h, bottom: n.y * scale + h};
		});
		for (const [text, x, y] of texts) {
			if (scale >= 0.7 && !/^\d+ (s|min|h|d)$/.test(text)) continue; // the layout has room for labels
			const half = (text.length * 5.9) / 2;
			boxes.push({what: text, node: false, left: x - half, right: x + half, top: y - 4.5, bottom: y + 4.5});
		}
		written.push(boxes.length - scene.nodes.length);
		boxes.sort((a, b) => a.left - b.left);
		boxes.forEach((a, i) => {
			for (let k = i + 1; k < boxes.length && boxes[k].left < a.right; k++) {
				const b = boxes[k];
				if (!(a.node && b.node) && a.top < b.bottom && b.top < a.bottom && faults.length < 5) faults.push('at scale ' + scale.toFixed(3) + ' ' + a.what + ' is on ' + b.what);
			}
		});
	}
	return {faults, written};
})()`

// What is written beside nodes covers neither them nor other texts, at any scale; a name
// that has no room beside its place is farther away.
func namesAndAgesCoverNothing(t *testing.T, chromium *browsertest.Browser) {
	for _, n := range []int{192, 400, 1000, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			f := newFake(t, plant(n, nowMS()))
			b := chromium.Tab(t)
			b.Open(f.url())
			got := browsertest.Eval[struct {
				Faults  []string
				Written []int
			}](b, covered)
			for _, fault := range got.Faults {
				t.Error(fault)
			}
			for i, texts := range got.Written {
				if texts < 30 { // 30 places have alarms; far out a few of them have no room
					t.Errorf("at scale %d of the list, %d texts are written", i, texts)
				}
			}
			b.Clean(f.addr, false)
		})
	}
}
