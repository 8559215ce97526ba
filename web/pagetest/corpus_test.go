// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pnagent/pnagent/internal/browsertest"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// box is where a shape is in a diagram.
type box struct {
	X      float64 `xml:"x,attr"`
	Y      float64 `xml:"y,attr"`
	Width  float64 `xml:"width,attr"`
	Height float64 `xml:"height,attr"`
}

// boxesOf returns where the first diagram of a file, and those of its sub-processes, have each
// element. It leaves out elements of called processes: a call activity opens these, also where
// its author drew them inside of it.
func boxesOf(t *testing.T, text string) map[string][]box {
	t.Helper()
	all, process, called := map[string][]box{}, map[string]string{}, map[string]bool{}
	first, shown, inside := true, true, ""
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, is := token.(xml.StartElement)
		if !is {
			continue
		}
		if id := attr(e, "id"); e.Name.Local == "process" {
			inside = id
		} else {
			process[id] = inside
		}
		switch e.Name.Local {
		case "callActivity":
			called[attr(e, "calledElement")] = true
		case "BPMNPlane":
			shown, first = first || strings.Contains(text, `ubProcess id="`+attr(e, "bpmnElement")+`"`), false
		case "BPMNShape":
			var shape struct{ Bounds box }
			if err := d.DecodeElement(&shape, &e); err != nil {
				t.Fatal(err)
			}
			if id := attr(e, "bpmnElement"); shown {
				all[id] = append(all[id], shape.Bounds)
			}
		}
	}
	maps.DeleteFunc(all, func(id string, _ []box) bool { return called[process[id]] })
	return all
}

// attr returns an attribute, without the prefix of a reference.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value[strings.LastIndexByte(a.Value, ':')+1:]
		}
	}
	return ""
}

// placed is where the page has a shape. Inside is whether a collapsed sub-process has it,
// which opens as a diagram of its own.
type placed struct {
	ID     string
	Box    box
	Inside bool
}

const shapesDrawn = `[...document.querySelectorAll('#bpmn .djs-shape')].filter((g) => !g.dataset.elementId.endsWith('_label')).map((g) => {
	const at = g.transform.baseVal.consolidate()?.matrix ?? { e: 0, f: 0 }, hits = [...g.querySelectorAll(':scope > .djs-hit')];
	const most = (side) => Math.max(...hits.map((h) => Number(h.getAttribute(side))));
	return { ID: g.dataset.elementId, Box: { X: at.e, Y: at.f, Width: most('width'), Height: most('height') }, Inside: !g.checkVisibility() || getComputedStyle(g.closest('.viewport > *')).display === 'none' };
})`

// underTheLegend is how far the diagram reaches below the upper edge of the legend, pixels.
const underTheLegend = `Math.max(...[...document.querySelectorAll('#bpmn .djs-shape .djs-visual')].map((e) => e.getBoundingClientRect().bottom)) - document.querySelector('#legend').getBoundingClientRect().top`

// numbersOnNames lists flows whose numbers are on their names, once they are large enough to be read.
const numbersOnNames = `(() => {
	const found = [];
	for (const flow of document.querySelectorAll('#bpmn [data-container-id]')) {
		const [a, b] = [flow.querySelector('.on-flow'), document.querySelector('#bpmn [data-element-id="' + flow.dataset.containerId + '_label"]')].map((e) => e?.querySelector('.rate, text')?.getBoundingClientRect());
		if (a?.width && b && a.left < b.right - 1 && a.right > b.left + 1 && a.top < b.bottom - 1 && a.bottom > b.top + 1) found.push(flow.dataset.containerId);
	}
	return found;
})()`

// inUTF8 reads a file as the engine publishes it.
func inUTF8(t *testing.T, path string) string {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := xmlscan.UTF8(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// drawFile opens a BPMN file, and returns false if pnagent refuses it or it has no net or no
// diagram.
func drawFile(b *browsertest.Tab, f *fake, text string) bool {
	file, err := bpmn.Read(strings.NewReader(text), "", bpmn.Limits{})
	if err != nil || len(file.Nets) == 0 || len(file.Nets[0].Places) == 0 || !strings.Contains(text, "BPMNShape") {
		return false
	}
	def := file.Nets[0]
	s := newScripted(def, def.Places[0].ID, nowMS()-42*minute, "one", "two", "three")
	s.file = text
	s.drawing["model"] = map[string]any{"kind": "bpmn", "digest": fmt.Sprint("d", len(text)), "elements": elementsOf(def, file.Parts[0])}
	f.change(func() { f.nets = []*scripted{s} })
	b.Open(f.url())
	b.Until(`document.querySelector('#bpmn').dataset.drawn && document.querySelector('#bpmn .djs-shape')`)
	return true
}

// Each shape of a file is where its author put it, and none is missing or under the legend.
func shapesAreWhereTheirAuthorsPutThem(t *testing.T, chromium *browsertest.Browser) {
	files, _ := filepath.Glob("../../../shared/corpus/bpmn/*.bpmn")
	if len(files) == 0 {
		t.Log("the corpus is not there: only files of the project are drawn")
	}
	own, _ := filepath.Glob("testdata/*.bpmn")
	drawn := 0
	b, f := chromium.Tab(t), newFake(t)
	for _, path := range append(files, own...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text := inUTF8(t, path)
			b.Within(t)
			if !drawFile(b, f, text) {
				t.Skip("pnagent refuses the file, or it has no diagram")
			}
			drawn++
			missing := boxesOf(t, text)
			for _, p := range browsertest.Eval[[]placed](b, shapesDrawn) {
				there := missing[p.ID]
				delete(missing, p.ID)
				near := func(a, b float64) bool { return math.Abs(a-b) <= 1 }
				found := len(there) == 0 // a plane of a collapsed sub-process
				for _, want := range there {
					found = found || near(p.Box.Width, want.Width) && near(p.Box.Height, want.Height) && (p.Inside || near(p.Box.X, want.X) && near(p.Box.Y, want.Y))
				}
				if !found {
					t.Errorf("%s is at %+v, want %+v", p.ID, p.Box, there)
				}
			}
			for _, id := range browsertest.Eval[[]string](b, numbersOnNames) {
				t.Errorf("the numbers of the flow %s are on its name", id)
			}
			if under := browsertest.Eval[float64](b, underTheLegend); under > 0 {
				t.Errorf("the legend covers the lowest %.0f pixels of the diagram", under)
			}
			for id, at := range missing {
				t.Errorf("%s is not drawn, want it at %+v", id, at)
			}
			b.Clean(f.addr, false)
		})
	}
	if drawn < len(own) {
		t.Errorf("%d files are drawn, want those of the project at least", drawn)
	}
}

// With PNAGENT_SUITES set to a directory that has MIWG's test suite, pictures have the files
// of the corpus beside what MIWG published. They are for people.
func filesOfMIWGBesideTheirPublishedPictures(t *testing.T, chromium *browsertest.Browser) {
	suites := os.Getenv("PNAGENT_SUITES")
	if suites == "" {
		t.Skip("PNAGENT_SUITES names no directory with bpmn-miwg-test-suite")
	}
	files, _ := filepath.Glob("../../../shared/corpus/bpmn/miwg_*.bpmn")
	b, f := chromium.Tab(t), newFake(t)
	b.Do(chromedp.EmulateViewport(1440, 900))
	for _, path := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "miwg_"), ".bpmn")
		t.Run(name, func(t *testing.T) {
			published, err := os.ReadFile(filepath.Join(suites, "bpmn-miwg-test-suite", "Reference", name+".png"))
			if err != nil {
				t.Skip(err)
			}
			text := inUTF8(t, path)
			b.Within(t)
			if !drawFile(b, f, text) {
				t.Skip("pnagent refuses the file")
			}
			ours := b.Picture()
			both := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `<body style="margin:0;display:grid;grid-template-columns:1fr 1fr;gap:4px">`+strings.Repeat(`<img style="width:100%%" src="data:image/png;base64,%s">`, 2), base64.StdEncoding.EncodeToString(ours), base64.StdEncoding.EncodeToString(published))
			}))
			defer both.Close()
			b.Visit(both.URL)
			b.Screenshot("miwg-" + name)
		})
	}
}
