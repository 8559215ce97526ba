// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/journal"
)

// allMarked returns the markings of all instances of all nets of an engine that
// does not run.
func allMarked(e *Engine) (out []string) {
	for k, n := range e.cfg.Nets {
		for i := range e.cfg.Instances {
			out = append(out, fmt.Sprintf("%s/%d %s", n.Tables.Net.ID, i, named(n.Tables.Net, e.workers[0].shards[k].Marking(i))))
		}
	}
	return out
}

// A firing that throws and the firings that catch are one commit: wherever the
// process ends, the next one finds as many of one as of the other, and continues
// to the same end.
//
//promise:durable kill
func TestAnEventIsNeitherLostNorDoubledByAKill(t *testing.T) {
	const instances, signals, messages = 3, 5, 4
	nets := func() []NetConfig {
		return eventNets(t,
			eventNet("a", fmt.Sprintf("p=%d", signals), fmt.Sprintf("m=%d", messages), "signal: p > thrown throws signal s", "message: m > sent throws message x"),
			eventNet("b", "armed=1", "on: armed > armed seen catches signal s", fmt.Sprintf("w=%d", messages), "got: w > received catches message x"))
	}
	config := func(log journal.Log) Config {
		return Config{Source: "s", Nets: nets(), Instances: instances, Workers: 2, Firings: 1000, Journal: log}
	}
	whole := openJournal(t, t.TempDir())
	defer whole.Close()
	e, err := read(t.Context(), config(whole))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	for w := e.workers[0]; w.left > 0; { // a commit for each firing that throws
		now := w.now()
		n := 0
		for _, s := range w.shards {
			n += s.Step(1, now)
			w.deliver(now)
		}
		if err := w.flush(now); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
	}
	want := allMarked(e)
	if last := whole.Last(); last < instances*(signals+messages) {
		t.Fatalf("%d commits", last)
	}
	for upTo := uint64(2); upTo <= whole.Last(); upTo++ {
		part := openJournal(t, t.TempDir())
		for c, err := range whole.Read(t.Context(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Sequence > upTo {
				break
			}
			if _, err := part.Append(t.Context(), part.Last(), c.Payload); err != nil {
				t.Fatal(err)
			}
		}
		e := newEngine(t, config(part))
		var thrown, sent, seen, received uint32
		for i := range instances {
			a, b := e.workers[0].shards[0].Marking(i), e.workers[0].shards[1].Marking(i)
			thrown, sent = thrown+a[placeOf(e, 0, "thrown")], sent+a[placeOf(e, 0, "sent")]
			seen, received = seen+b[placeOf(e, 1, "seen")], received+b[placeOf(e, 1, "received")]
		}
		if seen != instances*thrown || received != sent {
			t.Errorf("up to commit %d: %d signals were caught %d times, %d messages %d times", upTo, thrown, seen, sent, received)
		}
		runToEnd(t, e)
		if d := cmp.Diff(want, allMarked(e)); d != "" {
			t.Errorf("continued from commit %d: %s", upTo, d)
		}
		if err := part.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func placeOf(e *Engine, net int, id string) int {
	p, _ := e.cfg.Nets[net].Tables.PlaceIndex(id)
	return p
}

// A journal is replayed to the same tokens, with data and identity, and a
// snapshot of it too.
func TestEventsAreReplayed(t *testing.T) {
	log := openJournal(t, t.TempDir())
	defer log.Close()
	config := func() Config {
		return Config{Source: "s", Instances: 4, Workers: 1, Journal: log, Nets: eventNets(t,
			eventNet("a", "ask: p > waits throws message ask", "answered: waits > done catches message answer id"),
			eventNet("b", "s: > y catches message ask", "answer: y > end throws message answer id", "stop: ?end > stopped catches signal stop"))}
	}
	tokens := func(e *Engine) (out [][]coloured.Placed) {
		for _, n := range e.workers[0].stage.nets {
			for i := range 4 {
				out = append(out, n.shard.Tokens(i, 100))
			}
		}
		return out
	}
	e := newEngine(t, config())
	stop := start(t, e)
	for i := range 3 {
		if err := e.InjectData(t.Context(), "a", i, "p", 1, fmt.Appendf(nil, `{"id":%d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := e.Signal(t.Context(), "stop", []byte(`"now"`)); err != nil || n > 3 {
		t.Errorf("%d caught the signal, %v", n, err)
	}
	eventually(t, func() string {
		var places []string
		for _, all := range tokensByInstance(t, e) {
			for _, p := range all {
				places = append(places, e.cfg.Nets[0].Tables.Net.Places[p.Place].ID)
			}
		}
		return cmp.Diff([]string{"done", "done", "done"}, places)
	})
	stop()
	want := tokens(e)
	if got := allMarked(e); got[0] != "a/0 done" || got[2] != "a/2 done" || got[3] != "a/3 " {
		t.Errorf("markings %v", got)
	}
	for range 2 { // the second one reads the snapshot of the first
		again := newEngine(t, config())
		if d := cmp.Diff(want, tokens(again)); d != "" {
			t.Fatal(d)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := again.Run(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// A catcher with an action is caught when the action starts. If the process ends
// before it fires, its tokens wait again, and the event is gone.
func TestAnActionThatCatchesWaitsAgainAfterAKill(t *testing.T) {
	log := openJournal(t, t.TempDir())
	defer log.Close()
	config := func(release chan struct{}) Config {
		nets := eventNets(t, eventNet("b", "w=1", "c: w > x catches message m"))
		transitions, err := Declared(nets[0].Tables)
		if err != nil {
			t.Fatal(err)
		}
		transitions[0].Action = func(context.Context, *action.Run) (coloured.Outcome, error) {
			<-release
			return coloured.Outcome{}, nil
		}
		nets[0].Transitions = transitions
		return Config{Source: "s", Instances: 1, Workers: 1, Journal: log, Nets: nets}
	}
	release := make(chan struct{})
	e := newEngine(t, config(release))
	end := alive(t, e)
	if _, err := e.Message(t.Context(), "m", "", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Message(t.Context(), "m", "", nil); err == nil {
		t.Error("the token in flight caught a second message")
	}
	killed(e)
	close(release)
	end()
	now := make(chan struct{})
	close(now)
	again := newEngine(t, config(now))
	if got := allMarked(again)[0]; got != "b/0 w" {
		t.Errorf("after the kill: %s", got)
	}
	defer start(t, again)()
	if _, err := again.Message(t.Context(), "m", "", nil); err != nil {
		t.Error(err)
	}
}

// What one part of a net throws cannot reach the others.
func TestAPartOfSeveralRefusesNetsThatThrow(t *testing.T) {
	for _, c := range []struct {
		rule    string
		line    string
		numbers []int32
		refused bool
	}{
		{"some instances", "t: p > q throws signal s", []int32{0}, true},
		{"all instances", "t: p > q throws signal s", nil, false},
		{"a net that only catches", "t: p > q catches signal s", []int32{0}, false},
	} {
		log := openJournal(t, t.TempDir())
		defer log.Close()
		_, err := New(Config{Source: "s", Instances: 2, Workers: 1, Journal: log, Nets: eventNets(t, eventNet("a", c.line)), Part: &Part{Name: "p", Numbers: c.numbers}})
		if c.refused != (err != nil) {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
}
