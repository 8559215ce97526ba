// SPDX-License-Identifier: Apache-2.0

package query

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/petri/petritest"
)

// buffer is a net that moves three tokens from "in" by "get" to "full", two at most at a
// time, and by "put" to "out".
func buffer(t testing.TB) *petri.Tables {
	return petritest.Compile(t, &petri.Net{
		Places:      []petri.Place{{ID: "in", Initial: 3}, {ID: "free", Initial: 2}, {ID: "full"}, {ID: "out"}},
		Transitions: []petri.Transition{{ID: "get"}, {ID: "put"}, {ID: "never"}},
		Arcs: []petri.Arc{
			{Source: "in", Target: "get", Weight: 1}, {Source: "free", Target: "get", Weight: 1}, {Source: "get", Target: "full", Weight: 1},
			{Source: "full", Target: "put", Weight: 1}, {Source: "put", Target: "free", Weight: 1}, {Source: "put", Target: "out", Weight: 1},
			{Source: "out", Target: "never", Weight: 4},
		},
	})
}

func property(formula string) string {
	return `<property-set xmlns="http://mcc.lip6.fr/"><property><id>x</id><description>d</description><formula>` + formula + `</formula></property></property-set>`
}

func exists(f string) string { return `<exists-path><finally>` + f + `</finally></exists-path>` }
func always(f string) string { return `<all-paths><globally>` + f + `</globally></all-paths>` }

func tokens(places ...string) string {
	return `<tokens-count><place>` + strings.Join(places, `</place><place>`) + `</place></tokens-count>`
}

func constant(n int) string { return fmt.Sprintf("<integer-constant>%d</integer-constant>", n) }

func compare(op, a, b string) string { return "<integer-" + op + ">" + a + b + "</integer-" + op + ">" }

func TestAnswers(t *testing.T) {
	fireable := `<is-fireable><transition>get</transition></is-fireable>`
	tests := []struct {
		formula string
		want    any
	}{
		{exists(compare("le", constant(2), tokens("full"))), true},
		{exists(compare("le", constant(3), tokens("full"))), false},
		{exists(compare("gt", tokens("full"), constant(2))), false},
		{exists(compare("lt", tokens("out"), tokens("in"))), true},
		{always(compare("eq", tokens("free", "full"), constant(2))), true},
		{always(compare("ne", tokens("in"), constant(1))), false},
		{always(compare("ge", `<integer-sum>`+tokens("in")+tokens("out")+`</integer-sum>`, constant(1))), true},
		{always(compare("le", `<integer-difference>`+tokens("in")+tokens("out")+`</integer-difference>`, constant(-4))), false},
		{exists(compare("eq", `<integer-difference>`+tokens("in")+tokens("out")+`</integer-difference>`, constant(-3))), true},
		{exists("<deadlock/>"), true},
		{always("<negation><deadlock/></negation>"), false},
		{always("<implication><deadlock/>" + compare("eq", tokens("out"), constant(3)) + "</implication>"), true},
		{always("<equivalence><true/><true/></equivalence>"), true},
		{exists("<exclusive-disjunction><true/><true/></exclusive-disjunction>"), false},
		{exists("<conjunction>" + fireable + compare("le", constant(2), tokens("out")) + "</conjunction>"), true},
		{exists("<is-fireable><transition>never</transition></is-fireable>"), false},
		{exists("<is-fireable><transition>never</transition><transition> get </transition></is-fireable>"), true},
		{always("<disjunction>" + fireable + "<false/></disjunction>"), false},
		{"<place-bound><place>full</place></place-bound>", int64(2)},
		{"<place-bound><place>full</place><place>out</place></place-bound>", int64(3)},
	}
	for _, tt := range tests {
		properties, err := Read(strings.NewReader(property(tt.formula)), "q", buffer(t), Limits{})
		if err != nil {
			t.Fatalf("%s: %v", tt.formula, err)
		}
		results, _ := Answer(buffer(t), properties, explore.Options{Markings: 1000})
		r := results[0]
		var got any = r.Holds
		if r.Property.Kind == Bound {
			got = r.Most
		}
		if !r.Known || got != tt.want {
			t.Errorf("%s: %v, known %v; want %v", tt.formula, got, r.Known, tt.want)
		}
	}
}

// A property that is not decided by the visited markings is not answered, and the visit
// ends once all are decided.
func TestAnswersOfAnIncompleteVisit(t *testing.T) {
	file := strings.NewReplacer("</property-set>", "", `<property-set xmlns="http://mcc.lip6.fr/">`, "")
	var all strings.Builder
	for i, f := range []string{exists(tokensAtLeast("out", 1)), always(compare("le", tokens("in"), constant(2))), exists(tokensAtLeast("out", 3)),
		"<place-bound><place>out</place></place-bound>"} {
		all.WriteString(strings.Replace(file.Replace(property(f)), "<id>x", fmt.Sprint("<id>", i), 1))
	}
	properties, err := Read(strings.NewReader("<property-set>"+all.String()+"</property-set>"), "q", buffer(t), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	results, _ := Answer(buffer(t), properties, explore.Options{Markings: 4})
	for i, want := range []bool{true, true, false, false} {
		if results[i].Known != want {
			t.Errorf("property %d: known %v, want %v", i, results[i].Known, want)
		}
	}
	if _, visit := Answer(buffer(t), properties[1:2], explore.Options{Markings: 100}); visit.Markings != 1 || visit.Stopped != explore.Decided {
		t.Errorf("%d markings, stopped by %q", visit.Markings, visit.Stopped)
	}
}

// A visit that takes several runs of a scope together answers nothing, because what it found
// need not be reachable.
func TestNoAnswerIsKnownIfRunsOfAScopeWereTakenTogether(t *testing.T) {
	net := petritest.Compile(t, &petri.Net{ID: "scoped", Scopes: []petri.Scope{{ID: "s"}},
		Places:      []petri.Place{{ID: "in", Initial: 2}, {ID: "out", Scope: "s"}},
		Transitions: []petri.Transition{{ID: "begin"}},
		Arcs:        []petri.Arc{{Source: "in", Target: "begin", Weight: 1}, {Source: "begin", Target: "out", Weight: 1}}})
	for _, formula := range []string{exists(tokensAtLeast("out", 2)), "<place-bound><place>out</place></place-bound>"} {
		properties, err := Read(strings.NewReader(property(formula)), "q", net, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		results, visit := Answer(net, properties, explore.Options{Markings: 100})
		if r := results[0]; r.Known || r.Most != 0 || visit.Stopped != explore.SeveralRuns {
			t.Errorf("%s: got known %v, at least %d, stopped %q; want no answer", formula, r.Known, r.Most, visit.Stopped)
		}
	}
}

func tokensAtLeast(place string, n int) string { return compare("le", constant(n), tokens(place)) }

func TestReadRefuses(t *testing.T) {
	tests := []struct {
		xml  string
		want []string
	}{
		{property(`<all-paths><finally><true/></finally></all-paths>`), []string{`q:1:111: <finally> is not supported here; expected <globally> in <all-paths>`}},
		{property(exists(`<next><true/></next>`)),
			[]string{`q:1:122: <next> is not supported here; expected a formula of one marking: conjunction, disjunction, negation, integer-le, is-fireable or deadlock`}},
		{property(`<deadlock/>`), []string{`q:1:100: <deadlock> is not supported here; expected <exists-path>, <all-paths> or <place-bound>`}},
		{property(exists(tokensAtLeast("nowhere", 1))), []string{`q:1:193: the net has no place "nowhere"; expected the id of one`}},
		{property(exists(`<is-fireable><transition>u</transition></is-fireable>`)), []string{`q:1:147: the net has no transition "u"; expected the id of one`}},
		{property(exists(`<conjunction/>`)), []string{`q:1:122: <conjunction> with 0 elements; expected one or more`}},
		{property(exists(compare("le", tokens("in"), `<integer-constant>1.5</integer-constant>`))),
			[]string{`q:1:180: the number "1.5"; expected an integer from -4294967296 to 4294967295`}},
		{property(exists(`<true/>`) + exists(`<true/>`)), []string{`q:1:91: <formula> with 2 elements; expected one`}},
		{`<property-set><property/></property-set>`,
			[]string{`q:1:15: a property without an id; expected <id>`, `q:1:15: a property without a formula; expected <formula>`}},
		{`<pnml/>`, []string{`q:1:1: the root element is <pnml> in the namespace ""; expected <property-set>`}},
		{``, []string{`q:1:1: the file has no root element; expected an XML document with the root <property-set>`}},
		{`<property-set>`, []string{`q:1:15: the file ends inside what begins here; expected a complete XML document`}},
	}
	for _, tt := range tests {
		_, err := Read(strings.NewReader(tt.xml), "q", buffer(t), Limits{})
		if err == nil {
			t.Errorf("%s: read; want it refused", tt.xml)
			continue
		}
		if d := cmp.Diff(tt.want, strings.Split(err.Error(), "\n")); d != "" {
			t.Errorf("%s\n-want +got\n%s", tt.xml, d)
		}
	}
}

// For random nets and formulas of comparisons, the answers are those of a search with the
// reference of the token game.
func TestAnswersAgreeWithTheReference(t *testing.T) {
	compared := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := petritest.RandomNet(r)
		if seed%2 == 1 {
			petritest.Urgently(r, n)
		}
		tables := petritest.Compile(t, n)
		a, b, bound := n.Places[r.IntN(len(n.Places))].ID, n.Places[r.IntN(len(n.Places))].ID, r.IntN(6)
		tr := n.Transitions[r.IntN(len(n.Transitions))].ID
		state := "<disjunction>" + compare("lt", constant(bound), tokens(a, b)) +
			"<negation><is-fireable><transition>" + tr + "</transition></is-fireable></negation></disjunction>"
		found, every, most, complete := slowly(n, a, b, tr, uint64(bound), 200)
		if !complete {
			continue
		}
		compared++
		for formula, want := range map[string]any{exists(state): found, always(state): every,
			"<place-bound><place>" + a + "</place></place-bound>": int64(most)} {
			properties, err := Read(strings.NewReader(property(formula)), "q", tables, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			results, _ := Answer(tables, properties, explore.Options{Markings: 1e6})
			var got any = results[0].Holds
			if results[0].Property.Kind == Bound {
				got = results[0].Most
			}
			if !results[0].Known || got != want {
				t.Fatalf("seed %d, %s: %v, want %v", seed, formula, got, want)
			}
		}
	}
	if compared < 30 {
		t.Errorf("compared only %d nets", compared)
	}
}

// slowly visits all markings and answers whether a+b > bound or tr cannot fire in one
// and in every marking, and the most tokens in a.
func slowly(n *petri.Net, a, b, tr string, bound uint64, limit int) (found, every bool, most uint64, complete bool) {
	every = true
	first := petritest.NewReference(n)
	seen := map[string]bool{fmt.Sprint(first.Marking): true}
	for queue := []*petritest.Reference{first}; len(queue) > 0; queue = queue[1:] {
		ref := queue[0]
		holds := ref.Marking[a]+ref.Marking[b] > bound || !ref.Enabled(tr) || ref.HeldBack(tr)
		if a == b {
			holds = 2*ref.Marking[a] > bound || !ref.Enabled(tr) || ref.HeldBack(tr)
		}
		found, every, most = found || holds, every && holds, max(most, ref.Marking[a])
		for _, u := range n.Transitions {
			if !ref.Enabled(u.ID) || ref.HeldBack(u.ID) {
				continue
			}
			next := &petritest.Reference{Net: n, Marking: map[string]uint64{}}
			for p, m := range ref.Marking {
				next.Marking[p] = m
			}
			if !next.Fire(u.ID) {
				return false, false, 0, false
			}
			if key := fmt.Sprint(next.Marking); !seen[key] {
				if len(seen) == limit {
					return false, false, 0, false
				}
				seen[key] = true
				queue = append(queue, next)
			}
		}
	}
	return found, every, most, true
}

// For any bytes, Read returns properties that can be answered, or faults with positions.
func FuzzRead(f *testing.F) {
	f.Add([]byte(property(exists("<conjunction><deadlock/>" + tokensAtLeast("in", 1) + "</conjunction>"))))
	f.Add([]byte(property(always("<negation><is-fireable><transition>get</transition></is-fireable></negation>"))))
	f.Add([]byte(property("<place-bound><place>full</place></place-bound>")))
	f.Add([]byte(property(exists(compare("eq", "<integer-sum>"+tokens("in")+constant(-3)+"</integer-sum>", constant(9))))))
	f.Add([]byte(property(exists("<until><before/><reach/></until>"))))
	tables := buffer(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		properties, err := Read(strings.NewReader(string(content)), "q", tables, Limits{Depth: 50})
		if err != nil {
			if properties != nil || !strings.HasPrefix(err.Error(), "q:") {
				t.Errorf("properties %v, error %v", properties, err)
			}
			return
		}
		results, _ := Answer(tables, properties, explore.Options{Markings: 100})
		for _, r := range results {
			if !r.Known || r.Property.ID == "" {
				t.Errorf("%+v", r)
			}
		}
	})
}
