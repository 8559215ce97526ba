// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/region/regiontest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// office is where actions are performed, by any process.
type office struct {
	mu   sync.Mutex
	keys []string // of those that began
	done bool     // they are done at once from now on
}

func (o *office) perform(ctx context.Context, r *action.Run) (coloured.Outcome, error) {
	o.mu.Lock()
	o.keys = append(o.keys, r.Key)
	done := o.done
	o.mu.Unlock()
	if done {
		return coloured.Outcome{}, nil
	}
	<-ctx.Done()
	return coloured.Outcome{}, ctx.Err()
}

// began returns the keys of what began since it was last called.
func (o *office) began() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	keys := o.keys
	o.keys = nil
	slices.Sort(keys)
	return keys
}

// desk is a part with one place whose tokens an action takes to another.
type desk struct {
	*testing.T
	logs   *regiontest.Server
	office office
	cfg    engine.Config
}

func newDesk(t *testing.T, idempotent bool) *desk {
	net := &petri.Net{ID: "desk", Places: []petri.Place{{ID: "in", Initial: 3}, {ID: "out"}}, Transitions: []petri.Transition{{ID: "do"}},
		Arcs: []petri.Arc{{ID: "1", Source: "in", Target: "do", Weight: 1}, {ID: "2", Source: "do", Target: "out", Weight: 1}}}
	tables, err := petri.Compile(net)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{T: t, logs: regiontest.NewServer()}
	d.cfg = engine.Config{Nets: []engine.NetConfig{{Tables: tables, Transitions: []engine.Transition{{Action: d.office.perform, Idempotent: idempotent}}}},
		Instances: 2, Workers: 1}
	return d
}

// process is one that owns the part.
type process struct {
	*engine.Engine
	log   *regiontest.Log
	stop  context.CancelFunc
	ended chan error
}

// own has a new process own the part and play.
func (d *desk) own(source string, over func(*regiontest.Log) journal.Log) *process {
	p := &process{log: d.logs.Open("all", nil), ended: make(chan error, 1)}
	cfg := d.cfg
	cfg.Source, cfg.Part, cfg.Journal = source, &engine.Part{Name: "all", Plan: "x"}, p.log
	if over != nil {
		cfg.Journal = over(p.log)
	}
	var err error
	if p.Engine, err = engine.New(cfg); err != nil {
		d.Fatal(err)
	}
	if err := p.Lead(d.Context()); err != nil {
		d.Fatal(err)
	}
	ctx, stop := context.WithCancel(d.Context())
	p.stop = stop
	go func() { p.ended <- p.Run(ctx) }()
	synctest.Wait()
	return p
}

// kill has the log refuse what the process writes next, as if it had died.
func (d *desk) kill(p *process) {
	p.log.Refuse = func() error { return errKilled }
	if err := p.Inject(d.Context(), "desk", 0, "in", 1); !errors.Is(err, errKilled) {
		d.Fatalf("%v; want that it was killed", err)
	}
	if err := <-p.ended; !errors.Is(err, errKilled) {
		d.Fatalf("%v; want that it was killed", err)
	}
}

// finish has everything be done, and returns the rows.
func (d *desk) finish(p *process) *stats.Rows {
	p.stop()
	if err := <-p.ended; err != nil {
		d.Fatal(err)
	}
	rows := stats.NewRows(2, 1)
	p.Followed(p.Latest(), rows)
	return rows
}

// An owner dies while actions run, and it is unknown whether they were done.
func TestActionsThatWereStartedWhenTheirOwnerDied(t *testing.T) {
	for _, c := range []struct {
		name       string
		idempotent bool
		cancels    uint64
	}{
		{"idempotent ones are performed again with the same key", true, 0},
		{"others are put back, count as cancelled, and start with another key", false, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, c.idempotent)
				d.kill(d.own("a", nil))
				first := d.office.began()
				if len(first) != 6 {
					t.Fatalf("%q began; want 6", first)
				}
				b := d.own("b", nil)
				if err := b.Snapshot(t.Context()); err != nil { // with which the next begins
					t.Fatal(err)
				}
				d.kill(b)
				second := d.office.began()
				d.office.done = true
				last := d.own("c", nil)
				third := d.office.began()
				for _, again := range [][]string{second, third} {
					same := cmp.Diff(first, again) == ""
					if same != c.idempotent || len(again) != 6 {
						t.Errorf("%q began first, then %q; the same: %t; want %t", first, again, same, c.idempotent)
					}
				}
				rows := d.finish(last)
				if got := rows.Places[1].Tokens; got != 6 || rows.Places[0].Tokens != 0 || rows.Transitions[0].Firings != 6 || rows.Transitions[0].Cancels != c.cancels {
					t.Errorf("%d tokens out, %d in, %d firings, %d cancelled; want 6, 0, 6, %d", got, rows.Places[0].Tokens,
						rows.Transitions[0].Firings, rows.Transitions[0].Cancels, c.cancels)
				}
			})
		})
	}
}

// An owner ends while actions run that do not end.
func TestActionsThatRunWhenAPartIsHandedOver(t *testing.T) {
	for idempotent, cancels := range map[bool]uint64{true: 0, false: 6} {
		t.Run(fmt.Sprint("idempotent: ", idempotent), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, idempotent)
				a := d.own("a", nil)
				first := d.office.began()
				a.stop()
				if err := <-a.ended; err != nil {
					t.Fatal(err)
				}
				if err := a.Release(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				d.office.done = true
				b := d.own("b", nil)
				if same := cmp.Diff(first, d.office.began()) == ""; same != idempotent {
					t.Errorf("the next owner performs with the same keys: %t; want %t", same, idempotent)
				}
				if rows := d.finish(b); rows.Places[1].Tokens != 6 || rows.Transitions[0].Cancels != cancels {
					t.Errorf("%d tokens out, %d cancelled; want 6 and %d", rows.Places[1].Tokens, rows.Transitions[0].Cancels, cancels)
				}
			})
		})
	}
}

// unsure is a log whose commits are not confirmed before it is let.
type unsure struct {
	*regiontest.Log
	sure chan struct{}
}

func (l unsure) Confirm(ctx context.Context, upTo uint64) error {
	if upTo > 2 { // the header and the epoch
		select {
		case <-l.sure:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return l.Log.Confirm(ctx, upTo)
}

func TestAnIdempotentActionBeginsWhenTheLogIsSureOfItsStart(t *testing.T) {
	for idempotent, before := range map[bool]int{true: 0, false: 6} {
		t.Run(fmt.Sprint("idempotent: ", idempotent), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, sure := newDesk(t, idempotent), make(chan struct{})
				a := d.own("a", func(l *regiontest.Log) journal.Log { return unsure{l, sure} })
				if got := d.office.began(); len(got) != before {
					t.Errorf("%q began before; want %d", got, before)
				}
				close(sure)
				synctest.Wait()
				if got := d.office.began(); len(got) != 6-before {
					t.Errorf("%q began after; want %d", got, 6-before)
				}
				a.stop()
				if err := <-a.ended; err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
