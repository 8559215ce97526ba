// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/pool"
)

// ErrStopped says that no worker will play any more.
var ErrStopped = errors.New("pool has stopped")

// Config is how a Pool works.
type Config[W any] struct {
	Discipline pool.Discipline
	Workers    int          // goroutines, 1 or more
	Batch      int          // pieces of work of one channel in a row, 1 or more
	Clock      func() int64 // microseconds since the Unix epoch; called by all workers

	// Play plays one piece of work. It is called by all workers, but for one
	// index by one at a time.
	Play func(c pool.Channel, work W)

	// Panicked is told of a piece of work whose Play has panicked with reason,
	// or has ended its goroutine, which is [ErrGoexit]. The next piece follows.
	Panicked func(c pool.Channel, work W, reason any, stack []byte)
}

// Pool is a [pool.Pool] with workers. All methods may be called by anybody.
//
// A worker takes channels, each with a batch of work, plays them, gives them
// back and takes the next, all under one lock. It takes as many channels as it
// played lately in 50 µs, but leaves a share for the other workers: short work
// shares the cost of the lock, and long work is taken channel by channel. What
// gets ready while a worker is busy is chosen by the discipline when the worker
// comes back. If a piece of work takes long, or never returns, others take over
// what its worker has taken and not begun.
type Pool[W any] struct {
	config  Config[W]
	running sync.WaitGroup

	mu      sync.Mutex
	core    *pool.Pool[W]
	blocked map[pool.Channel][]*adder[W] // first come, first served
	adders  int                          // in blocked
	ready   *sync.Cond
	workers []*worker[W]
	idle    int  // workers that wait for ready
	woken   bool // one of them is on its way
	stopped bool
	panics  uint64
}

// adder waits for room in a full channel.
type adder[W any] struct {
	work W
	done chan error // has room for the one result
}

// NewPool returns a pool without channels. Its workers begin with [Pool.Run];
// channels and work can be added before.
func NewPool[W any](c Config[W]) (*Pool[W], error) {
	if c.Workers < 1 || c.Batch < 1 {
		return nil, fmt.Errorf("a pool of %d workers and batches of %d: both must be 1 or more", c.Workers, c.Batch)
	}
	if c.Clock == nil || c.Play == nil || c.Panicked == nil {
		return nil, errors.New("a pool without Clock, Play or Panicked: it needs all")
	}
	p := &Pool[W]{config: c, core: pool.New[W](c.Discipline), blocked: map[pool.Channel][]*adder[W]{}}
	p.ready = sync.NewCond(&p.mu)
	return p, nil
}

// Register makes a channel: see [pool.Pool.Register]. Its first work is never
// played while work of an earlier registration of the index still is.
func (p *Pool[W]) Register(index int32, priority pool.Priority, bound int) (pool.Channel, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.core.Register(index, priority, bound)
}

// Unregister ends a channel and returns the work that waited in it and will not
// be played. A worker that is inside plays the batch that it has taken. Those
// who wait to add get [pool.ErrNotRegistered], which is also the error here.
func (p *Pool[W]) Unregister(c pool.Channel) ([]W, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting, err := p.core.Unregister(c, nil)
	if err == nil {
		p.answer(c, pool.ErrNotRegistered)
	}
	return waiting, err
}

// SetBound changes how much work may wait in a channel; 0 lifts the bound, and
// whoever waits for room gets it. The error is [pool.ErrNotRegistered].
func (p *Pool[W]) SetBound(c pool.Channel, bound int, now int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.core.SetBound(c, bound)
	p.admit(c, now)
	p.wake()
	return err
}

// TryAdd adds work to a channel or returns [pool.ErrFull],
// [pool.ErrNotRegistered] or [ErrStopped].
func (p *Pool[W]) TryAdd(c pool.Channel, work W, now int64) error {
	p.mu.Lock()
	err := p.add(c, work, now)
	p.mu.Unlock()
	return err
}

// Add adds work to a channel and waits for room if it is full. Those who wait
// get room in the order in which they came. If the error is nil the work is in
// the pool, else it is not: the cause of ctx's end, [pool.ErrNotRegistered] or
// [ErrStopped]. now is when the work arrived.
func (p *Pool[W]) Add(ctx context.Context, c pool.Channel, work W, now int64) error {
	p.mu.Lock()
	err := p.add(c, work, now)
	if err != pool.ErrFull { //nolint:errorlint // the core returns it bare, and this is the hot path
		p.mu.Unlock()
		return err
	}
	a := &adder[W]{work: work, done: make(chan error, 1)}
	p.blocked[c] = append(p.blocked[c], a)
	p.adders++
	p.mu.Unlock()
	select {
	case err := <-a.done:
		return err
	case <-ctx.Done():
		return p.withdraw(ctx, c, a)
	}
}

// withdraw takes back what waits for room, unless it has got an answer just
// now.
func (p *Pool[W]) withdraw(ctx context.Context, c pool.Channel, a *adder[W]) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.blocked[c], a)
	if i < 0 {
		return <-a.done
	}
	p.setBlocked(c, slices.Delete(p.blocked[c], i, i+1))
	return fmt.Errorf("waiting for room in channel %d: %w", c.Index, context.Cause(ctx))
}

// add delivers work and wakes a worker for it.
func (p *Pool[W]) add(c pool.Channel, work W, now int64) error {
	if p.stopped {
		return ErrStopped
	}
	err := p.core.Deliver(c, work, now)
	if p.idle > 0 {
		p.wake()
	}
	return err
}

// wake wakes one idle worker if there is something for it. It wakes the next
// itself.
func (p *Pool[W]) wake() {
	if p.idle > 0 && !p.woken && p.core.Ready() > 0 {
		p.woken = true
		p.ready.Signal()
	}
}

// admit lets those in who wait for room in a channel, while there is some.
func (p *Pool[W]) admit(c pool.Channel, now int64) {
	for len(p.blocked[c]) > 0 {
		a := p.blocked[c][0]
		err := p.core.Deliver(c, a.work, now)
		if errors.Is(err, pool.ErrFull) {
			return
		}
		a.done <- err
		p.setBlocked(c, p.blocked[c][1:])
	}
}

// answer gives an error to all who wait for room in a channel.
func (p *Pool[W]) answer(c pool.Channel, err error) {
	for _, a := range p.blocked[c] {
		a.done <- err
	}
	p.setBlocked(c, nil)
}

func (p *Pool[W]) setBlocked(c pool.Channel, left []*adder[W]) {
	p.adders += len(left) - len(p.blocked[c])
	if p.blocked[c] = left; len(left) == 0 {
		delete(p.blocked, c)
	}
}

// Stats is what was counted, at one moment.
type Stats struct {
	pool.WorkStats
	Blocked int    // who wait in Add for room
	Panics  uint64 // pieces of work that ended in a panic
}

// Stats returns what was counted.
func (p *Pool[W]) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{WorkStats: p.core.Stats(), Blocked: p.adders, Panics: p.panics}
}
