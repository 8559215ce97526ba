// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/petritest"
)

// insurance is a net from a BPMN file of sixty elements. Something is stuck at a user task.
func insurance(t *testing.T) *scripted {
	t.Helper()
	text, err := os.ReadFile("testdata/claim.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	file, err := bpmn.Read(bytes.NewReader(text), "claim.bpmn", bpmn.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	def, stuck := file.Nets[0], ""
	for _, p := range file.Parts[0] {
		if p.Element == "check" {
			stuck = p.Tokens[0]
		}
	}
	s := newScripted(def, stuck, nowMS()-42*minute, "berlin/claim 17", "osaka/claim 3")
	s.file = string(text)
	s.drawing["model"] = map[string]any{"kind": "bpmn", "digest": "d0", "elements": elementsOf(def, file.Parts[0])}
	s.upright["model"] = s.drawing["model"]
	return s
}

func openedInsurance(t *testing.T, chromium *browsertest.Browser, address string) (*browsertest.Tab, *fake) {
	t.Helper()
	f := newFake(t, insurance(t))
	b := chromium.Tab(t)
	b.Do(chromedp.EmulateViewport(2600, 1300)) // in which the whole process can be read
	b.Open(f.url() + address)
	return b, f
}

// visible is whether an element is drawn and to be seen.
func visible(id string) string {
	return `(() => { const box = ` + shape(id) + `?.getBoundingClientRect(); return box?.width > 0; })()`
}

// dotted is how many pixels of the dots are dotted.
const dotted = `(() => { const c = document.querySelector('#bpmn .dots'), data = c?.width ? c.getContext('2d').getImageData(0, 0, c.width, c.height).data : []; let n = 0; for (let i = 3; i < data.length; i += 4) n += data[i] > 0; return n; })()`

func dotsMoveAlongSequenceFlows(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedInsurance(t, chromium, "")
	b.Motion()
	b.Until(visible("assess"))
	b.Until(dotted + ` > 20 && document.querySelector('.worth').textContent.includes('firing')`)
	// Each pixel of a dot is near a sequence flow, as soon as the view does not move.
	b.Until(`(() => {
		const c = document.querySelector('#bpmn .dots'), box = c.getBoundingClientRect(), ratio = c.width / box.width, points = [];
		for (const path of document.querySelectorAll('#bpmn .djs-connection .djs-visual > path')) {
			const m = path.getScreenCTM(), length = path.getTotalLength();
			for (let d = 0; d <= length; d += 2) points.push(new DOMPoint(path.getPointAtLength(d).x, path.getPointAtLength(d).y).matrixTransform(m));
		}
		const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
		let worst = 0;
		for (let i = 3; i < data.length; i += 4) {
			if (!data[i]) continue;
			const at = (i - 3) / 4, x = (at % c.width) / ratio + box.left, y = Math.floor(at / c.width) / ratio + box.top;
			worst = Math.max(worst, Math.min(...points.map((p) => Math.hypot(p.x - x, p.y - y))));
		}
		return worst <= 10;
	})()`)
	b.Screenshot("bpmn-dots")
	b.Media("prefers-reduced-motion", "reduce")
	b.Until(dotted + ` === 0 && document.querySelector('.worth').textContent === ''`)
	b.Motion()
	b.Until(dotted + ` > 20`)
	b.Keys("b")
	b.Until(`document.querySelector('#bpmn').hidden`)
	b.Keys("b")
	b.Until(dotted + ` > 20`)
	b.Keys("[")
	b.Until(`document.querySelector('.banner.past')`)
	b.Until(dotted + ` === 0`)
	b.Clean(f.addr, false)
}

// The key n means what the reader sees, not the drawing behind it.
func theNeighbourhoodOfTheElementAtTheCursorIsShown(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedInsurance(t, chromium, "#net=claim&view=net")
	b.Until(`document.querySelector('#net').dataset.drawn !== undefined || getComputedStyle(document.querySelector('#net')).display !== 'none'`)
	browsertest.Eval[bool](b, `(document.querySelector('#net').focus(), true)`)
	b.Keys(kb.ArrowRight)
	b.Until(`document.querySelector('#said').textContent !== ''`)
	b.Keys("b")
	b.Until(visible("register"))
	b.Do(chromedp.MouseClickXY(centreOf(b, "register")))
	b.Until(shape("register") + `.classList.contains('chosen')`)
	b.Keys("n")
	b.Until(`location.hash.includes('around=') && location.hash.includes('view=net')`)
	if at := browsertest.Eval[string](b, `new URLSearchParams(location.hash.slice(1)).get('around')`); !strings.Contains(at, "register") {
		t.Errorf("the surroundings of %s are shown; want those of the element chosen", at)
	}
	b.Clean(f.addr, false)
}

// centreOf is where the middle of an element is on the screen.
func centreOf(b *browsertest.Tab, id string) (x, y float64) {
	at := browsertest.Eval[[]float64](b, `(() => { const box = `+shape(id)+`.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()`)
	return at[0], at[1]
}

func aProcessOfSixtyElementsCanBeRead(t *testing.T, chromium *browsertest.Browser) {
	b, f := openedInsurance(t, chromium, "")
	for _, theme := range []string{"light", "dark"} {
		if theme == "dark" {
			b.Keys("d")
		}
		b.Until(fmt.Sprintf(`document.documentElement.dataset.theme === %q`, theme))
		for _, size := range [][2]int64{{1440, 900}, {1024, 768}, {390, 844}} {
			b.Do(chromedp.EmulateViewport(size[0], size[1]))
			b.Until(fmt.Sprintf(`innerWidth === %d`, size[0]))
			b.Keys("0")
			b.Until(visible("assess"))
			b.MoveMouse(5, 5)
			b.Screenshot(fmt.Sprintf("insurance-%d-%s", size[0], theme))
			browsertest.Eval[bool](b, `(document.querySelector('#bpmn').focus(), true)`)
			for range 4 {
				b.Keys("+")
			}
			b.Screenshot(fmt.Sprintf("insurance-%d-%s-near", size[0], theme))
		}
	}
	b.Clean(f.addr, false)
}

// The net is shown first, and what the button does is said before.
func aLargeFileIsDrawnWhenTheReaderAsks(t *testing.T, chromium *browsertest.Browser) {
	s := claims(t, petritest.Claims())
	model := s.drawing["model"].(map[string]any)
	for i := range 2000 { // of other diagrams
		model["elements"] = append(model["elements"].([]map[string]any), map[string]any{"id": fmt.Sprint("other", i), "places": []int{}, "transitions": []int{}, "tokens": []int{}, "fires": []int{}})
	}
	f := newFake(t, s)
	b := chromium.Tab(t)
	b.Open(f.url())
	b.Until(`document.querySelector('#view-bpmn').textContent === 'Draw the BPMN anyway' && document.querySelector('#view-why').textContent.endsWith('elements: the page does not answer while they are drawn as BPMN')`)
	b.Until(`document.querySelector('#bpmn').hidden && getComputedStyle(document.querySelector('#net')).display !== 'none' && !document.querySelector('#bpmn').dataset.drawn`)
	b.Screenshot("bpmn-large")
	b.Click("#view-bpmn")
	b.Until(drawnBPMN + ` && location.hash.includes('view=bpmn') && document.querySelector('#view-bpmn').textContent === 'BPMN'`)
	b.Keys("b")
	b.Until(`location.hash.includes('view=net') && document.querySelector('#bpmn').hidden`)
	b.Keys("b")
	b.Until(`location.hash.includes('view=bpmn') && !document.querySelector('#bpmn').hidden`)
	b.Clean(f.addr, false)
}
