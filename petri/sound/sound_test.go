// SPDX-License-Identifier: Apache-2.0

package sound

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/petritest"
)

// arcs makes a net with one token in the place "i". Each text is a transition and its places:
// "a: i > p q". A number behind a place is a weight.
func arcs(transitions ...string) *petri.Net {
	n := &petri.Net{ID: "n"}
	places := map[string]bool{}
	place := func(text string) (string, uint32) {
		weight := uint32(1)
		if id, w, has := strings.Cut(text, "*"); has {
			text, weight = id, uint32(w[0]-'0')
		}
		if !places[text] {
			places[text] = true
			initial := uint32(0)
			if text == "i" {
				initial = 1
			}
			n.Places = append(n.Places, petri.Place{ID: text, Initial: initial})
		}
		return text, weight
	}
	for _, text := range transitions {
		id, ends, _ := strings.Cut(text, ":")
		in, out, _ := strings.Cut(ends, ">")
		n.Transitions = append(n.Transitions, petri.Transition{ID: id})
		for _, p := range strings.Fields(in) {
			p, w := place(p)
			n.Arcs = append(n.Arcs, petri.Arc{Source: p, Target: id, Weight: w})
		}
		for _, p := range strings.Fields(out) {
			p, w := place(p)
			n.Arcs = append(n.Arcs, petri.Arc{Source: id, Target: p, Weight: w})
		}
	}
	return n
}

func bpmn(n *petri.Net) *petri.Net {
	n.Model = &petri.Model{Kind: petri.ModelBPMN}
	return n
}

func guarded(n *petri.Net) *petri.Net {
	n.Transitions[0].Guard = "ok"
	return n
}

const whole = "sound: every instance can end, no end leaves tokens behind, every transition can fire, no place grows without bound"

const (
	noEnd   = "the net has no end, so that soundness does not apply: no place is final, and every transition puts tokens"
	live    = "live: from every marking that can be reached, every transition can fire again"
	bounded = "bounded: no place grows without bound"
)

func TestSoundnessInWords(t *testing.T) {
	for _, c := range []struct {
		name  string
		net   *petri.Net
		most  int
		words []string
	}{
		{"a workflow net that is sound", arcs("a: i > p q", "b: p > r", "c: q > s", "d: r s > o"), 50, []string{whole}},
		{"a choice that ends in a join", arcs("a: i > p", "b: i > q", "c: p q > o"), 50,
			[]string{"not sound: no instance can end", `not sound: 1 transition can never fire: ["c"]`}},
		{"one of two ways ends", arcs("a: i > p", "b: i > q", "c: p > o", "d: p q > o"), 50,
			[]string{`not sound: an instance can come to where it can no longer end; a shortest way: ["b"]`, `not sound: 1 transition can never fire: ["d"]`}},
		{"a split that ends in a merge", arcs("a: i > p q", "b: p > o", "c: q > o"), 50,
			[]string{"not sound: no instance can end", `not sound: an end leaves tokens behind; a shortest way: ["a" "b"]`}},
		{"a circle without a way out", arcs("a: i > p", "b: p > q", "c: q > p", "x: i > o"), 50,
			[]string{`not sound: an instance can come to where it can no longer end; a shortest way: ["a"]`}},
		{"a ring", arcs("a: i > p", "b: p > i"), 50, []string{noEnd, live, bounded}},
		{"a ring that a process draws", bpmn(arcs("a: i > p", "b: p > i")), 50, []string{"not sound: no instance can end"}},
		{"a ring from which a transition takes tokens", arcs("a: i > p", "b: p > i", "c: p >"), 50, []string{whole}},
		{"a ring behind a beginning", arcs("a: i > p", "b: p > q", "c: q > p"), 50,
			[]string{noEnd, `not live: 1 transition can fire, but from some marking never again: ["a"]; a shortest way to one: ["a"]`, bounded}},
		{"a ring that stops", arcs("a: i > p", "b: p > i", "c: i > q", "d: q*2 > i"), 50,
			[]string{noEnd, `not live: 1 transition can never fire: ["d"]`, `not live: 3 transitions can fire, but from some marking never again: ["a" "b" "c"]; a shortest way to one: ["c"]`, bounded}},
		{"a ring that makes tokens", arcs("a: i > i q", "b: q > q"), 50,
			[]string{noEnd, `not bounded: place "q" grows without bound; a shortest way: from the initial marking, then again and again ["a"]`, "undecided: whether every transition can fire again"}},
		{"a ring of which too little is seen", arcs("a: i > p", "b: p > q", "c: q > i"), 2,
			[]string{noEnd, "undecided: which transitions can never fire, whether every transition can fire again, whether a place grows without bound"}},
		{"a circle that makes tokens", arcs("a: i > p", "b: p > p q", "c: p q > o"), 50,
			[]string{`not sound: an instance can come to where it can no longer end; a shortest way: ["a" "b" "b" "c"]`,
				`not sound: an end leaves tokens behind; a shortest way: ["a" "b" "b" "c"]`, `not sound: place "q" grows without bound; a shortest way: ["a"], then again and again ["b"]`}},
		{"a place that is filled from outside", arcs("a: > p"), 50,
			[]string{`not sound: place "p" grows without bound; a shortest way: from the initial marking, then again and again ["a"]`,
				"undecided: whether every instance can end, whether an end leaves tokens behind"}},
		{"too few markings", arcs("a: i > p q", "b: p > r", "c: q > s", "d: r s > o"), 3,
			[]string{"undecided: whether every instance can end, whether an end leaves tokens behind, which transitions can never fire, whether a place grows without bound"}},
		{"a deadlock is decided by few markings", arcs("a: i > p q", "b: p > r", "x: i > z", "y: z*2 > o", "c: q > s", "d: r s > o"), 5,
			[]string{`not sound: an instance can come to where it can no longer end; a shortest way: ["x"]`, "undecided: whether an end leaves tokens behind, which transitions can never fire, whether a place grows without bound"}},
		{"several ends", arcs("a: i > p q", "b: p > o1", "c: q > o2"), 50, []string{whole}},
		{"one of several ends, and a token that waits", arcs("a: i > p q", "b: p > o1", "c: q*2 > o2"), 50,
			[]string{"not sound: no instance can end", `not sound: an end leaves tokens behind; a shortest way: ["a" "b"]`, `not sound: 1 transition can never fire: ["c"]`}},
		{"an end of a process that is reached twice", bpmn(arcs("a: i > p q", "b: p > o", "c: q > o")), 50,
			[]string{`not sound: ["o"] is reached more than once by an instance; a shortest way: ["a" "b" "c"]`}},
		{"a guard is ignored", guarded(arcs("a: i > o")), 50, []string{whole, "ignored: guards; every choice that they leave open was followed"}},
		{"a process that begins with a message", bpmn(arcs("a: > p", "b: p > o")), 50, []string{whole}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tables := petritest.Compile(t, c.net)
			s, r := Judge(tables, explore.Options{Markings: c.most})
			report := ReportOf(tables, &s, &r)
			if d := cmp.Diff(c.words, report.Sentences()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestTheReportNamesElements(t *testing.T) {
	tables := petritest.Compile(t, arcs("a: i > p", "b: p > p q", "c: p q > o"))
	tables.Net.Transitions[0].Guard = "ok"
	s, r := Judge(tables, explore.Options{Markings: 50})
	got, err := json.Marshal(ReportOf(tables, &s, &r))
	want := `{"sound":"no","optionToComplete":{"holds":"no","path":["a","b","b","c"],"marking":{"o":1,"q":1}},"properCompletion":{"holds":"no","path":["a","b","b","c"],"marking":{"o":1,"q":1}},` +
		`"transitions":{"holds":"yes"},"bounded":{"holds":"no","places":["q"],"path":["a"],"round":["b"],"grows":{"q":1},"shortest":true},"ignored":["guards"]}`
	if d := cmp.Diff(want, string(got)); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestTheReportOfANetWithoutAnEnd(t *testing.T) {
	tables := petritest.Compile(t, arcs("a: i > p", "b: p > q", "c: q > p"))
	s, r := Judge(tables, explore.Options{Markings: 50})
	got, err := json.Marshal(ReportOf(tables, &s, &r))
	want := `{"sound":"inapplicable","optionToComplete":{"holds":"inapplicable"},"properCompletion":{"holds":"inapplicable"},` +
		`"transitions":{"holds":"yes"},"live":{"holds":"no","last":["a"],"path":["a"],"marking":{"p":1}},"bounded":{"holds":"yes"}}`
	if d := cmp.Diff(want, string(got)); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestWhatIsIgnored(t *testing.T) {
	for name, change := range map[string]func(n *petri.Net){
		Guards: func(n *petri.Net) { n.Transitions[0].Guard = "ok" }, Priorities: func(n *petri.Net) { n.Transitions[1].Priority = 2 },
		Times: func(n *petri.Net) { n.Transitions[1].Trigger.Kind = petri.TriggerDelay }, Preemption: func(n *petri.Net) { n.Transitions[0].Preempts = true },
		Lists: func(n *petri.Net) {
			n.Places[1].Scope, n.Shared = "s", true
			n.Scopes = []petri.Scope{{ID: "whole"}, {ID: "s", Parent: "whole", Begin: "a", End: "b", Loop: &petri.Loop{Most: 2}}}
		},
		"": func(n *petri.Net) { n.Transitions[1].Priority = petri.Urgent },
	} {
		n := arcs("a: i > p", "b: p > o")
		change(n)
		want := []string{name}
		if name == "" {
			want = nil
		}
		if d := cmp.Diff(want, Ignored(petritest.Compile(t, n))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// randomWorkflow returns a net that is like a workflow net: sometimes it is one.
func randomWorkflow(r *rand.Rand) *petri.Net {
	n := &petri.Net{ID: "workflow", Places: []petri.Place{{ID: "i", Initial: 1}, {ID: "o"}}}
	for i := range r.IntN(5) {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", i)})
	}
	for i := range 1 + r.IntN(5) {
		id := fmt.Sprint("t", i)
		n.Transitions = append(n.Transitions, petri.Transition{ID: id})
		for range 1 + r.IntN(2) {
			in := r.IntN(len(n.Places))
			if in != 1 {
				n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint("a", len(n.Arcs)), Source: n.Places[in].ID, Target: id, Weight: 1})
			}
			out := 1 + r.IntN(len(n.Places)-1)
			n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint("a", len(n.Arcs)), Source: id, Target: n.Places[out].ID, Weight: 1})
		}
	}
	return n
}

// slow is the definition, by the reference interpreter, of a net that ends in one token in o.
type slow struct {
	seen  map[string]map[string]uint64
	next  map[string][]string
	fires map[string]bool
	whole bool
}

func slowly(n *petri.Net, most int) *slow {
	s := &slow{map[string]map[string]uint64{}, map[string][]string{}, map[string]bool{}, true}
	first := petritest.NewReference(n).Marking
	s.seen[fmt.Sprint(first)] = first
	for queue := []string{fmt.Sprint(first)}; len(queue) > 0; queue = queue[1:] {
		for _, tr := range n.Transitions {
			ref := &petritest.Reference{Net: n, Marking: maps.Clone(s.seen[queue[0]])}
			if !ref.Fire(tr.ID) {
				continue
			}
			s.fires[tr.ID] = true
			to := fmt.Sprint(ref.Marking)
			s.next[queue[0]] = append(s.next[queue[0]], to)
			if _, known := s.seen[to]; known {
				continue
			}
			if len(s.seen) == most {
				s.whole = false
				return s
			}
			s.seen[to] = ref.Marking
			queue = append(queue, to)
		}
	}
	return s
}

// lives reports whether a transition can fire in a marking or after it.
func (s *slow) lives(n *petri.Net, tr, from string) bool {
	tried := map[string]bool{from: true}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if ref := (&petritest.Reference{Net: n, Marking: maps.Clone(s.seen[queue[0]])}); ref.Fire(tr) {
			return true
		}
		for _, to := range s.next[queue[0]] {
			if !tried[to] {
				tried[to] = true
				queue = append(queue, to)
			}
		}
	}
	return false
}

// completes reports whether the final marking can be reached from a marking.
func (s *slow) completes(from string) bool {
	tried := map[string]bool{from: true}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if sum := total(s.seen[queue[0]]); sum == 1 && s.seen[queue[0]]["o"] == 1 {
			return true
		}
		for _, to := range s.next[queue[0]] {
			if !tried[to] {
				tried[to] = true
				queue = append(queue, to)
			}
		}
	}
	return false
}

func total(m map[string]uint64) (sum uint64) {
	for _, n := range m {
		sum += n
	}
	return sum
}

func TestWorkflowNetsAgreeWithTheDefinition(t *testing.T) {
	nets, workflows, sound, open := 0, 0, 0, 0
	for seed := range seeds.Of(600, 20_000) {
		nets++
		n := randomWorkflow(rand.New(rand.NewPCG(5, seed)))
		tables := petritest.Compile(t, n)
		if workflow(tables) < 0 {
			continue
		}
		workflows++
		const most = 200
		got, r := Judge(tables, explore.Options{Markings: most})
		want := slowly(n, most)
		if !want.whole {
			open++
			if got.Bounded == Yes || got.Sound() == Yes {
				t.Fatalf("seed %d: %+v of a net with more than %d markings", seed, got, most)
			}
			continue
		}
		all, over := true, false
		for id, m := range want.seen {
			all = all && want.completes(id)
			over = over || m["o"] > 0 && total(m) > 1
		}
		if got.Completes != verdict(true, all) || got.Proper != verdict(true, !over) || got.Bounded != Yes || got.Fires != verdict(true, len(want.fires) == len(n.Transitions)) {
			t.Fatalf("seed %d: %+v; want completes %v, over %v, %d of %d fire", seed, got, all, over, len(want.fires), len(n.Transitions))
		}
		if got.Stuck >= 0 && want.completes(marked(n, r.Graph.Marking(got.Stuck))) {
			t.Fatalf("seed %d: marking %v can end", seed, r.Graph.Marking(got.Stuck))
		}
		if got.Sound() == Yes {
			sound++
		}
	}
	if nets > 1 && (workflows < nets/20 || sound < 3 || open == 0) {
		t.Errorf("%d workflow nets of %d, %d sound, %d not decided by the reference", workflows, nets, sound, open)
	}
}

// randomRing returns a net with two tokens, of which each transition takes as many as it puts.
func randomRing(r *rand.Rand) *petri.Net {
	n := &petri.Net{ID: "ring"}
	for i := range 2 + r.IntN(3) {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("p", i)})
	}
	n.Places[0].Initial = 2
	for i := range 2 + r.IntN(4) {
		id := fmt.Sprint("t", i)
		n.Transitions = append(n.Transitions, petri.Transition{ID: id})
		for range 1 + r.IntN(5)/4 {
			in, out := n.Places[r.IntN(len(n.Places))].ID, n.Places[r.IntN(len(n.Places))].ID
			n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint("a", len(n.Arcs)), Source: in, Target: id, Weight: 1}, petri.Arc{ID: fmt.Sprint("b", len(n.Arcs)), Source: id, Target: out, Weight: 1})
		}
	}
	return n
}

func TestLivenessAgreesWithTheDefinition(t *testing.T) {
	nets, judged, alive := 0, 0, 0
	for seed := range seeds.Of(400, 20_000) {
		nets++
		n := randomRing(rand.New(rand.NewPCG(8, seed)))
		tables := petritest.Compile(t, n)
		const most = 100
		got, r := Judge(tables, explore.Options{Markings: most})
		want := slowly(n, most)
		if got.Sound() != Inapplicable || !want.whole {
			continue
		}
		judged++
		var dead, last []int
		for i, tr := range n.Transitions {
			if !want.fires[tr.ID] {
				dead = append(dead, i)
				continue
			}
			for id := range want.seen {
				if !want.lives(n, tr.ID, id) {
					last = append(last, i)
					break
				}
			}
		}
		if !slices.Equal(got.Dead, dead) || !slices.Equal(got.Last, last) || got.Live != verdict(true, dead == nil && last == nil) || got.Bounded != Yes {
			t.Fatalf("seed %d: %+v; want %v never fire, %v not again", seed, got, dead, last)
		}
		if last != nil {
			at := marked(n, r.Graph.Marking(got.Lost))
			if !slices.ContainsFunc(last, func(tr int) bool { return !want.lives(n, n.Transitions[tr].ID, at) }) {
				t.Fatalf("seed %d: all of %v can fire again from %s", seed, last, at)
			}
		}
		if got.Live == Yes {
			alive++
		}
	}
	if nets > 1 && (judged < nets/5 || alive < nets/40) {
		t.Errorf("%d nets without an end of %d, %d of them live", judged, nets, alive)
	}
}

// marked returns a marking as slowly does.
func marked(n *petri.Net, m []uint32) string {
	text := map[string]uint64{}
	for p := range n.Places {
		text[n.Places[p].ID] = uint64(m[p])
	}
	return fmt.Sprint(text)
}

// What a visit decides before its end stays so in a longer one.
func TestAVerdictDoesNotDependOnTheBound(t *testing.T) {
	for seed := range seeds.Of(60, 1000) {
		tables := petritest.Compile(t, petritest.RandomNet(rand.New(rand.NewPCG(6, seed))))
		before := Soundness{Completes: Undecided, Proper: Undecided, Fires: Undecided, Live: Undecided, Bounded: Undecided}
		for _, most := range []int{3, 10, 40, 200} {
			s, _ := Judge(tables, explore.Options{Markings: most})
			for i, pair := range [][2]Verdict{{before.Completes, s.Completes}, {before.Proper, s.Proper}, {before.Fires, s.Fires}, {before.Live, s.Live}, {before.Bounded, s.Bounded}} {
				if pair[0] != Undecided && pair[0] != pair[1] {
					t.Fatalf("seed %d, %d markings: verdict %d was %s, is %s", seed, most, i, pair[0], pair[1])
				}
			}
			before = s
		}
	}
}

func TestWithoutMemoryForTheGraphCompletionIsUndecided(t *testing.T) {
	n := &petri.Net{ID: "n"}
	for i := range 14 {
		p, tr := fmt.Sprint("p", i), fmt.Sprint("t", i)
		n.Places = append(n.Places, petri.Place{ID: p, Initial: 1}, petri.Place{ID: p + "o"})
		n.Transitions = append(n.Transitions, petri.Transition{ID: tr})
		n.Arcs = append(n.Arcs, petri.Arc{Source: p, Target: tr, Weight: 1}, petri.Arc{Source: tr, Target: p + "o", Weight: 1})
	}
	tables := petritest.Compile(t, n)
	s, r := Judge(tables, explore.Options{Markings: 1e6, Memory: 512 << 10})
	if s.Completes != Undecided || s.Bounded != Yes || !r.Complete || r.Graph != nil {
		t.Errorf("%+v, %+v; want the rest decided", s, r)
	}
	if s, _ = Judge(tables, explore.Options{Markings: 1e6}); s.Sound() != Yes {
		t.Errorf("%+v", s)
	}
	if s, _ = Judge(tables, explore.Options{Markings: 1e6, Continue: func(visited, _ int) bool { return visited < 100 }}); slices.Contains([]Verdict{s.Completes, s.Proper, s.Bounded}, Yes) {
		t.Errorf("interrupted: %+v", s)
	}
}
