// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// claimNet is the process of the demo whose instances begin and end all the time.
const claimNet = "claim"

// Transitions whose work the office does, and which a scene can hold up.
const (
	approve    = "approve"
	pay        = "pay"
	changeRoll = "changeRoll"
)

// office is what is around the nets of one engine: customers who report damages, the
// programs that assess them and pay, clerks who do what waits for a person, and those who
// hang new rolls of labels.
type office struct {
	tables *petri.Tables // of the claim process
	mu     sync.Mutex
	rand   *rand.Rand
	wished *victim // that has no instance yet; nil for none
	found  chan struct{}
}

func newOffice(seed uint64) *office { return &office{rand: rand.New(rand.NewPCG(seed, 0))} }

// draw returns a time of a distribution.
func (o *office) draw(d plain.Delay) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return time.Duration(d.Draw(o.rand)) * time.Microsecond
}

// damage returns how much a claim is about. Half of them need an approval.
func (o *office) damage() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rand.IntN(2001)
}

// often reports true with a probability.
func (o *office) often(probability float64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rand.Float64() < probability
}

// wish has the next instance in which the transition of a scene would have its turn stick
// there, and returns a channel that is closed when v has that instance.
func (o *office) wish(v *victim) (found <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wished = v
	o.found = make(chan struct{})
	return o.found
}

// wishes reports whether the next turn of a transition is to be held up.
func (o *office) wishes(transition string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wished != nil && o.wished.heal == transition
}

// keeps returns the victim that an instance becomes at a transition, or nil if it is to continue.
func (o *office) keeps(transition string, instance int) *victim {
	o.mu.Lock()
	defer o.mu.Unlock()
	v := o.wished
	if v == nil || v.heal != transition {
		return nil
	}
	v.instance = instance
	o.wished = nil
	close(o.found)
	return v
}

func exponential(mean time.Duration) plain.Delay {
	return plain.Delay{Shape: plain.Exponential, A: float64(mean.Microseconds())}
}

func uniform(least, most time.Duration) plain.Delay {
	return plain.Delay{Shape: plain.Uniform, A: float64(least.Microseconds()), B: float64(most.Microseconds())}
}

// errBank is why a payment is tried again.
var errBank = errors.New("the bank does not answer")

// bind sets how the transitions work whose work the office or the story does.
func (o *office) bind(n *engine.NetConfig) error {
	net := n.Tables.Net.ID
	if net == claimNet {
		o.tables = n.Tables
	}
	byStory := engine.Transition{Mode: plain.Mode{Kind: plain.Manual}}
	works := map[string]map[string]engine.Transition{
		claimNet: {
			"assess": {Action: o.assess, Timeout: 30 * time.Second},
			// Of a hundred payments one fails twice, and waits for a clerk.
			pay:     {Action: o.pay, Timeout: 30 * time.Second, Retry: engine.Retry{First: time.Second / 2, Attempts: 2}},
			"write": {Mode: plain.Mode{Kind: plain.Delayed, Delay: exponential(2 * time.Second)}},
		},
		"packaging-line":   {changeRoll: {Action: o.changeRoll}},
		"backup-window":    {"reject": byStory, "release": byStory},
		"order-fulfilment": {"hold": byStory, "sendPapers": byStory, "misbook": byStory, "clarify": byStory},
	}
	for id, work := range works[net] {
		i, ok := n.Tables.TransitionIndex(id)
		if !ok {
			return fmt.Errorf("net %q: %w: %q", net, engine.ErrNoTransition, id)
		}
		n.Transitions[i] = work
	}
	return nil
}

// changeRoll is a worker who hangs a new roll of labels.
func (o *office) changeRoll(ctx context.Context, r *action.Run) (coloured.Outcome, error) {
	if v := o.keeps(changeRoll, r.Start.Instance); v != nil {
		select {
		case <-v.healed:
		case <-ctx.Done():
			return coloured.Outcome{}, ctx.Err()
		}
	}
	return coloured.Outcome{}, pause(ctx, o.draw(uniform(time.Second, 3*time.Second)))
}

// assess is a program that takes a second or two, and finds out how large the damage is.
func (o *office) assess(ctx context.Context, r *action.Run) (coloured.Outcome, error) {
	if err := pause(ctx, o.draw(exponential(1500*time.Millisecond))); err != nil {
		return coloured.Outcome{}, err
	}
	claim := claimData{}
	for _, t := range r.Start.Taken {
		if len(t.Token.Data) == 0 {
			continue // it began with the engine
		}
		if err := json.Unmarshal(t.Token.Data, &claim); err != nil {
			return coloured.Outcome{}, err
		}
	}
	claim.Amount = o.damage()
	data, err := json.Marshal(claim)
	return coloured.Outcome{Data: data}, err
}

// claimData is what the tokens of a claim carry. The demo shows all of it.
type claimData struct {
	Claim  string `json:"claim,omitempty"`
	Amount int    `json:"amount"`
}

// claimShown are the names of the fields of claimData.
var claimShown = []string{"claim", "amount"}

// pay is a bank that sometimes does not answer.
func (o *office) pay(ctx context.Context, _ *action.Run) (coloured.Outcome, error) {
	if err := pause(ctx, o.draw(uniform(time.Second/2, 3*time.Second/2))); err != nil {
		return coloured.Outcome{}, err
	}
	if o.wishes(pay) || o.often(0.1) {
		return coloured.Outcome{}, errBank
	}
	return coloured.Outcome{}, nil
}

// run works until ctx ends.
func (b *branch) run(ctx context.Context) error {
	desk := &desk{branch: b, due: map[task]time.Time{}}
	reports := time.NewTimer(0)
	ticks := time.NewTicker(time.Second)
	defer reports.Stop()
	defer ticks.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-reports.C:
			reports.Reset(b.draw(exponential(50 * time.Second / time.Duration(b.instances))))
			err = desk.report(ctx)
		case <-ticks.C:
			err = desk.round(ctx)
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("claims of the demo: %w", err)
		}
	}
}

// atOnce bounds the instances that a desk looks at to begin one, and with them the load.
const atOnce = 100

// rounds is the number of rounds, one a second, in which clerks look at many instances.
const rounds = 5

// desk is where customers report claims, and where clerks look for what to do.
type desk struct {
	*branch
	begun    int // the instance that began last
	reported int // how many customers have reported a claim
	seen     int // the instance that clerks looked at last
	due      map[task]time.Time
	kept     task    // the last one that the story kept
	keeper   *victim // for which it did
}

// task is what waits for a clerk.
type task struct {
	instance   int
	transition string
	since      int64 // when its token was injected
}

// report begins an instance that is at its end, if there is one.
func (d *desk) report(ctx context.Context) error {
	for range min(d.instances, atOnce) {
		d.begun = (d.begun + 1) % d.instances
		m, err := d.engine.Marking(ctx, claimNet, d.begun)
		if err != nil {
			return err
		}
		if d.ended(m) {
			d.reported++
			data := fmt.Appendf(nil, `{"claim":"%.1s-%05d"}`, strings.ToUpper(d.engine.InstanceName(0)), d.reported)
			return d.engine.InjectData(ctx, claimNet, d.begun, d.start(), 1, data)
		}
	}
	return nil
}

// start returns the place in which a claim begins.
func (d *desk) start() string {
	for i, n := range d.tables.Initial {
		if n > 0 {
			return d.tables.Net.Places[i].ID
		}
	}
	return ""
}

func (d *desk) ended(marking []uint32) bool {
	for i, n := range marking {
		if n > 0 && !d.tables.Final(i) {
			return false
		}
	}
	return true
}

// round has a clerk take the tasks that are new, and do those that are due.
func (d *desk) round(ctx context.Context) error {
	for range min(d.instances, max(atOnce, d.instances/rounds)) {
		d.seen = (d.seen + 1) % d.instances
		found, err := d.engine.Instance(ctx, claimNet, d.engine.InstanceName(d.seen))
		if err != nil {
			return err
		}
		for _, token := range found.Tokens {
			for _, w := range token.Waits {
				if t := (task{d.seen, w.Transition, token.Injected}); !d.keeping(t) && d.due[t].IsZero() {
					d.take(t, w.Reason)
				}
			}
		}
	}
	now := time.Now()
	for t, due := range d.due {
		if due.After(now) {
			continue
		}
		delete(d.due, t)
		if err := d.engine.Fire(ctx, claimNet, t.instance, t.transition); err != nil && !errors.Is(err, petri.ErrNotEnabled) {
			return err // another person may have fired it meanwhile
		}
	}
	return nil
}

// take sets when a task is done, unless the story keeps it.
func (d *desk) take(t task, reason string) {
	if reason != stats.ReasonIncident.String() && reason != stats.ReasonManual.String() {
		return // nothing for a person
	}
	if v := d.keeps(t.transition, t.instance); v != nil {
		d.kept = t
		d.keeper = v
		return
	}
	after := uniform(time.Second, 14*time.Second)
	if reason == stats.ReasonIncident.String() {
		after = uniform(time.Second, 5*time.Second)
	}
	d.due[t] = time.Now().Add(d.draw(after))
}

// keeping reports whether the story keeps a task. Once it is healed, it can fail again.
func (d *desk) keeping(t task) bool {
	if t != d.kept {
		return false
	}
	select {
	case <-d.keeper.healed:
		return false
	default:
		return true
	}
}

// pause waits, or returns why ctx has ended.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
