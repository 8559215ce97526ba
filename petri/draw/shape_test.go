// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// TestLargeNets draws each large net once and looks at it in several ways.
func TestLargeNets(t *testing.T) {
	for _, size := range sizes {
		for _, n := range largeNets(size) {
			t.Run(n.ID, func(t *testing.T) {
				d := Net(n, Wide)
				for _, rule := range []struct {
					name  string
					most  int // nodes
					holds func(*testing.T, *petri.Net, *Drawing)
				}{
					{"nodes are apart from each other", 5000, nodesAreApartFromEachOther},
					{"the aspect is about that which is asked for", 5000, theAspectIsAboutThatWhichIsAskedFor},
					{"arcs lead from border to border past other nodes", 400, arcsLeadFromBorderToBorderPastOtherNodes},
					{"it is drawn the same again", 1000, itIsDrawnTheSameAgain},
					{"arcs leave and arrive level", 1000, arcsLeaveAndArriveLevel},
					{"arcs between strips have tracks of their own unless they have an end in common", 1000, arcsBetweenStripsHaveTracksOfTheirOwn},
				} {
					if size <= rule.most {
						t.Run(rule.name, func(t *testing.T) { rule.holds(t, n, d) })
					}
				}
			})
		}
	}
}

func nodesAreApartFromEachOther(t *testing.T, _ *petri.Net, d *Drawing) {
	t.Helper()
	boxes := make([]box, len(d.Nodes))
	for i := range d.Nodes {
		boxes[i] = d.Nodes[i].footprint()
	}
	slices.SortFunc(boxes, func(a, b box) int { return cmp.Compare(a.left, b.left) })
	for i, a := range boxes {
		for _, b := range boxes[i+1:] {
			if b.left > a.right-0.2 {
				break
			}
			if min(a.bottom, b.bottom)-max(a.top, b.top) > 0.2 {
				t.Fatalf("nodes with their labels overlap: %v, %v", a, b)
			}
		}
	}
}

func theAspectIsAboutThatWhichIsAskedFor(t *testing.T, n *petri.Net, d *Drawing) {
	t.Helper()
	if got := d.Width / d.Height; got < Wide/2 || got > Wide*2 {
		t.Errorf("the drawing is %v by %v; expected an aspect of %v within a factor of 2", d.Width, d.Height, Wide)
	}
	if len(d.Nodes) > 1100 {
		return
	}
	if d := Net(n, 0.6); d.Width/d.Height < 0.3 || d.Width/d.Height > 1.2 {
		t.Errorf("the drawing is %v by %v; expected an aspect of 0.6 within a factor of 2", d.Width, d.Height)
	}
}

func arcsLeadFromBorderToBorderPastOtherNodes(t *testing.T, _ *petri.Net, d *Drawing) {
	t.Helper()
	for i := range d.Arcs {
		a := &d.Arcs[i]
		if off(&d.Nodes[a.From], a.Points[0]) > 0.2 || off(&d.Nodes[a.To], a.Points[len(a.Points)-1]) > 0.2 {
			t.Fatalf("arc %d does not lead from border to border: %+v", i, a)
		}
		if hit := d.nodesTouched(a); hit > 0 {
			t.Fatalf("arc %d passes through %d nodes", i, hit)
		}
	}
}

func itIsDrawnTheSameAgain(t *testing.T, n *petri.Net, d *Drawing) {
	t.Helper()
	if !bytes.Equal(svg(t, d, n), svg(t, Net(n, Wide), n)) {
		t.Error("two drawings differ")
	}
}

func TestSmallNetsAreInOneStripWhateverTheAspect(t *testing.T) {
	for _, n := range []*petri.Net{line(shapedFrom - 2), petritest.Ring(20), branches(40)} {
		a, b := Net(n, Wide), Net(n, 0.5)
		if a.Width != b.Width || a.Height != b.Height {
			t.Errorf("%s is drawn %v by %v, and %v by %v for another aspect", n.ID, a.Width, a.Height, b.Width, b.Height)
		}
	}
}

// The table of docs/design/drawing.md: PNAGENT_TEST_MEASURES=1 go test ./petri/draw -run TestMeasures -v
func TestMeasures(t *testing.T) {
	nets := corpusNets(t)
	for _, size := range sizes {
		if size <= 1000 || os.Getenv("PNAGENT_TEST_MEASURES") != "" {
			nets = append(nets, largeNets(size)...)
		}
	}
	var table strings.Builder
	for _, n := range nets {
		fmt.Fprintln(&table, measured(n))
	}
	t.Log("net, nodes, arcs, and of the plain layout and the present one: crossings, area, aspect, scale, time\n" + table.String())
}

func arcsLeaveAndArriveLevel(t *testing.T, _ *petri.Net, d *Drawing) {
	t.Helper()
	for i, a := range d.Arcs {
		p := a.Points
		if last := len(p) - 1; last > 1 && (math.Abs(p[0].Y-p[1].Y) > 0.2 || math.Abs(p[last].Y-p[last-1].Y) > 0.2) {
			t.Fatalf("arc %d leaves or arrives on a slope: %v", i, p)
		}
	}
}

func arcsBetweenStripsHaveTracksOfTheirOwn(t *testing.T, _ *petri.Net, d *Drawing) {
	t.Helper()
	tracks := map[float64][]segment{}
	for i, a := range d.Arcs {
		for k := 1; k < len(a.Points); k++ {
			p, q := a.Points[k-1], a.Points[k]
			if p.X != q.X || math.Abs(p.Y-q.Y) < 1 {
				continue
			}
			for _, other := range tracks[p.X] {
				b := d.Arcs[other.arc]
				apart := a.From != b.From && a.To != b.To && a.From != b.To && a.To != b.From
				if apart && max(min(p.Y, q.Y), min(other.a.Y, other.b.Y)) < min(max(p.Y, q.Y), max(other.a.Y, other.b.Y))-1 {
					t.Fatalf("arcs %d and %d share a line at %v", i, other.arc, p.X)
				}
			}
			tracks[p.X] = append(tracks[p.X], segment{p, q, i})
		}
	}
}
