// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"errors"
	"runtime/debug"
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
	p.giveBack(w, int(w.claims.Load()>>32), now)
	w.clear()
	for {
		switch {
		case p.stopped:
			return false
		case p.takeOver(w, now, overdue), p.start(w, now), p.takeOver(w, now, 0), p.start(w, now):
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

// giveBack ends the first n runs of a turn.
func (p *Pool[W]) giveBack(w *worker[W], n int, now int64) {
	for ; w.given < n; w.given++ {
		// An error would be a run that has ended: given counts them.
		_ = p.core.End(w.runs[w.given], now)
	}
}

// start takes the next channels and lets in who waits for the room. It takes no
// more than a share of what is ready, so that whenever it takes several the
// others, if they are idle, wake and can take over.
func (p *Pool[W]) start(w *worker[W], now int64) bool {
	n := w.pace.next(now)
	for share := (p.core.Ready() + len(p.workers) - 1) / len(p.workers); share > 0 && len(w.work) < n; share-- {
		run, work, _ := p.core.Start(p.config.Batch, w.work, now)
		w.add(run, len(w.work))
		w.work = work
		if p.adders > 0 {
			p.admit(run.Channel, now)
		}
	}
	return len(w.runs) > 0
}

// takeOver looks after those whose turn began longer than patience ago: it
// gives back what they have played, and takes one run that they have not begun.
func (p *Pool[W]) takeOver(w *worker[W], now, patience int64) bool {
	for _, o := range p.workers {
		if o == w || now-o.pace.since < patience {
			continue
		}
		p.giveBack(o, int(o.claims.Load()>>32)-1, now)
		i, more, ok := o.lose()
		if !ok {
			continue
		}
		from, to := o.of(i)
		w.add(o.runs[i], 0)
		w.work = append(w.work, o.work[from:to]...)
		w.pace.since = now
		if more && p.idle > 0 {
			p.ready.Signal()
		}
		return true
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
			p.config.Play(w.runs[w.run].Channel, w.work[w.played])
		}
		if !w.claim() {
			return true
		}
	}
}

// recovered goes on after a panic. If there was none the goroutine is ending,
// and another takes its place.
func (p *Pool[W]) recovered(w *worker[W], reason any) {
	c, work := w.runs[w.run].Channel, w.work[w.played]
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
