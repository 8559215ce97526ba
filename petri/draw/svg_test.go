// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
)

// drawn returns the picture of a net with an overlay.
func drawn(t *testing.T, n *petri.Net, o *Overlay) string {
	t.Helper()
	var b bytes.Buffer
	if err := Net(n, Wide).SVG(&b, n, o); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.Bytes())
	return b.String()
}

func TestUpToFourTokensAreDotsAndMoreANumber(t *testing.T) {
	n := grid("n", 1, 0)
	for _, c := range []struct {
		tokens uint64
		dots   int
		number string
	}{{0, 0, ""}, {1, 1, ""}, {2, 2, ""}, {3, 3, ""}, {4, 4, ""}, {5, 0, ">5<"}, {999, 0, ">999<"}, {1000, 0, ">1.0k<"}, {12345, 0, ">12k<"},
		{999499, 0, ">999k<"}, {999500, 0, ">1.0M<"}, {1 << 63, 0, ">9.2E<"}} {
		got := drawn(t, n, &Overlay{Tokens: []uint64{c.tokens}})
		if dots := strings.Count(got, `class="token"`); dots != c.dots {
			t.Errorf("%d tokens are %d dots", c.tokens, dots)
		}
		if !strings.Contains(got, c.number) || (c.number == "") == strings.Contains(got, `class="count"`) {
			t.Errorf("%d tokens are not %s", c.tokens, c.number)
		}
	}
}

func TestAnOverlayShowsOnlyWhatIsKnown(t *testing.T) {
	n := grid("n", 2, 3)
	n.Places[0].Initial = 3
	got := drawn(t, n, &Overlay{Tokens: []uint64{7}, Heat: []uint8{9}, Rates: []float64{0.02, -1}, Enabled: []bool{false, true}})
	for _, want := range []string{`class="place heat4"`, `place p0, tokens: 7, heat: 4 of 4<`, `>place p1<`, `1.2/min`, `<desc>transition t1, enabled</desc>`, `<desc>transition t2</desc>`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Count(got, `class="rate"`) != 1 {
		t.Error("a rate that is not known is shown")
	}
}

func TestRatesHaveAReadableUnit(t *testing.T) {
	for r, want := range map[float64]string{0: "0/s", 0.5: "0.5/s", 12.345: "12.3/s", 45678: "46k/s", 0.05: "3/min", 0.001: "3.6/h"} {
		if got := Rate(r); got != want {
			t.Errorf("%v a second is written %q; expected %q", r, got, want)
		}
	}
}

func TestTheInitialOverlayShowsWhatIsEnabled(t *testing.T) {
	n := line(4)
	n.Places[0].Initial = 1
	tables, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	got := drawn(t, n, Initial(tables))
	if strings.Count(got, "transition enabled") != 1 || strings.Count(got, `class="token"`) != 1 {
		t.Errorf("one transition should be enabled, one place should have a token: %s", got)
	}
}

func TestEveryKindOfArcHasItsMarker(t *testing.T) {
	n := grid("n", 1, 1)
	for kind := petri.Normal; kind <= petri.Branch; kind++ {
		n.Arcs = []petri.Arc{{ID: "a", Source: "p0", Target: "t0", Kind: kind, Weight: 3}}
		end := kind.String()
		if kind == petri.Join || kind == petri.Branch {
			end = "normal"
		}
		got := drawn(t, n, nil)
		if !strings.Contains(got, `class="arc `+kind.String()+`"`) || !strings.Contains(got, `marker-end="url(#pn-`+end+`)"`) {
			t.Errorf("%s arc: %s", kind, got)
		}
		if weight := strings.Contains(got, ">3</text>"); weight == (kind == petri.Reset) {
			t.Errorf("%s arc: a weight is shown: %v", kind, weight)
		}
	}
}

func TestNamesAreEscaped(t *testing.T) {
	n := grid(`"><script>alert(1)</script>`, 1, 1)
	n.Places[0].Name, n.Transitions[0].Name = `</text><script>`, "a\x00<b>&"
	if got := drawn(t, n, nil); strings.Contains(got, "<script") || strings.Contains(got, "<b>") || strings.Contains(got, "\x00") {
		t.Errorf("a name gets out: %s", got)
	}
}

func TestArcsWithoutNodesAreLeftOut(t *testing.T) {
	n := grid("n", 2, 1)
	add(n, "p0", "p1")
	add(n, "p0", "nowhere")
	add(n, "p0", "p0")
	add(n, "p0", "t0")
	if d := Net(n, Wide); len(d.Arcs) != 1 {
		t.Errorf("%d arcs are drawn; expected one", len(d.Arcs))
	}
}

var errFull = errors.New("the disk is full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestTheWritersErrorIsReturned(t *testing.T) {
	n := line(4)
	if err := Net(n, Wide).SVG(fullDisk{}, n, nil); !errors.Is(err, errFull) {
		t.Errorf("the error is %v", err)
	}
}

func FuzzDraw(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, "name", 1.0, 2.0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, name string, x, y float64) {
		n := random(seed)
		n.Places[0].Name, n.Transitions[0].ID = name, name
		if n.Places[0].At != nil {
			n.Places[0].At = &Point{X: x, Y: y}
		}
		d := Net(n, Wide)
		if !(d.Width < 1e6 && d.Height < 1e6) {
			t.Errorf("the drawing is %v by %v", d.Width, d.Height)
		}
		for _, a := range d.Arcs {
			for _, p := range a.Points {
				if !(p.X >= 0 && p.X <= d.Width && p.Y >= 0 && p.Y <= d.Height) {
					t.Fatalf("an arc is at %v, off the paper of %v by %v", p, d.Width, d.Height)
				}
			}
		}
		if got := wellFormed(t, svg(t, d, n)); got != 1+len(d.Nodes) {
			t.Errorf("%d titles for %d nodes and the net", got, len(d.Nodes))
		}
	})
}
