// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
)

// Why the context of an action ends before the action does.
var (
	ErrRunOver       = errors.New("the run is over: its tokens are back in their places")
	ErrEngineStopped = errors.New("the engine has stopped")
)

// performance is one run of an action.
type performance struct {
	do      action.Func
	run     action.Run
	shard   int  // of the worker that wants the answer
	counted bool // it used some of the quota when it started
	acts    *actions
	answers *answers
	confirm func(context.Context) error // waits until the log cannot lose the start of the run; nil if it need not

	ctx    context.Context
	cancel context.CancelCauseFunc
	state  performanceState // guarded by performers.mu
}

type performanceState uint8

const (
	waiting performanceState = iota // for room
	running
	over
)

// performers perform actions, at most limit at once. An action that was
// cancelled and still runs does not count: another one takes its room.
//
// Goroutines start one by one: each starts the next, if there is more to do,
// before it performs an action. So few goroutines perform many short actions
// one after another, and long ones run in parallel up to the limit.
type performers struct {
	limit int
	all   sync.WaitGroup // goroutines that perform, those of cancelled actions included

	mu       sync.Mutex
	running  int            // goroutines that perform, the starting one included
	starting bool           // one goroutine has not begun yet
	queue    []*performance // not begun; first come, first served
	head     int            // of queue
	ended    time.Time      // when end last cancelled an action that was running
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
	p.grow()
}

// grow starts another goroutine if there is something to do and room.
func (p *performers) grow() {
	if p.starting || p.head == len(p.queue) || p.running == p.limit {
		return
	}
	p.running++
	p.starting = true
	p.all.Go(func() { p.perform(p.first()) })
}

// first returns the first action of a new goroutine.
func (p *performers) first() *performance {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starting = false
	return p.take()
}

// perform performs an action, and then others.
func (p *performers) perform(a *performance) {
	for a != nil {
		a = p.performOne(a)
	}
}

// performOne performs an action, queues its answer, and returns the next action.
func (p *performers) performOne(a *performance) (next *performance) {
	o, returned := failedWith(errors.New("the action ended its goroutine")), false
	defer func() {
		a.cancel(nil)
		a.answers.put(answer{a.shard, a.run.Start.Run, a.run.Start.Transition, o})
		next = p.next(a)
		if !returned && next != nil {
			p.all.Go(func() { p.perform(next) }) // this goroutine is about to end
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
		return nil // another action has its room
	}
	done.state = over
	return p.take()
}

// end cancels actions whose runs are over, and frees their room.
func (p *performers) end(all []*performance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range all {
		if a.state == running {
			p.running--
			if a.ctx.Err() == nil {
				p.ended = time.Now()
			}
		}
		a.cancel(ErrRunOver)
		a.state = over
	}
	p.grow()
}

// settle waits until the actions whose runs are over have ended, at most stopGrace after they were cancelled:
// one that runs a program kills it meanwhile.
func (p *performers) settle() {
	idle := make(chan struct{})
	go func() {
		p.all.Wait()
		close(idle)
	}()
	p.mu.Lock()
	grace := time.NewTimer(time.Until(p.ended.Add(stopGrace)))
	p.mu.Unlock()
	defer grace.Stop()
	select {
	case <-idle:
	case <-grace.C:
	}
}

// take returns the next action to perform; if there is none, the goroutine ends.
func (p *performers) take() *performance {
	for p.head < len(p.queue) {
		a := p.queue[p.head]
		p.queue[p.head] = nil
		if p.head++; p.head == len(p.queue) {
			p.queue, p.head = p.queue[:0], 0
		}
		if a.state == waiting {
			a.state = running
			p.grow()
			return a
		}
	}
	p.running--
	return nil
}

// outcome performs the action. A panic is a failure of this run only.
func (a *performance) outcome() (o coloured.Outcome) {
	defer func() {
		if r := recover(); r != nil {
			err := fmt.Errorf("panic: %v", r)
			if cause, is := r.(error); is {
				err = fmt.Errorf("panic: %w", cause)
			}
			o = failedWith(err)
			o.Err = clipped(fmt.Sprintf("%s\n%s", o.Err, debug.Stack()))
		}
	}()
	if a.ctx.Err() != nil {
		return failedWith(context.Cause(a.ctx))
	}
	a.run.Key = a.acts.key(&a.run.Start)
	if a.confirm != nil {
		if err := a.confirm(a.ctx); err != nil {
			return failedWith(err)
		}
	}
	o, err := a.do(a.ctx, &a.run)
	if err != nil {
		return failedWith(err)
	}
	return o
}

// maxReason bounds what is kept of an action's error, in bytes.
const maxReason = 4 << 10

func failedWith(err error) coloured.Outcome {
	return coloured.Outcome{Kind: coloured.Failed, Err: clipped(err.Error()), Public: clipped(Public(err))}
}

func clipped(reason string) string { return reason[:min(len(reason), maxReason)] }

// answer is the outcome of a run.
type answer struct {
	shard      int
	run        coloured.RunID
	transition int32
	outcome    coloured.Outcome
}

// answers queues the outcomes of actions for a worker.
type answers struct {
	mu   sync.Mutex
	all  []answer
	some chan struct{} // holds one when all was filled since the last receive
}

func newAnswers() *answers { return &answers{some: make(chan struct{}, 1)} }

func (q *answers) put(a answer) {
	q.mu.Lock()
	first := len(q.all) == 0
	q.all = append(q.all, a)
	q.mu.Unlock()
	if first {
		wake(q.some)
	}
}

// take returns all answers; buf is what the last call returned.
func (q *answers) take(buf []answer) []answer {
	clear(buf)
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.all
	q.all = buf[:0]
	return all
}
