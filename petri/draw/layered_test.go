// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// laidOut returns the layouts of a net's parts, up to a step.
func laidOut(n *petri.Net, steps ...func(*layout)) []*layout {
	d := newDrawing(n)
	var all []*layout
	for _, p := range d.parts() {
		l := newLayout(d, p, plan{first: func(int) bool { return false }})
		for _, step := range steps {
			step(l)
		}
		all = append(all, l)
	}
	return all
}

// crossingsSlowly compares every two links between two columns.
func crossingsSlowly(l *layout) (count int) {
	type ends struct{ column, from, to int }
	var all []ends
	for v := range l.out {
		for _, n := range l.out[v] {
			all = append(all, ends{l.column[v], l.row[v], l.row[n.to]})
		}
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if a.column == b.column && (a.from-b.from)*(a.to-b.to) < 0 {
				count++
			}
		}
	}
	return count
}

func TestColumnsAreOrderedWithNoMoreCrossingsThanAtFirst(t *testing.T) {
	before, after := 0, 0
	for seed := range seeds.Of(100, 300) {
		n := petritest.RandomNet(rand.New(rand.NewPCG(seed, 2)))
		for _, l := range laidOut(n, (*layout).breakCycles, (*layout).divide, (*layout).firstOrder) {
			first := crossingsSlowly(l)
			if fast := l.crossings(); fast != first {
				t.Fatalf("seed %d: %d crossings are counted, there are %d", seed, fast, first)
			}
			l.reorder()
			last := crossingsSlowly(l)
			if last > first {
				t.Errorf("seed %d: %d crossings, %d in the first order", seed, last, first)
			}
			before, after = before+first, after+last
		}
	}
	if after*4 > before*3 {
		t.Errorf("%d crossings are left of %d; expected a quarter fewer at least", after, before)
	}
}

func TestCrossingCountsBothOrders(t *testing.T) {
	for seed := range uint64(50) {
		n := petritest.RandomNet(rand.New(rand.NewPCG(seed, 3)))
		for _, l := range laidOut(n, (*layout).breakCycles, (*layout).divide, (*layout).firstOrder) {
			for c, column := range l.columns {
				l.gather(c)
				for r := range len(column) - 1 {
					now, then := l.crossing(column[r], column[r+1])
					before := crossingsSlowly(l)
					l.row[column[r]], l.row[column[r+1]] = r+1, r
					if got := crossingsSlowly(l) - before; got != then-now {
						t.Fatalf("seed %d: a swap changes %d crossings; expected %d", seed, got, then-now)
					}
					l.row[column[r]], l.row[column[r+1]] = r, r+1
				}
			}
		}
	}
}

func TestLongArcsAreStraightThroughTheColumnsTheyPass(t *testing.T) {
	n := line(12)
	add(n, "p0", "t5") // past all
	points := Net(n, Wide).Arcs[len(n.Arcs)-1].Points
	heights := map[float64]bool{}
	for _, p := range points[1 : len(points)-1] {
		heights[p.Y] = true
	}
	if len(points) > 6 || len(heights) > 3 {
		t.Errorf("the arc winds: %v", points)
	}
}

func TestArcsOfALayeredDrawingPassNoNode(t *testing.T) {
	for seed := range seeds.Of(20, 300) {
		n := petritest.RandomNet(rand.New(rand.NewPCG(seed, 5)))
		d := Net(n, Wide)
		for i := range d.Arcs {
			if hit := d.nodesTouched(&d.Arcs[i]); hit > 0 {
				t.Errorf("seed %d: arc %d passes through %d nodes", seed, i, hit)
			}
		}
	}
}

func TestLanesOfTheirOwnAreInTheOrderOfTheEdges(t *testing.T) {
	for seed := range seeds.Of(20, 300) {
		for _, l := range laidOut(petritest.RandomNet(rand.New(rand.NewPCG(seed, 5))), (*layout).breakCycles, (*layout).divide) {
			last := len(l.nodes) - 1
			for e := range l.edges {
				for _, v := range l.edges[e].chain {
					if l.lane(v) && v != last+1 {
						t.Fatalf("seed %d: lane %d of edge %d comes after lane %d", seed, v, e, last)
					}
					if l.lane(v) {
						last = v
					}
				}
			}
		}
	}
}

func TestTheLongestOfTooManyLongArcsAreStraight(t *testing.T) {
	n := long(2000, 60)
	straight, arcs := 0, Net(n, Wide).Arcs
	for _, a := range arcs[len(arcs)-60:] {
		if len(a.Points) <= 3 { // one with lanes goes up, along and down
			straight++
		}
	}
	if straight == 0 || straight > 40 {
		t.Errorf("%d of 60 long arcs go straight; expected those that have no room in %d lanes", straight, lanesMost)
	}
}

func TestADenseNetIsNotDrawnAsOneLine(t *testing.T) {
	for _, l := range laidOut(clique(30), (*layout).breakCycles) {
		if columns := slices.Max(l.column) + 1; columns > 6 {
			t.Errorf("60 nodes, each place joined to each transition, are in %d columns", columns)
		}
	}
	if d := Net(clique(30), Wide); d.Width > 3*d.Height || d.Height > 3*d.Width {
		t.Errorf("60 nodes, each place joined to each transition, are drawn %v by %v", d.Width, d.Height)
	}
}

func TestABoxIsHighEnoughForItsArcs(t *testing.T) {
	n := grid("n", 6, 1)
	for i := range 6 {
		add(n, n.Places[i].ID, "t0")
	}
	d := Net(n, Wide)
	ends := map[float64]bool{}
	for _, a := range d.Arcs {
		ends[a.Points[len(a.Points)-1].Y] = true
	}
	if len(ends) != 6 || d.Nodes[6].H < 6*portGap {
		t.Errorf("6 arcs end at %d heights of a box %v high", len(ends), d.Nodes[6].H)
	}
}

func TestAProcessBeginsOnTheLeftWhereItsTokensAre(t *testing.T) {
	n := petritest.Ring(7)
	n.Places[0].Initial, n.Places[3].Initial = 0, 1
	d := Net(n, Wide)
	for i := range d.Nodes {
		if d.Nodes[i].X < d.Nodes[3].X {
			t.Errorf("node %d is at %v, to the left of the marked place at %v", i, d.Nodes[i].X, d.Nodes[3].X)
		}
	}
}

func TestAnArcThatClosesACyclePassesTheNodes(t *testing.T) {
	d := Net(petritest.Ring(6), Wide)
	back := d.Arcs[len(d.Arcs)-1]
	if d.Nodes[back.From].X <= d.Nodes[back.To].X {
		t.Fatalf("the ring's last arc leads to the right: %+v", back)
	}
	for i := range d.Nodes {
		for k := range len(back.Points) - 1 {
			if i != back.From && i != back.To && d.Nodes[i].near(back.Points[k], back.Points[k+1]) {
				t.Errorf("it passes through node %d at %v", i, d.Nodes[i])
			}
		}
	}
}

func TestPartsArePackedWithoutOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	boxes := make([]box, 60)
	for i := range boxes {
		boxes[i] = box{0, 0, r.Float64() * 900, r.Float64() * 300}
	}
	at := pack(boxes, Wide)
	for i, a := range at {
		for j, b := range at[:i] {
			if min(a.X+boxes[i].right, b.X+boxes[j].right) > max(a.X, b.X) && min(a.Y+boxes[i].bottom, b.Y+boxes[j].bottom) > max(a.Y, b.Y) {
				t.Errorf("parts %d and %d overlap", i, j)
			}
		}
	}
}

func TestALineStaysInOneRow(t *testing.T) {
	d := Net(line(20), Wide)
	if heights := slices.MinFunc(d.Nodes, lower).Y - slices.MaxFunc(d.Nodes, lower).Y; heights != 0 {
		t.Errorf("the nodes of a line differ by %v in height", heights)
	}
}

func lower(a, b Node) int { return int(a.Y - b.Y) }

func BenchmarkNet(b *testing.B) {
	for _, c := range []struct {
		name        string
		nodes, arcs int
	}{{"base-100", 100, 250}, {"1000", 1000, 2500}, {"10000", 10000, 25000}} {
		n := big(c.nodes, c.arcs)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				Net(n, Wide)
			}
		})
	}
	for _, n := range []*petri.Net{process(1000), process(5000)} {
		b.Run("base-plain-"+n.ID, func(b *testing.B) {
			for b.Loop() {
				plainly(n)
			}
		})
	}
	for _, n := range append(largeNets(5000), process(1000), many(50), star(5000), clique(50), line(10000), petritest.Ring(5000)) {
		b.Run(n.ID, func(b *testing.B) {
			for b.Loop() {
				Net(n, Wide)
			}
		})
	}
}

// plainly lays out a net with each part in one strip.
func plainly(n *petri.Net) *Drawing {
	d := newDrawing(n)
	how := plan{first: func(node int) bool { return node < len(n.Places) && n.Places[node].Initial > 0 }}
	d.growBoxes()
	var layouts []*layout
	var boxes []box
	for _, p := range d.parts() {
		l := newLayout(d, p, how)
		l.breakCycles()
		l.divide()
		l.firstOrder()
		l.plain()
		layouts, boxes = append(layouts, l), append(boxes, l.draw())
	}
	for i, at := range pack(boxes, Wide) {
		layouts[i].move(at.X-boxes[i].left, at.Y-boxes[i].top)
	}
	d.straight(func(arc int) bool { return d.Arcs[arc].Points == nil })
	d.fit()
	return d
}

// many returns a number of webs that are not connected.
func many(parts int) *petri.Net {
	n := grid("parts", 0, 0)
	for k := range parts {
		web := big(100, 250)
		id := func(s string) string { return fmt.Sprintf("%d.%s", k, s) }
		for _, p := range web.Places {
			p.ID = id(p.ID)
			n.Places = append(n.Places, p)
		}
		for _, t := range web.Transitions {
			t.ID = id(t.ID)
			n.Transitions = append(n.Transitions, t)
		}
		for _, a := range web.Arcs {
			add(n, id(a.Source), id(a.Target))
		}
	}
	return n
}
