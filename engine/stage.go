// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"log/slog"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/coloured"
)

// stage performs the actions of one worker's instances.
type stage struct {
	nets       []actions // by net; nil if none of them has actions
	recorder   *recorder // nil without a journal
	performers *performers
	answers    *answers
	ongoing    map[runKey]*performance
	starting   []*performance // handed out by the shards, in that order
	stopping   []runKey       // that are over
	settling   []answer       // reused buffer
	ending     []*performance // reused buffer
	unfired    int            // runs of the quota that ended without a firing since the worker last asked
	log        *failureLog
}

// actions are those of one net.
type actions struct {
	net    string
	source string
	shard  *coloured.Shard // nil for a plain net
	do     []action.Func   // by transition
	ids    []string        // of its transitions
	places []string        // ids
	again  []bool          // by transition: whether the action is idempotent
	prefix string          // of the keys of runs: SOURCE/EPOCH/WORKER.NET.
	region string          // instead, with a journal: NET/REGION/SINCE, before /EPOCH/
}

// key returns that of a run.
func (n *actions) key(s *coloured.Start) string {
	run := strconv.FormatUint(uint64(s.Run), 10)
	if n.region == "" {
		return n.prefix + run
	}
	return n.region + "/" + strconv.FormatUint(s.Era, 10) + "/" + run
}

// resumed reports whether a run that does not end here is left to the next owner.
func (g *stage) resumed(net int, transition int32) bool {
	n := &g.nets[net]
	return n.region != "" && n.again[transition]
}

// runKey names a run among those of one worker.
type runKey struct {
	shard int
	run   coloured.RunID
}

// busy reports whether actions are running.
func (g *stage) busy() bool { return len(g.ongoing) > 0 }

// take takes over the actions that the shard of a net has handed out, and those
// whose runs are over, and logs why transitions do not fire.
func (g *stage) take(net int, r *coloured.Ready, now int64) {
	for k := range r.Starts {
		g.starting = append(g.starting, g.performance(net, r.Starts[k]))
	}
	for _, run := range r.Stops {
		g.stopping = append(g.stopping, runKey{net, run})
	}
	for k := range r.Faults {
		f, n := &r.Faults[k], &g.nets[net]
		g.log.failed(f.What, n.net, n.ids[f.Transition], g.log.name(n.shard.Number(f.Instance)), f.Err, now)
	}
}

// perform starts the actions that were handed out, and cancels those whose runs
// are over. counted are those that used some of the quota.
func (g *stage) perform(counted bool) {
	for _, p := range g.starting {
		p.counted = counted
		if g.resumed(p.shard, p.run.Start.Transition) {
			p.confirm = g.recorder.confirm
		}
	}
	if len(g.starting) > 0 {
		g.performers.start(g.starting)
		g.starting = emptied(g.starting)
	}
	for _, key := range g.stopping {
		g.stop(key)
	}
	g.stopping = g.stopping[:0]
	g.end()
}

// end cancels the actions whose runs are over, all at once.
func (g *stage) end() {
	if len(g.ending) > 0 {
		g.performers.end(g.ending)
		g.ending = emptied(g.ending)
	}
}

func emptied(all []*performance) []*performance {
	clear(all)
	return all[:0]
}

func (g *stage) performance(k int, s coloured.Start) *performance {
	n := &g.nets[k]
	p := &performance{do: n.do[s.Transition], shard: k, acts: n, answers: g.answers,
		run: action.Run{Net: n.net, Source: n.source, Transition: n.ids[s.Transition], Places: n.places, Start: s}}
	g.ongoing[runKey{k, s.Run}] = p
	return p
}

// stop ends a run that has no answer yet. An answer that arrives later is late.
func (g *stage) stop(key runKey) {
	if p := g.ongoing[key]; p != nil {
		g.over(key, false)
		g.ending = append(g.ending, p)
	}
}

// over ends a run.
func (g *stage) over(key runKey, fired bool) {
	if p := g.ongoing[key]; p != nil && p.counted && !fired {
		g.unfired++
	}
	delete(g.ongoing, key)
}

// arrived returns the outcomes that have arrived since the last call, which reuses the memory.
func (g *stage) arrived() []answer {
	g.settling = g.answers.take(g.settling)
	return g.settling
}

// settle applies one outcome. One of a run that was over is late.
func (g *stage) settle(a *answer, now int64) {
	n, key, instance := &g.nets[a.shard], runKey{a.shard, a.run}, ""
	if p := g.ongoing[key]; p != nil {
		instance = g.log.name(p.run.Start.Instance)
	}
	err := n.shard.Done(a.run, a.outcome, now)
	g.over(key, err == nil && a.outcome.Kind == coloured.Fired)
	if err == nil && a.outcome.Kind == coloured.Failed {
		err = errors.New(a.outcome.Err)
	}
	if err != nil {
		g.log.failed("action failed", n.net, n.ids[a.transition], instance, err, now)
	}
}

// stopActions cancels all actions because the engine stops.
func (g *stage) stopActions() {
	for _, p := range g.ongoing {
		p.cancel(ErrEngineStopped)
	}
}

// settleLast is settle while the engine stops: an action that fails then was
// cancelled.
func (g *stage) settleLast(a *answer, now int64) {
	key := runKey{a.shard, a.run}
	if g.ongoing[key] == nil || a.outcome.Kind != coloured.Failed {
		g.settle(a, now)
		return
	}
	delete(g.ongoing, key)
	if !g.resumed(a.shard, a.transition) {
		_ = g.nets[a.shard].shard.Cancel(a.run, now) // fails only if it is already over
	}
}

// putBack puts back the tokens of runs that were handed out and will not be
// performed here.
func (g *stage) putBack(now int64) {
	for _, p := range g.starting {
		run := p.run.Start.Run
		delete(g.ongoing, runKey{p.shard, run})
		if !g.resumed(p.shard, p.run.Start.Transition) {
			_ = g.nets[p.shard].shard.Cancel(run, now) // it has just begun
		}
	}
	g.starting = emptied(g.starting)
}

// cancelAll puts the tokens of all runs back, except of those that the next
// owner resumes.
func (g *stage) cancelAll(now int64) {
	for key, p := range g.ongoing {
		if !g.resumed(key.shard, p.run.Start.Transition) {
			_ = g.nets[key.shard].shard.Cancel(key.run, now) // it is ongoing
		}
		g.stop(key)
	}
	g.end()
}

// failureLog logs failures, once a second for each transition.
type failureLog struct {
	log  *slog.Logger
	name func(number int) string // of an instance
	last []failureLogged
}

type failureLogged struct {
	net, transition string
	at              int64
	suppressed      int
}

// failed logs a failure in an instance, or counts it.
func (l *failureLog) failed(what, net, transition, instance string, err error, now int64) {
	i := slices.IndexFunc(l.last, func(t failureLogged) bool { return t.net == net && t.transition == transition })
	if i < 0 {
		i = len(l.last)
		l.last = append(l.last, failureLogged{net: net, transition: transition, at: now - logEvery})
	}
	t := &l.last[i]
	if now-t.at < logEvery {
		t.suppressed++
		return
	}
	l.log.Warn(what, "net", net, "transition", transition, "instance", instance, "err", err, "suppressed", t.suppressed)
	t.at, t.suppressed = now, 0
}

// logEvery is how often a transition's failures are logged, in microseconds.
const logEvery = 1_000_000
