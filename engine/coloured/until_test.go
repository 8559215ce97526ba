// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/pnagent/pnagent/petri/petritest"
)

// afterD returns a binding whose transition is due after the variable d, in µs.
func afterD() Binding {
	b := after(5000)
	b.Until = func(tokens []Placed, since int64) (int64, error) {
		var v struct{ D int64 }
		err := json.Unmarshal(tokens[0].Token.Data, &v)
		return since + v.D, err
	}
	return b
}

// dueOfWorld returns when the world is due, relative to now0.
func dueOfWorld(t *testing.T, s *Shard) int64 {
	t.Helper()
	due, ok := s.NextDue()
	if !ok {
		t.Fatal("nothing is due")
	}
	return due - now0
}

// A due time that depends on data is determined when the transition becomes enabled. It
// remains when the data of its tokens change, and is determined again for other tokens.
func TestADueTimeByDataIsOfItsTokens(t *testing.T) {
	n := build("p q r", "late set drop", "p>late late>r q>set set>q p>drop")
	n.Shared = true
	w := newWorld(t, n, afterD(), manual, manual)
	w.inject("p", `{"d":100}`)
	w.inject("q", `{"e":1}`)
	if err := w.fire(1, `{"d":900}`); err != nil {
		t.Fatal(err)
	}
	w.step(10)
	if got := dueOfWorld(t, w.s); got != 100 {
		t.Errorf("due at %d µs after a change of the variable; want 100", got)
	}
	w.inject("p", `{"d":900}`)
	if got := dueOfWorld(t, w.s); got != 100 {
		t.Errorf("due at %d µs with a younger token; want 100", got)
	}
	if err := w.fire(2, ""); err != nil { // takes the older one
		t.Fatal(err)
	}
	if got := dueOfWorld(t, w.s); got != 900 {
		t.Errorf("due at %d µs with another token; want 900", got)
	}
	w.step(890)
	if got := w.s.Rec.Firings(); got != 3 {
		t.Errorf("%d firings; want 3", got)
	}
}

// A replay, and a saved state, have the due time of before the variable changed.
func TestADueTimeByDataIsKeptOverARestart(t *testing.T) {
	n := build("p q r", "late set", "p>late late>r q>set set>q")
	n.Shared = true
	until := Config{Tables: petritest.Compile(t, n), Bindings: []Binding{afterD(), manual}, Count: 1, Log: true}
	fixed := until
	fixed.Bindings = []Binding{after(5000), manual}
	for _, c := range []struct {
		rule    string
		before  Config // of the process that wrote the log and the state
		now     Config
		wantDue int64
	}{
		{"it is kept", until, until, 100},
		{"after a constant delay, it has the present variables", fixed, until, 900},
		{"a binding with a constant delay does not use it", until, fixed, 5000},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := newShard(t, c.before)
			inject := func(place int, data string) {
				if err := s.Inject(0, place, []byte(data), 1, now0); err != nil {
					t.Fatal(err)
				}
				s.Step(100, now0)
			}
			inject(0, `{"d":100}`)
			first := batch{now0, bytes.Clone(s.Ready().Log)}
			early := s.AppendState(nil)
			inject(1, `{"e":1}`)
			if err := s.Fire(0, 1, []byte(`{"d":900}`), now0+10); err != nil {
				t.Fatal(err)
			}
			s.Step(100, now0+10)
			second := batch{now0 + 10, bytes.Clone(s.Ready().Log)}
			late := s.AppendState(nil)
			for _, from := range []struct {
				name  string
				state []byte
				log   []batch
			}{
				{"the log", nil, []batch{first, second}},
				{"a state and a log", early, []batch{second}},
				{"a state", late, nil},
			} {
				again := newShard(t, c.now)
				if from.state != nil {
					if _, err := again.LoadState(from.state); err != nil {
						t.Fatal(err)
					}
				}
				replay(t, again, from.log)
				if c.rule == "it is kept" && !bytes.Equal(again.AppendState(nil), late) {
					t.Errorf("from %s: another state", from.name)
				}
				again.Resume(now0 + 20)
				again.Step(100, now0+20)
				if got := dueOfWorld(t, again); got != c.wantDue {
					t.Errorf("from %s: due at %d µs; want %d", from.name, got, c.wantDue)
				}
			}
		})
	}
}
