// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/petri"
)

// sizes are the numbers of nodes of the large nets.
var sizes = []int{192, 400, 1000, 5000}

// largeNets returns nets of about a number of nodes: a chain, a process of nested
// blocks, a net with many branches, and a web with arcs in all directions.
func largeNets(nodes int) []*petri.Net {
	chain, web := line(nodes), big(nodes, nodes*5/4)
	chain.ID, web.ID = fmt.Sprintf("chain of %d", nodes), fmt.Sprintf("web of %d", nodes)
	return []*petri.Net{chain, process(nodes), branches(nodes), web}
}

// process returns a process of nested sequences, choices, parallel branches and loops.
func process(nodes int) *petri.Net {
	n := &petri.Net{ID: fmt.Sprintf("process of %d", nodes)}
	b := blocks{n: n, r: rand.New(rand.NewPCG(uint64(nodes), 3))}
	from := b.place()
	for len(n.Places)+len(n.Transitions) < nodes {
		from = b.block(from, 4)
	}
	return n
}

// blocks builds a process.
type blocks struct {
	n *petri.Net
	r *rand.Rand
}

func (b *blocks) place() string {
	id := fmt.Sprintf("p%d", len(b.n.Places))
	b.n.Places = append(b.n.Places, petri.Place{ID: id, Name: "Waiting for step " + id[1:]})
	return id
}

func (b *blocks) transition(from ...string) string {
	id := fmt.Sprintf("t%d", len(b.n.Transitions))
	b.n.Transitions = append(b.n.Transitions, petri.Transition{ID: id, Name: "Do step " + id[1:]})
	for _, p := range from {
		add(b.n, p, id)
	}
	return id
}

// block appends a block behind a place and returns its last place.
func (b *blocks) block(from string, deep int) string {
	kind := b.r.IntN(4)
	if deep == 0 {
		kind = 0
	}
	switch kind {
	case 1: // a choice
		to := b.place()
		for range 2 + b.r.IntN(3) {
			way := b.place()
			add(b.n, b.transition(from), way)
			add(b.n, b.transition(b.block(way, deep-1)), to)
		}
		return to
	case 2: // parallel branches
		split, to := b.transition(from), b.place()
		var ends []string
		for range 2 + b.r.IntN(3) {
			way := b.place()
			add(b.n, split, way)
			ends = append(ends, b.block(way, deep-1))
		}
		add(b.n, b.transition(ends...), to)
		return to
	case 3: // a loop
		end := b.block(from, deep-1)
		add(b.n, b.transition(end), from)
		return end
	}
	for range 1 + b.r.IntN(3) {
		to := b.place()
		add(b.n, b.transition(from), to)
		from = to
	}
	return from
}

// branches returns a place from which many short branches lead to another one.
func branches(nodes int) *petri.Net {
	n := grid(fmt.Sprintf("branches of %d", nodes), 2, 0)
	b := blocks{n: n}
	for len(n.Places)+len(n.Transitions) < nodes {
		from := "p0"
		for range 2 {
			to := b.place()
			add(n, b.transition(from), to)
			from = to
		}
		add(n, b.transition(from), "p1")
	}
	return n
}

// segment is a piece of an arc.
type segment struct {
	a, b Point
	arc  int
}

// crossingsOf counts the points at which arcs cross. Arcs that share a line count as
// one.
func crossingsOf(d *Drawing) int {
	points := map[Point]bool{}
	const cell = 200
	cells := map[[2]int][]segment{}
	at := func(x float64) int { return int(math.Floor(x / cell)) }
	for i := range d.Arcs {
		p := d.Arcs[i].Points
		for k := 1; k < len(p); k++ {
			s := segment{p[k-1], p[k], i}
			for x := at(min(s.a.X, s.b.X)); x <= at(max(s.a.X, s.b.X)); x++ {
				for y := at(min(s.a.Y, s.b.Y)); y <= at(max(s.a.Y, s.b.Y)); y++ {
					cells[[2]int{x, y}] = append(cells[[2]int{x, y}], s)
				}
			}
		}
	}
	for key, all := range cells {
		for i, s := range all {
			for _, t := range all[:i] {
				if p, ok := cross(s, t); ok && s.arc != t.arc && at(p.X) == key[0] && at(p.Y) == key[1] {
					points[Point{X: math.Round(p.X), Y: math.Round(p.Y)}] = true
				}
			}
		}
	}
	return len(points)
}

// cross returns where two segments cross, ends excluded.
func cross(s, t segment) (Point, bool) {
	dx, dy, ex, ey := s.b.X-s.a.X, s.b.Y-s.a.Y, t.b.X-t.a.X, t.b.Y-t.a.Y
	det := dx*ey - dy*ex
	if math.Abs(det) < 1e-9 {
		return Point{}, false
	}
	u := ((t.a.X-s.a.X)*ey - (t.a.Y-s.a.Y)*ex) / det
	v := ((t.a.X-s.a.X)*dy - (t.a.Y-s.a.Y)*dx) / det
	if u <= 1e-6 || v <= 1e-6 || u >= 1-1e-6 || v >= 1-1e-6 {
		return Point{}, false
	}
	return Point{X: s.a.X + u*dx, Y: s.a.Y + u*dy}, true
}

// scaleOf returns the scale at which a screen of 1,600 by 1,000 pixels shows all of a
// drawing.
func scaleOf(d *Drawing) float64 { return min(1, 1600/d.Width, 1000/d.Height) }

// measured returns the row of a table: what the plain layout of a net is like, and the
// present one.
func measured(n *petri.Net) string {
	both := [2]*Drawing{}
	var took [2]time.Duration
	for k, draw := range []func() *Drawing{func() *Drawing { return plainly(n) }, func() *Drawing { return Net(n, Wide) }} {
		begun := processorTime()
		both[k] = draw()
		took[k] = processorTime() - begun
	}
	p, d := both[0], both[1]
	area := func(d *Drawing) float64 { return d.Width * d.Height / 1e6 }
	return fmt.Sprintf("| %s | %d | %d | %d / %d | %.1f / %.1f | %.2f / %.2f | %.2f / %.2f | %.2f / %.2f |", n.ID, len(d.Nodes), len(d.Arcs), crossingsOf(p), crossingsOf(d),
		area(p), area(d), p.Width/p.Height, d.Width/d.Height, scaleOf(p), scaleOf(d), took[0].Seconds(), took[1].Seconds())
}

// processorTime returns what this process has used so far.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // does not fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// corpusNets returns the largest nets of the corpus, without their positions.
func corpusNets(t *testing.T) (nets []*petri.Net) {
	t.Helper()
	for _, name := range []string{"camipnml_TokenRing-5.pnml", "pnmlfw_itsc-complet-1.45-PT.pnml", "fy_distributeur-01-unfolded-02.pnml",
		"perpetuum_netin.pnml", "pipe_Courier_Protocol.xml", "pnmlfw_philo.pnml"} {
		found, err := filepath.Glob(filepath.Join("../../../shared/corpus/pnml", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			n := read(t, path)[0]
			n.ID = name
			for i := range n.Places {
				n.Places[i].At = nil
			}
			nets = append(nets, n)
		}
	}
	return nets
}
