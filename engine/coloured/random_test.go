// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// randomNet returns a random net with every kind of arc, and random bindings.
func randomNet(r *rand.Rand) (*petri.Net, []Binding) {
	n := petritest.RandomNet(r)
	for k := range n.Arcs {
		a := &n.Arcs[k]
		if a.Kind != petri.Normal || r.IntN(5) > 0 {
			continue
		}
		if slices.ContainsFunc(n.Places, func(p petri.Place) bool { return p.ID == a.Source }) {
			a.Kind, a.Weight = petri.Join, 1
		} else {
			a.Kind, a.Default = petri.Branch, r.IntN(3) == 0
		}
	}
	for k := range n.Transitions {
		n.Transitions[k].Preempts = r.IntN(6) == 0
	}
	tables, err := petri.Compile(n)
	if err != nil { // there are two join arcs between the same nodes, or two defaults
		return randomNet(r)
	}
	bindings := make([]Binding, len(n.Transitions))
	for t := range bindings {
		b := &bindings[t]
		switch r.IntN(8) {
		case 0:
			b.Mode.Kind = plain.Manual
		case 1:
			b.Mode = plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: float64(r.IntN(300))}}
		}
		if b.Mode.Kind == plain.Delayed && r.IntN(2) == 0 {
			b.Until = someTime(r.Uint32())
		}
		if !tables.Source(t) && r.IntN(3) == 0 {
			b.Guard = someGuard(r.Uint32())
		}
		if branches := tables.Branches(t); len(branches) > 0 && r.IntN(3) > 0 {
			b.Branches = make([]Guard, len(branches))
			for k := range branches {
				if !branches[k].Default && r.IntN(4) > 0 {
					b.Branches[k] = someGuard(r.Uint32())
				}
			}
		}
		if r.IntN(3) == 0 {
			b.Action, b.Timeout = true, r.Int64N(3)*200
		}
		b.Retry = Retry{First: 1 + r.Int64N(200), Factor: 1 + r.Float64(), Max: 500, Attempts: r.IntN(4)}
	}
	return n, bindings
}

// someGuard returns a guard whose result depends only on the tokens and the
// salt.
func someGuard(salt uint32) Guard {
	return func(tokens []Placed, _ int64) Verdict {
		h, text := fnv.New32a(), strconv.AppendUint(nil, uint64(salt), 10)
		for _, p := range tokens {
			text = append(append(strconv.AppendInt(text, int64(p.Place), 10), ' '), p.Token.Data...)
			text = append(text, ';')
		}
		h.Write(text)
		return Verdict{OK: h.Sum32()%8 < 5}
	}
}

// someTime returns a time that depends only on the tokens and the salt, or an error.
func someTime(salt uint32) func(tokens []Placed, since int64) (int64, error) {
	return func(tokens []Placed, since int64) (int64, error) {
		after := int64(salt % 7)
		for _, p := range tokens {
			for _, b := range p.Token.Data {
				after = (after*31 + int64(b)) % 300
			}
		}
		if after%11 == 0 {
			return 0, errors.New("no time")
		}
		return since + after, nil
	}
}

// randomOutcome returns an outcome for a run, and whether that outcome is
// valid.
func randomOutcome(r *rand.Rand, tables *petri.Tables, run *modelRun) (o Outcome, fair bool) {
	o.Kind = []OutcomeKind{Fired, Fired, Fired, Failed, Delayed, Awaits}[r.IntN(6)]
	if r.IntN(3) == 0 {
		o.Data = []byte(fmt.Sprint("d", r.IntN(5)))
	}
	if tables.Net.Shared && o.Data != nil {
		o.Data = variablesOf(r)
		if len(run.taken) > 0 && r.IntN(2) == 0 { // it returns all that it saw
			seen := fieldsIn(run.saw)
			if fieldsIn(o.Data) != nil {
				for name, value := range seen {
					if r.IntN(4) > 0 {
						o.Data = textOf(union(fieldsIn(o.Data), name, value))
					}
				}
			}
		}
	}
	if o.Kind == Delayed || r.IntN(3) == 0 {
		o.After = 1 + r.Int64N(200)
	}
	if o.Kind != Fired || r.IntN(3) > 0 {
		return o, true
	}
	fair, o.Puts = true, []Put{}
	for range r.IntN(4) {
		p := Put{Place: r.Int32N(int32(tables.Places())), Data: []byte("n")}
		if len(run.taken) > 0 && r.IntN(2) == 0 {
			p.Moved = run.taken[r.IntN(len(run.taken))].ID
		}
		out := slices.ContainsFunc(tables.Effects(run.t), func(e petri.Effect) bool { return e.Place == p.Place && e.Put > 0 }) ||
			slices.ContainsFunc(tables.Branches(run.t), func(b petri.BranchArc) bool { return b.Place == p.Place })
		if !out && r.IntN(4) > 0 {
			continue
		}
		twice := p.Moved != 0 && slices.ContainsFunc(o.Puts, func(q Put) bool { return q.Moved == p.Moved })
		fair = fair && out && !twice
		o.Puts = append(o.Puts, p)
	}
	return o, fair
}

// pair is the machine and the model, in the same state.
type pair struct {
	*testing.T
	r   *rand.Rand
	s   *Shard
	m   *model
	now int64
}

// happens makes one random event happen.
func (p *pair) happens() {
	switch k := p.r.IntN(10); {
	case k < 2:
		place, n := p.r.IntN(p.s.Tables.Places()), p.r.Uint32N(3)
		var data []byte
		if p.r.IntN(3) > 0 {
			data = dataFor(p.r, p.s)
		}
		if err := p.s.Inject(0, place, data, n, p.now); err != nil {
			p.Fatal(err)
		}
		p.m.now = p.now
		if n > 0 {
			p.m.startAfresh()
			opened := len(p.m.frames)
			p.m.entered = map[string]*modelFrame{}
			in := p.m.aim(p.m.frames[0], int32(place))
			p.m.put(int32(place), in, p.m.keep(int32(place), in, data), int(n))
			p.m.settleWrites(p.m.frames[opened:])
		}
		p.m.changed()
	case k < 4:
		t := p.r.IntN(len(p.s.rules))
		p.m.now = p.now
		var data []byte
		if p.s.Tables.Net.Shared && p.r.IntN(2) == 0 {
			data = variablesOf(p.r)
		}
		if err, ok := p.s.Fire(0, t, data, p.now), p.m.fireByHand(t, data); (err == nil) != ok {
			p.Fatalf("fired %d: %v, the model %v", t, err, ok)
		}
	case k < 8 && len(p.m.runs) > 0:
		run := p.m.runs[p.r.IntN(len(p.m.runs))]
		o, fair := randomOutcome(p.r, p.s.Tables, run)
		err := p.s.Done(run.id, o, p.now)
		if !fair && !errors.Is(err, ErrOutcome) || err != nil && !errors.Is(err, ErrOutcome) {
			p.Fatalf("done with %+v: %v", o, err)
		}
		p.m.now = p.now
		p.m.done(run, o, fair)
	case k < 9 && len(p.m.runs) > 0:
		run := p.m.runs[p.r.IntN(len(p.m.runs))]
		if err := p.s.Cancel(run.id, p.now); err != nil {
			p.Fatal(err)
		}
		p.m.cancel(run)
	}
}

// difference describes how two values differ; it returns "" if they are equal.
// It is fast for equal values.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return gocmp.Diff(want, got)
}

func samePlaced(a, b Placed) bool {
	return a.Place == b.Place && a.Scope == b.Scope && a.Token.ID == b.Token.ID && a.Token.Injected == b.Token.Injected &&
		(a.Token.Data == nil) == (b.Token.Data == nil) && bytes.Equal(a.Token.Data, b.Token.Data)
}

// compare reports differences between the machine and the model.
func (p *pair) compare() {
	all := slices.Clone(p.m.tokens)
	slices.SortFunc(all, func(a, b *modelToken) int {
		return cmp.Or(cmp.Compare(a.in.number, b.in.number), cmp.Compare(a.place, b.place), cmp.Compare(a.Injected, b.Injected), cmp.Compare(a.ID, b.ID))
	})
	want := p.m.placedOf(all)
	if got := p.s.Tokens(0, 1e6); !slices.EqualFunc(want, got, samePlaced) {
		p.Fatalf("tokens (-model +machine):\n%s", difference(want, got))
	}
	ready := p.s.Ready()
	starts := ready.Starts
	if len(starts) != len(p.m.starts) {
		p.Fatalf("%d starts, the model %d", len(starts), len(p.m.starts))
	}
	for k, run := range p.m.starts {
		got, want := starts[k], Start{Run: run.id, Transition: int32(run.t), Attempt: run.attempt, Started: run.started, Deadline: run.deadline, Data: run.data}
		got.Taken, got.Read = nil, nil
		if d := difference(want, got); d != "" {
			p.Fatalf("start (-model +machine):\n%s", d)
		}
	}
	stops := slices.Clone(ready.Stops)
	slices.Sort(stops)
	slices.Sort(p.m.stops)
	if !slices.Equal(stops, p.m.stops) {
		p.Fatalf("stops %v, the model %v", stops, p.m.stops)
	}
	p.m.starts, p.m.stops = nil, nil
	if due, _ := p.s.NextDue(); due != p.m.due() {
		p.Fatalf("due %d, the model %d", due-now0, p.m.due()-now0)
	}
	if int(p.s.instances[0].turn) != p.m.turn || !slices.Equal(p.s.Order(0), p.m.order) {
		p.Fatalf("turn %d, order %v; the model %d, %v", p.s.instances[0].turn, p.s.Order(0), p.m.turn, p.m.order)
	}
}

// rest returns the state in which the instance is at rest.
func (p *pair) rest() string {
	in := &p.s.instances[0]
	switch {
	case (p.s.Deadlocked == 1) != in.has(deadlocked):
		return "miscounted"
	case in.has(deadlocked):
		return "deadlocked"
	case in.has(failed):
		return "failed"
	case in.has(finished):
		return "finished"
	}
	return "not at rest"
}

func (p *pair) compareCounts() {
	rows := rowsOf(p.s, p.now)
	for t, r := range rows.Transitions {
		want := p.m.counts[t]
		for _, run := range p.m.runs {
			if run.t == t {
				want.running++
			}
		}
		if got := (counters{r.Firings, r.Failures, r.Retries, r.Cancels, r.Timeouts, r.Late, r.Running}); got != want {
			p.Fatalf("transition %d counted %+v, the model %+v", t, got, want)
		}
	}
}

// beside plays one random net in the machine and the model, and returns the
// counters.
func beside(t *testing.T, seed uint64, random func(*rand.Rand) (*petri.Net, []Binding)) *pair {
	t.Helper()
	r := rand.New(rand.NewPCG(7, seed))
	n, bindings := random(r)
	tables := petritest.Compile(t, n)
	p := &pair{t, r, newShard(t, Config{Tables: tables, Bindings: bindings}), newModel(tables, bindings, now0), now0}
	for range 60 {
		p.now += r.Int64N(150)
		p.happens()
		budget := 1 + r.IntN(4)
		want := p.m.step(budget, p.now)
		if got := p.s.Step(budget, p.now); got != want {
			t.Fatalf("seed %d: played %d, the model %d", seed, got, want)
		}
		p.compare()
		if len(p.m.tokens) > 0 && want < budget && p.rest() != p.m.rest() { // without tokens it may not have begun
			t.Fatalf("seed %d: the instance is %s, the model %s", seed, p.rest(), p.m.rest())
		}
		if len(p.m.tokens) > 60 {
			break
		}
	}
	p.compareCounts()
	return p
}

// On random nets with guards, actions, delays, joins, splits, resets and
// preemption, and with random events, the machine does the same as the model.
func TestTheMachineIsTheModel(t *testing.T) {
	var total counters
	n := uint64(0)
	for seed := range seeds.Of(20, 600, 272, 94, 266, 417, 300, 255, 383, 205, 324, 414, 165, 556, 46, 388, 544, 33, 41, 65, 92, 116, 181, 207, 215, 309, 499) {
		n++
		for _, c := range beside(t, seed, randomNet).m.counts {
			total.firings += c.firings
			total.failures += c.failures
			total.retries += c.retries
			total.cancels += c.cancels
			total.timeouts += c.timeouts
		}
	}
	if n > 1 && (total.firings < 30*n || min(total.failures, total.retries, total.cancels, total.timeouts) < n/2) {
		t.Errorf("too little happened with %d seeds: %+v", n, total)
	}
}

// FuzzModel runs TestTheMachineIsTheModel without an end.
func FuzzModel(f *testing.F) {
	f.Add(uint64(0))
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, of := range []func(*rand.Rand) (*petri.Net, []Binding){randomNet, randomScopedNet} {
			beside(t, seed, of)
			beside(t, seed, randomShared(of))
		}
	})
}
