// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// eventNet returns a net of lines such as
//
//	p=2                                   two tokens in the place p
//	t: p ?q !r -s > u v                   takes p, reads q, is inhibited by r, empties s, puts u and v
//	t: p > u throws message paid order    with the key "order"
//	t: p > u catches signal stop
//	t: p > u if a < 1
//	scope a p q                           the places p and q are in the scope a
func eventNet(id string, lines ...string) *petri.Net {
	n := &petri.Net{ID: id}
	place := func(id string) string {
		if !slices.ContainsFunc(n.Places, func(p petri.Place) bool { return p.ID == id }) {
			n.Places = append(n.Places, petri.Place{ID: id})
		}
		return id
	}
	for _, line := range lines {
		if words := strings.Fields(line); words[0] == "scope" {
			n.Scopes = append(n.Scopes, petri.Scope{ID: words[1]})
			for _, id := range words[2:] {
				place(id)
				n.Places[slices.IndexFunc(n.Places, func(p petri.Place) bool { return p.ID == id })].Scope = words[1]
			}
			continue
		}
		if id, tokens, ok := strings.Cut(line, "="); ok && !strings.Contains(line, ":") {
			k, _ := strconv.Atoi(tokens)
			place(id)
			n.Places[slices.IndexFunc(n.Places, func(p petri.Place) bool { return p.ID == id })].Initial = uint32(k)
			continue
		}
		name, rest, _ := strings.Cut(line, ":")
		t := petri.Transition{ID: name}
		rest, t.Guard, _ = strings.Cut(rest, " if ")
		for _, does := range []string{" throws ", " catches "} {
			before, event, ok := strings.Cut(rest, does)
			if !ok {
				continue
			}
			rest = before
			words := append(strings.SplitN(event, " ", 3), "")
			e := petri.Event{Kind: petri.EventMessage, Name: words[1], Key: words[2]}
			if words[0] == "signal" {
				e.Kind = petri.EventSignal
			}
			if does == " throws " {
				t.Throws = e
			} else {
				t.Trigger = petri.Trigger{Kind: petri.TriggerEvent, Event: e}
			}
		}
		in, out, _ := strings.Cut(rest, ">")
		for _, w := range strings.Fields(in) {
			kind, bare := petri.Normal, strings.TrimLeft(w, "?!-")
			switch w[0] {
			case '?':
				kind = petri.Read
			case '!':
				kind = petri.Inhibitor
			case '-':
				kind = petri.Reset
			}
			n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint(len(n.Arcs)), Source: place(bare), Target: name, Kind: kind, Weight: 1})
		}
		for _, w := range strings.Fields(out) {
			n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprint(len(n.Arcs)), Source: name, Target: place(w), Weight: 1})
		}
		n.Transitions = append(n.Transitions, t)
	}
	return n
}

func eventNets(t testing.TB, nets ...*petri.Net) (out []NetConfig) {
	t.Helper()
	for _, n := range nets {
		out = append(out, NetConfig{Tables: petritest.Compile(t, n)})
	}
	return out
}

// marked returns the marked places of an instance, such as "p q=2".
func marked(t *testing.T, e *Engine, net string, instance int) string {
	t.Helper()
	return named(e.cfg.Nets[e.nets[net]].Tables.Net, markingOf(t, e, net, instance))
}

func named(n *petri.Net, marking []uint32) string {
	var out []string
	for p, m := range marking {
		switch {
		case m == 1:
			out = append(out, n.Places[p].ID)
		case m > 1:
			out = append(out, fmt.Sprintf("%s=%d", n.Places[p].ID, m))
		}
	}
	return strings.Join(out, " ")
}

// The rules of BPMN 2.0 (10.5) for signals, as nets. Camunda's tests for signals
// that interrupt the activity that throws them have the same outcomes.
func TestSignals(t *testing.T) {
	net := func(id string, lines ...string) *petri.Net { return eventNet(id, lines...) }
	for _, c := range []struct {
		rule      string
		instances int
		nets      []*petri.Net
		want      []string // by net: the markings of its instances, with | between
	}{
		{"a signal reaches the catchers of all nets and instances, and of its own instance", 2,
			[]*petri.Net{net("a", "p=1", "w=1", "t: p > q throws signal s", "c: w > x catches signal s"), net("b", "w=1", "c: w > x catches signal s")},
			[]string{"q x|q x", "x|x"}},
		{"a signal without catchers is lost", 1, []*petri.Net{net("a", "p=1", "t: p > q throws signal s")}, []string{"q"}},
		{"a catcher waits for its own signal only", 1,
			[]*petri.Net{net("a", "p=1", "v=1", "w=1", "t: p > q throws signal s", "c: v > x catches signal other", "d: w > x catches message s")}, []string{"v w q"}},
		{"a token that the throwing firing puts has not waited", 1,
			[]*petri.Net{net("a", "p=1", "t: p > q throws signal s", "c: q > x catches signal s")}, []string{"q"}},
		{"every token that waits is caught, and not the one that the throwing firing puts", 1,
			[]*petri.Net{net("a", "p=1", "q=3", "t: p > q throws signal s", "c: q > x catches signal s")}, []string{"q x=3"}},
		{"a token that one catcher puts has not waited at the next one", 1,
			[]*petri.Net{net("a", "p=1", "w=1", "t: p > q throws signal s", "c: w > x catches signal s", "d: x > y catches signal s")}, []string{"q x"}},
		{"an event that does not interrupt fires once for each signal", 1,
			[]*petri.Net{net("a", "p=2", "armed=1", "t: p > q throws signal s", "c: armed > armed x catches signal s")}, []string{"armed q=2 x=2"}},
		{"the same with a read arc", 1,
			[]*petri.Net{net("a", "p=2", "armed=1", "t: p > q throws signal s", "c: ?armed > x catches signal s")}, []string{"armed q=2 x=2"}},
		{"an event that does not interrupt fires once for each token that is armed", 1,
			[]*petri.Net{net("a", "p=1", "armed=2", "t: p > q throws signal s", "c: armed > armed x catches signal s")}, []string{"armed=2 q x=2"}},
		{"each of several tokens is caught beside one that all of them read", 1,
			[]*petri.Net{net("a", "p=1", "w=2", "on=1", "t: p > q throws signal s", "c: w ?on > x catches signal s")}, []string{"on q x=2"}},
		{"no transition behind the throwing one fires if the catcher interrupts both", 1,
			[]*petri.Net{net("a", "p=1", "active=1", "t: p > next throws signal s", "after: next > done", "c: active -next > handled catches signal s")}, []string{"handled"}},
		{"a sub-process whose end throws is not complete if the catcher interrupts it", 1,
			[]*petri.Net{net("a", "p=1", "active=1", "end: p > throws signal s", "complete: active !p > done", "c: active -p > handled catches signal s")}, []string{"handled"}},
		{"of two catchers that cancel each other, both catch and one cancels", 1,
			[]*petri.Net{net("a", "v=1", "w=1", "c: v > x catches signal s", "d: w > y catches signal s", "tx: x -y > end", "ty: y -x > end"), net("b", "p=1", "t: p > q throws signal s")},
			[]string{"end", "q"}},
		{"a catcher whose guard is false does not catch", 1,
			[]*petri.Net{net("a", "p=1", "w=1", "t: p > q throws signal s", "c: w > x catches signal s if late")}, []string{"w q"}},
		{"a transition without inputs begins an instance", 2,
			[]*petri.Net{net("a", "c: > x catches signal s"), net("b", "p=1", "t: p > q throws signal s")}, []string{"x|x", "q|q"}},
		{"a beginning may be inhibited", 2,
			[]*petri.Net{net("a", "alive=1", "c: !alive > x catches signal s"), net("b", "p=1", "t: p > q throws signal s")},
			[]string{"alive|alive", "q|q"}},
		{"a beginning that may be inhibited and is not begins one instance for each signal", 2,
			[]*petri.Net{net("a", "c: !x > x catches signal s", "u: x > y", "v: y never > z"), net("b", "p=1", "t: p > q throws signal s")}, []string{"y|y", "q|q"}},
		{"each net begins an instance", 1,
			[]*petri.Net{net("a", "c: > x catches signal s"), net("b", "p=1", "t: p > q throws signal s"), net("c", "c: > x catches signal s")}, []string{"x", "q", "x"}},
		{"an instance that has ended begins again, one that has not does not", 2,
			[]*petri.Net{net("a", "c: > x catches signal s", "u: x > y", "v: y never > z"), net("b", "p=2", "t: p > q throws signal s")},
			[]string{"y|y", "q=2|q=2"}},
		{"a signal reaches every run of a scope, and interrupts what is in that run", 1,
			[]*petri.Net{net("a", "scope s armed work", "p=3", "enter: p > armed work", "c: armed -work > x catches signal s"), net("b", "go=1", "wait: go > q", "t: q > r throws signal s")},
			[]string{"x=3", "r"}},
		{"a signal reaches every run of the scope in which it is thrown", 1,
			[]*petri.Net{net("a", "scope s armed work", "p=3", "first=1", "enter: p > armed work", "t: first work !p > y throws signal s", "c: armed -work > x catches signal s")},
			[]string{"y x=3"}},
		{"a signal to which a catcher reacts with a signal", 1,
			[]*petri.Net{net("a", "p=1", "w=1", "t: p > q throws signal s", "c: w > x catches signal r"), net("b", "w=1", "c: w > x catches signal s", "u: x > y throws signal r")},
			[]string{"q x", "y"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			for name, d := range map[string]*Dispatch{"in turn": nil, "dispatched": {Policy: ready.PolicyFIFO}} {
				e := newEngine(t, Config{Source: "s", Nets: eventNets(t, c.nets...), Instances: c.instances, Workers: 3, Firings: 1000, Dispatch: d})
				runToEnd(t, e)
				for k, want := range c.want {
					var got []string
					for i := range c.instances {
						got = append(got, marked(t, e, c.nets[k].ID, i))
					}
					if got := strings.Join(got, "|"); got != want {
						t.Errorf("%s: net %s has %q; expected %q", name, c.nets[k].ID, got, want)
					}
				}
			}
		})
	}
}

// tokenOf is the data of the first token of a place.
func tokenOf(t *testing.T, e *Engine, net string, instance int, place string) string {
	t.Helper()
	p, _ := e.cfg.Nets[e.nets[net]].Tables.PlaceIndex(place)
	for _, x := range e.workers[0].stage.nets[e.nets[net]].shard.Tokens(instance, 1000) {
		if int(x.Place) == p {
			return string(x.Token.Data)
		}
	}
	return ""
}

func TestMessages(t *testing.T) {
	type injected struct {
		net      string
		instance int
		place    string
		data     string
	}
	for _, c := range []struct {
		rule      string
		instances int
		nets      []*petri.Net
		inject    []injected
		want      []string
		refused   map[string]uint64
	}{
		{"a message reaches one catcher, that with the lowest number", 3,
			[]*petri.Net{eventNet("a", "t: p > q throws message m"), eventNet("b", "w=1", "c: w > x catches message m")},
			[]injected{{"a", 0, "p", ""}}, []string{"q||", "x|w|w"}, nil},
		{"without a key, the one with the number of the throwing instance goes first", 3,
			[]*petri.Net{eventNet("a", "t: p > q throws message m"), eventNet("b", "w=1", "c: w > x catches message m")},
			[]injected{{"a", 2, "p", ""}}, []string{"||q", "w|w|x"}, nil},
		{"the keys at both ends are equal", 3,
			[]*petri.Net{eventNet("a", "t: p > q throws message m order.id"), eventNet("b", "c: w > x catches message m id")},
			[]injected{{"b", 0, "w", `{"id":"o-1"}`}, {"b", 1, "w", `{"id":"o-2"}`}, {"b", 2, "w", `{"id":"o-3"}`}, {"a", 0, "p", `{"order":{"id":"o-2"}}`}},
			[]string{"q||", "w|x|w"}, nil},
		{"a key is compared as text", 1,
			[]*petri.Net{eventNet("a", "t: p > q throws message m id"), eventNet("b", "c: w > x catches message m id")},
			[]injected{{"b", 0, "w", `{"id":7}`}, {"a", 0, "p", `{"id":"7"}`}}, []string{"q", "x"}, nil},
		{"of several tokens that wait, the one with the key", 1,
			[]*petri.Net{eventNet("a", "t: p > q throws message m id"), eventNet("b", "c: w > x catches message m id")},
			[]injected{{"b", 0, "w", `{"id":1}`}, {"b", 0, "w", `{"id":2}`}, {"b", 0, "w", `{"id":3}`}, {"a", 0, "p", `{"id":2}`}, {"a", 0, "p", `{"id":3}`}},
			[]string{"q=2", "w x=2"}, nil},
		{"a catcher without a key accepts every key", 1,
			[]*petri.Net{eventNet("a", "t: p > q throws message m id"), eventNet("b", "w=1", "c: w > x catches message m")},
			[]injected{{"a", 0, "p", `{"id":2}`}}, []string{"q", "x"}, nil},
		{"a catcher with a key accepts no message without one, even if its own is missing", 2,
			[]*petri.Net{eventNet("a", "t: p > q throws message m"), eventNet("b", "c: w > x catches message m id")},
			[]injected{{"b", 0, "w", `{"id":2}`}, {"b", 1, "w", `{}`}, {"a", 0, "p", ""}}, []string{"q|", "w|w"}, map[string]uint64{"no catcher": 1}},
		{"a catcher whose key cannot be determined does not catch", 2,
			[]*petri.Net{eventNet("a", "t: p > q throws message m id"), eventNet("b", "c: w > x catches message m id")},
			[]injected{{"b", 0, "w", `{"id":[1]}`}, {"b", 1, "w", `{"id":1}`}, {"a", 0, "p", `{"id":1}`}}, []string{"q|", "w|x"}, nil},
		{"a message whose key cannot be determined is not thrown: its transition is an incident", 1,
			[]*petri.Net{eventNet("a", "t: p > q throws message m id"), eventNet("b", "w=1", "c: w > x catches message m")},
			[]injected{{"a", 0, "p", `{"id":[1]}`}}, []string{"p", "w"}, nil},
		{"of several runs of a scope, the one with the key", 1,
			[]*petri.Net{eventNet("a", "t: p > q throws message m id"), eventNet("b", "scope s armed work", "enter: w > armed work", "c: armed -work > x catches message m id")},
			[]injected{{"b", 0, "w", `{"id":1}`}, {"b", 0, "w", `{"id":2}`}, {"b", 0, "w", `{"id":3}`}, {"a", 0, "p", `{"id":2}`}, {"a", 0, "p", `{"id":2}`}},
			[]string{"q=2", "armed=2 work=2 x"}, map[string]uint64{"no catcher": 1}},
		{"a name is computed from the data at both ends", 2,
			[]*petri.Net{eventNet("a", "t: p > q throws message o-${id}"), eventNet("b", "c: w > x catches message ${'o'}-${n}")},
			[]injected{{"b", 0, "w", `{"n":1}`}, {"b", 1, "w", `{"n":2}`}, {"a", 0, "p", `{"id":2}`}}, []string{"q|", "w|x"}, nil},
		{"or at one end, and goes in the order of the catchers", 1,
			[]*petri.Net{eventNet("a", "t: p > q throws message m"), eventNet("b", "c: w > x catches message =n", "d: w > y catches message m")},
			[]injected{{"b", 0, "w", `{"n":"m"}`}, {"a", 0, "p", ""}}, []string{"q", "x"}, nil},
		{"a computed name and a key are both equal", 3,
			[]*petri.Net{eventNet("a", "t: p > q throws message =n id"), eventNet("b", "c: w > x catches message =n id")},
			[]injected{{"b", 0, "w", `{"n":"m","id":1}`}, {"b", 1, "w", `{"n":"k","id":2}`}, {"b", 2, "w", `{"n":"m","id":2}`}, {"a", 0, "p", `{"n":"m","id":2}`}},
			[]string{"q||", "w|w|x"}, nil},
		{"a catcher whose name cannot be determined does not catch", 1,
			[]*petri.Net{eventNet("a", "t: p > q throws message m"), eventNet("b", "c: w > x catches message ${n}")},
			[]injected{{"b", 0, "w", `{}`}, {"a", 0, "p", ""}}, []string{"q", "w"}, map[string]uint64{"no catcher": 1}},
		{"a message whose name cannot be determined is not thrown", 1,
			[]*petri.Net{eventNet("a", "t: p > q throws message ${n}"), eventNet("b", "w=1", "c: w > x catches message m")},
			[]injected{{"a", 0, "p", `{}`}}, []string{"p", "w"}, nil},
		{"an instance begins with a name that is computed without data", 1,
			[]*petri.Net{eventNet("a", "t: p > q throws message m"), eventNet("b", "s: > y catches message ${'m'}")},
			[]injected{{"a", 0, "p", ""}}, []string{"q", "y"}, nil},
		{"a message that nothing waits for begins an instance", 2,
			[]*petri.Net{eventNet("a", "t: p > q throws message m id"), eventNet("b", "s: > y catches message m", "c: w > x catches message m id")},
			[]injected{{"b", 0, "w", `{"id":1}`}, {"a", 0, "p", `{"id":1}`}, {"a", 0, "p", `{"id":2}`}}, []string{"q=2|", "y x|"}, nil},
		{"no instance is free to begin", 1,
			[]*petri.Net{eventNet("a", "t: p > q throws message m"), eventNet("b", "s: > y catches message m", "u: y never > z")},
			[]injected{{"a", 0, "p", ""}, {"a", 0, "p", ""}}, []string{"q=2", "y"}, map[string]uint64{"no free instance": 1}},
		{"two processes converse, each instance with the one it has begun", 3,
			[]*petri.Net{
				eventNet("a", "ask: p > waits throws message ask id", "answered: waits > done catches message answer id"),
				eventNet("b", "s: > y catches message ask", "work: y > z", "answer: z > end throws message answer id"),
			},
			[]injected{{"a", 2, "p", `{"id":"x"}`}, {"a", 0, "p", `{"id":"y"}`}}, []string{"done||done", "end||end"}, nil},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e := newEngine(t, Config{Source: "s", Nets: eventNets(t, c.nets...), Instances: c.instances, Workers: 1, Firings: 1000})
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_ = e.Run(ctx) // then each call below acts at once
			for _, in := range c.inject {
				if err := e.InjectData(t.Context(), in.net, in.instance, in.place, 1, []byte(in.data)); err != nil {
					t.Fatal(err)
				}
				playOut(e)
			}
			for k, want := range c.want {
				var got []string
				for i := range c.instances {
					got = append(got, marked(t, e, c.nets[k].ID, i))
				}
				if got := strings.Join(got, "|"); got != want {
					t.Errorf("net %s has %q; expected %q", c.nets[k].ID, got, want)
				}
			}
			if d := cmp.Diff(c.refused, e.eventCounts.Refused); d != "" {
				t.Error("refused", d)
			}
		})
	}
}

// playOut plays an engine that has ended until nothing can fire.
func playOut(e *Engine) {
	w := e.workers[0]
	w.left = 1000
	for more := true; more; {
		more, _ = w.step(w.now())
	}
}

// An instance that begins has the data of the token that threw the message. One
// that waits keeps its own.
func TestDataOfMessages(t *testing.T) {
	a := eventNet("a", "t: p > q throws message m")
	for _, c := range []struct {
		rule, catcher, place, own, sent, want string
	}{
		{"it begins", "c: > x catches message m", "", "", "", `{"of":"thrower"}`},
		{"it waits", "c: w > x catches message m", "w", `{"of":"catcher"}`, "", `{"of":"catcher"}`},
		{"it begins, from outside", "c: > x catches message m", "", "", `{"of":"sender"}`, `{"of":"sender"}`},
		{"it waits, from outside", "c: w > x catches message m", "w", `{"of":"catcher"}`, `{"of":"sender"}`, `{"of":"sender"}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			e := newEngine(t, Config{Source: "s", Nets: eventNets(t, a, eventNet("b", c.catcher)), Instances: 1, Workers: 1})
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_ = e.Run(ctx)
			if c.place != "" {
				if err := e.InjectData(t.Context(), "b", 0, c.place, 1, []byte(c.own)); err != nil {
					t.Fatal(err)
				}
			}
			if c.sent != "" {
				where, err := e.Message(t.Context(), "m", "", []byte(c.sent))
				if want := (Caught{"b", "s/0", "c", c.place == ""}); err != nil || where != want {
					t.Errorf("%v, caught %+v; expected %+v", err, where, want)
				}
			} else if err := e.InjectData(t.Context(), "a", 0, "p", 1, []byte(`{"of":"thrower"}`)); err != nil {
				t.Fatal(err)
			}
			playOut(e)
			if got := tokenOf(t, e, "b", 0, "x"); got != c.want {
				t.Errorf("data %s; expected %s", got, c.want)
			}
		})
	}
}

//promise:refused hostile
func TestMessagesFromOutsideAreRefused(t *testing.T) {
	e := newEngine(t, Config{Source: "s", Nets: eventNets(t, eventNet("a", "s: > y catches message begin", "u: y never > z", "c: w > x catches message m")), Instances: 1, Workers: 1})
	defer start(t, e)()
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"m", nil, ErrNoCatcher},
		{"other", nil, ErrNoCatcher},
		{"begin", make([]byte, coloured.MaxData+1), coloured.ErrTooLarge},
		{"begin", nil, nil},
		{"begin", nil, ErrBusy},
	} {
		if _, err := e.Message(t.Context(), c.name, "", c.data); !errors.Is(err, c.want) {
			t.Errorf("%s with %d bytes: %v; expected %v", c.name, len(c.data), err, c.want)
		}
	}
	want := EventReport{Messages: 1, Caught: 1, Refused: map[string]uint64{"no catcher": 2, "no free instance": 1, "invalid request": 1}}
	if d := cmp.Diff(&want, e.eventCounts.report()); d != "" {
		t.Error(d)
	}
}

// Work that throws does so when it has fired, with the data that it returned.
func TestAnActionThrowsWhenItHasFired(t *testing.T) {
	nets := eventNets(t, eventNet("a", "p=1", "t: p > q throws message m id"), eventNet("b", "c: w > x catches message m id"))
	var err error
	if nets[0].Transitions, err = Declared(nets[0].Tables); err != nil {
		t.Fatal(err)
	}
	proceed := make(chan struct{})
	nets[0].Transitions[0].Action = func(context.Context, *action.Run) (coloured.Outcome, error) {
		<-proceed
		return coloured.Outcome{Data: []byte(`{"id":7}`)}, nil
	}
	e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 1, Workers: 1, Firings: 10})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := e.Run(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if err := e.InjectData(t.Context(), "b", 0, "w", 1, []byte(`{"id":7}`)); err != nil {
		t.Fatal(err)
	}
	if got := marked(t, e, "b", 0); got != "w" {
		t.Errorf("before: %s", got)
	}
	close(proceed)
	<-done
	if a, b := marked(t, e, "a", 0), marked(t, e, "b", 0); a != "q" || b != "x" {
		t.Errorf("after: %s, %s", a, b)
	}
}

func TestAThrownMessageThatNothingCatchesIsLogged(t *testing.T) {
	var logged strings.Builder
	e := newEngine(t, Config{Source: "s", Nets: eventNets(t, eventNet("a", "p=1", "t: p > q throws message m")), Instances: 1, Workers: 1, Firings: 10,
		Log: slog.New(slog.NewTextHandler(&logged, nil))})
	runToEnd(t, e)
	if want := `level=WARN msg="message not delivered" net=a transition=t instance=s/0 err="no catcher waits for it"`; !strings.Contains(logged.String(), want) {
		t.Errorf("logged %s; expected %s", &logged, want)
	}
}

// Signals that cannot be sent are counted, and do not hold up the engine.
//
//promise:dropped dark
func TestTheOutboxIsBounded(t *testing.T) {
	var counts eventCounts
	b := newOutbox(&counts)
	b.put("before it is open")
	b.release()
	b.take()
	for range maxOutgoing + 3 {
		b.put("s")
	}
	if n := len(b.all); n != 0 {
		t.Errorf("%d may be sent before their firings are in the journal", n)
	}
	b.release()
	if n := len(b.take()); n != maxOutgoing || counts.Refused[refusedNotSent] != 3 {
		t.Errorf("%d may be sent, refused %v", n, counts.Refused)
	}
}

func TestNetsWithEventsHaveOneWorker(t *testing.T) {
	nets := eventNets(t, eventNet("a", "p=1", "t: p > q throws signal s"))
	if e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 9, Workers: 4}); e.Workers() != 1 {
		t.Errorf("%d workers", e.Workers())
	}
	if _, err := New(Config{Source: "s", Nets: nets, Instances: 9, Workers: 4, Dispatch: &Dispatch{Policy: ready.PolicyDedicated}}); !errors.Is(err, ErrConfig) {
		t.Errorf("dedicated: %v", err)
	}
}

func TestAKeyThatCannotBeReadIsAFaultOfItsNet(t *testing.T) {
	n := eventNet("a", "t: p > q throws message m order +")
	n.File, n.Transitions[0].Pos = "f.bpmn", petri.Pos{Line: 3, Column: 5}
	_, err := Declared(petritest.Compile(t, n))
	if err == nil || !strings.HasPrefix(err.Error(), `f.bpmn:3:5: the key of transition "t": column `) {
		t.Error(err)
	}
}

func TestAComputedNameThatIsInvalidIsAFaultOfItsNet(t *testing.T) {
	for line, want := range map[string]string{
		"t: p > q throws message ${order":   "column ",
		"t: > q catches message o-${order}": "unknown variable", // it begins an instance, which has no data
	} {
		n := eventNet("a", line)
		n.File, n.Transitions[0].Pos = "f.bpmn", petri.Pos{Line: 3, Column: 5}
		_, err := Declared(petritest.Compile(t, n))
		if err == nil || !strings.HasPrefix(err.Error(), `f.bpmn:3:5: the event's name of transition "t": `+want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestASignalWithAComputedName(t *testing.T) {
	nets := eventNets(t, eventNet("b", "c: w > x catches signal stop-${n}", "d: v > y catches signal stop-1"))
	e := newEngine(t, Config{Source: "s", Nets: nets, Instances: 1, Workers: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Run(ctx)
	for _, data := range []string{`{"n":1}`, `{"n":2}`} {
		for _, place := range []string{"v", "w"} {
			if err := e.InjectData(t.Context(), "b", 0, place, 1, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
	}
	caught, err := e.Signal(t.Context(), "stop-1", nil)
	if got := marked(t, e, "b", 0); err != nil || caught != 3 || got != "w x y=2" {
		t.Errorf("%d caught it, %v: %s", caught, err, got)
	}
}

func TestKeysAreComparedAsTexts(t *testing.T) {
	for _, c := range []struct {
		json, want, fault string
	}{
		{"", "", ""}, {"null", "", ""}, {`""`, "", ""}, {`"7"`, "7", ""}, {"7", "7", ""}, {`"é"`, "é", ""}, {`"\u00e9"`, "é", ""}, {"true", "true", ""},
		{"[1]", "", "the key [1]; expected a text, a number, true or false"},
		{"{}", "", "the key {}; expected a text, a number, true or false"},
		{"x", "", "a key that is not JSON"},
		{`"` + strings.Repeat("x", MaxKey+1) + `"`, "", "a key of 1025 bytes; expected at most 1024"},
	} {
		got, err := keyText(json.RawMessage(c.json))
		if got != c.want || (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%.20s: %q, %v", c.json, got, err)
		}
	}
}

// A message finds its token among many more than a guard is asked about, and the
// keys of tokens that have left are not confused with those of later ones.
func TestAMessageFindsItsTokenAmongMany(t *testing.T) {
	e := newEngine(t, Config{Source: "s", Instances: 1, Workers: 1, Nets: eventNets(t, eventNet("n", "c: w ?on > x catches message m id", "on=1"))})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Run(ctx)
	const tokens = 4 * coloured.MaxCombinations
	for round := range 2 {
		for i := range tokens {
			if err := e.InjectData(t.Context(), "n", 0, "w", 1, fmt.Appendf(nil, `{"id":"%d/%d"}`, round, i)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range tokens {
			if _, err := e.Message(t.Context(), "m", fmt.Sprintf("%d/%d", round, i*7919%tokens), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := marked(t, e, "n", 0), fmt.Sprintf("on x=%d", 2*tokens); got != want {
		t.Errorf("marked %s; expected %s", got, want)
	}
}

// BenchmarkMessage delivers a message with a key among 10,000 tokens that wait, in
// one instance each, or in one instance.
func BenchmarkMessage(b *testing.B) {
	for _, instances := range []int{10_000, 1} {
		b.Run(fmt.Sprint(instances), func(b *testing.B) {
			e, err := New(Config{Source: "s", Instances: instances, Workers: 1, Nets: eventNets(b, eventNet("n", "c: w > w catches message m id"))})
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			cancel()
			_ = e.Run(ctx)
			for i := range 10_000 {
				if err := e.InjectData(b.Context(), "n", i%instances, "w", 1, fmt.Appendf(nil, `{"id":"o-%d","amount":%d,"name":"a customer"}`, i, i)); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := e.Message(b.Context(), "m", "none", nil); !errors.Is(err, ErrNoCatcher) { // all keys are known then
				b.Fatal(err)
			}
			b.ResetTimer()
			for k := range b.N {
				if _, err := e.Message(b.Context(), "m", fmt.Sprintf("o-%d", k*7919%10_000), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A net that only begins by events is finished whenever nothing is left to do, and begins
// again with the next one.
func TestAnInstanceThatAnEventBeginsFinishes(t *testing.T) {
	e := newEngine(t, Config{Source: "s", Nets: eventNets(t, eventNet("b", "s: > y catches message m", "u: y > z", "r: w > x catches message n", "k: v > w")), Instances: 1, Workers: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Run(ctx)
	for round := range uint64(3) {
		if where, err := e.Message(t.Context(), "m", "", nil); err != nil || !where.Begun {
			t.Fatalf("%v: %+v", err, where)
		}
		playOut(e)
		rows := rowsOfNet(t, e, 0)
		if rows.Finished != round+1 || rows.Created != round+1 || rows.Deadlocked != 0 {
			t.Errorf("round %d: %+v", round, rows)
		}
	}
}

func TestEventsAreMetrics(t *testing.T) {
	e := newEngine(t, Config{Source: "s", Nets: eventNets(t, eventNet("b", "w=1", "c: w > x catches message m")), Instances: 2, Workers: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Run(ctx)
	for range 3 {
		_, _ = e.Message(t.Context(), "m", "", nil)
	}
	_, _ = e.Signal(t.Context(), "s", nil)
	want := []string{
		"pnagent_engine_events_caught_total 2", "pnagent_engine_events_refused_total reason=no catcher 1", "pnagent_engine_messages_caught_total 2", "pnagent_engine_signals_total 1",
	}
	if d := cmp.Diff(want, selfmetricstest.Series(t, e.Metrics())); d != "" {
		t.Error(d)
	}
}

func rowsOfNet(t *testing.T, e *Engine, net int) stats.NetRow {
	t.Helper()
	tables := e.cfg.Nets[net].Tables
	rows := stats.NewRows(tables.Places(), tables.Transitions())
	if err := e.Rows(t.Context(), net, e.cfg.Clock(), rows); err != nil {
		t.Fatal(err)
	}
	return rows.Net
}
