// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"log/slog"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/action"
	"github.com/pnagent/pnagent/colour"
)

// stage is where the actions of one worker's instances are performed.
type stage struct {
	nets       []actions // by net; nil if none of them has actions
	recorder   *recorder // nil without a journal
	performers *performers
	answers    *answers
	ongoing    map[runKey]*performance
	starting   []*performance // handed out by the shards, in that order
	heard      []answer       // memory that is used again
	ending     []*performance // the same
	unfired    int            // runs of the quota that ended without a firing since the worker last asked
	log        *failureLog
}

// actions are those of one net.
type actions struct {
	net    string
	source string
	shard  *colour.Shard // nil for a plain net
	do     []action.Func // by transition
	ids    []string      // of its transitions
	places []string      // ids
	again  []bool        // by transition: the action is idempotent
	prefix string        // of the keys of runs: SOURCE/EPOCH/WORKER.NET.
	region string        // instead, with a journal: NET/REGION/SINCE, before /EPOCH/
}

// key returns that of a run.
func (n *actions) key(s *colour.Start) string {
	run := strconv.FormatUint(uint64(s.Run), 10)
	if n.region == "" {
		return n.prefix + run
	}
	return n.region + "/" + strconv.FormatUint(s.Era, 10) + "/" + run
}

// resumed reports whether a run that does not end here is left to who goes on.
func (g *stage) resumed(net int, transition int32) bool {
	n := &g.nets[net]
	return n.region != "" && n.again[transition]
}

// runKey names a run among those of one worker.
type runKey struct {
	shard int
	run   colour.RunID
}

// busy reports whether actions go on.
func (g *stage) busy() bool { return len(g.ongoing) > 0 }

// gather takes the actions that the shard of a net has handed out. Who plays
// several nets in one order calls it after each event.
func (g *stage) gather(net int) {
	if s := g.nets[net].shard; s != nil {
		for _, start := range s.Starts() {
			g.starting = append(g.starting, g.performance(net, start))
		}
	}
}

// perform starts the actions that were handed out, and tells those that are over
// to end. counted are those that used up some of the quota.
func (g *stage) perform(counted bool) {
	for k := range g.nets {
		g.gather(k)
	}
	for _, p := range g.starting {
		p.counted = counted
		if g.resumed(p.shard, p.run.Start.Transition) {
			p.told = g.recorder.confirm
		}
	}
	if len(g.starting) > 0 {
		g.performers.start(g.starting)
		g.starting = emptied(g.starting)
	}
	for k := range g.nets {
		if s := g.nets[k].shard; s != nil {
			for _, run := range s.Stops() {
				g.stop(runKey{k, run})
			}
		}
	}
	g.end()
}

// end tells those that are over to end, all at once.
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

func (g *stage) performance(k int, s colour.Start) *performance {
	n := &g.nets[k]
	p := &performance{do: n.do[s.Transition], shard: k, acts: n, answers: g.answers,
		run: action.Run{Net: n.net, Source: n.source, Transition: n.ids[s.Transition], Places: n.places, Start: s}}
	g.ongoing[runKey{k, s.Run}] = p
	return p
}

// stop has an action be told that its run is over, which ended without an
// answer. When that comes it is late.
func (g *stage) stop(key runKey) {
	if p := g.ongoing[key]; p != nil {
		g.over(key, false)
		g.ending = append(g.ending, p)
	}
}

// over ends a run that goes on.
func (g *stage) over(key runKey, fired bool) {
	if p := g.ongoing[key]; p != nil && p.counted && !fired {
		g.unfired++
	}
	delete(g.ongoing, key)
}

// hear has the outcomes that have come in take effect.
func (g *stage) hear(now int64) {
	g.heard = g.answers.take(g.heard)
	for i := range g.heard {
		g.settle(&g.heard[i], now)
	}
}

// settle has one outcome take effect. One of a run that was over is late.
func (g *stage) settle(a *answer, now int64) {
	n := &g.nets[a.shard]
	err := n.shard.Done(a.run, a.outcome, now)
	g.over(runKey{a.shard, a.run}, err == nil && a.outcome.Kind == colour.Fired)
	if err == nil && a.outcome.Kind == colour.Failed {
		err = errors.New(a.outcome.Err)
	}
	if err != nil {
		g.log.failed(n.net, n.ids[a.transition], err, now)
	}
}

// tellAll tells the actions that the engine stops.
func (g *stage) tellAll() {
	for _, p := range g.ongoing {
		p.cancel(ErrEngineStopped)
	}
}

// hearLast is hear while the engine stops: what then fails was broken off.
func (g *stage) hearLast(now int64) {
	g.heard = g.answers.take(g.heard)
	for i := range g.heard {
		a := &g.heard[i]
		key := runKey{a.shard, a.run}
		if g.ongoing[key] != nil && a.outcome.Kind == colour.Failed {
			delete(g.ongoing, key)
			if !g.resumed(a.shard, a.transition) {
				_ = g.nets[a.shard].shard.Cancel(a.run, now) // if it is over already, the better
			}
			continue
		}
		g.settle(a, now)
	}
}

// putBack puts the tokens of runs back that were handed out and that nobody will
// perform here.
func (g *stage) putBack(now int64) {
	for k := range g.nets {
		g.gather(k)
	}
	for _, p := range g.starting {
		run := p.run.Start.Run
		delete(g.ongoing, runKey{p.shard, run})
		if !g.resumed(p.shard, p.run.Start.Transition) {
			_ = g.nets[p.shard].shard.Cancel(run, now) // it has just begun
		}
	}
	g.starting = emptied(g.starting)
}

// cancelAll puts the tokens of all runs back, but of those that who goes on
// resumes.
func (g *stage) cancelAll(now int64) {
	for key, p := range g.ongoing {
		if !g.resumed(key.shard, p.run.Start.Transition) {
			_ = g.nets[key.shard].shard.Cancel(key.run, now) // it is ongoing
		}
		g.stop(key)
	}
	g.end()
}

// failureLog tells of actions that failed, of one transition once a second.
type failureLog struct {
	log  *slog.Logger
	last []failureTold
}

type failureTold struct {
	net, transition string
	at              int64
	untold          int
}

// failed tells that an action failed, or counts it.
func (l *failureLog) failed(net, transition string, err error, now int64) {
	i := slices.IndexFunc(l.last, func(t failureTold) bool { return t.net == net && t.transition == transition })
	if i < 0 {
		i = len(l.last)
		l.last = append(l.last, failureTold{net: net, transition: transition, at: now - toldEvery})
	}
	t := &l.last[i]
	if now-t.at < toldEvery {
		t.untold++
		return
	}
	l.log.Warn("action failed", "net", net, "transition", transition, "error", err, "untold", t.untold)
	t.at, t.untold = now, 0
}

// toldEvery is how often a transition's failures are told of, in microseconds.
const toldEvery = 1_000_000
