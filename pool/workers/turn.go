// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"

	"github.com/pnagent/pnagent/pool"
)

// ErrGoexit is the reason given to Panicked for work that has ended its
// goroutine with runtime.Goexit.
var ErrGoexit = errors.New("work ended its goroutine")

// overdue is for how long, in microseconds, a worker may keep others from what
// it has taken and not begun, if they have something else to do.
const overdue = 20 * turnTime

// Run plays with all workers until ctx ends, and returns when they have
// finished what they had taken. Work that waits then stays; whoever waits to
// add it gets [ErrStopped]. A pool runs once.
func (p *Pool[W]) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, p.stop)()
	for range p.config.Workers {
		w := &worker[W]{pace: pace{n: 1}}
		p.workers = append(p.workers, w)
	}
	for _, w := range p.workers {
		p.running.Go(func() { p.work(w) })
	}
	p.running.Wait()
}

func (p *Pool[W]) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for c := range p.blocked {
		p.answer(c, ErrStopped)
	}
	p.ready.Broadcast()
}

// worker is one of those who play, with its turn: runs[i] has the work from
// starts[i] to the next. A turn is written under the lock of the pool. Each run
// of it is played by who claims it, the worker or another.
type worker[W any] struct {
	pace   pace
	runs   []pool.Run
	starts []int
	work   []W

	claimed atomic.Int32 // runs
	_       [64]byte     // others look at claimed
	done    []pool.Run   // that the worker has claimed, the last is maybe not played to its end
	played  int          // piece of work that is being played, of the last run claimed
	end     int          // of the last run claimed
}

// claim takes the next run of a turn, if there is one.
func (w *worker[W]) claim() (i int, ok bool) {
	if int(w.claimed.Load()) >= len(w.runs) {
		return 0, false
	}
	i = int(w.claimed.Add(1)) - 1
	return i, i < len(w.runs)
}

// of returns where the work of a run begins and ends.
func (w *worker[W]) of(i int) (start, end int) {
	if i+1 < len(w.starts) {
		return w.starts[i], w.starts[i+1]
	}
	return w.starts[i], len(w.work)
}

// clear forgets a turn, so that the work can be collected.
func (w *worker[W]) clear() {
	clear(w.work)
	w.runs, w.starts, w.work, w.done = w.runs[:0], w.starts[:0], w.work[:0], w.done[:0]
	w.played, w.end = 0, 0
	w.claimed.Store(0)
}

// work is a worker. It begins with what is left of its turn.
func (p *Pool[W]) work(w *worker[W]) {
	for {
		for !p.play(w) {
		}
		if !p.take(w) {
			return
		}
	}
}

// take gives back what was played and takes the next turn. It waits until there
// is one, and returns false when the pool has stopped.
func (p *Pool[W]) take(w *worker[W]) bool {
	now := p.config.Clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range w.done {
		// An error would be a run that has ended: each is claimed once.
		_ = p.core.End(r, now)
	}
	w.clear()
	for {
		switch {
		case p.stopped:
			return false
		case p.takeOver(w, now, overdue), p.start(w, now), p.takeOver(w, now, 0):
			p.wake()
			return true
		}
		p.idle++
		p.ready.Wait()
		p.idle--
		p.woken = false
		now = p.config.Clock()
	}
}

// start takes the next channels and lets in who waits for the room. It takes no
// more than a share of what is ready, so that whenever it takes several another
// worker comes by and can take over.
func (p *Pool[W]) start(w *worker[W], now int64) bool {
	n := w.pace.next(now)
	for share := (p.core.Ready() + len(p.workers) - 1) / len(p.workers); share > 0 && len(w.work) < n; share-- {
		run, work, _ := p.core.Start(p.config.Batch, w.work, now)
		w.runs, w.starts, w.work = append(w.runs, run), append(w.starts, len(w.work)), work
		if p.adders > 0 {
			p.admit(run.Channel, now)
		}
	}
	return len(w.runs) > 0
}

// takeOver takes a run that another has taken longer than patience ago and not
// begun.
func (p *Pool[W]) takeOver(w *worker[W], now, patience int64) bool {
	for _, o := range p.workers {
		if o == w || now-o.pace.since < patience {
			continue
		}
		if i, ok := o.claim(); ok {
			start, end := o.of(i)
			w.runs, w.starts, w.work = append(w.runs, o.runs[i]), append(w.starts, 0), append(w.work, o.work[start:end]...)
			w.pace.since = now
			return true
		}
	}
	return false
}

// play plays the turn. It returns false after a piece of work that panics, to
// be called again for the rest.
func (p *Pool[W]) play(w *worker[W]) (done bool) {
	defer func() {
		if !done {
			p.recovered(w, recover())
		}
	}()
	for {
		for ; w.played < w.end; w.played++ {
			p.config.Play(w.done[len(w.done)-1].Channel, w.work[w.played])
		}
		i, ok := w.claim()
		if !ok {
			return true
		}
		w.done = append(w.done, w.runs[i])
		w.played, w.end = w.of(i)
	}
}

// recovered goes on after a panic. If there was none the goroutine is ending,
// and another takes its place.
func (p *Pool[W]) recovered(w *worker[W], reason any) {
	c, work := w.done[len(w.done)-1].Channel, w.work[w.played]
	w.played++
	if reason == nil {
		reason = ErrGoexit
		defer p.running.Go(func() { p.work(w) })
	}
	p.mu.Lock()
	p.panics++
	p.mu.Unlock()
	p.config.Panicked(c, work, reason, debug.Stack())
}
