// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/pnml"
)

var update = flag.Bool("update", false, "write the pictures of the documentation")

const pictures = "../../docs/pictures"

// read returns the nets of a file, or none if it is invalid.
func read(t *testing.T, path string) []*petri.Net {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(path) == ".bpmn" {
		f, err := bpmn.Read(bytes.NewReader(source), path, bpmn.DefaultLimits())
		if err != nil {
			return nil
		}
		return f.Nets
	}
	f, err := pnml.Read(bytes.NewReader(source), path, pnml.DefaultLimits())
	if err != nil {
		return nil
	}
	return f.Nets
}

// concept is a small net with positions that explains one concept.
func concept(name string, overlay Overlay, arc petri.ArcKind, places ...string) (*petri.Net, *Overlay) {
	n := &petri.Net{ID: name, Name: name}
	for i, place := range places {
		n.Places = append(n.Places, petri.Place{ID: place, At: &Point{X: float64(200 * (i % 2)), Y: float64(90 * (i / 2))}})
	}
	n.Transitions = []petri.Transition{{ID: "Pay", At: &Point{X: 100}}}
	n.Arcs = []petri.Arc{{Source: places[0], Target: "Pay", Weight: 1}, {Source: "Pay", Target: places[1], Weight: 1}}
	if len(places) > 2 {
		n.Arcs = append(n.Arcs, petri.Arc{Source: places[2], Target: "Pay", Kind: arc, Weight: 1})
	}
	return n, &overlay
}

// concepts are the small pictures, by file.
func concepts() map[string]func() (*petri.Net, *Overlay) {
	return map[string]func() (*petri.Net, *Overlay){
		"token": func() (*petri.Net, *Overlay) {
			return concept("A token waits in a place", Overlay{Tokens: []uint64{1, 0}}, petri.Normal, "Ordered", "Paid")
		},
		"enabled": func() (*petri.Net, *Overlay) {
			return concept("A transition is enabled", Overlay{Tokens: []uint64{1, 0}, Enabled: []bool{true}}, petri.Normal, "Ordered", "Paid")
		},
		"fired": func() (*petri.Net, *Overlay) {
			return concept("A transition has fired", Overlay{Tokens: []uint64{0, 1}, Enabled: []bool{false}}, petri.Normal, "Ordered", "Paid")
		},
		"inhibitor": func() (*petri.Net, *Overlay) {
			return concept("An inhibitor arc: no token may be there", Overlay{Tokens: []uint64{1, 0, 1}, Enabled: []bool{false}}, petri.Inhibitor, "Ordered", "Paid", "Till closed")
		},
		"read": func() (*petri.Net, *Overlay) {
			return concept("A read arc: a token must be there, and stays", Overlay{Tokens: []uint64{1, 0, 1}, Enabled: []bool{true}}, petri.Read, "Ordered", "Paid", "Till open")
		},
		"stuck": func() (*petri.Net, *Overlay) {
			return concept("Tokens are stuck", Overlay{Tokens: []uint64{12, 0, 0}, Heat: []uint8{MaxHeat, 0, 0}, Rates: []float64{0}}, petri.Normal, "Ordered", "Paid", "Clerk")
		},
	}
}

// documented returns the pictures of the documentation, by file.
func documented(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	add := func(name string, n *petri.Net, o *Overlay) {
		var b bytes.Buffer
		if err := Net(n, Wide).SVG(&b, n, o); err != nil {
			t.Fatal(err)
		}
		all[name+".svg"] = b.Bytes()
	}
	for name, build := range concepts() {
		n, o := build()
		add("concept-"+name, n, o)
	}
	for _, pattern := range []string{"../../examples/*.pnml", "../../examples/*.bpmn"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no example is found by %s: %v", pattern, err)
		}
		for _, path := range files {
			for _, n := range read(t, path) {
				tables, err := petri.Compile(n)
				if err != nil {
					t.Fatal(err)
				}
				base := filepath.Base(path)
				add(strings.TrimSuffix(base, filepath.Ext(base)), n, Initial(tables))
			}
		}
	}
	return all
}

func TestThePicturesOfTheDocumentationAreCurrent(t *testing.T) {
	all := documented(t)
	for name, want := range all {
		path := filepath.Join(pictures, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what is drawn now (%v); run make generate", path, err)
		}
	}
	there, err := filepath.Glob(filepath.Join(pictures, "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		_, err := os.Stat(strings.TrimSuffix(path, ".svg") + ".flow")
		if err != nil && all[filepath.Base(path)] == nil {
			t.Errorf("%s is a picture that neither this package draws nor internal/flow", path)
		}
	}
}

func TestNetsOfOtherToolsAreDrawn(t *testing.T) {
	const corpus = "../../../shared/corpus"
	var files []string
	for _, pattern := range []string{"pnml/*", "bpmn/*"} {
		found, err := filepath.Glob(filepath.Join(corpus, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skipf("the corpus of example files is not at %s", corpus)
	}
	for _, path := range files {
		for _, n := range read(t, path) {
			d := Net(n, Wide)
			if got := wellFormed(t, svg(t, d, n)); got != 1+len(d.Nodes) {
				t.Errorf("%s: %d titles for %d nodes and the net", path, got, len(d.Nodes))
			}
			for i, a := range d.Arcs {
				if off(&d.Nodes[a.From], a.Points[0]) > 0.2 || off(&d.Nodes[a.To], a.Points[len(a.Points)-1]) > 0.2 {
					t.Errorf("%s: arc %d of net %q does not lead from border to border", path, i, n.ID)
				}
			}
		}
	}
}
