// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

var manual = Transition{Mode: plain.Mode{Kind: plain.Manual}}

// carried returns the data of an instance's tokens, by place.
func carried(e *Engine, instance int) (out []string) {
	w := e.owner(0, instance)
	i, _ := w.shards[0].Index(instance)
	for _, p := range w.shards[0].(colouredPlayer).Tokens(i, 100) {
		out = append(out, fmt.Sprintf("%s %s", e.cfg.Nets[0].Tables.Net.Places[p.Place].ID, p.Token.Data))
	}
	return out
}

// A net that uses data accepts it with injections and firings; the data of a
// firing replaces that of the tokens it takes.
func TestDataComeInByInjectionsAndFirings(t *testing.T) {
	n := working(t, "n", 0, manual)
	n.Transitions[0].Guard = always
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{n}, Instances: 5, Workers: 2})
	stop := start(t, e)
	ctx := t.Context()
	for _, err := range []error{
		e.InjectData(ctx, "n", 3, "in", 2, []byte(`{"amount":7}`)), e.InjectData(ctx, "n", 3, "in", 1, []byte(`{"amount":8}`)), e.Inject(ctx, "n", 3, "aside", 1),
		e.Fire(ctx, "n", 3, "work"), e.FireData(ctx, "n", 3, "work", []byte(`"paid"`)),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	stop()
	if d := cmp.Diff([]string{`in {"amount":8}`, `out {"amount":7}`, `out "paid"`, "aside "}, carried(e, 3)); d != "" {
		t.Error(d)
	}
	if got := carried(e, 2); got != nil {
		t.Errorf("instance 2 holds %v", got)
	}
}

// Data sent to a net that uses none is rejected, and nothing happens.
//
//promise:refused hostile
func TestPlainNetsRefuseData(t *testing.T) {
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{working(t, "n", 1, manual)}, Instances: 2, Workers: 1})
	defer start(t, e)()
	ctx := t.Context()
	for _, err := range []error{e.InjectData(ctx, "n", 1, "in", 1, []byte("7")), e.FireData(ctx, "n", 1, "work", []byte("7"))} {
		if !errors.Is(err, ErrPlain) {
			t.Errorf("got %v, want %v", err, ErrPlain)
		}
	}
	if err := errors.Join(e.InjectData(ctx, "n", 1, "in", 1, nil), e.FireData(ctx, "n", 1, "work", nil)); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff([]uint32{1, 1, 0}, markingOf(t, e, "n", 1)); d != "" {
		t.Error(d)
	}
}

func TestCallsThatCannotBeChangeNothing(t *testing.T) {
	n := working(t, "n", 1, manual)
	n.Transitions[0].Guard = func(tokens []coloured.Placed, _ int64) coloured.Verdict {
		return coloured.Verdict{OK: tokens[0].Token.Data != nil}
	}
	n.Bound = 1
	e := ended(t, newEngine(t, Config{Source: "s", Nets: []NetConfig{n}, Instances: 1, Workers: 1}))
	ctx, large := t.Context(), make([]byte, coloured.MaxData+1)
	for _, c := range []struct {
		err, want error
	}{
		{e.InjectData(ctx, "n", 0, "in", 1, large), coloured.ErrTooLarge},
		{e.FireData(ctx, "n", 0, "work", large), coloured.ErrTooLarge},
		{e.InjectData(ctx, "n", 0, "in", 1, []byte("7")), ready.ErrFull}, // it has not begun: its first piece of work waits
		{e.InjectData(ctx, "n", 9, "in", 1, nil), plain.ErrNoInstance},
		{e.FireData(ctx, "n", 0, "x", nil), ErrNoTransition},
		{e.InjectData(ctx, "n", 0, "x", 1, nil), ErrNoPlace},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("got %v, want %v", c.err, c.want)
		}
	}
	e.workers[0].shards[0].Step(10, e.cfg.Clock())
	if err := e.Fire(ctx, "n", 0, "work"); !errors.Is(err, petri.ErrNotEnabled) || !strings.Contains(err.Error(), "its guard is false") {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff([]uint32{1, 0, 0}, markingOf(t, e, "n", 0)); d != "" {
		t.Error(d)
	}
}

// New finds everything that is wrong with how the transitions of all nets are to
// fire, before the first token moves, and says where.
func TestNewChecksAllTransitionsOfAllNets(t *testing.T) {
	first, second := office(), office()
	second.ID, second.File = "m", "m.bpmn"
	first.Transitions[4].Guard = "x >"
	wrong, err := Declared(petritest.Compile(t, second))
	if err != nil {
		t.Fatal(err)
	}
	wrong[3].Timeout = time.Second
	wrong[5].Branches = nil
	wrong[6].Guard = always
	_, err = New(Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, first)}, {Tables: petritest.Compile(t, second), Transitions: wrong}}, Instances: 1, Workers: 1})
	if !errors.Is(err, ErrConfig) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{
		`n.bpmn:14:1: the guard of transition "guarded"`,
		`m.bpmn:13:1: transition "work": a time limit without an action`,
		`m.bpmn:15:1: transition "split": no function is bound to the guard "x > 1" of arc "to-a"`,
		`m.bpmn:16:1: transition "source": a guard, but no input arc`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s in it", err, want)
		}
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != 4 {
		t.Errorf("%d lines:\n%v", lines, err)
	}
}

// A net that declares how it fires needs no bindings.
func TestNewTakesWhatANetDeclares(t *testing.T) {
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, office())}}, Instances: 1, Workers: 1})
	defer start(t, e)()
	if err := e.FireData(t.Context(), "n", 0, "source", []byte(`{"x":2}`)); err != nil {
		t.Fatal(err)
	}
	if err := e.Fire(t.Context(), "n", 0, "event"); err != nil && !errors.Is(err, petri.ErrNotEnabled) {
		t.Error(err)
	}
}

// items is a net that opens a run of a scope for an order, and one in it for an item.
func items() *petri.Net {
	arc := func(id, from, to string) petri.Arc {
		return petri.Arc{ID: id, Source: from, Target: to, Weight: 1, Pos: petri.Pos{Line: len(id), Column: 1}}
	}
	n := &petri.Net{ID: "n", File: "n.pnml", Scopes: []petri.Scope{{ID: "order"}, {ID: "item", Parent: "order"}},
		Places:      []petri.Place{{ID: "in"}, {ID: "count", Scope: "order"}, {ID: "item", Scope: "item"}, {ID: "out"}},
		Transitions: []petri.Transition{{ID: "begin"}, {ID: "work", Trigger: petri.Trigger{Kind: petri.TriggerEvent}}, {ID: "end", Guard: "finished"}},
		Arcs: []petri.Arc{arc("a", "in", "begin"), arc("b", "begin", "count"), arc("c", "begin", "item"), arc("d", "item", "work"), arc("e", "count", "work"), arc("f", "work", "count"),
			arc("g", "count", "end"), arc("h", "end", "out")}}
	return n
}

// An engine plays the scopes of a net as the net declares them.
func TestTheScopesOfANet(t *testing.T) {
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{{Tables: petritest.Compile(t, items())}}, Instances: 1, Workers: 1})
	defer start(t, e)()
	for _, data := range []string{`{"items": ["a"]}`, `{"items": [3]}`} {
		if err := e.InjectData(t.Context(), "n", 0, "in", 1, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	tokens := func() (out []string) {
		for _, p := range tokensByInstance(t, e)[0] {
			out = append(out, fmt.Sprintf("%s/%d %s", e.cfg.Nets[0].Tables.Net.Places[p.Place].ID, p.Scope, p.Token.Data))
		}
		return out
	}
	shows := func(want ...string) {
		t.Helper()
		eventually(t, func() string { return cmp.Diff(want, tokens()) })
	}
	shows(`count/1 {"items": ["a"]}`, `item/2 {"items": ["a"]}`, `count/3 {"items": [3]}`, `item/4 {"items": [3]}`)
	if err := e.FireIn(t.Context(), "n", 0, "work", 3, nil); !errors.Is(err, petri.ErrNotEnabled) {
		t.Errorf("in a run of another scope: %v", err)
	}
	if err := e.FireIn(t.Context(), "n", 0, "work", 4, []byte(`{"finished":true,"n":1}`)); err != nil {
		t.Error(err)
	}
	shows(`out/0 {"finished":true,"n":1}`, `count/1 {"items": ["a"]}`, `item/2 {"items": ["a"]}`)
	if err := e.FireData(t.Context(), "n", 0, "work", []byte(`{"finished":true,"n":2}`)); err != nil {
		t.Error(err)
	}
	shows(`out/0 {"finished":true,"n":1}`, `out/0 {"finished":true,"n":2}`)
}
