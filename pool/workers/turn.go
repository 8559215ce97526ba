// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/pnagent/pnagent/pool"
)

// ErrGoexit is the reason given to Panicked for work that has ended its
// goroutine with runtime.Goexit.
var ErrGoexit = errors.New("work ended its goroutine")

// Run plays with all workers until ctx ends, and returns when they have
// finished what they had taken. Work that waits then stays; whoever waits to
// add it gets [ErrStopped]. A pool runs once.
func (p *Pool[W]) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, p.stop)()
	for range p.config.Workers {
		p.running.Go(func() { p.work(&turn[W]{pace: pace{n: 1}}) })
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

// turn is what a worker has taken: runs[i] has the work up to ends[i].
type turn[W any] struct {
	pace   pace
	runs   []pool.Run
	ends   []int
	work   []W
	run    int // that is being played
	played int // pieces of work
}

// work is a worker. It begins with what is left of a turn.
func (p *Pool[W]) work(t *turn[W]) {
	for {
		for t.run < len(t.runs) {
			p.play(t)
		}
		if !p.take(t) {
			return
		}
	}
}

// take gives back what was played and takes the next turn. It waits until there
// is one, and returns false when the pool has stopped.
func (p *Pool[W]) take(t *turn[W]) bool {
	now := p.config.Clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range t.runs {
		// An error would be a run that has ended: a worker ends each once.
		_ = p.core.End(r, now)
	}
	for {
		if t.clear(); p.stopped {
			return false
		}
		if p.start(t, now); len(t.runs) > 0 {
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

// start takes the next channels and lets in who waits for the room.
func (p *Pool[W]) start(t *turn[W], now int64) {
	n := min(t.pace.next(now), 1+p.core.Ready()/p.config.Workers)
	for range n {
		run, work, ok := p.core.Start(p.config.Batch, t.work, now)
		if !ok {
			return
		}
		t.runs, t.work, t.ends = append(t.runs, run), work, append(t.ends, len(work))
		if p.adders > 0 {
			p.admit(run.Channel, now)
		}
	}
}

// clear forgets what was played, so that the work can be collected.
func (t *turn[W]) clear() {
	clear(t.work)
	t.runs, t.ends, t.work, t.run, t.played = t.runs[:0], t.ends[:0], t.work[:0], 0, 0
}

// play plays what is left of a turn, or up to a piece of work that panics, which
// it skips.
func (p *Pool[W]) play(t *turn[W]) {
	defer func() {
		if t.run < len(t.runs) {
			p.recovered(t, recover())
		}
	}()
	for ; t.run < len(t.runs); t.run++ {
		for c := t.runs[t.run].Channel; t.played < t.ends[t.run]; t.played++ {
			p.config.Play(c, t.work[t.played])
		}
	}
}

// recovered goes on after a panic. If there was none the goroutine is ending,
// and another takes its place.
func (p *Pool[W]) recovered(t *turn[W], reason any) {
	c, work := t.runs[t.run].Channel, t.work[t.played]
	t.played++
	if reason == nil {
		reason = ErrGoexit
		defer p.running.Go(func() { p.work(t) })
	}
	p.mu.Lock()
	p.panics++
	p.mu.Unlock()
	p.config.Panicked(c, work, reason, debug.Stack())
}
