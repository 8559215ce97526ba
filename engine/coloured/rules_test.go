// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// has returns a guard that holds if one of its tokens has the given data.
func has(data string) Guard {
	return func(tokens []Placed, _ int64) Verdict {
		for _, p := range tokens {
			if string(p.Token.Data) == data {
				return Verdict{OK: true}
			}
		}
		return Verdict{}
	}
}

var manual = Binding{Mode: plain.Mode{Kind: plain.Manual}}

func TestFiringMovesIdentityAndData(t *testing.T) {
	for _, c := range []struct {
		rule, arcs string
		tokens     []string // into p
		want       string
	}{
		{"a normal arc takes the oldest, what it puts carries its data on", "p>t t>q", []string{"a", "b"}, "p: b; q: a"},
		{"of several the data of the first that has any", "p>t*2 t>q", []string{"a", "b", "c"}, "p: c; q: a"},
		{"every output carries it", "p>t t>q*2 t>r", []string{"a"}, "q: a a; r: a"},
		{"a read arc moves nothing", "p~t t>q", []string{"a", "b"}, "p: a b; q: #3"},
		{"a token that goes back to its place stays as it is", "p>t t>p t>q", []string{"a", "b"}, "p: b a; q: a"},
		{"an output only destroys nothing", "p>t*2 t>p t>q", []string{"a", "b"}, "p: a; q: a"},
		{"a reset arc empties", "p#t r>t t>q", []string{"a", "b"}, "q: #3"},
		{"taken and emptied: it puts what it took", "p>t p#t t>q", []string{"a", "b"}, "q: a"},
		{"without output it is destroyed", "p>t", []string{"a", "b"}, "p: b"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := newWorld(t, build("p q r", "t", c.arcs), manual)
			w.inject("p", c.tokens...)
			if strings.Contains(c.arcs, "r>t") {
				if err := w.s.Inject(0, 2, nil, 1, w.now); err != nil {
					t.Fatal(err)
				}
			}
			w.now += 10
			if err := w.fire(0, ""); err != nil {
				t.Fatal(err)
			}
			w.want(strings.ReplaceAll(c.want, "#3", fmt.Sprintf("#%d", w.s.instances[0].lastID)))
		})
	}
}

func TestDataGivenByFireGoesToEveryTokenThatIsPut(t *testing.T) {
	w := newWorld(t, build("p q", "t", "p>t t>p t>q"), manual)
	w.inject("p", "a")
	id := w.s.Tokens(0, 1)[0].Token.ID
	if err := w.fire(0, "new"); err != nil {
		t.Fatal(err)
	}
	w.want("p: new; q: new")
	if got := w.s.Tokens(0, 1)[0].Token.ID; got != id {
		t.Errorf("the token that was put back has id %d, had %d", got, id)
	}
}

func TestMergeMakesTheDataOfSeveral(t *testing.T) {
	n := build("p q r", "t", "p>t*2 q>t t>r")
	s := newShard(t, Config{Tables: petritest.Compile(t, n), Merge: func(data [][]byte) []byte { return bytes.Join(data, []byte("&")) }})
	w := &world{t, s, now0}
	w.inject("q", "c")
	w.inject("p", "a", "b")
	w.want("r: a&b&c")
}

func TestMergeThatFailsLeavesTheDataOfTheFirst(t *testing.T) {
	for rule, merge := range map[string]func([][]byte) []byte{
		"it panics":       func([][]byte) []byte { panic("no") },
		"it is too large": func([][]byte) []byte { return make([]byte, MaxData+1) },
	} {
		t.Run(rule, func(t *testing.T) {
			w := &world{t, newShard(t, Config{Tables: petritest.Compile(t, build("p r", "t", "p>t*2 t>r")), Merge: merge}), now0}
			w.inject("p", "a", "b")
			w.want("r: a")
			w.counted(0, counters{firings: 1, failures: 1})
		})
	}
}

func TestGuardChoosesAmongTokensByAge(t *testing.T) {
	sum := func(want int) Guard {
		return func(tokens []Placed, _ int64) Verdict {
			n := 0
			for _, p := range tokens {
				n += int(p.Token.Data[0] - '0')
			}
			return Verdict{OK: n == want}
		}
	}
	odd := func(tokens []Placed, _ int64) Verdict {
		return Verdict{OK: (tokens[0].Token.Data[0]+tokens[1].Token.Data[0])%2 == 1}
	}
	for _, c := range []struct {
		rule, arcs string
		p, q       string
		guard      Guard
		want       string
	}{
		{"the oldest that it says yes to", "p>t t>r", "1 2 3 2", "", sum(2), "p: 1 3; r: 2 2"},
		{"combinations inside a place are lexicographic: 14 before 23", "p>t*2 t>r", "1 2 3 4 9", "", sum(5), "p: 9; r: 1 2"},
		{"the last place changes first: 12 before 23", "p>t q>t t>r", "1 2", "3 1 2", odd, "q: 1; r: 1 2"},
		{"it sees what a read arc tests", "p>t q~t t>r", "1 2", "3", sum(5), "p: 1; q: 3; r: 2"},
		{"nothing fits: nothing moves", "p>t t>r", "1 2", "", sum(7), "p: 1 2"},
		{"the rest is as old as it was", "p>t*2 t>r", "1 2 3", "", sum(4), "p: 2; r: 1"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			n := build("p q r", "t", c.arcs)
			w := newWorld(t, n, Binding{Guard: c.guard})
			for _, in := range []struct{ place, data string }{{"q", c.q}, {"p", c.p}} {
				for _, d := range strings.Fields(in.data) {
					if err := w.s.Inject(0, w.place(in.place), []byte(d), 1, w.now); err != nil {
						t.Fatal(err)
					}
				}
			}
			w.step(5)
			w.want(c.want)
		})
	}
}

func TestGuardIsAskedAboutABoundedNumberOfCombinations(t *testing.T) {
	asked := 0
	w := newWorld(t, build("p q", "t", "p>t*3"), Binding{Guard: func([]Placed, int64) Verdict { asked++; return Verdict{} }})
	if err := w.s.Inject(0, 0, nil, math.MaxUint32, w.now); err != nil {
		t.Fatal(err)
	}
	w.step(0)
	w.step(0)
	if asked != MaxCombinations {
		t.Errorf("asked %d times, want %d", asked, MaxCombinations)
	}
}

// A rejection is remembered until something changes that the guard depends on.
func TestGuardIsAskedAgainOnlyForAReason(t *testing.T) {
	asked := 0
	var verdict Verdict
	guard := func([]Placed, int64) Verdict { asked++; return verdict }
	w := newWorld(t, build("p other q", "t u", "p>t t>q other>u u>other"), Binding{Guard: guard}, manual)
	expect := func(what string, n int) {
		t.Helper()
		if asked != n {
			t.Fatalf("%s: asked %d times, want %d", what, asked, n)
		}
	}
	verdict = Verdict{Again: now0 + 1000}
	w.inject("p", "a")
	expect("a token came", 1)
	w.waitsFor("p", "t guarded")
	w.inject("other", "x")
	expect("a place that is not the guard's changed", 1)
	w.inject("p", "b")
	expect("a place of its arcs changed", 3) // a, then b
	if due, ok := w.s.NextDue(); !ok || due != now0+1000 {
		t.Fatalf("due %d %v", due-now0, ok)
	}
	w.step(999)
	expect("its time has not come", 3)
	verdict = Verdict{OK: true}
	w.step(1)
	expect("its time has come", 5)
	w.want("other: x; q: a b")
	if _, ok := w.s.NextDue(); ok {
		t.Error("something is still due")
	}
}

func TestGuardThatPanicsIsANoWithBackoff(t *testing.T) {
	panics := true
	guard := func([]Placed, int64) Verdict {
		if panics {
			panic("no")
		}
		return Verdict{OK: true}
	}
	w := newWorld(t, build("p q", "t u", "p>t t>q"), Binding{Guard: guard, Retry: Retry{First: 100, Factor: 3}})
	w.inject("p", "a")
	w.step(0)
	w.waitsFor("p", "t delayed +100")
	w.step(99)
	w.step(1)
	w.waitsFor("p", "t delayed +400")
	if f := rowsOf(w.s, w.now).Transitions[0].Failures; f != 2 {
		t.Errorf("%d failures, want 2", f)
	}
	if err := w.fire(0, ""); !errors.Is(err, petri.ErrNotEnabled) || !strings.Contains(err.Error(), "its guard panicked") {
		t.Errorf("fired by hand: %v", err)
	}
	panics = false
	w.step(300)
	w.want("q: a")
}

func TestInclusiveSplit(t *testing.T) {
	for _, c := range []struct {
		rule, arcs string
		guards     []Guard
		data, want string
	}{
		{"every branch whose guard holds", "p>t t/q t/r t/s", []Guard{has("a"), has("b"), nil}, "a", "q: a; s: a"},
		{"the default if none holds", `p>t t/q t\r`, []Guard{has("b"), nil}, "a", "r: a"},
		{"the default not beside another", `p>t t/q t\r`, []Guard{has("a"), nil}, "a", "q: a"},
		{"weights", `p>t t/q*3`, []Guard{has("a")}, "a", "q: a a a"},
		{"all without guards", "p>t t/q t/r", nil, "a", "q: a; r: a"},
		{"none at all: the token stays", "p>t t/q t/r", []Guard{has("b"), has("c")}, "a", "p: a"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := newWorld(t, build("p q r s", "t", c.arcs), Binding{Branches: c.guards})
			w.inject("p", c.data)
			w.want(c.want)
		})
	}
}

// If no guard of an alternative holds, that is an incident: the token stays,
// the instance has failed, and a later change resolves it.
func TestChoiceWithoutAnAlternativeIsAnIncident(t *testing.T) {
	n := build("p q r", "t u", "p>t t>q p>u u>r")
	for i := range n.Transitions {
		n.Transitions[i].Alternative = true
	}
	w := newWorld(t, n, Binding{Guard: has("a")}, Binding{Guard: has("b")})
	w.inject("p", "c")
	w.step(10)
	w.waitsFor("p", "t incident, u incident")
	if net := rowsOf(w.s, w.now).Net; net.Failed != 1 || net.Deadlocked != 0 || net.Finished != 0 {
		t.Errorf("%+v; expected an instance that has failed", net)
	}
	w.inject("p", "b")
	w.step(10)
	w.want("p: c; r: b")
	if net := rowsOf(w.s, w.now).Net; net.Failed != 2 || net.Created != 2 {
		t.Errorf("%+v; expected it to have failed again", net)
	}
}

// A split without a branch to take is an incident: counted once, reported, and
// resolved by Fire or by a transition that takes its token.
func TestSplitWithoutABranchIsAnIncident(t *testing.T) {
	w := newWorld(t, build("p q out", "t u", "p>t t/q p>u u>out"), Binding{Branches: []Guard{has("b")}}, manual)
	w.inject("p", "a")
	for range 5 {
		w.step(1)
	}
	rows := rowsOf(w.s, w.now)
	if f := rows.Transitions[0].Failures; f != 1 {
		t.Errorf("%d failures, want 1", f)
	}
	w.waitsFor("p", "t incident, u manual")
	w.inject("p", "b")
	w.want("p: a b")
	if err := w.fire(0, ""); !errors.Is(err, petri.ErrNotEnabled) {
		t.Errorf("fired by hand: %v", err)
	}
	if err := w.fire(0, "b"); err != nil { // with data that its guard accepts
		t.Fatal(err)
	}
	w.want("q: b b")
}

func TestIncidentEndsWithItsToken(t *testing.T) {
	w := newWorld(t, build("p q out", "t u", "p>t t/q p>u u>out"), Binding{Branches: []Guard{has("b")}}, manual)
	w.inject("p", "a", "b")
	w.want("p: a b")
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	w.want("q: b; out: a")
}

func TestInclusiveJoin(t *testing.T) {
	// a is a split to b and c; each has a transition before the join.
	n := build("b c b2 c2 end", "tb tc join", "b>tb tb>b2 c>tc tc>c2 b2?join c2?join join>end")
	w := newWorld(t, n, manual, manual)
	w.inject("b", "x")
	w.inject("c", "y")
	w.step(0)
	if err := w.fire(0, ""); err != nil {
		t.Fatal(err)
	}
	w.want("c: y; b2: x") // a token can still come to c2
	w.waitsFor("b2", "join missing c2 1")
	if err := w.fire(2, ""); err == nil || !strings.Contains(err.Error(), `it waits for a token in place "c2"`) {
		t.Errorf("fired by hand: %v", err)
	}
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	w.want("end: x")
	w.inject("b2", "z") // no other token is under way to the join
	w.want("end: x z")
}

func TestJoinWaitsForItsTokenInFlight(t *testing.T) {
	n := build("b c end other", "act join", "b>act act>other b?join c?join join>end")
	w := newWorld(t, n, Binding{Action: true, Mode: plain.Mode{Kind: plain.Manual}})
	w.s.rules[1].held = false
	if err := w.s.Inject(0, 0, []byte("x"), 1, w.now); err != nil {
		t.Fatal(err)
	}
	if err := w.fire(0, ""); err != nil {
		t.Fatal(err)
	}
	run := w.started().Run
	w.inject("c", "y")
	w.want("b: x; c: y")
	w.waitsFor("c", "join missing b 1")
	w.done(run, Outcome{})
	w.want("end: y; other: x")
}

func TestOverflowIsAnIncidentUntilThereIsRoom(t *testing.T) {
	w := newWorld(t, build("p q", "t u", "p>t t>q q>u"), Binding{}, manual)
	if err := w.s.Inject(0, 1, nil, math.MaxUint32, w.now); err != nil {
		t.Fatal(err)
	}
	w.inject("p", "a")
	if got := w.s.Marking(0); !slices.Equal(got, []uint32{1, math.MaxUint32}) {
		t.Fatalf("marking %v", got)
	}
	w.waitsFor("p", "t incident q")
	if err := w.fire(0, ""); !errors.Is(err, petri.ErrOverflow) {
		t.Errorf("fired by hand: %v", err)
	}
	if err := w.s.Inject(0, 1, nil, 1, w.now); !errors.Is(err, petri.ErrOverflow) {
		t.Errorf("injected: %v", err)
	}
	if err := w.fire(1, ""); err != nil {
		t.Fatal(err)
	}
	if got := w.s.Marking(0); !slices.Equal(got, []uint32{0, math.MaxUint32}) {
		t.Errorf("marking %v", got)
	}
}
