// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pnagent/pnagent/internal/browsertest"
)

// views are sizes of windows.
var views = [][2]int64{{1440, 900}, {1024, 768}, {390, 844}}

// zoomed zooms in and out for 0.8 seconds and ten frames at least, and returns the frames a second and the
// pause that nine of ten frames are within, in ms.
const zoomed = `new Promise((done) => {
	const c = document.querySelector('#net'), box = c.getBoundingClientRect();
	const begun = performance.now(), pauses = [];
	let last = begun, k = 0;
	const step = (now) => {
		pauses.push(now - last);
		last = now;
		const s = (now - begun) / 1000;
		if (s >= 0.8 && pauses.length >= 10) {
			pauses.sort((a, b) => a - b);
			done([pauses.length / s, pauses[Math.floor(pauses.length * 0.9)], 0]);
			return;
		}
		c.dispatchEvent(new WheelEvent('wheel', {deltaY: k++ % 40 < 20 ? -60 : 60, clientX: box.left + 300, clientY: box.top + 200, bubbles: true, cancelable: true}));
		requestAnimationFrame(step);
	};
	requestAnimationFrame(step);
})`

// longTasks notes tasks of the page that took 50 ms or more.
const longTasks = `window.longTasks = []; new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((e) => e.duration))).observe({type: 'longtask', buffered: true})`

// lowest has a page remember the lowest text that it last painted into the drawing, which
// reaches as far beyond the upper border of the view as beyond the lower one.
const lowest = `(() => {
	const { fillRect, fillText } = CanvasRenderingContext2D.prototype;
	let layer, height, low;
	CanvasRenderingContext2D.prototype.fillRect = function (x, y, w, h) {
		if (!x && !y && h > document.querySelector('#net').clientHeight) [layer, height, low] = [this, h, 0];
		fillRect.call(this, x, y, w, h);
	};
	CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
		if (this === layer) low = Math.max(low, y);
		fillText.call(this, text, x, y);
	};
	window.lowest = () => (low ? low - (height - document.querySelector('#net').clientHeight) / 2 : 1e9); // where nothing is noted, the test is wrong
})()`

// largeNetsFillTheView opens nets of several sizes in windows of several sizes. The
// frames a second are for people, as in aThousandNodesFollowTheHand.
func largeNetsFillTheView(t *testing.T, chromium *browsertest.Browser) {
	for _, n := range []int{192, 400, 1000, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := plant(n, nowMS())
			f := newFake(t, s)
			b := chromium.Tab(t)
			b.Motion()
			b.Before(longTasks)
			b.Before(lowest)
			b.Open(f.url())
			b.MoveMouse(5, 5)
			for _, view := range views {
				b.Do(chromedp.EmulateViewport(view[0], view[1]))
				b.Until(fmt.Sprintf(`innerWidth === %d`, view[0]))
				b.Until(fmt.Sprintf(`document.querySelector('#net').dataset.drawn === '%v'`, shapeOf(s, view)["width"]))
				b.Keys("0")
				for _, theme := range []string{"light", "dark"} {
					themed(b, theme)
					b.Screenshot(fmt.Sprintf("plant-%d-%d-%s", n, view[0], theme))
				}
				fillsTheView(t, b, shapeOf(s, view))
				if covered := browsertest.Eval[float64](b, `document.querySelector('#net').getBoundingClientRect().top + lowest() + 5 - document.querySelector('#legend').getBoundingClientRect().top`); covered > 0 {
					t.Errorf("in a window of %v, the legend covers %.0f pixels of a name or its numbers", view, covered)
				}
				if got := painted(b); got < 1 {
					t.Errorf("in a window of %v, %.2f %% of the canvas is painted", view, got)
				}
			}
			b.Do(chromedp.EmulateViewport(1440, 900))
			b.Until(fmt.Sprintf(`document.querySelector('#net').clientWidth > 900 && document.querySelector('#net').dataset.drawn === '%v'`, s.drawing["width"]))
			b.Keys("0")
			t.Logf("%d nodes: opening and looking at them in %d windows, %s", n, len(views), longest(b))
			for name, script := range map[string]string{"panning": pan, "zooming": zoomed} {
				got := browsertest.Eval[[]float64](b, script)
				t.Logf("%d nodes: %.0f frames/s while %s, nine of ten within %.0f ms, %s", n, got[0], name, got[1], longest(b))
				if got[2] > 6 {
					t.Errorf("%d nodes, %s: the drawing was %.1f pixels behind the hand", n, name, got[2])
				}
			}
			b.Clean(f.addr, false)
		})
	}
}

// longest says how long tasks were since the last call, for people.
func longest(b *browsertest.Tab) string {
	got := browsertest.Eval[[]float64](b, `(() => { const all = longTasks.splice(0); return [all.length, Math.max(0, ...all)]; })()`)
	return fmt.Sprintf("%.0f tasks of 50 ms or more, the longest of %.0f ms", got[0], got[1])
}

// shapeOf returns the drawing that a window of a size shows.
func shapeOf(s *scripted, view [2]int64) map[string]any {
	if view[0] < view[1] {
		return s.upright
	}
	return s.drawing
}

// fillsTheView fails the test if less than half of the canvas is within the bounds of
// the drawing.
func fillsTheView(t *testing.T, b *browsertest.Tab, drawing map[string]any) {
	t.Helper()
	size := browsertest.Eval[[]float64](b, `(() => { const box = document.querySelector('#stage').getBoundingClientRect();
		return [box.width, box.height, Number(document.querySelector('#net').dataset.camera.split(' ')[2])]; })()`)
	if covered := browsertest.Eval[float64](b, `(() => { const [, y, scale] = document.querySelector('#net').dataset.camera.split(' ').map(Number), legend = document.querySelector('#legend').getBoundingClientRect();
		return y + scale * `+fmt.Sprint(drawing["height"])+` - 24 * scale + document.querySelector('#stage').getBoundingClientRect().top - legend.top; })()`); covered > 0 {
		t.Errorf("in a view of %v by %v, the legend covers the lowest %.0f pixels of the drawing", size[0], size[1], covered)
	}
	share := drawing["width"].(float64) * size[2] * drawing["height"].(float64) * size[2] / (size[0] * size[1])
	if share < 0.5 {
		t.Errorf("the drawing covers %.0f %% of a view of %v by %v", 100*share, size[0], size[1])
	}
}

// painted returns the percentage of the canvas that has another colour than its corner,
// right after the size of the window changed by a pixel.
func painted(b *browsertest.Tab) float64 {
	return browsertest.Eval[float64](b, `new Promise((done) => {
		const c = document.querySelector('#net'), stage = document.querySelector('#stage');
		stage.style.marginRight = '1px';
		new ResizeObserver((_, o) => requestAnimationFrame(() => {
			o.disconnect();
			stage.style.marginRight = '';
			const pixels = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
			let other = 0;
			for (const p of pixels) if (p !== pixels[0]) other++;
			done((100 * other) / pixels.length);
		})).observe(stage);
	})`)
}

// camera returns where the drawing is: x, y and the scale.
func camera(b *browsertest.Tab) []float64 {
	return browsertest.Eval[[]float64](b, `document.querySelector('#net').dataset.camera.split(' ').map(Number)`)
}

func aSmallMapShowsWhereTheReaderIs(t *testing.T, chromium *browsertest.Browser) {
	s := plant(1000, nowMS())
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Open(f.url())
	b.Keys("0")
	b.Until(`document.querySelector('#minimap').hidden`)
	b.Keys("+", "+", "+", "+", "+", "+")
	b.Until(`!document.querySelector('#minimap').hidden`)
	b.Screenshot("minimap")
	before := camera(b)
	at := browsertest.Eval[[]float64](b, `(() => { const box = document.querySelector('#minimap').getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })()`)
	b.Do(chromedp.MouseClickXY(at[0]+at[2]-12, at[1]+at[3]-12))
	b.Until(fmt.Sprintf(`document.querySelector('#net').dataset.camera.split(' ')[0] < %f`, before[0]-200))
	after := camera(b)
	if after[2] != before[2] {
		t.Errorf("a press on the small map changes the scale from %v to %v", before[2], after[2])
	}
	b.Do(chromedp.DragAndDropXY(at[0]+at[2]-12, at[1]+at[3]-12, at[0]+12, at[1]+12, 5))
	b.Until(fmt.Sprintf(`document.querySelector('#net').dataset.camera.split(' ')[0] > %f`, after[0]+200))
	if browsertest.Eval[string](b, `document.querySelector('#minimap').getAttribute('aria-hidden')`) != "true" {
		t.Error("the small map is read to those who cannot use it")
	}
	b.Clean(f.addr, false)
}

// bright reports whether a place is filled, beside its middle through which the link
// of a collapsed one leads.
func bright(b *browsertest.Tab, drawnX, drawnY float64) bool {
	x, y := b.Point(drawnX, drawnY)
	ground := b.Colour(270, 52) // a corner of the canvas
	c := b.Colour(x-6, y-6)
	return math.Abs(float64(c[0]-ground[0]))+math.Abs(float64(c[1]-ground[1]))+math.Abs(float64(c[2]-ground[2])) > 12
}

func whatIsQuietIsCollapsed(t *testing.T, chromium *browsertest.Browser) {
	s := plant(192, nowMS())
	s.asleep = 12
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Open(f.url())
	b.Until(`document.querySelector('#sight').hidden`)
	b.Keys("q")
	b.Until(`/\d+ quiet nodes collapsed/.test(document.querySelector('#sight').innerText) && location.hash.includes('quiet=')`)
	b.Screenshot("quiet")
	hidden := browsertest.Eval[int](b, `Number(/(\d+) quiet/.exec(document.querySelector('#sight').innerText)[1])`)
	if total := len(s.def.Places) + len(s.def.Transitions); hidden < total/2 || hidden >= total-10 {
		t.Errorf("%d of %d nodes are collapsed; 12 places, their transitions and the stuck place are busy", hidden, total)
	}
	if x, y := s.at(s.stuck + 1); bright(b, x, y) {
		t.Errorf("place %d without tokens is drawn", s.stuck+1)
	}
	if x, y := s.at(s.stuck); !bright(b, x, y) {
		t.Errorf("the stuck place %d is not drawn", s.stuck)
	}
	link := browsertest.Eval[string](b, `location.href`)
	other := chromium.Tab(t)
	other.Open(link)
	other.Until(`document.querySelector('#sight').innerText.includes('collapsed')`)
	quietPlace := s.def.Places[s.stuck+2].ID
	other.Keys("q")
	other.Until(`document.querySelector('#sight').hidden`)
	// An alarm is always shown.
	f.change(func() {
		f.alarms = []map[string]any{{"index": 3, "alarm": "tokenStuck", "severity": "major", "net": s.def.ID, "place": quietPlace, "since": moment(nowMS() - minute), "text": "old"}}
	})
	b.Until(fmt.Sprintf(`/(\d+) quiet/.exec(document.querySelector('#sight').innerText)[1] === '%d'`, hidden-1))
	b.Clean(f.addr, false)
}

func theNeighbourhoodOfANodeIsALink(t *testing.T, chromium *browsertest.Browser) {
	s := plant(400, nowMS())
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Open(f.url())
	b.Keys("h", "n")
	b.Until(`document.querySelector('#sight').innerText.includes('2 steps') && location.hash.includes('around=place')`)
	count := func(b *browsertest.Tab) int {
		t.Helper()
		return browsertest.Eval[int](b, `Number(/(\d+) of/.exec(document.querySelector('#sight').innerText)[1])`)
	}
	b.Until(`Number(document.querySelector('#net').dataset.camera.split(' ')[2]) > 0.9`) // laid out apart, they are near each other
	b.Until(`document.querySelector('#minimap').hidden`)
	id := s.def.Places[s.stuck].ID
	at := browsertest.Eval[[]float64](b, fmt.Sprintf(`fetch('api/v1/drawing?net=plant&place=%s&steps=2').then((r) => r.json()).then((d) => d.nodes.find((n) => n.id === '%s')).then((n) => [n.x, n.y])`, id, id))
	if !bright(b, at[0], at[1]) {
		t.Error("the place whose surroundings are shown is not drawn")
	}
	b.Screenshot("near")
	two, scale := count(b), camera(b)[2]
	b.Keys(">", ">")
	b.Until(`document.querySelector('#sight').innerText.includes('4 steps')`)
	four := count(b)
	if four <= two || camera(b)[2] > scale {
		t.Errorf("%d nodes within 2 steps, %d within 4, at scales %v and %v", two, four, scale, camera(b)[2])
	}
	b.Keys(">", ">", ">")
	b.Until(`document.querySelector('#sight').innerText.includes('5 steps') && document.querySelector('#sight [data-key=more]').disabled`)
	link := browsertest.Eval[string](b, `location.href`)
	other := chromium.Tab(t)
	other.Open(link)
	other.Until(`document.querySelector('#sight').innerText.includes('5 steps')`)
	if got, want := count(other), count(b); got != want {
		t.Errorf("the link shows %d nodes; expected %d", got, want)
	}
	other.Screenshot("near-5")
	b.Keys("n")
	b.Until(`document.querySelector('#sight').hidden && !location.hash.includes('around')`)
	b.Click(`#panel [data-key=near]`)
	b.Until(`document.querySelector('#sight').innerText.includes('2 steps')`)
	b.Keys("\x1b", "\x1b") // the details, then the neighbourhood
	b.Until(`document.querySelector('#sight').hidden`)
	b.Clean(f.addr, false)
}

func searchGoesToANodeInALargeNet(t *testing.T, chromium *browsertest.Browser) {
	s := plant(5000, nowMS())
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Motion()
	b.Open(f.url())
	b.Do(chromedp.SendKeys(chromedp.CSS("#query"), "Work step 1234"))
	b.Until(`document.querySelector('#matches li')?.innerText.includes('Work step 1234')`)
	browsertest.Eval[bool](b, `(() => { // a mark vanishes again
		const net = document.querySelector('#net');
		window.marked = [];
		new MutationObserver(() => window.marked.push(net.dataset.flash)).observe(net, {attributeFilter: ['data-flash']});
		return true;
	})()`)
	b.Keys("\r")
	b.Until(`document.querySelector('#panel h2')?.innerText === 'Work step 1234'`)
	b.Until(`Number(document.querySelector('#net').dataset.camera.split(' ')[2]) > 0.8`)
	b.Until(`window.marked.includes('t1234')`)
	b.Screenshot("found")
	x, y := b.Point(s.at(len(s.def.Places) + 1234))
	box := browsertest.Eval[[]float64](b, `(() => { const r = document.querySelector('#stage').getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`)
	if math.Abs(x-box[0]) > 200 || math.Abs(y-box[1]) > 100 {
		t.Errorf("what was found is at %v, %v; the middle is at %v", x, y, box)
	}
	b.Until(`!document.querySelector('#net').dataset.flash`)
	b.Clean(f.addr, false)
}
