// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawn makes a graph of edges "id from>to". A node whose name ends in "?" is a
// choice; "-" is None.
func drawn(edges ...string) *Graph {
	g := &Graph{}
	node := func(id string) int {
		if id == "-" {
			return None
		}
		if i := slices.IndexFunc(g.Nodes, func(n Node) bool { return n.ID == id }); i >= 0 {
			return i
		}
		g.Nodes = append(g.Nodes, Node{ID: id, Choice: strings.HasSuffix(id, "?")})
		return len(g.Nodes) - 1
	}
	for _, e := range edges {
		id, ends, _ := strings.Cut(e, " ")
		from, to, _ := strings.Cut(ends, ">")
		g.Edges = append(g.Edges, Edge{ID: id, From: node(from), To: node(to)})
	}
	return g
}

func newCursor(t *testing.T, g *Graph, starts ...int) *Cursor {
	t.Helper()
	c, err := New(g, starts, Stamp{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// row is the expected values of a step.
type row struct {
	edge, threads string
	pointer       int
}

// walk makes steps until no thread is left, at most limit, and returns the rows.
func walk(t *testing.T, c *Cursor, choose Choose, limit int) []row {
	t.Helper()
	rows := []row{{"-", c.threads(), c.pointer}}
	for range limit {
		e, err := c.Step(choose, Stamp{})
		if errors.Is(err, ErrDone) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row{c.graph.Edges[e.Edge].ID, c.threads(), c.pointer})
	}
	return rows
}

func graphX() *Graph {
	return drawn("1 a>b", "2 b>c", "3 b>d", "4 c>e", "5 c>f", "6 d>g", "7 e>h", "8 h>j", "9 f>i", "10 i>j", "11 f>g", "12 g>j", "13 j>k")
}

func TestOracleOfGraphX(t *testing.T) {
	c := newCursor(t, graphX(), 0)
	want := []row{
		{"-", "1", 1},
		{"1", "2 3", 1},
		{"2", "4 5 3", 3},
		{"3", "4 5 6", 1},
		{"4", "7 5 6", 2},
		{"5", "7 9 11 6", 4},
		{"6", "7 9 11", 1},
		{"7", "8 9 11", 2},
		{"9", "8 10 11", 3},
		{"11", "8 10 12", 1},
		{"8", "10 12", 1},
		{"10", "12", 1},
		{"12", "13", 1},
		{"13", "", 0},
	}
	if d := cmp.Diff(want, walk(t, c, nil, 100), cmp.AllowUnexported(row{})); d != "" {
		t.Error(d)
	}
	if c.Waiting() != nil {
		t.Errorf("nodes %v wait at the end", c.Waiting())
	}
}

func TestSecondOracle(t *testing.T) {
	c := newCursor(t, drawn("x1 start>either", "x2 either>left", "x3 either>right", "x4 left>join", "x5 right>join", "x6 join>epilog", "x7 epilog>end"), 0)
	want := []row{{"-", "x1", 1}, {"x1", "x2 x3", 1}, {"x2", "x4 x3", 2}, {"x3", "x4 x5", 1}, {"x4", "x5", 1}, {"x5", "x6", 1}, {"x6", "x7", 1}, {"x7", "", 0}}
	if d := cmp.Diff(want, walk(t, c, nil, 100), cmp.AllowUnexported(row{})); d != "" {
		t.Error(d)
	}
}

func TestRulesOfTheTrace(t *testing.T) {
	for _, c := range []struct {
		rule    string
		graph   *Graph
		starts  []int
		choices string // ids of the edges that are chosen, in order
		edges   string // that are taken
		waiting string // nodes, at the end
	}{
		{"a choice takes one edge", drawn("1 a>b?", "2 b?>c", "3 b?>d"), []int{0}, "3", "1 3", ""},
		{"a choice of one edge is not asked", drawn("1 a>b?", "2 b?>c"), []int{0}, "", "1 2", ""},
		{"a choice without edges ends its thread", drawn("1 a>b?"), []int{0}, "", "1", ""},
		{"a choice does not wait for its other edges", drawn("1 a>m?", "2 b>m?", "3 m?>c"), []int{0}, "", "1 3", ""},
		{"a choice lets every thread pass", drawn("1 a>m?", "2 b>m?", "3 m?>c"), []int{0, 1}, "", "1 2 3 3", ""},
		{"a join waits for all its edges", drawn("1 a>j", "2 b>j", "3 j>c"), []int{0, 1}, "", "1 2 3", ""},
		{"a join that misses an edge is deadlocked, not finished", drawn("1 a>j", "2 b>j", "3 j>c"), []int{0}, "", "1", "j"},
		{"a join behind a choice misses what was not chosen", drawn("1 a>x?", "2 x?>j", "3 x?>j", "4 j>b"), []int{0}, "2", "1 2", "j"},
		{"a join counts an edge as often as it was taken", drawn("1 a>j", "2 b>j", "3 j>c"), []int{0, 0, 1, 1}, "", "1 1 2 2 3 3", ""},
		{"one edge twice does not stand for two edges", drawn("1 a>j", "2 b>j", "3 j>c"), []int{0, 0}, "", "1 1", "j"},
		{"round a cycle a join waits for new tokens", drawn("1 a>m?", "2 m?>s", "3 s>j", "4 s>j", "5 j>x?", "6 x?>m?", "7 x?>end"), []int{0}, "6 6 7",
			"1 2 3 4 5 6 2 3 4 5 6 2 3 4 5 7", ""},
		{"a join on its own cycle needs the first token from elsewhere", drawn("1 a>j", "2 j>j", "3 j>b"), []int{0}, "", "1", "j"},
		{"a join on its own cycle goes round while it is fed", drawn("1 a>j", "2 j>j", "3 j>b"), []int{0, 1, 0}, "", "1 2 1 2 3 2 3", "j"},
		{"an edge that leads outside ends its thread", drawn("1 ->a", "2 a>-"), []int{0}, "", "1 2", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			choices := strings.Fields(c.choices)
			choose := func(_ int, out []int) int {
				if len(choices) == 0 {
					t.Fatal("asked once too often")
				}
				id := choices[0]
				choices = choices[1:]
				i := slices.IndexFunc(out, func(e int) bool { return c.graph.Edges[e].ID == id })
				if i < 0 {
					t.Fatalf("asked for %v, want to choose %q", out, id)
				}
				return out[i]
			}
			cur := newCursor(t, c.graph, c.starts...)
			var edges, waiting []string
			for _, r := range walk(t, cur, choose, 100)[1:] {
				edges = append(edges, r.edge)
			}
			for _, n := range cur.Waiting() {
				waiting = append(waiting, c.graph.Nodes[n].ID)
			}
			if got := strings.Join(edges, " "); got != c.edges || len(choices) > 0 {
				t.Errorf("took %q, want %q; choices left %q", got, c.edges, choices)
			}
			if got := strings.Join(waiting, " "); got != c.waiting {
				t.Errorf("waiting %q, want %q", got, c.waiting)
			}
		})
	}
}

// The parent of a step is the step that put its edge into the ring.
func TestHistoryIsATree(t *testing.T) {
	c := newCursor(t, graphX(), 0)
	got := map[string]int{}
	for {
		e, err := c.Step(nil, Stamp{When: 7, Who: "clock"})
		if errors.Is(err, ErrDone) {
			break
		}
		got[c.graph.Edges[e.Edge].ID] = e.Parent
		if err != nil || e != c.Last() || e.Stamp != (Stamp{7, "clock"}) || e.Step != len(got) {
			t.Fatalf("step %d is %+v, %v; the last one is %+v", len(got), e, err, c.Last())
		}
	}
	want := map[string]int{"1": 0, "2": 1, "3": 1, "4": 2, "5": 2, "6": 3, "7": 4, "9": 5, "11": 5, "8": 7, "10": 8, "12": 9, "13": 12}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAFailedStepChangesNothing(t *testing.T) {
	for _, c := range []struct {
		rule   string
		graph  *Graph
		choose Choose
		want   error
	}{
		{"no function Choose", drawn("1 a>b?", "2 b?>c", "3 b?>d"), nil, ErrChoice},
		{"an edge that is not there", drawn("1 a>b?", "2 b?>c", "3 b?>d"), func(int, []int) int { return 17 }, ErrChoice},
		{"an edge of another node", drawn("1 a>b?", "2 b?>c", "3 b?>d"), func(int, []int) int { return 0 }, ErrChoice},
	} {
		cur := newCursor(t, c.graph, 0)
		if _, err := cur.Step(c.choose, Stamp{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.rule, err, c.want)
		}
		if cur.threads() != "1" || cur.pointer != 1 || cur.Last().Step != 0 {
			t.Errorf("%s: threads %q, pointer %d, step %d", c.rule, cur.threads(), cur.pointer, cur.Last().Step)
		}
	}
}

func TestThreadsAreBounded(t *testing.T) {
	g := drawn("1 m?>s", "2 s>m?", "3 s>m?") // twice as many each round
	c := newCursor(t, g, 0)
	for {
		before := len(c.ring)
		_, err := c.Step(nil, Stamp{})
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrThreads) || before != MaxThreads || len(c.ring) != MaxThreads {
			t.Fatalf("%v with %d threads, %d after", err, before, len(c.ring))
		}
		return
	}
}

func TestNewRefuses(t *testing.T) {
	a := drawn("1 a>b")
	for want, c := range map[string]struct {
		graph  *Graph
		starts []int
	}{
		"there is no edge to start at":                  {a, nil},
		"start at edge 1; expected one of 1 edges":      {a, []int{1}},
		"start at edge -1":                              {a, []int{None}},
		"65537 edges to start at":                       {a, make([]int, MaxThreads+1)},
		"node 0: it has no id":                          {&Graph{Nodes: []Node{{}}}, []int{0}},
		`node 1: the id "a" is there twice`:             {&Graph{Nodes: []Node{{ID: "a"}, {ID: "a"}}}, []int{0}},
		"edge 0: it has no id":                          {&Graph{Nodes: a.Nodes, Edges: []Edge{{}}}, []int{0}},
		`edge 1: the id "1" is there twice`:             {drawn("1 a>b", "1 b>a"), []int{0}},
		`edge "1" joins no node`:                        {drawn("1 ->-"), []int{0}},
		`edge "1" ends at node 7; expected one of 2`:    {&Graph{Nodes: a.Nodes, Edges: []Edge{{ID: "1", From: 0, To: 7}}}, []int{0}},
		`edge "1" ends at node -2; expected one of 2 n`: {&Graph{Nodes: a.Nodes, Edges: []Edge{{ID: "1", From: -2, To: 1}}}, []int{0}},
	} {
		if _, err := New(c.graph, c.starts, Stamp{}); err == nil || !strings.HasPrefix(err.Error(), "cursor: "+want) {
			t.Errorf("got  %v\nwant cursor: %s…", err, want)
		}
	}
}

func TestRunWritesTheTraceAsCSV(t *testing.T) {
	g := drawn("in ->a", "l a>j", "r_2 a>j", "out j>-")
	g.Edges[1].ID, g.Edges[2].ID = "left, first", `"right"`
	now := int64(1_772_355_600_000_001)
	var out strings.Builder
	c, err := Run(g, []int{0}, Options{When: func() int64 { now += 1_500_000; return now - 1_500_000 }, Who: "A. Clerk, 2nd floor"}, &out)
	want := `step,edge,threads,pointer,parent,who,when
0,-,in,1,-,"A. Clerk, 2nd floor",2026-03-01T09:00:00.000001Z
1,in,"""left, first"" ""\""right\""""",1,0,"A. Clerk, 2nd floor",2026-03-01T09:00:01.500001Z
2,"left, first","""\""right\""""",1,1,"A. Clerk, 2nd floor",2026-03-01T09:00:03.000001Z
3,"""right""",out,1,1,"A. Clerk, 2nd floor",2026-03-01T09:00:04.500001Z
4,out,,0,3,"A. Clerk, 2nd floor",2026-03-01T09:00:06.000001Z
`
	if d := cmp.Diff(want, out.String()); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	if c.Last().Step != 4 || c.Waiting() != nil {
		t.Errorf("%+v, waiting %v", c.Last(), c.Waiting())
	}
}

func clock() int64 { return 0 }

func TestRunEnds(t *testing.T) {
	var out strings.Builder
	circle := drawn("1 a>b", "2 b>a")
	c, err := Run(circle, []int{0}, Options{When: clock, Steps: 3}, &out)
	if !errors.Is(err, ErrSteps) || c.Last().Step != 3 || strings.Count(out.String(), "\n") != 5 {
		t.Errorf("%v after %+v:\n%s", err, c.Last(), out.String())
	}
	c, err = Run(drawn("1 a>b?", "2 b?>c", "3 b?>d"), []int{0}, Options{When: clock}, &out)
	if !errors.Is(err, ErrChoice) || c.Last().Step != 0 {
		t.Errorf("%v after %+v", err, c.Last())
	}
	if _, err := Run(circle, nil, Options{When: clock}, &out); err == nil {
		t.Error("started nowhere")
	}
	if _, err := Run(graphX(), []int{0}, Options{When: clock, Steps: 13}, &out); err != nil {
		t.Errorf("13 steps are enough for graph X: %v", err)
	}
	if _, err := Run(circle, []int{0}, Options{When: clock, Steps: 1000}, full{}); !errors.Is(err, errFull) {
		t.Errorf("wrote to a full disk: %v", err)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func ExampleRun() {
	g := &Graph{Nodes: []Node{{ID: "order"}, {ID: "pack"}, {ID: "bill"}, {ID: "send"}}, Edges: []Edge{
		{ID: "in", From: None, To: 0},
		{ID: "goods", From: 0, To: 1}, {ID: "price", From: 0, To: 2},
		{ID: "parcel", From: 1, To: 3}, {ID: "invoice", From: 2, To: 3},
	}}
	var out strings.Builder
	c, err := Run(g, []int{0}, Options{When: func() int64 { return 1_772_355_600_000_000 }, Who: "shop"}, &out)
	fmt.Print(out.String(), c.Waiting(), err)
	// Output:
	// step,edge,threads,pointer,parent,who,when
	// 0,-,in,1,-,shop,2026-03-01T09:00:00.000000Z
	// 1,in,goods price,1,0,shop,2026-03-01T09:00:00.000000Z
	// 2,goods,parcel price,2,1,shop,2026-03-01T09:00:00.000000Z
	// 3,price,parcel invoice,1,1,shop,2026-03-01T09:00:00.000000Z
	// 4,parcel,invoice,1,2,shop,2026-03-01T09:00:00.000000Z
	// 5,invoice,,0,3,shop,2026-03-01T09:00:00.000000Z
	// [] <nil>
}
