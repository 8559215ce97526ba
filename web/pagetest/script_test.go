// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/draw"
	"github.com/pnagent/pnagent/petri/pnml"
)

// scripted is a net whose numbers are a function of the time, so that its past
// is known too.
type scripted struct {
	def       *petri.Net
	stuck     int   // the place in which something is stuck
	since     int64 // when it got stuck, ms
	instances []string
	unknown   bool   // no source knows anything
	down      bool   // no source is up
	absent    bool   // it was not there in the past
	final     []bool // by place: nothing takes its tokens
	resting   []int  // places in which tokens may stay
	asleep    int    // from this row on, places are empty and nothing happens; 0 for none
	drawing   map[string]any
	file      string         // of BPMN; "" for none
	upright   map[string]any // the drawing for an upright screen
}

// minutes in ms.
const minute = 60_000

// shop is the example of the order fulfilment; its unclear payments are stuck.
func shop(t *testing.T, now int64) *scripted {
	t.Helper()
	f, err := os.Open("../../examples/order-fulfilment.pnml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := pnml.Read(f, "order-fulfilment.pnml", pnml.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range file.Nets[0].Transitions {
		if tr := &file.Nets[0].Transitions[i]; tr.ID == "clarify" {
			tr.Doc = "Assignee: anna."
		}
	}
	return newScripted(file.Nets[0], "paymentUnclear", now-42*minute, "berlin/customer 17", "osaka/customer 3", "osaka/customer 41")
}

// hostile is a net whose ids and names try to be something else than text.
func hostile(now int64) *scripted {
	long := ""
	for i := range 50 {
		long += fmt.Sprintf("%09d ", i)
	}
	def := &petri.Net{ID: `<script>alert("net")</script>&net=x#y`, Name: `<img src=x onerror="alert(1)">`,
		Places: []petri.Place{
			{ID: "p1", Name: `<script>document.title="taken"</script>`, Doc: "</style><script>alert(2)</script>"},
			{ID: `"'&=#%/\?`, Name: `" onclick="alert(3)' x='`},
			{ID: "p3", Name: "\u202eמקום אחד שממנו לא יוצא כלום", Doc: "from right to left"},
			{ID: long, Name: long},
			{ID: "__proto__"}, {ID: "constructor", Name: "👩‍👩‍👧‍👦\x00\t\nline"},
		},
		Transitions: []petri.Transition{{ID: "t1", Name: "javascript:alert(4)"}, {ID: "t<2>", Name: "${alert(5)}"}},
	}
	for i := range def.Places {
		def.Arcs = append(def.Arcs, petri.Arc{ID: fmt.Sprint(i), Source: def.Places[i].ID, Target: def.Transitions[i%2].ID, Weight: uint32(i%3) + 1})
	}
	def.Arcs = append(def.Arcs, petri.Arc{ID: "i", Source: "p3", Target: "t1", Kind: petri.Inhibitor, Weight: 1},
		petri.Arc{ID: "r", Source: "p1", Target: "t<2>", Kind: petri.Read, Weight: 1},
		petri.Arc{ID: "o", Source: "t1", Target: "constructor", Weight: 1}, petri.Arc{ID: "o2", Source: "t<2>", Target: "p3", Weight: 1})
	return newScripted(def, "p1", now-3*minute, `<b onmouseover="alert(6)">instance</b>`, long[:100])
}

// large is a net of n nodes in a long web of cycles.
func large(n int, now int64) *scripted {
	def := &petri.Net{ID: "large", Name: fmt.Sprintf("A net of %d nodes", n)}
	arc := func(from, to string) {
		def.Arcs = append(def.Arcs, petri.Arc{ID: fmt.Sprint(len(def.Arcs)), Source: from, Target: to, Weight: 1})
	}
	const columns = 25
	for i := range n / 2 {
		x, y := float64(i%columns)*240, float64(i/columns)*130
		def.Places = append(def.Places, petri.Place{ID: fmt.Sprintf("p%d", i), Name: fmt.Sprintf("Station %d", i), At: &petri.Point{X: x, Y: y}})
		def.Transitions = append(def.Transitions, petri.Transition{ID: fmt.Sprintf("t%d", i), Name: fmt.Sprintf("move %d", i), At: &petri.Point{X: x + 120, Y: y}})
		arc(def.Places[i].ID, def.Transitions[i].ID)
	}
	for i := range n / 2 {
		arc(def.Transitions[i].ID, def.Places[(i+1)%(n/2)].ID)
		if i%7 == 0 && i+columns < n/2 {
			arc(def.Transitions[i].ID, def.Places[i+columns].ID)
		}
	}
	return newScripted(def, "p333", now-25*minute, "truck 9")
}

// plant is a process of about n nodes without positions: blocks of branches one
// after the other, with a way back now and then.
func plant(n int, now int64) *scripted {
	def := &petri.Net{ID: "plant", Name: fmt.Sprintf("A plant of %d nodes", n)}
	arc := func(from, to string) {
		def.Arcs = append(def.Arcs, petri.Arc{ID: fmt.Sprint(len(def.Arcs)), Source: from, Target: to, Weight: 1})
	}
	place := func(from string) string {
		id := fmt.Sprintf("p%d", len(def.Places))
		def.Places = append(def.Places, petri.Place{ID: id, Name: fmt.Sprintf("Buffer of line %d", len(def.Places))})
		if from != "" {
			arc(from, id)
		}
		return id
	}
	transition := func(from string) string {
		id := fmt.Sprintf("t%d", len(def.Transitions))
		def.Transitions = append(def.Transitions, petri.Transition{ID: id, Name: fmt.Sprintf("Work step %d", len(def.Transitions))})
		arc(from, id)
		return id
	}
	from := place("")
	for block := 0; len(def.Places)+len(def.Transitions) < n; block++ {
		split, first := transition(from), from
		var ends []string
		for k := range 2 + block%4 {
			end := place(split)
			for range 1 + (block+k)%4 {
				end = place(transition(end))
			}
			ends = append(ends, end)
		}
		join := transition(ends[0])
		for _, end := range ends[1:] {
			arc(end, join)
		}
		from = place(join)
		if block%5 == 4 {
			arc(transition(from), first)
		}
	}
	return newScripted(def, fmt.Sprintf("p%d", len(def.Places)/2), now-25*minute, "truck 9")
}

func newScripted(def *petri.Net, stuck string, since int64, instances ...string) *scripted {
	s := &scripted{def: def, since: since, instances: instances, final: def.FinalPlaces()}
	for i := range def.Places {
		if def.Places[i].ID == stuck {
			s.stuck = i
		}
	}
	s.drawing, s.upright = s.draw(draw.Wide), s.draw(0.6)
	return s
}

// draw makes the drawing as the API says it.
func (s *scripted) draw(aspect float64) map[string]any {
	d := draw.Net(s.def, aspect)
	var nodes, arcs []map[string]any
	for i, n := range d.Nodes {
		node := map[string]any{"label": n.Label, "x": n.X, "y": n.Y, "w": n.W, "h": n.H}
		if i < len(s.def.Places) {
			p := &s.def.Places[i]
			node["kind"] = "place"
			node["id"] = p.ID
			node["name"] = p.Name
			node["doc"] = p.Doc
			node["initial"] = p.Initial
			if s.final[i] {
				node["final"] = true
			}
			addCalled(node, p.Called)
		} else {
			t := &s.def.Transitions[i-len(s.def.Places)]
			node["kind"], node["id"], node["name"], node["doc"] = "transition", t.ID, t.Name, t.Doc
			addCalled(node, t.Called)
		}
		nodes = append(nodes, node)
	}
	for _, a := range d.Arcs {
		points := [][2]float64{}
		for _, p := range a.Points {
			points = append(points, [2]float64{p.X, p.Y})
		}
		arcs = append(arcs, map[string]any{"from": a.From, "to": a.To, "kind": a.Kind.String(), "weight": a.Weight, "points": points})
	}
	return map[string]any{"net": s.def.ID, "name": s.def.Name, "doc": s.def.Doc, "hash": fmt.Sprintf("h%d", len(nodes)),
		"width": d.Width, "height": d.Height, "positions": "given", "nodes": nodes, "arcs": arcs}
}

// addCalled adds what an element of a file is called.
func addCalled(node map[string]any, c petri.Called) {
	if c.Kind != "" {
		node["called"] = map[string]any{"kind": c.Kind, "name": c.Name}
	}
}

// at returns where a node is drawn.
func (s *scripted) at(node int) (x, y float64) {
	n := s.drawing["nodes"].([]map[string]any)[node]
	return n["x"].(float64), n["y"].(float64)
}

// row is a place's or a transition's numbers; nil is an unknown number.
type row = []any

// place returns the numbers of a place at a time: the stuck one holds three
// tokens since it got stuck, a final one thousands since long before, every fifth
// is empty, the others' change.
func (s *scripted) place(i int, at int64) row {
	switch {
	case s.unknown:
		return row{nil, nil, nil, nil}
	case s.asleep > 0 && i >= s.asleep && i != s.stuck:
		return row{0, 0, 0, 0}
	case s.final[i]:
		return row{4711, s.since - 30*24*60*minute, 4711, 2.5}
	case i == s.stuck && at >= s.since:
		return row{3, s.since, 3, 0}
	case i == s.stuck || i%5 == 4:
		return row{0, 0, 0, 0}
	}
	period := int64(math.Pow(2, float64(i%6))) * 1500
	return row{1 + (at/1000+int64(i))%7*int64(i%4), at - at%period - 200, 1 + i%3, 0.7}
}

// transition returns the numbers of a transition at a time.
func (s *scripted) transition(i int, _ int64) row {
	switch {
	case s.unknown:
		return row{nil, nil, nil, nil, nil, nil}
	case s.asleep > 0 && i >= s.asleep:
		return row{0, 0, 0, 0, 0, 0}
	case i%4 == 3:
		return row{0, 0, 0, 0, i % 3, 0}
	}
	return row{0.4 + float64(i%5)*0.9, i % 2, s.since + int64(i)*1000, i % 3, 0, i % 2}
}

// frame returns the whole frame of a time.
func (s *scripted) frame(generation int, at int64) map[string]any {
	places, transitions := []map[string]any{}, []map[string]any{}
	for i := range s.def.Places {
		places = append(places, named(s.place(i, at), "tokens", "oldest_since", "instances", "arrival_rate"))
	}
	for i := range s.def.Transitions {
		transitions = append(transitions, named(s.transition(i, at), "rate", "enabled", "enabled_since", "running", "blocked", "failures"))
	}
	return map[string]any{"net": s.def.ID, "drawing": s.drawing["hash"], "generation": generation, "at": moment(at), "resting": s.resting, "places": places, "transitions": transitions}
}

// diff returns what changed between two times.
func (s *scripted) diff(generation int, from, at int64) map[string]any {
	p := []map[string]any{}
	for i := range s.def.Places {
		if now := s.place(i, at); fmt.Sprint(now) != fmt.Sprint(s.place(i, from)) {
			changed := named(now, "tokens", "oldest_since", "instances", "arrival_rate")
			changed["index"] = i
			p = append(p, changed)
		}
	}
	return map[string]any{"generation": generation, "at": moment(at), "places": p, "transitions": []any{}}
}

// named is a row as the API has it: what is not known, and a time that never was, are absent.
func named(r row, names ...string) map[string]any {
	doc := map[string]any{}
	for i, name := range names {
		if since, ok := r[i].(int64); strings.HasSuffix(name, "_since") {
			if ok && since != 0 {
				doc[name] = moment(since)
			}
		} else if r[i] != nil {
			doc[name] = r[i]
		}
	}
	return doc
}
