// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/guard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/petri"
)

// Errors of events that reach no catcher.
var (
	ErrNoCatcher = errors.New("no catcher waits for it")
	ErrBusy      = errors.New("no instance is free to begin with it")
)

// Caught is where an event was caught.
type Caught struct {
	Net        string `json:"net"`
	Instance   string `json:"instance"` // its name
	Transition string `json:"transition"`
	Begun      bool   `json:"begun,omitempty"` // the instance begins with the event
}

// EventReport counts events. Those that a transition throws and those from
// outside count alike.
type EventReport struct {
	Messages uint64            `json:"messages"`          // that were caught
	Signals  uint64            `json:"signals"`           // that were thrown, also if nothing caught them
	Caught   uint64            `json:"caught"`            // firings of catchers
	Refused  map[string]uint64 `json:"refused,omitempty"` // by reason: no catcher, no free instance, invalid request, failed, not sent
}

// The reasons of EventReport.
const (
	refusedNoCatcher = "no catcher"
	refusedBusy      = "no free instance"
	refusedInvalid   = "invalid request"
	refusedFailed    = "failed"
	refusedNotSent   = "not sent"
)

// eventCounts are the counters of an EventReport.
type eventCounts struct {
	mu sync.Mutex
	EventReport
}

func (c *eventCounts) refused(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Refused == nil {
		c.Refused = map[string]uint64{}
	}
	c.Refused[reason]++
}

func (c *eventCounts) caught(messages, signals, caught int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Messages += uint64(messages)
	c.Signals += uint64(signals)
	c.Caught += uint64(caught)
}

// report returns the counts; nil if nothing was counted.
func (c *eventCounts) report() *EventReport {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Messages+c.Signals+c.Caught == 0 && len(c.Refused) == 0 {
		return nil
	}
	r := c.EventReport
	r.Refused = maps.Clone(r.Refused)
	return &r
}

// eventID names the events that one catcher catches.
type eventID struct {
	kind petri.EventKind
	name string
}

// catcher is a transition that waits for events.
type catcher struct {
	net, transition int
	begins          bool // an instance
	name            Key  // nil for that of the net
	key             Key
	known           map[holding]address // of tokens
}

// events delivers the events of an engine. It belongs to its one worker.
type events struct {
	catchers map[eventID][]catcher // by net, then transition; with the name "" those whose names are computed
	counts   *eventCounts
	outbox   *outbox
}

// eventful reports whether transitions of the engine's nets throw or catch
// events, or begin instances by a timer, so that all instances need one worker: a
// firing and what it brings about in other instances are one commit.
func (e *Engine) eventful() bool {
	for _, n := range e.cfg.Nets {
		for i := range n.Tables.Net.Transitions {
			if tr := &n.Tables.Net.Transitions[i]; tr.Eventful() || tr.Trigger.Begins {
				return true
			}
		}
	}
	return false
}

// checkEvents makes an engine of nets with events have one worker.
func (e *Engine) checkEvents() error {
	if !e.eventful() {
		return nil
	}
	if e.cfg.Part.partial() {
		for _, t := range e.cfg.Nets[0].Tables.Net.Transitions {
			if t.Trigger.Begins && e.cfg.Part.Cut != nil {
				return fmt.Errorf("%w: transition %q begins instances by a timer; expected none in a region of a net, which does not see whether an instance is free; "+
					"partitions do", ErrConfig, t.ID)
			}
			if t.Throws.Kind != petri.EventNone {
				return fmt.Errorf("%w: transition %q throws a %s; expected none in one part of several, because events do not reach the other parts",
					ErrConfig, t.ID, t.Throws.Kind)
			}
		}
	}
	if d := e.cfg.Dispatch; d != nil && d.Policy == ready.PolicyDedicated {
		return fmt.Errorf("%w: the dedicated dispatcher, which has several workers, for nets that throw or catch events, or begin instances by a timer; expected another one", ErrConfig)
	}
	e.cfg.Workers = 1
	return nil
}

// partial reports whether other engines play other parts of the net.
func (p *Part) partial() bool { return p != nil && (p.Cut != nil || p.Numbers != nil) }

// newEvents returns the catchers of the engine; nil without events, or if other
// engines play other parts of the net.
func (e *Engine) newEvents() *events {
	if !e.eventful() || e.cfg.Part.partial() {
		return nil
	}
	ev := &events{catchers: map[eventID][]catcher{}, counts: &e.eventCounts, outbox: e.outbox}
	for k, n := range e.cfg.Nets {
		for t := range n.Transitions {
			on := n.Tables.Net.Transitions[t].Trigger.Event
			if on.Kind == petri.EventNone || n.Transitions[t].Mode.Kind != plain.Manual { // bindings may replace the trigger
				continue
			}
			id := eventID{on.Kind, on.Name}
			c := catcher{net: k, transition: t, begins: begins(n.Tables, t), name: n.Transitions[t].EventName, key: n.Transitions[t].Key, known: map[holding]address{}}
			if c.name != nil {
				id.name = ""
				if c.begins {
					id.name, _ = c.name.name(nil, 0) // Declared has tried it
				}
			}
			ev.catchers[id] = append(ev.catchers[id], c)
		}
	}
	return ev
}

// of returns the transitions that may catch an event.
func (ev *events) of(id eventID) []catcher {
	named, computed := ev.catchers[id], ev.catchers[eventID{kind: id.kind}]
	if len(computed) == 0 {
		return named
	}
	all := slices.Concat(named, computed)
	ordered.By(all, func(a, b *catcher) int { return cmp.Or(a.net-b.net, a.transition-b.transition) })
	return all
}

// begins reports whether a transition needs no token, so that an event which it
// catches begins an instance. It may have inhibitor and reset arcs.
func begins(t *petri.Tables, transition int) bool {
	return !slices.ContainsFunc(t.Conds(transition), func(c petri.Cond) bool { return c.Lo > 0 }) &&
		!slices.ContainsFunc(t.Effects(transition), func(e petri.Effect) bool { return e.Take > 0 })
}

// event is a message or a signal on its way.
type event struct {
	eventID
	key      string // of a message; "" for none
	data     []byte // for the tokens that catchers put; nil leaves them theirs
	begin    []byte // for those of an instance that begins with a message, if data is nil
	from     int    // the instance in which it was thrown; -1 for one from outside
	net      int    // of that instance
	lastSeen uint64 // the last token of that instance that can wait for it
}

// deliver delivers what transitions have thrown, and reports whether there was
// anything.
func (w *worker) deliver(now int64) (some bool) {
	if w.events == nil {
		return false
	}
	for k := range w.stage.nets {
		if w.stage.nets[k].shard == nil {
			continue
		}
		p := w.take(k, now)
		thrown := p.thrown
		p.thrown = thrown[:0]
		for i := range thrown { // what catches it throws nothing
			w.thrown(k, &thrown[i], now)
		}
		some = some || len(thrown) > 0
	}
	return some
}

// thrown delivers one event that a transition of a net has thrown.
func (w *worker) thrown(net int, x *coloured.Thrown, now int64) {
	cfg := &w.nets[net]
	tr := &cfg.Tables.Net.Transitions[x.Transition]
	ev := event{eventID: eventID{tr.Throws.Kind, tr.Throws.Name}, from: x.Instance, net: net, lastSeen: x.Last}
	if name := cfg.Transitions[x.Transition].EventName; name != nil {
		var err error
		if ev.name, err = name.name(x.Taken, now); err != nil {
			w.refuse(err)
			w.stage.log.failed(ev.kind.String()+" not delivered", cfg.Tables.Net.ID, tr.ID, w.stage.log.name(w.shards[net].Number(x.Instance)), err, now)
			return
		}
	}
	if ev.kind == petri.EventSignal {
		w.events.outbox.put(ev.name)
		w.signal(&ev, now)
		return
	}
	datas := make([][]byte, len(x.Taken))
	for i := range x.Taken {
		datas[i] = x.Taken[i].Token.Data
	}
	ev.begin = guard.Merge(datas)
	var err error
	if ev.key, err = cfg.Transitions[x.Transition].Key.of(x.Taken, now); err == nil {
		_, err = w.message(&ev, now)
	} else {
		w.refuse(err)
	}
	if err != nil {
		w.stage.log.failed("message not delivered", cfg.Tables.Net.ID, tr.ID, w.stage.log.name(w.shards[net].Number(x.Instance)), err, now)
	}
}

// signal delivers a signal to every transition that waits for it, in the order
// of nets, instances and transitions; then it begins an instance for each
// transition that begins one. It returns how many caught it.
func (w *worker) signal(ev *event, now int64) (caught int) {
	catchers := w.events.of(ev.eventID)
	for len(catchers) > 0 {
		net, same := catchers[0].net, 1
		for same < len(catchers) && catchers[same].net == net {
			same++
		}
		caught += w.signalNet(ev, catchers[:same], now)
		catchers = catchers[same:]
	}
	for _, c := range w.events.of(ev.eventID) {
		if !c.begins {
			continue
		}
		if _, err := w.begin(ev, c, now); err == nil {
			caught++
		} else {
			w.refuse(err)
		}
	}
	w.events.counts.caught(0, 1, caught)
	return caught
}

// signalNet delivers a signal to the catchers of one net that wait.
func (w *worker) signalNet(ev *event, catchers []catcher, now int64) (caught int) {
	shard := w.stage.nets[catchers[0].net].shard
	for i := range w.instances {
		last := ev.last(shard, catchers[0].net, i)
		for _, c := range catchers {
			if c.begins {
				continue
			}
			n, err := shard.Catch(i, c.transition, coloured.Catch{Last: last, Accept: c.accepts(i, ev), Data: ev.data, All: true}, now)
			caught += n
			if err != nil {
				w.refuse(err)
			}
		}
	}
	return caught
}

// last returns the last token of an instance that can wait for an event.
func (ev *event) last(shard *coloured.Shard, net, i int) uint64 {
	if net == ev.net && i == ev.from {
		return ev.lastSeen
	}
	return shard.LastToken(i)
}

// message delivers a message to one transition that waits for it: in the
// instance with the number of the one that threw it, else in the one with the
// lowest number. Without any, it begins an instance.
func (w *worker) message(ev *event, now int64) (where Caught, err error) {
	catchers := w.events.of(ev.eventID)
	err = ErrNoCatcher
	for i := range w.ordered(ev.from) {
		for _, c := range catchers {
			shard := w.stage.nets[c.net].shard
			if c.begins {
				continue
			}
			n, failed := shard.Catch(i, c.transition, coloured.Catch{Last: ev.last(shard, c.net, i), Accept: c.accepts(i, ev), Data: ev.data}, now)
			if n > 0 {
				w.events.counts.caught(1, 0, 1)
				return w.where(c, i), nil
			}
			if failed != nil {
				err = failed
			}
		}
	}
	for _, c := range catchers {
		if !c.begins {
			continue
		}
		var i int
		if i, err = w.begin(ev, c, now); err == nil {
			w.events.counts.caught(1, 0, 1)
			where = w.where(c, i)
			where.Begun = true
			return where, nil
		}
	}
	w.refuse(err)
	return where, err
}

// begin fires a transition that begins an instance in a free one.
func (w *worker) begin(ev *event, c catcher, now int64) (int, error) {
	shard, data := w.stage.nets[c.net].shard, ev.data
	if data == nil {
		data = ev.begin
	}
	for i := range w.ordered(ev.from) {
		if !shard.Idle(i) {
			continue
		}
		n, err := shard.Catch(i, c.transition, coloured.Catch{Last: math.MaxUint64, Data: data}, now)
		if n > 0 || err != nil {
			return i, err
		}
	}
	return 0, ErrBusy
}

// ordered yields the index of every instance, which is its number too; first
// is the first one, or -1.
func (w *worker) ordered(first int) iter.Seq[int] {
	return func(yield func(i int) bool) {
		if first >= 0 && !yield(first) {
			return
		}
		for i := range w.instances {
			if i != first && !yield(i) {
				return
			}
		}
	}
}

func (w *worker) where(c catcher, i int) Caught {
	n := w.nets[c.net].Tables.Net
	return Caught{Net: n.ID, Instance: w.name(i), Transition: n.Transitions[c.transition].ID}
}

// refuse counts an event that was not caught.
func (w *worker) refuse(err error) {
	switch {
	case errors.Is(err, ErrNoCatcher):
		w.events.counts.refused(refusedNoCatcher)
	case errors.Is(err, ErrBusy):
		w.events.counts.refused(refusedBusy)
	default:
		w.events.counts.refused(refusedFailed)
	}
}

// Message delivers a message from outside to one transition that catches it and
// whose key, if it has one, is equal; see Key. It returns where. The tokens that
// the catcher puts carry data if that is not nil. The error wraps ErrNoCatcher if
// no transition waits for the message, or ErrBusy if no instance is free to begin
// with it; then nothing has changed.
func (e *Engine) Message(ctx context.Context, name, key string, data []byte) (where Caught, err error) {
	err = e.event(ctx, data, func(w *worker, now int64) error {
		if w.events == nil {
			e.eventCounts.refused(refusedNoCatcher)
			return ErrNoCatcher
		}
		ev := event{eventID: eventID{petri.EventMessage, name}, key: key, data: data, from: -1}
		where, err = w.message(&ev, now)
		return err
	})
	if err != nil {
		return where, fmt.Errorf("message %q: %w", name, err)
	}
	return where, nil
}

// Signal delivers a signal from outside to every transition that catches it, and
// returns how many did; that may be none. The tokens that catchers put carry data
// if that is not nil.
func (e *Engine) Signal(ctx context.Context, name string, data []byte) (caught int, err error) {
	err = e.event(ctx, data, func(w *worker, now int64) error {
		if w.events == nil {
			return nil
		}
		ev := event{eventID: eventID{petri.EventSignal, name}, data: data, from: -1}
		caught = w.signal(&ev, now)
		return nil
	})
	if err != nil {
		return caught, fmt.Errorf("signal %q: %w", name, err)
	}
	return caught, nil
}

func (e *Engine) event(ctx context.Context, data []byte, do func(w *worker, now int64) error) error {
	if len(data) > coloured.MaxData {
		e.eventCounts.refused(refusedInvalid)
		return fmt.Errorf("%w, not %d", coloured.ErrTooLarge, len(data))
	}
	w := e.workers[0]
	return e.change(ctx, w, func(now int64) error { return do(w, now) })
}
