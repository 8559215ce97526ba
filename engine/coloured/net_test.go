// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// build makes a net from words. Places are p, or p:3 with tokens, or p@a.b in scope
// a.b, which is in scope a; transitions t,
// or t! if it preempts, or t^2 with a priority; arcs are p>t and t>p, p~t read,
// p|t inhibitor, p#t reset, p?t join, t/p branch, t\p default branch; *2 is a
// weight.
func build(places, transitions, arcs string) *petri.Net {
	n := &petri.Net{ID: "net"}
	for _, w := range strings.Fields(places) {
		id, count, _ := strings.Cut(w, ":")
		id, scope, _ := strings.Cut(id, "@")
		p := petri.Place{ID: id, Scope: addScope(n, scope)}
		if count != "" {
			fmt.Sscan(count, &p.Initial)
		}
		n.Places = append(n.Places, p)
	}
	for _, w := range strings.Fields(transitions) {
		id, prio, _ := strings.Cut(w, "^")
		t := petri.Transition{ID: strings.TrimSuffix(id, "!"), Preempts: strings.HasSuffix(id, "!")}
		if prio != "" {
			fmt.Sscan(prio, &t.Priority)
		}
		n.Transitions = append(n.Transitions, t)
	}
	kinds := map[rune]petri.ArcKind{'>': petri.Normal, '~': petri.Read, '|': petri.Inhibitor, '#': petri.Reset, '?': petri.Join, '/': petri.Branch, '\\': petri.Branch}
	for _, w := range strings.Fields(arcs) {
		w, weight, _ := strings.Cut(w, "*")
		at := strings.IndexAny(w, `>~|#?/\`)
		a := petri.Arc{ID: fmt.Sprintf("a%d", len(n.Arcs)), Source: w[:at], Target: w[at+1:], Kind: kinds[rune(w[at])], Weight: 1, Default: w[at] == '\\'}
		if weight != "" {
			fmt.Sscan(weight, &a.Weight)
		}
		n.Arcs = append(n.Arcs, a)
	}
	return n
}

// addScope declares a scope and those around it, which are its prefixes up to a
// full stop.
func addScope(n *petri.Net, id string) string {
	if id == "" || slices.ContainsFunc(n.Scopes, func(s petri.Scope) bool { return s.ID == id }) {
		return id
	}
	n.Scopes = append(n.Scopes, petri.Scope{ID: id, Parent: addScope(n, id[:max(0, strings.LastIndexByte(id, '.'))])})
	return id
}

// world is one shard of one instance and its clock.
type world struct {
	t   *testing.T
	s   *Shard
	now int64
}

func newWorld(t *testing.T, n *petri.Net, bindings ...Binding) *world {
	t.Helper()
	w := &world{t, newShard(t, Config{Tables: petritest.Compile(t, n), Bindings: pad(n, bindings), Log: true}), now0}
	w.step(0)
	return w
}

func pad(n *petri.Net, bindings []Binding) []Binding {
	return append(bindings, make([]Binding, len(n.Transitions)-len(bindings))...)
}

// step advances the clock and plays.
func (w *world) step(d int64) int {
	w.now += d
	n := 0
	for {
		k := w.s.Step(100, w.now)
		n += k
		if k < 100 {
			return n
		}
	}
}

func (w *world) inject(place string, data ...string) {
	w.t.Helper()
	for _, d := range data {
		if err := w.s.Inject(0, w.place(place), []byte(d), 1, w.now); err != nil {
			w.t.Fatal(err)
		}
	}
	w.step(0)
}

func (w *world) place(id string) int {
	p, ok := w.s.Tables.PlaceIndex(id)
	if !ok {
		w.t.Fatalf("no place %q", id)
	}
	return p
}

func (w *world) fire(t int, data string) error {
	var d []byte
	if data != "" {
		d = []byte(data)
	}
	err := w.s.Fire(0, t, d, w.now)
	w.step(0)
	return err
}

// started returns the action that was handed out; there must be one.
func (w *world) started() Start {
	w.t.Helper()
	starts := w.s.Ready().Starts
	if len(starts) != 1 {
		w.t.Fatalf("%d actions were handed out, want 1: %+v", len(starts), starts)
	}
	return starts[0]
}

func (w *world) done(run RunID, o Outcome) {
	w.t.Helper()
	if err := w.s.Done(run, o, w.now); err != nil {
		w.t.Fatal(err)
	}
	w.step(0)
}

// doneErr ends a run with an invalid outcome and checks the error.
func (w *world) doneErr(run RunID, o Outcome, want error) {
	w.t.Helper()
	if err := w.s.Done(run, o, w.now); !errors.Is(err, want) {
		w.t.Fatalf("got %v, want %v", err, want)
	}
	w.step(0)
}

// want compares the tokens with a text such as "p: a b; q: c; s/2: d": the data
// of each token, or its id if it has none, by place and the number of the run of
// its scope.
func (w *world) want(tokens string) {
	w.t.Helper()
	if got := w.tokens(); got != tokens {
		w.t.Fatalf("at +%d µs the tokens are %q, want %q", w.now-now0, got, tokens)
	}
}

func (w *world) tokens() string {
	var b strings.Builder
	last := spot{place: -1}
	for _, p := range w.s.Tokens(0, 1000) {
		if p.at() != last {
			if last.place >= 0 {
				b.WriteString("; ")
			}
			b.WriteString(w.s.Tables.Net.Places[p.Place].ID)
			if p.Scope > 0 {
				fmt.Fprint(&b, "/", p.Scope)
			}
			b.WriteString(":")
			last = p.at()
		}
		if p.Token.Data != nil {
			fmt.Fprintf(&b, " %s", p.Token.Data)
		} else {
			fmt.Fprintf(&b, " #%d", p.Token.ID)
		}
	}
	return b.String()
}

// injected returns when the only token of a place was injected, relative to
// now0.
func (w *world) injected(place string) int64 {
	w.t.Helper()
	for _, p := range w.s.Tokens(0, 1000) {
		if int(p.Place) == w.place(place) {
			return p.Token.Injected - now0
		}
	}
	w.t.Fatalf("place %q is empty", place)
	return 0
}

// waits returns what the oldest token of a place waits for, by transition.
func (w *world) waits(place string) string {
	w.t.Helper()
	stuck := rowsOf(w.s, w.now).Places[w.place(place)].Stuck
	if len(stuck) == 0 {
		w.t.Fatalf("place %q is empty", place)
	}
	var out []string
	for _, x := range stuck[0].Waits {
		text := w.s.Tables.Net.Transitions[x.Transition].ID + " " + x.Reason.String()
		if x.Place >= 0 {
			text += " " + w.s.Tables.Net.Places[x.Place].ID
		}
		if x.Count > 0 {
			text += fmt.Sprintf(" %d", x.Count)
		}
		if x.Until > 0 {
			text += fmt.Sprintf(" +%d", x.Until-now0)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func (w *world) waitsFor(place, want string) {
	w.t.Helper()
	if got := w.waits(place); got != want {
		w.t.Fatalf("the token in %q waits for %q, want %q", place, got, want)
	}
}
