// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/pnagent/pnagent/game"
	"github.com/pnagent/pnagent/journal"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Config says what an engine runs.
type Config struct {
	Source    string // the name of this process; instances are named SOURCE/NUMBER
	Nets      []Net
	Instances int    // of each net; 1 or more
	Workers   int    // 1 or more
	Firings   int    // stop after so many; 0 for no end
	Seed      uint64 // same nets, same seed, same calls at the same times: same run
	// Shuffle lets chance decide between enabled transitions, each as likely as
	// another, instead of taking turns.
	Shuffle bool
	Clock   func() int64 // microseconds since the Unix epoch; nil for the system's
	// Journal keeps what the engine does, so that the next one with the same
	// nets and instances goes on from there; nil keeps nothing. It is not
	// closed by the engine.
	Journal journal.Log
}

// Net is one net that an engine runs.
type Net struct {
	Tables *petri.Tables
	Modes  []game.Mode // by transition; nil for all immediate
}

// ErrConfig is wrapped by the errors of New about its Config.
var ErrConfig = errors.New("bad engine configuration")

// What a call from outside can name wrongly.
var (
	ErrNoNet        = errors.New("no such net")
	ErrNoPlace      = errors.New("no such place")
	ErrNoTransition = errors.New("no such transition")
)

// Engine runs instances of nets. Its methods but Report may be called from any
// goroutine, during Run and after it; before it they wait for it.
type Engine struct {
	cfg     Config
	workers []*worker
	nets    map[string]int
	started time.Time
	stopped time.Time
	digits  int

	recorder *recorder // nil without a journal
}

// New returns an engine with all instances at their initial marking.
func New(cfg Config) (*Engine, error) {
	if cfg.Instances < 1 || cfg.Workers < 1 || cfg.Firings < 0 || len(cfg.Nets) == 0 {
		return nil, fmt.Errorf("%w: %d nets, %d instances, %d workers, %d firings; expected 1 or more (firings 0 or more)",
			ErrConfig, len(cfg.Nets), cfg.Instances, cfg.Workers, cfg.Firings)
	}
	if cfg.Clock == nil {
		cfg.Clock = func() int64 { return time.Now().UnixMicro() }
	}
	cfg.Workers = min(cfg.Workers, cfg.Instances)
	e := &Engine{cfg: cfg, nets: map[string]int{}, digits: len(strconv.Itoa(cfg.Instances - 1))}
	for i, n := range cfg.Nets {
		if _, dup := e.nets[n.Tables.Net.ID]; dup {
			return nil, fmt.Errorf("%w: net %q is given twice; expected nets with different ids", ErrConfig, n.Tables.Net.ID)
		}
		e.nets[n.Tables.Net.ID] = i
	}
	now := cfg.Clock()
	if cfg.Journal == nil {
		return e, e.hire(now)
	}
	from, err := e.openJournal(now)
	if err != nil {
		return nil, err
	}
	if err := e.hire(e.recorder.head.Created); err != nil {
		return nil, err
	}
	return e, e.recover(from)
}

// hire makes the workers with their shards, the instances as created.
func (e *Engine) hire(created int64) error {
	cfg := &e.cfg
	q := newQuota(cfg.Firings, cfg.Workers)
	for k := range cfg.Workers {
		w := &worker{calls: make(chan func(int64)), quota: q, left: q.share(k, cfg.Firings), clock: cfg.Clock, last: created, ended: make(chan struct{}), recorder: e.recorder}
		for _, n := range cfg.Nets {
			s, err := game.New(game.Config{Tables: n.Tables, Modes: n.Modes, First: k, Stride: cfg.Workers,
				Count: (cfg.Instances - k + cfg.Workers - 1) / cfg.Workers, Seed: cfg.Seed, Shuffle: cfg.Shuffle, Log: cfg.Journal != nil}, created)
			if err != nil {
				return err
			}
			w.shards = append(w.shards, s)
		}
		e.workers = append(e.workers, w)
	}
	return nil
}

// Run plays until ctx ends, or until the firings of the Config are done or can
// not be done any more. It may be called once. The error is that of the
// journal, which then has everything up to it.
func (e *Engine) Run(ctx context.Context) error {
	e.started = time.Now()
	defer func() { e.stopped = time.Now() }()
	playing, stop := context.WithCancel(ctx)
	defer stop()
	failures := make(chan error, len(e.workers)+1)
	var workers, keeper sync.WaitGroup
	guard := func(err error) {
		if err != nil {
			failures <- err
			stop()
		}
	}
	if e.recorder != nil {
		keeper.Go(func() { guard(e.keep(playing)) })
	}
	for _, w := range e.workers {
		workers.Go(func() { guard(w.run(playing)) })
	}
	workers.Wait()
	stop()
	keeper.Wait()
	select {
	case err := <-failures:
		return err
	default:
	}
	if e.recorder != nil {
		return e.saveState(context.WithoutCancel(ctx))
	}
	return nil
}

// call does something with the shards of a worker, on its goroutine while it
// runs and here when it has ended. When it returns nil, what was done is in the
// journal, if there is one.
func (e *Engine) call(ctx context.Context, w *worker, do func(now int64)) error {
	done := make(chan error, 1)
	record := func(now int64) {
		err := w.flush(now) // what came before belongs before
		if err == nil {
			do(now)
			err = w.flush(now)
		}
		done <- err
	}
	select {
	case w.calls <- record:
		return <-done
	case <-w.ended:
		w.rest.Lock()
		defer w.rest.Unlock()
		record(w.now())
		return <-done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// find returns the worker and shard of an instance of a net.
func (e *Engine) find(net string, instance int) (w *worker, k, i int, err error) {
	k, ok := e.nets[net]
	if !ok {
		return nil, 0, 0, fmt.Errorf("net %q: %w", net, ErrNoNet)
	}
	if instance < 0 || instance >= e.cfg.Instances {
		return nil, 0, 0, fmt.Errorf("net %q, instance %d of %d: %w", net, instance, e.cfg.Instances, game.ErrNoInstance)
	}
	w = e.workers[instance%len(e.workers)]
	i, err = w.shards[k].Index(instance)
	return w, k, i, err
}

// Inject puts n tokens into a place of an instance.
func (e *Engine) Inject(ctx context.Context, net string, instance int, place string, n uint32) error {
	w, k, i, err := e.find(net, instance)
	if err != nil {
		return err
	}
	p, ok := e.cfg.Nets[k].Tables.PlaceIndex(place)
	if !ok {
		return fmt.Errorf("net %q, place %q: %w", net, place, ErrNoPlace)
	}
	var failed error
	err = e.call(ctx, w, func(now int64) { failed = w.shards[k].Inject(i, p, n, now) })
	return errors.Join(err, failed)
}

// Fire fires a transition of an instance. One that is not enabled is refused
// with petri.ErrNotEnabled and the condition that does not hold.
func (e *Engine) Fire(ctx context.Context, net string, instance int, transition string) error {
	w, k, i, err := e.find(net, instance)
	if err != nil {
		return err
	}
	t, ok := e.cfg.Nets[k].Tables.TransitionIndex(transition)
	if !ok {
		return fmt.Errorf("net %q, transition %q: %w", net, transition, ErrNoTransition)
	}
	var failed error
	err = e.call(ctx, w, func(now int64) { failed = w.shards[k].Fire(i, t, now) })
	return errors.Join(err, failed)
}

// Marking returns the tokens of an instance, by place.
func (e *Engine) Marking(ctx context.Context, net string, instance int) ([]uint32, error) {
	w, k, i, err := e.find(net, instance)
	if err != nil {
		return nil, err
	}
	var m []uint32
	err = e.call(ctx, w, func(int64) { m = w.shards[k].Marking(i) })
	return m, err
}

// Rows adds the rows of a net, by its index in the Config, as of now.
func (e *Engine) Rows(ctx context.Context, net int, now int64, into *stats.Rows) error {
	for _, w := range e.workers {
		if err := e.call(ctx, w, func(int64) { w.shards[net].Look(now, e.InstanceName, into) }); err != nil {
			return err
		}
	}
	return nil
}

// InstanceName returns the name of an instance. Names sort as the numbers do.
func (e *Engine) InstanceName(number int) string {
	return fmt.Sprintf("%s/%0*d", e.cfg.Source, e.digits, number)
}
