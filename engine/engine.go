// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Config is the configuration of an engine.
type Config struct {
	Source    string // the name of this process; instances are named SOURCE/NUMBER
	Nets      []NetConfig
	Instances int    // of each net; 1 or more
	Spare     int    // the last of them, which only an event or a timer begins, in nets that such a one can begin
	Workers   int    // 1 or more; nets whose transitions throw or catch events have one
	Firings   int    // the number of firings to stop after; 0 for no end
	Seed      uint64 // same nets, same seed, same calls at the same times: same run
	// Shuffle chooses between enabled transitions at random, with equal
	// probability, instead of in turn.
	Shuffle bool
	Clock   func() int64 // microseconds since the Unix epoch; nil for the system's
	// Dispatch specifies which ready instance a worker plays next, and counts
	// that. nil is one net after another, and inside a net first come, first
	// served, which is fastest.
	Dispatch *Dispatch
	// Actions is how many actions may run at once; 0 for 1024. Others wait for
	// room, and their time limits run.
	Actions int
	Log     *slog.Logger // of actions that fail; nil for none
	// Audit keeps a request from NATS and its result, before the request is answered. It
	// may be called by several goroutines at once. What it fails to keep is logged. nil
	// keeps nothing.
	Audit func(telemetry.Action) error
	// InjectTokens is how many tokens one injection may put; 0 for 10,000.
	InjectTokens uint32
	// InjectPlace is how many tokens a place of an instance may hold after an
	// injection; 0 for 1,000,000. The initial marking and firings may put more.
	InjectPlace uint32
	// Journal records what the engine does, so that the next one with the same
	// nets and instances continues from there; nil records nothing. The engine
	// does not close it.
	Journal journal.Log
	// ShowData are the names of the fields of tokens' data that answers to requests about
	// instances hold, at most MaxShown and each once. They may be about persons. nil shows none.
	ShowData []string
	// SnapshotAfter is how many bytes of commits the journal grows by before
	// the state is saved and they can be removed; 0 for 64 MiB.
	SnapshotAfter int
	// Part makes this engine play a part of its one net; Journal is then the
	// log of that part, to which other processes may append too: see Part. nil
	// is all of every net, with a log of its own.
	Part *Part
	// Follow reports whether the stays of an instance are kept, for Engine.Stays; nil keeps none.
	Follow func(net, instance string) bool
	// ThreadTimer makes the engine and its publisher wait by timers of the system, where there are such
	// (Linux): what is due then wakes fewer threads. Such waits are not idle for package testing/synctest.
	ThreadTimer bool
}

// NetConfig is one net that an engine runs.
type NetConfig struct {
	Tables      *petri.Tables
	Transitions []Transition // by transition; nil for those of Declared
	// Priority returns the priority of an instance, by its number; nil for p0. Only a
	// dispatcher uses it.
	Priority func(instance int) ready.Priority
	// Bound is how many pieces of work may wait in an instance before further
	// ones are rejected; 0 for any number. A net whose tokens carry no data has
	// no such work.
	Bound int
}

// ErrConfig is wrapped by the errors of New about its Config.
var ErrConfig = errors.New("invalid engine configuration")

// Errors for unknown names in a call.
var (
	ErrNoNet        = errors.New("no such net")
	ErrNoPlace      = errors.New("no such place")
	ErrNoTransition = errors.New("no such transition")
)

// ErrTooManyTokens is wrapped by the errors of injections that exceed
// Config.InjectTokens or Config.InjectPlace. Nothing has changed.
var ErrTooManyTokens = errors.New("too many tokens")

// MaxShown is the largest number of names in Config.ShowData.
const MaxShown = 16

// Defaults of the Config.
const (
	injectTokens = 10_000
	injectPlace  = 1_000_000
)

// Engine runs instances of nets. Its methods except Report may be called from
// any goroutine, during Run and after it; before Run they wait for it.
type Engine struct {
	cfg     Config
	workers []*worker
	nets    map[string]int
	started time.Time
	stopped time.Time
	before  uint64 // firings in the journal when this engine became its owner
	digits  int

	dedicated []ready.Priority      // of the dedicated dispatcher: what each worker plays; nil for other dispatchers
	ranked    [ready.Priorities]int // by priority: its worker

	named string // prefix of the names of its instances

	recorder   *recorder // nil without a journal
	performers *performers

	snapshotsFailed atomic.Uint64

	eventCounts eventCounts
	outbox      *outbox
	refusals    refusals
}

// New returns an engine with all instances at their initial marking, or in the
// state that the journal records.
func New(cfg Config) (*Engine, error) { return Open(context.Background(), cfg) }

// Open is New for a journal that may not answer: it returns when ctx ends.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	e, err := read(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Journal == nil {
		e.follow()
		return e, nil
	}
	if cfg.Part != nil {
		return e, nil
	}
	if err := e.begin(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// read is Open without becoming the owner of the journal. With an error of the
// journal's commits it also returns the engine.
func read(ctx context.Context, cfg Config) (*Engine, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.SnapshotAfter = cmp.Or(max(cfg.SnapshotAfter, 0), snapshotAfter)
	cfg.InjectTokens = cmp.Or(cfg.InjectTokens, injectTokens)
	cfg.InjectPlace = cmp.Or(cfg.InjectPlace, injectPlace)
	if cfg.Clock == nil {
		cfg.Clock = func() int64 { return time.Now().UnixMicro() }
	}
	cfg.Workers = min(cfg.Workers, cfg.Instances)
	e := &Engine{cfg: cfg, nets: map[string]int{}, digits: len(strconv.Itoa(cfg.Instances - 1)), named: cfg.Source}
	e.outbox = newOutbox(&e.eventCounts)
	e.refusals.byNet = make([]stats.RefusedRequests, len(cfg.Nets))
	for i, n := range cfg.Nets {
		if _, dup := e.nets[n.Tables.Net.ID]; dup {
			return nil, fmt.Errorf("%w: net %q is given twice; expected nets with different ids", ErrConfig, n.Tables.Net.ID)
		}
		e.nets[n.Tables.Net.ID] = i
	}
	if err := e.checkPart(); err != nil {
		return nil, err
	}
	if err := e.checkEvents(); err != nil {
		return nil, err
	}
	if err := e.declare(); err != nil {
		return nil, err
	}
	now := cfg.Clock()
	if cfg.Journal == nil {
		return e, e.hire(now)
	}
	from, err := e.openJournal(ctx, now)
	if err != nil {
		return nil, err
	}
	if err := e.hire(e.recorder.head.Created); err != nil {
		return nil, err
	}
	return e, e.recover(ctx, from)
}

// check refuses the first number that is too small.
func (cfg *Config) check() error {
	for _, n := range []struct {
		n, least int
		of       string
	}{{len(cfg.Nets), 1, "nets"}, {cfg.Instances, 1, "instances"}, {cfg.Workers, 1, "workers"}, {cfg.Firings, 0, "firings"}, {cfg.Actions, 0, "actions"}} {
		if n.n < n.least {
			return fmt.Errorf("%w: %d %s; expected %d or more", ErrConfig, n.n, n.of, n.least)
		}
	}
	if cfg.Spare < 0 || cfg.Spare > cfg.Instances {
		return fmt.Errorf("%w: %d of %d instances are spare; expected 0 to %d", ErrConfig, cfg.Spare, cfg.Instances, cfg.Instances)
	}
	names := slices.Compact(slices.Sorted(slices.Values(cfg.ShowData)))
	if len(names) > MaxShown || len(names) < len(cfg.ShowData) || slices.Contains(names, "") {
		return fmt.Errorf("%w: %d fields of data to show: %q; expected at most %d names, each once", ErrConfig, len(cfg.ShowData), cfg.ShowData, MaxShown)
	}
	return nil
}

// Run plays until ctx ends, or until the firings of the Config are done or can
// no longer be done. It may be called once. The error is that of the journal,
// which then has everything before it.
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
	a := newAlarm(e.cfg.ThreadTimer)
	defer a.timer.Stop()
	for _, w := range e.workers {
		w.alarm = a
		workers.Go(func() { guard(w.run(playing)) })
	}
	keeper.Go(func() { a.run(e.workers) })
	workers.Wait()
	e.performers.settle()
	stop()
	a.stop()
	keeper.Wait()
	select {
	case err := <-failures:
		return err
	default:
	}
	if e.recorder != nil && e.cfg.Part == nil {
		return e.trySnapshot(context.WithoutCancel(ctx))
	}
	return nil
}

// call runs do on the goroutine of a worker, or here once the worker has ended.
// When it returns nil, everything that was done is in the journal, if there is
// one.
func (e *Engine) call(ctx context.Context, w *worker, do func(now int64)) error {
	done := make(chan error, 1)
	wrote := uint64(0) // the commit of do; 0 if it has none
	record := func(now int64) {
		err := w.flush(now) // what was done before is a commit of its own
		if err == nil {
			before := w.wrote
			do(now)
			w.follow(now)
			err = w.flush(now)
			if w.wrote != before {
				wrote = w.wrote
			}
		}
		done <- err
	}
	select {
	case w.calls <- record:
	case <-w.ended:
		w.rest.Lock()
		defer w.rest.Unlock()
		now := w.now()
		w.rounds = 0
		if e.recorder.failure() == nil {
			w.settleAnswers(now) // what arrives now is late, and counted
		}
		record(now)
		w.stage.putBack(now)
		_ = w.flush(now) // its failure does not change what do has written; the next call returns it
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := <-done; err != nil {
		return err
	}
	if err := e.recorder.confirm(ctx); err != nil && wrote > 0 {
		return unwritten{err, wrote}
	} else if err != nil {
		return err
	}
	return nil
}

// look is call for what changes nothing that a worker plays. It does not wake a worker that
// waits.
func (e *Engine) look(ctx context.Context, w *worker, do func(now int64)) error {
	if !w.borrow() {
		return e.call(ctx, w, do)
	}
	now := w.now()
	err := w.flush(now) // what was done before is a commit of its own
	if err == nil {
		do(now)
		err = w.flush(now)
	}
	w.giveBack()
	if err != nil {
		return err
	}
	return e.recorder.confirm(ctx)
}

// unsettled is an error after which it is unknown whether the requested change
// has taken place, or will, at another owner that received the same request.
type unsettled struct{ error }

func (u unsettled) Unwrap() error { return u.error }

// change is call for what changes a marking, or is rejected with the error of
// do, which then has changed nothing. Any other error is unsettled, and wraps
// ErrNotExecuted or is an UnknownError.
func (e *Engine) change(ctx context.Context, w *worker, do func(now int64) error) error {
	var refused error
	executed := false
	err := e.call(ctx, w, func(now int64) {
		if err := e.recorder.failure(); err != nil {
			refused = unsettled{e.outcomeOf(err, false)} // nothing can change after a failure
			return
		}
		refused = do(now)
		executed = refused == nil
	})
	if refused != nil || err == nil {
		return refused
	}
	return unsettled{e.outcomeOf(err, executed)}
}

// find returns the worker and shard of an instance of a net.
func (e *Engine) find(net string, instance int) (w *worker, k, i int, err error) {
	k, ok := e.nets[net]
	if !ok {
		return nil, 0, 0, fmt.Errorf("net %q: %w", net, ErrNoNet)
	}
	if instance < 0 || instance >= e.cfg.Instances {
		return nil, 0, 0, fmt.Errorf("net %q, instance %d of %d: %w", net, instance, e.cfg.Instances, plain.ErrNoInstance)
	}
	w = e.owner(k, instance)
	i, err = w.shards[k].Index(instance)
	return w, k, i, err
}

// Inject puts n tokens into a place of an instance. It returns an error that
// wraps ErrTooManyTokens if they are more than Config.InjectTokens, or if the
// place would hold more than Config.InjectPlace.
func (e *Engine) Inject(ctx context.Context, net string, instance int, place string, n uint32) error {
	return e.InjectData(ctx, net, instance, place, n, nil)
}

// InjectData is Inject of tokens that carry data, which must not be changed
// afterwards. A net without data rejects it with ErrPlain.
func (e *Engine) InjectData(ctx context.Context, net string, instance int, place string, n uint32, data []byte) error {
	w, k, i, err := e.find(net, instance)
	if err != nil {
		return err
	}
	p, ok := e.cfg.Nets[k].Tables.PlaceIndex(place)
	if !ok {
		return fmt.Errorf("net %q, place %q: %w", net, place, ErrNoPlace)
	}
	if n > e.cfg.InjectTokens {
		return e.tooManyTokens(k, place, uint64(n))
	}
	return e.change(ctx, w, func(now int64) error {
		if held := uint64(w.shards[k].TokensIn(i, p)) + uint64(n); n > 0 && held > uint64(e.cfg.InjectPlace) {
			e.refusals.count(k, stats.RefusedPlace)
			return fmt.Errorf("net %q, place %q would hold %d tokens; expected at most %d: %w", net, place, held, e.cfg.InjectPlace, ErrTooManyTokens)
		}
		return w.shards[k].put(i, p, data, n, now)
	})
}

func (e *Engine) tooManyTokens(net int, place string, n uint64) error {
	e.refusals.count(net, stats.RefusedTokens)
	return fmt.Errorf("net %q, place %q: %d tokens in one request; expected at most %d: %w", e.cfg.Nets[net].Tables.Net.ID, place, n, e.cfg.InjectTokens, ErrTooManyTokens)
}

// Fire fires a transition of an instance, or starts its action. One that is not
// enabled is rejected with petri.ErrNotEnabled and the condition that does not
// hold.
func (e *Engine) Fire(ctx context.Context, net string, instance int, transition string) error {
	return e.FireData(ctx, net, instance, transition, nil)
}

// FireData is Fire with data, such as that of an event, for the new tokens
// instead of the data of the tokens that it takes.
func (e *Engine) FireData(ctx context.Context, net string, instance int, transition string, data []byte) error {
	return e.fire(ctx, net, instance, transition, func(p player, i, t int, now int64) error { return p.fire(i, t, data, now) })
}

// FireIn is FireData in the run of the transition's scope that has a number, see
// coloured.Placed; FireData fires in the oldest run in which the transition is
// enabled.
func (e *Engine) FireIn(ctx context.Context, net string, instance int, transition string, scope uint32, data []byte) error {
	return e.fire(ctx, net, instance, transition, func(p player, i, t int, now int64) error { return p.fireIn(i, t, scope, data, now) })
}

func (e *Engine) fire(ctx context.Context, net string, instance int, transition string, do func(p player, i, t int, now int64) error) error {
	w, k, i, err := e.find(net, instance)
	if err != nil {
		return err
	}
	t, ok := e.cfg.Nets[k].Tables.TransitionIndex(transition)
	if !ok {
		return fmt.Errorf("net %q, transition %q: %w", net, transition, ErrNoTransition)
	}
	return e.change(ctx, w, func(now int64) error { return do(w.shards[k], i, t, now) })
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

// Rows adds the rows of a net, by its index in the Config, as of now, or of the
// engine's time if that is later because the clock was set back. The slowest
// instances are not in them: see Serve, which publishes those.
func (e *Engine) Rows(ctx context.Context, net int, now int64, into *stats.Rows) error {
	for _, w := range e.workers {
		if err := e.look(ctx, w, func(at int64) { w.look(net, max(now, at), e.InstanceName, into) }); err != nil {
			return err
		}
	}
	return nil
}

// published is Rows for the publisher, with the slowest instances since the
// last call: each is returned once.
func (e *Engine) published(ctx context.Context, net int, now int64, into *stats.Rows) error {
	for _, w := range e.workers {
		if err := e.look(ctx, w, func(at int64) {
			w.look(net, max(now, at), e.InstanceName, into)
			w.shards[net].TakeSlowest(e.InstanceName, into)
			if e.recorder.failure() == nil {
				w.noteQueues(net)
			} else { // what they have served can no longer be recorded
				into.Queues, into.Columns = nil, into.Columns&^stats.ColQueues
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// InstanceName returns the name of an instance: SOURCE/NUMBER, or NET/NUMBER in
// a part of a net, whose instances are the same for every owner. Names sort
// like the numbers.
func (e *Engine) InstanceName(number int) string {
	return fmt.Sprintf("%s/%0*d", e.named, e.digits, number)
}
