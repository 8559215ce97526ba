// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/pnagent/pnagent/engine/ready"
)

// batch is how many firings a worker does between two readings of the clock and
// of its calls: about 100 µs of work.
const batch = 4096

// maxCalls is the largest number of calls that a worker executes between two
// batches of firings.
const maxCalls = 256

// worker is a goroutine that owns some instances of every net.
type worker struct {
	shards  []player  // by net
	pending []pending // by net
	wrote   uint64    // the number of its last commit
	turns   turns
	only    *ready.Priority // with the dedicated dispatcher: the one that it plays; nil for all
	calls   chan func(now int64)
	stage   stage
	quota   *quota
	left    int // firings that it may do
	used    int // and has done since it last reported to the quota
	fired   int // since the alarm began to play
	clock   func() int64
	last    int64 // the latest time so far: time does not go back
	ahead   int64 // of the clock, which was set back
	ended   chan struct{}
	urgent  bool       // some of its nets have urgent transitions
	rounds  int        // see maxRounds
	rest    sync.Mutex // guards the shards once the worker has ended

	// While the worker waits, other goroutines may borrow it.
	playing   sync.Mutex // held by the goroutine that plays, or reads the shards
	waiting   bool       // guarded by playing, as all that follows but continues
	first     int64      // when something is due, if timed
	due       int64      // until when it waits, if timed
	timed     bool
	failed    error         // of the journal, while it was borrowed
	continues chan struct{} // holds one if it has to wake up
	alarm     *alarm        // that plays what is due

	recorder *recorder // nil without a journal
	commit   []byte    // see flush
	section  []byte    // of it

	before []queueCounts // by net: of earlier lives of the journal; nil but for one worker
	noted  []queueCounts // by net: what commits have recorded of the queues
	queues []byte        // what the next commit adds to that

	events    *events // nil without events; then the rest is not used
	nets      []NetConfig
	instances int // of each net, all of which it owns
	name      func(instance int) string

	starters []starter // of instances that begin by a timer

	batch   int     // firings between two readings of the clock, and so in a commit
	inbox   *inbox  // nil without upstream parts
	reached []reach // by upstream part: its cursor, if the next commit has to record one
}

// now returns the time, which never goes back. If the clock is set back, or is
// behind that of the previous owner, time continues from where it was, at the
// pace of the clock, until the clock has caught up.
func (w *worker) now() int64 {
	at := w.clock()
	switch {
	case at >= w.last:
		w.last, w.ahead = at, 0
	case at+w.ahead < w.last:
		w.ahead = w.last - at
	default:
		w.last = at + w.ahead
	}
	return w.last
}

// run plays until ctx ends or the quota is used up. The error is that of the
// journal.
func (w *worker) run(ctx context.Context) error {
	defer close(w.ended)
	err := w.play(ctx)
	if err != nil {
		w.recorder.fail(err) // what was done last must not be written partially
	}
	w.breakOff(func(now int64) {
		if err == nil {
			err = w.flush(now)
		}
	})
	return err
}

func (w *worker) play(ctx context.Context) error {
	w.playing.Lock()
	defer w.playing.Unlock()
	for ctx.Err() == nil && !w.quota.ended() {
		more, short, err := w.round()
		if err != nil {
			return err
		}
		if more {
			w.answer(w.last)
		} else {
			w.wait(ctx, short)
		}
		if w.failed != nil {
			return w.failed
		}
		w.perform(false) // what calls have started does not use the quota
	}
	return nil
}

// round fires a batch of what can fire now, and writes it down. The results are those of step.
func (w *worker) round() (more bool, short <-chan struct{}, err error) {
	now := w.now()
	w.rounds = 0
	w.settleAnswers(now)
	w.takeBack()
	if err := w.arrive(now); err != nil {
		return false, nil, err
	}
	w.follow(now)
	more, short = w.step(now)
	for short == nil && w.beginDue(now) {
		_, short = w.step(now)
		more = true
	}
	if err := w.flush(now); err != nil {
		return false, nil, err
	}
	w.perform(true)
	return more, short, nil
}

// perform starts and ends actions, see stage.
func (w *worker) perform(counted bool) {
	w.stage.perform(counted)
	w.takeBack()
}

// takeBack reclaims the quota of runs that were counted as firings when they
// started and have not fired. While a run is active the worker gives nothing
// away, so it is there.
func (w *worker) takeBack() {
	if w.quota.limited {
		w.left += w.stage.unfired
		w.used -= w.stage.unfired
	}
	w.stage.unfired = 0
}

// step fires one batch of every shard, or of all together with a dispatcher,
// and reports whether there may be more to do at once. If the worker must wait
// for quota, short is closed when it may continue.
func (w *worker) step(now int64) (more bool, short <-chan struct{}) {
	if w.turns.turn != nil {
		return w.stepOf(now, func(budget int) (int, bool) { return w.playTurns(budget, now) })
	}
	for _, s := range w.shards {
		some, short := w.stepOf(now, func(budget int) (int, bool) {
			n := s.Step(budget, now)
			for w.follow(now) && n < budget {
				n += s.Step(budget-n, now)
			}
			return n, n > 0
		})
		if short != nil {
			return more, short
		}
		more = more || some
	}
	return more, nil
}

// stepOf plays within the quota. When it is used up, running actions are
// awaited, and end at their time limits.
func (w *worker) stepOf(now int64, play func(budget int) (fired int, more bool)) (more bool, short <-chan struct{}) {
	if w.left == 0 && !w.stage.busy() { // running actions may return quota
		w.left, short = w.quota.take(w.used, w.batch)
		w.used = 0
	}
	if w.left == 0 {
		for _, s := range w.shards {
			s.Expire(now)
		}
		w.follow(now)
		return false, short
	}
	n, more := play(min(w.batch, w.left))
	w.fired += n
	n = min(n, w.left) // urgent transitions may be more
	w.left -= n
	w.used += n
	return more, nil
}

// settleAnswers applies the outcomes of actions that have arrived, each with what follows
// from it.
func (w *worker) settleAnswers(now int64) {
	for _, a := range w.stage.arrived() {
		w.stage.settle(&a, now)
		w.follow(now)
	}
}

// maxRounds is how often, between two readings of the clock, urgent transitions may fire that
// an event has enabled which urgent transitions have thrown. After that they wait for their
// turn: there may be an endless loop of them.
const maxRounds = 1024

// follow brings about what follows at once from a change, before anything else happens to the
// instances: what was thrown reaches its catchers, and urgent transitions fire. It reports
// whether anything was thrown.
func (w *worker) follow(now int64) (thrown bool) {
	thrown = w.deliver(now)
	if !w.urgent {
		return thrown
	}
	for ; w.rounds < maxRounds; w.rounds++ {
		for _, s := range w.shards {
			s.Urge(now)
		}
		if !w.deliver(now) {
			return thrown
		}
		thrown = true
	}
	return thrown
}

// answer executes the calls that have arrived, at most maxCalls: callers without
// a pause do not keep the worker from firing.
func (w *worker) answer(now int64) {
	for range maxCalls {
		select {
		case call := <-w.calls:
			call(now)
		default:
			return
		}
	}
}

// wait sleeps until there may be something to do. What is due meanwhile is played by the alarm.
func (w *worker) wait(ctx context.Context, short <-chan struct{}) {
	w.due, w.timed = w.wakeAt()
	switch {
	case short != nil:
		w.timed = false
	case w.timed:
	case w.stage.busy():
	default:
		if w.quota.limited {
			w.quota.give(w.used, w.left)
			w.used, w.left = 0, 0
		}
		w.quota.idle()
		defer w.quota.busy()
	}
	if w.inbox != nil && len(w.inbox.next) > 0 {
		return
	}
	if call := w.sleep(ctx, short); call != nil {
		call(w.now())
	}
}

// sleep waits for a reason to play, and returns a call to execute first, if there is one.
func (w *worker) sleep(ctx context.Context, short <-chan struct{}) (call func(now int64)) {
	w.waiting = true
	w.giveBack()
	defer func() {
		w.playing.Lock()
		w.waiting = false
	}()
	select {
	case call = <-w.calls:
	case a := <-w.arriving():
		w.inbox.next = append(w.inbox.next, a) // only the worker itself takes arrivals
	case <-w.stage.answers.some:
	case <-w.continues:
	case <-short:
	case <-w.quota.over:
	case <-ctx.Done():
	}
	return call
}

// steps are the distances of the times at which workers wake up, in microseconds: the first
// one that what is due allows. So one wake-up, of all workers together, plays all that is due
// at about the same time.
var steps = [...]int64{5000, 1000}

// wakeAt returns until when the worker may sleep, if something of a shard is due at a time; the
// first of that is noted. Nothing is played before it is due.
func (w *worker) wakeAt() (at int64, ok bool) {
	first, latest := int64(math.MaxInt64), int64(math.MaxInt64)
	for _, s := range w.shards {
		if due, upTo, has := s.DueWithin(); has {
			first, latest, ok = min(first, due), min(latest, upTo), true
		}
	}
	for k := range w.starters {
		if due, waits := w.starters[k].dueAt(w.stage.log, w.last); waits {
			first, latest, ok = min(first, due), min(latest, due), true
		}
	}
	if !ok {
		return 0, false
	}
	w.first = first
	for _, step := range steps {
		if at := (first + step - 1) / step * step; at <= latest {
			return at, true
		}
	}
	return latest, true
}

// breakOff ends the actions that still run when the worker ends: those that
// complete within stopGrace have taken place, the tokens of the others are put
// back. done is called with the time of each of these changes: a commit has
// one.
func (w *worker) breakOff(done func(now int64)) {
	now := w.now()
	w.takeAll(now)
	w.stage.putBack(now)
	done(now)
	w.stage.stopActions()
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	for w.stage.busy() {
		select {
		case <-w.stage.answers.some:
			now = w.now()
			for _, a := range w.stage.arrived() {
				w.stage.settleLast(&a, now)
				w.follow(now)
			}
		case <-grace.C:
			now = w.now()
			w.stage.cancelAll(now)
		}
		done(now)
	}
}

// stopGrace is how long actions may take to end when the engine stops.
const stopGrace = time.Second
