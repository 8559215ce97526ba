// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Config configures an Adapter.
type Config struct {
	Server *Server // not closed
	System *System
	Prefix string   // of keys; "" for that of the system
	Queues []string // to read; empty for all
	Detail bool     // publish messages of errors

	ledger.Polling
}

// Adapter polls and publishes.
type Adapter struct {
	*ledger.Source
	reader  reader
	cfg     Config
	state   state
	nets    map[string]*queueNet
	refused bool // the last poll left out queues

	mu    sync.Mutex
	spent spent
}

// state is what a restart needs.
type state struct {
	Seen map[string]int64 `json:"seen"` // jobs whose time Redis does not have, or not until they leave: when they came, or were first seen
	Done map[string]int64 `json:"done"` // by queue: how many jobs have succeeded, as the system counts them
}

// queueNet is the net of a queue.
type queueNet struct {
	*ledger.Definition
	*ledger.Ledger
	fires bool // it has the column of firings
}

// New checks the configuration and reads the state file. An error about the configuration wraps
// ledger.ErrConfig.
func New(cfg Config) (*Adapter, error) {
	if n := len(cfg.Queues) - len(readable(cfg.Queues)); n > 0 {
		return nil, fmt.Errorf("%w: %d of %d queues have a name that cannot be published, or are too many; expected at most %d", ledger.ErrConfig, n, len(cfg.Queues), maxQueues)
	}
	a := &Adapter{cfg: cfg, nets: map[string]*queueNet{}, reader: cfg.reader()}
	with := ledger.Config{Polling: cfg.Polling, Poll: a.poll, Program: "pnagent attach redis 1 " + cfg.System.Name, Tool: cfg.System.Tool, Keep: &a.state}
	if cfg.System.command != nil {
		with.Command = func(net *petri.Net, t *ledger.Token, w stats.Wait) string {
			return cfg.System.command(&acted{cmp.Or(cfg.Prefix, cfg.System.Prefix), net.ID, net.Places[t.Place].ID, t.ID, w.Reason})
		}
	}
	var err error
	a.Source, err = ledger.NewSource(with)
	return a, err
}

// reader returns what reads the queues.
func (c *Config) reader() reader {
	return reader{server: c.Server, system: c.System, prefix: cmp.Or(c.Prefix, c.System.Prefix), detail: c.Detail, only: c.Queues, within: c.Timeout / 2, log: c.Log}
}

// poll reads Redis once and changes the ledgers.
func (a *Adapter) poll(ctx context.Context) error {
	now := a.Now()
	all, cost, err := a.reader.poll(ctx, now)
	a.cost(cost)
	if err != nil || !a.reader.known() {
		return err
	}
	if cost.Refused > 0 && !a.refused {
		a.cfg.Log.Warn("queues are left out: they are more than a poll reads, or their names cannot be published", "queues", cost.Refused, "most", maxQueues)
	}
	a.refused = cost.Refused > 0
	a.present(all, now)
	return nil
}

// present replaces the tokens of all nets. A queue that is gone has none.
func (a *Adapter) present(all []found, now int64) {
	seen := map[string]int64{}
	gone := maps.Clone(a.nets)
	if a.state.Done == nil {
		a.state.Done = map[string]int64{}
	}
	for i := range all {
		f := &all[i]
		delete(gone, f.queue)
		n := a.net(f)
		n.show(f, func(id string, since int64) int64 { return a.first(id, since, now, seen) })
		a.count(n, f)
	}
	for _, n := range gone {
		n.Present(nil)
		n.Schedule(nil)
		for i := range n.Def.Places {
			n.Total(i, 0)
		}
	}
	a.state.Seen = seen
}

// net returns the net of a queue, and adds it.
func (a *Adapter) net(f *found) *queueNet {
	n := a.nets[f.queue]
	if n == nil {
		d := ledger.NewDefinition(f.queue, "")
		n = &queueNet{Definition: d, Ledger: ledger.New(d, presence)}
		n.Transition("job", "")
		for i := range f.places {
			n.Place(f.places[i].id, "")
			n.Arc(f.places[i].id, "job")
		}
		a.nets[f.queue] = n
		a.Add(n.Ledger)
	}
	return n
}

// presence are the columns that are always known. Of the tokens of a place, only the oldest are.
const presence = stats.ColTokens | stats.ColPlaceInstances | stats.ColOldest | stats.ColStuck

// show replaces the tokens of a net. first returns when a job came whose time is not known, or is
// forgotten later.
func (n *queueNet) show(f *found, first func(id string, since int64) int64) {
	var tokens []ledger.Token
	for i := range f.places {
		p := &f.places[i]
		at := n.Place(p.id, "")
		n.Total(at, p.tokens())
		for _, j := range p.jobs {
			w := j.why
			t := ledger.Token{ID: j.id, Place: at, Instance: stats.Clip(j.id, telemetry.MaxName), Since: j.since,
				Waits: []stats.Wait{{Reason: w.Reason, Place: stats.NoPlace, Until: w.Until, What: w.Text, Count: w.Count}}}
			if t.Since == 0 || p.forgets {
				t.Since = first(f.queue+"\x00"+p.id+"\x00"+j.id, j.since)
			}
			tokens = append(tokens, t)
		}
	}
	n.Present(tokens)
	if f.due != 0 {
		n.Schedule([]ledger.Due{{Next: f.due}}) // the only transition
	} else {
		n.Schedule(nil)
	}
}

// first returns when a job came: as an earlier poll saw it, or else its time, or now. seen gets it for
// the next poll.
func (a *Adapter) first(id string, since, now int64, seen map[string]int64) int64 {
	if since == 0 {
		a.ageless()
	}
	seen[id] = cmp.Or(a.state.Seen[id], since, now)
	return seen[id]
}

// count counts the jobs that have succeeded since the last poll, also if the adapter did not run
// meanwhile.
func (a *Adapter) count(n *queueNet, f *found) {
	if f.done < 0 {
		return
	}
	if !n.fires {
		n.SetColumns(presence | stats.ColFirings)
		n.fires = true
	}
	last, known := a.state.Done[f.queue]
	switch {
	case known && f.done >= last:
		n.FireAlso(0, uint64(f.done-last))
	case known: // the system began again
		n.FireAlso(0, uint64(f.done))
	}
	a.state.Done[f.queue] = f.done
}
