// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

type drawing struct {
	seed uint64 // of a random net
	net  *petri.Net
	d    *Drawing
}

// drawnOnce are random nets, with and without positions, and nets that are hard to draw.
// Each is drawn once for all tests, which only look at it.
var drawnOnce = sync.OnceValues(func() (randoms, hards []drawing) {
	for seed := range seeds.Of(21, 300, 40, 140) {
		n := random(seed)
		randoms = append(randoms, drawing{seed, n, Net(n, Wide)})
	}
	for _, n := range hard() {
		hards = append(hards, drawing{net: n, d: Net(n, Wide)})
	}
	return randoms, hards
})

// each runs a test on the nets of drawnOnce.
func each(t *testing.T, test func(t *testing.T, n *petri.Net, d *Drawing)) {
	t.Helper()
	randoms, hards := drawnOnce()
	for _, one := range randoms {
		test(t, one.net, one.d)
		if t.Failed() {
			t.Fatalf("random net of seed %d", one.seed)
		}
	}
	for _, one := range hards {
		t.Run(one.net.ID, func(t *testing.T) { test(t, one.net, one.d) })
	}
}

func random(seed uint64) *petri.Net {
	r := rand.New(rand.NewPCG(seed, 1))
	n := petritest.RandomNet(r)
	if seed%3 == 0 {
		n = petritest.RandomGateways(r)
	}
	if seed%4 == 0 {
		scatter(n, r)
	}
	if seed%5 == 0 {
		for i := range n.Transitions {
			n.Transitions[i].Name = nasty[r.IntN(len(nasty))]
		}
	}
	return n
}

// scatter gives each node a position.
func scatter(n *petri.Net, r *rand.Rand) {
	at := func() *Point { return &Point{X: r.Float64() * 900, Y: r.Float64() * 900} }
	for i := range n.Places {
		n.Places[i].At = at()
	}
	for i := range n.Transitions {
		n.Transitions[i].At = at()
	}
}

// nasty are difficult names.
var nasty = []string{"", " \t\n", "a<b>&\"'c]]>", "\x00\x01bell\a", "\xff\xfe broken", "\u202ebackwards", "漢字の名前がとても長いときにはどこで折り返すのか",
	"WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW", "waitForTheSecondPaymentOfTheCustomer", "t_register_claim_of_customer", "e\u0301\u0301\u0301\u0301", "\ufffe\uffff", "👩‍👩‍👧‍👦 family"}

func hard() []*petri.Net {
	return []*petri.Net{{ID: "empty"}, petritest.Ring(1), petritest.Ring(300), star(5000), clique(40), line(10000), parallel(300), apartNet(400), long(2000, 60)}
}

// add adds an arc.
func add(n *petri.Net, from, to string) {
	n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprintf("a%d", len(n.Arcs)), Source: from, Target: to, Weight: 1})
}

// grid returns a net without arcs.
func grid(id string, places, transitions int) *petri.Net {
	n := &petri.Net{ID: id}
	for i := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprintf("p%d", i)})
	}
	for i := range transitions {
		n.Transitions = append(n.Transitions, petri.Transition{ID: fmt.Sprintf("t%d", i)})
	}
	return n
}

// star returns a place with many arcs in both directions.
func star(arcs int) *petri.Net {
	n := grid("star", 1, arcs*2/3)
	for i := range arcs {
		t := n.Transitions[i%len(n.Transitions)].ID
		if i%3 == 0 {
			add(n, "p0", t)
		} else {
			add(n, t, "p0")
		}
	}
	return n
}

// clique connects every place with every transition, in both directions.
func clique(size int) *petri.Net {
	n := grid("clique", size, size)
	for p := range size {
		for t := range size {
			add(n, n.Places[p].ID, n.Transitions[t].ID)
			add(n, n.Transitions[t].ID, n.Places[p].ID)
		}
	}
	return n
}

func line(nodes int) *petri.Net {
	n := grid("line", nodes/2, nodes/2)
	for i := range nodes / 2 {
		add(n, n.Places[i].ID, n.Transitions[i].ID)
		if i > 0 {
			add(n, n.Transitions[i-1].ID, n.Places[i].ID)
		}
	}
	return n
}

// long is a line with arcs from its beginning to its end, too many for lanes.
func long(nodes, arcs int) *petri.Net {
	n := line(nodes)
	n.ID = "long"
	for i := range arcs {
		add(n, n.Places[i].ID, n.Transitions[len(n.Transitions)-1-i].ID)
	}
	return n
}

// parallel is one place and one transition with many arcs between them.
func parallel(arcs int) *petri.Net {
	n := grid("parallel", 1, 1)
	for i := range arcs {
		if i%2 == 0 {
			add(n, "p0", "t0")
		} else {
			add(n, "t0", "p0")
		}
	}
	return n
}

func apartNet(parts int) *petri.Net {
	n := grid("apart", parts, parts/2)
	for i := range n.Transitions {
		add(n, n.Places[i].ID, n.Transitions[i].ID)
	}
	return n
}

// big returns a net with random arcs, mostly forwards, as in processes.
func big(nodes, arcs int) *petri.Net {
	r := rand.New(rand.NewPCG(7, 7))
	n := grid("big", nodes/2, nodes/2)
	for i := range nodes / 2 {
		add(n, n.Places[i].ID, n.Transitions[i].ID)
	}
	for len(n.Arcs) < arcs {
		i := r.IntN(nodes / 2)
		j := min(nodes/2-1, max(0, i+1+int(r.NormFloat64()*8)))
		add(n, n.Transitions[i].ID, n.Places[j].ID)
	}
	return n
}

func TestNoTwoNodesOverlap(t *testing.T) {
	each(t, func(t *testing.T, n *petri.Net, d *Drawing) {
		if len(d.Nodes) > 1000 {
			return // their number is squared here
		}
		for i := range d.Nodes {
			for j := range i {
				a, b := d.Nodes[i].footprint(), d.Nodes[j].footprint()
				if min(a.right, b.right)-max(a.left, b.left) > 0.2 && min(a.bottom, b.bottom)-max(a.top, b.top) > 0.2 {
					t.Errorf("nodes %d and %d of %s overlap: %v, %v", i, j, n.ID, a, b)
				}
			}
		}
	})
}

func TestEverythingIsWithinTheDrawing(t *testing.T) {
	each(t, func(t *testing.T, _ *petri.Net, d *Drawing) {
		on := func(what string, b box) {
			if !(b.left >= 0 && b.top >= 0 && b.right <= d.Width && b.bottom <= d.Height) {
				t.Errorf("%s is at %v, off the paper of %v by %v", what, b, d.Width, d.Height)
			}
		}
		for i := range d.Nodes {
			on(fmt.Sprint("node ", i), d.Nodes[i].footprint())
		}
		for i := range d.Arcs {
			for _, p := range d.Arcs[i].Points {
				on(fmt.Sprint("arc ", i), box{p.X, p.Y, p.X, p.Y})
			}
		}
	})
}

func TestNodesAndArcsAreInTheOrderOfTheNet(t *testing.T) {
	each(t, func(t *testing.T, n *petri.Net, d *Drawing) {
		if len(d.Nodes) != len(n.Places)+len(n.Transitions) || len(d.Arcs) != len(n.Arcs) {
			t.Fatalf("%d nodes and %d arcs are drawn", len(d.Nodes), len(d.Arcs))
		}
		id := func(node int) string {
			if node < len(n.Places) {
				return n.Places[node].ID
			}
			return n.Transitions[node-len(n.Places)].ID
		}
		for i, a := range d.Arcs {
			if id(a.From) != n.Arcs[i].Source || id(a.To) != n.Arcs[i].Target || a.Kind != n.Arcs[i].Kind || a.Weight != n.Arcs[i].Weight {
				t.Fatalf("arc %d is drawn as %+v", i, a)
			}
		}
		for i := range d.Nodes {
			if d.Nodes[i].Place != (i < len(n.Places)) {
				t.Fatalf("node %d: Place is %v", i, d.Nodes[i].Place)
			}
		}
	})
}

// off is how far a point is from the border of a node.
func off(n *Node, p Point) float64 {
	dx, dy := math.Abs(p.X-n.X), math.Abs(p.Y-n.Y)
	if n.Place {
		return math.Abs(math.Hypot(dx, dy) - n.W/2)
	}
	if dx > n.W/2+0.2 || dy > n.H/2+0.2 {
		return math.Inf(1)
	}
	return min(math.Abs(dx-n.W/2), math.Abs(dy-n.H/2))
}

func TestArcsBeginAndEndOnBorders(t *testing.T) {
	each(t, func(t *testing.T, _ *petri.Net, d *Drawing) {
		for i, a := range d.Arcs {
			if len(a.Points) < 2 {
				t.Fatalf("arc %d has %d points", i, len(a.Points))
			}
			first, last := off(&d.Nodes[a.From], a.Points[0]), off(&d.Nodes[a.To], a.Points[len(a.Points)-1])
			if first > 0.2 || last > 0.2 {
				t.Fatalf("arc %d begins %v and ends %v from the borders: %+v", i, first, last, a)
			}
		}
	})
}

// closesCycle reports whether a path leads from an arc's target to its source.
func closesCycle(d *Drawing, arc int) bool {
	out := make([][]int, len(d.Nodes))
	for _, a := range d.Arcs {
		out[a.From] = append(out[a.From], a.To)
	}
	seen := make([]bool, len(d.Nodes))
	for stack := []int{d.Arcs[arc].To}; len(stack) > 0; {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !seen[v] {
			seen[v] = true
			stack = append(stack, out[v]...)
		}
	}
	return seen[d.Arcs[arc].From]
}

func TestArcsOfALayeredDrawingPointRightUnlessTheyCloseACycle(t *testing.T) {
	each(t, func(t *testing.T, n *petri.Net, d *Drawing) {
		if d.Given || slices.ContainsFunc(shapes(n), func(l *layout) bool { return len(l.strips) > 1 }) {
			return
		}
		for i, a := range d.Arcs {
			if d.Nodes[a.From].X >= d.Nodes[a.To].X && !closesCycle(d, i) {
				t.Fatalf("arc %d of no cycle leads from %v to %v", i, d.Nodes[a.From], d.Nodes[a.To])
			}
			if len(d.Nodes) > 5000 && i > 100 {
				return
			}
		}
	})
}

// shapes returns the layouts of the parts of a net.
func shapes(n *petri.Net) (all []*layout) {
	d := newDrawing(n)
	d.growBoxes()
	for _, p := range d.parts() {
		l := newLayout(d, p, plan{first: func(int) bool { return false }})
		l.breakCycles()
		l = l.shaped(Wide, shapeVisits*len(p.nodes)/len(d.Nodes))
		l.draw()
		all = append(all, l)
	}
	return all
}

func TestArcsOfAFoldedDrawingLeadAlongItsStrips(t *testing.T) {
	folded := 0
	for _, n := range []*petri.Net{line(200), process(192), process(1000), branches(400), big(400, 500), petritest.Ring(300), long(2000, 60)} {
		for _, l := range shapes(n) {
			if len(l.strips) > 1 {
				folded++
			}
			for e := range l.edges {
				g := &l.edges[e]
				from, to := l.column[g.from], l.column[g.to]
				if from >= to || (g.turned && e < 100 && !closesCycle(l.d, g.arc)) {
					t.Fatalf("%s: edge %d leads from column %d to %d, against the arc: %v", n.ID, e, from, to, g.turned)
				}
				right := l.node(g.from).X < l.node(g.to).X
				if l.strip[from] == l.strip[to] && right == l.back(from) {
					t.Fatalf("%s: edge %d leads to the right in strip %d: %v", n.ID, e, l.strip[from], right)
				}
				if l.strip[from] < l.strip[to] && l.node(g.from).Y >= l.node(g.to).Y {
					t.Fatalf("%s: edge %d leads up to a later strip", n.ID, e)
				}
			}
		}
	}
	if folded < 7 {
		t.Errorf("%d nets are folded; expected all 7", folded)
	}
}

func TestArcsBetweenTheSameTwoNodesAreApart(t *testing.T) {
	n := parallel(2)
	for _, at := range []*Point{nil, {X: 100, Y: 100}} {
		n.Places[0].At = at
		n.Transitions[0].At = &Point{X: 300, Y: 100}
		d := Net(n, Wide)
		if d.Given != (at != nil) {
			t.Errorf("given is %v with a position of %v", d.Given, at)
		}
		there, back := d.Arcs[0].Points, d.Arcs[1].Points
		if cmp.Equal(there[0].Y, back[len(back)-1].Y) {
			t.Errorf("given %v: both are at the same height: %v and %v", d.Given, there, back)
		}
	}
}

func TestUsablePositionsOfTheFileAreKept(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		rule  string
		at    []*Point // of p0, p1, t0
		given bool
	}{
		{"far enough apart", []*Point{{X: 0, Y: 0}, {X: 200, Y: 0}, {X: 100, Y: 50}}, true},
		{"negative", []*Point{{X: -500, Y: -100}, {X: -200, Y: 0}, {X: -100, Y: 50}}, true},
		{"crowded", []*Point{{X: 0, Y: 0}, {X: 50, Y: 0}, {X: 25, Y: 20}}, true},
		{"too crowded", []*Point{{X: 0, Y: 0}, {X: 5, Y: 0}, {X: 100, Y: 50}}, false},
		{"one missing", []*Point{{X: 0, Y: 0}, nil, {X: 100, Y: 50}}, false},
		{"two in one spot", []*Point{{X: 0, Y: 0}, {X: 100, Y: 50}, {X: 100, Y: 50}}, false},
		{"not finite", []*Point{{X: 0, Y: 0}, {X: inf, Y: 50}, {X: 100, Y: 50}}, false},
		{"not a number", []*Point{{X: 0, Y: 0}, {X: math.NaN(), Y: 50}, {X: 100, Y: 50}}, false},
		{"scattered", []*Point{{X: 0, Y: 0}, {X: 1e300, Y: 50}, {X: -1e300, Y: 50}}, false},
		{"very far apart", []*Point{{X: 0, Y: 0}, {X: 20000, Y: 0}, {X: 100, Y: 20000}}, true},
	} {
		n := grid("n", 2, 1)
		n.Places[0].At, n.Places[1].At, n.Transitions[0].At = c.at[0], c.at[1], c.at[2]
		if d := Net(n, Wide); d.Given != c.given || !(d.Width < 6000 && d.Height < 6000) {
			t.Errorf("%s: given is %v, the size %v by %v", c.rule, d.Given, d.Width, d.Height)
		}
	}
}

func TestTheSameNetGivesTheSameBytes(t *testing.T) {
	each(t, func(t *testing.T, n *petri.Net, d *Drawing) {
		if len(n.Arcs) > 8000 {
			return
		}
		if a, b := svg(t, d, n), svg(t, Net(n, Wide), n); !bytes.Equal(a, b) {
			t.Error("two drawings differ")
		}
	})
}

func svg(t *testing.T, d *Drawing, n *petri.Net) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := d.SVG(&b, n, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wellFormed reads XML to its end and counts its titles.
func wellFormed(t *testing.T, doc []byte) (titles int) {
	t.Helper()
	for r := xml.NewDecoder(bytes.NewReader(doc)); ; {
		token, err := r.Token()
		if errors.Is(err, io.EOF) {
			return titles
		}
		if err != nil {
			t.Fatalf("%v in %.2000s", err, doc)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "title" {
			titles++
		}
	}
}

func TestPicturesAreXMLWithATitleForEveryNode(t *testing.T) {
	each(t, func(t *testing.T, n *petri.Net, d *Drawing) {
		if got := wellFormed(t, svg(t, d, n)); got != 1+len(d.Nodes) {
			t.Errorf("%d titles for %d nodes and the net", got, len(d.Nodes))
		}
	})
}
