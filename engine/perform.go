// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/action"
	"github.com/pnagent/pnagent/colour"
)

// Why the context of an action ends before the action does.
var (
	ErrRunOver       = errors.New("the run is over: its tokens are where they came from")
	ErrEngineStopped = errors.New("the engine has stopped")
)

// performance is one run of an action.
type performance struct {
	do      action.Func
	run     action.Run
	shard   int  // of the worker that wants the answer
	counted bool // it used up some of the quota when it started
	acts    *actions
	answers *answers
	told    func(context.Context) error // waits until the log is sure to tell that it has started; nil if it need not

	ctx    context.Context
	cancel context.CancelCauseFunc
	state  performanceState // guarded by performers.mu
}

type performanceState uint8

const (
	waiting performanceState = iota // for room
	going
	over
)

// performers perform actions, at most limit at once. An action that was told to
// end and goes on does not count: its room is another's.
//
// Goroutines come one by one: each calls the next, if there is more to do, before
// it performs. So actions that complete at once are performed by few goroutines,
// one after another, and of those that take long as many go on as may.
type performers struct {
	limit int

	mu     sync.Mutex
	going  int            // goroutines that perform, the coming one included
	coming bool           // one has been called and has not come
	queue  []*performance // not begun; first come, first served
	head   int            // of queue
}

// start performs actions as soon as there is room.
func (p *performers) start(all []*performance) {
	for _, a := range all {
		a.ctx, a.cancel = context.WithCancelCause(context.Background())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.head > len(p.queue)/2 {
		p.queue, p.head = slices.Delete(p.queue, 0, p.head), 0
	}
	p.queue = append(p.queue, all...)
	p.call()
}

// call has another goroutine come if there is something to do for it and room.
func (p *performers) call() {
	if p.coming || p.head == len(p.queue) || p.going == p.limit {
		return
	}
	p.going++
	p.coming = true
	go func() { p.perform(p.come()) }()
}

// come returns what a goroutine that was called begins with.
func (p *performers) come() *performance {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coming = false
	return p.take()
}

// perform performs an action, and then others.
func (p *performers) perform(a *performance) {
	for a != nil {
		a = p.performOne(a)
	}
}

// performOne performs an action, leaves the answer, and returns what comes next.
func (p *performers) performOne(a *performance) (next *performance) {
	o, returned := failedWith("the action ended its goroutine"), false
	defer func() {
		a.cancel(nil)
		a.answers.put(answer{a.shard, a.run.Start.Run, a.run.Start.Transition, o})
		next = p.next(a)
		if !returned && next != nil {
			go p.perform(next) // this goroutine is about to end
		}
	}()
	o = a.outcome()
	returned = true
	return nil
}

// next ends an action and returns another, if there is one.
func (p *performers) next(done *performance) *performance {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done.state == over {
		return nil // its room is another's
	}
	done.state = over
	return p.take()
}

// end tells actions that their runs are over, and gives their room to others.
func (p *performers) end(all []*performance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range all {
		a.cancel(ErrRunOver)
		if a.state == going {
			p.going--
		}
		a.state = over
	}
	p.call()
}

// take returns the next action to perform; without one there is one goroutine
// less.
func (p *performers) take() *performance {
	for p.head < len(p.queue) {
		a := p.queue[p.head]
		p.queue[p.head] = nil
		if p.head++; p.head == len(p.queue) {
			p.queue, p.head = p.queue[:0], 0
		}
		if a.state == waiting {
			a.state = going
			p.call()
			return a
		}
	}
	p.going--
	return nil
}

// outcome performs the action. A panic is a failure of this run and of nothing
// else.
func (a *performance) outcome() (o colour.Outcome) {
	defer func() {
		if r := recover(); r != nil {
			o = failedWith(fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	if a.ctx.Err() != nil {
		return failedWith(context.Cause(a.ctx).Error())
	}
	a.run.Key = a.acts.key(&a.run.Start)
	if a.told != nil {
		if err := a.told(a.ctx); err != nil {
			return failedWith(err.Error())
		}
	}
	o, err := a.do(a.ctx, &a.run)
	if err != nil {
		return failedWith(err.Error())
	}
	return o
}

// maxReason bounds what is kept of an action's error, in bytes.
const maxReason = 4 << 10

func failedWith(reason string) colour.Outcome {
	return colour.Outcome{Kind: colour.Failed, Err: reason[:min(len(reason), maxReason)]}
}

// answer is how a run ended.
type answer struct {
	shard      int
	run        colour.RunID
	transition int32
	outcome    colour.Outcome
}

// answers is where actions leave their outcomes for a worker.
type answers struct {
	mu   sync.Mutex
	all  []answer
	some chan struct{} // has one when all is not empty and nobody has looked
}

func newAnswers() *answers { return &answers{some: make(chan struct{}, 1)} }

func (q *answers) put(a answer) {
	q.mu.Lock()
	first := len(q.all) == 0
	q.all = append(q.all, a)
	q.mu.Unlock()
	if first {
		select {
		case q.some <- struct{}{}:
		default:
		}
	}
}

// take returns what is there; buf is what the last call returned.
func (q *answers) take(buf []answer) []answer {
	clear(buf)
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.all
	q.all = buf[:0]
	return all
}
