// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"math"
	"slices"

	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
)

// How the model fires transitions, and starts and fails actions.

// take cancels the runs that hold the taken tokens and passes the turn on.
func (m *model) take(f *modelFrame, t int, taken []*modelToken) {
	for _, k := range taken {
		if k.run != nil {
			m.cancel(k.run)
		}
	}
	m.turn = (t + 1) % len(m.bindings)
	if m.bindings[t].Mode.Kind == plain.Delayed {
		m.dropClock(m.clock(f, t))
		m.clocks = append(m.clocks, &modelClock{t: t, in: f, since: m.now})
	}
}

func (m *model) start(f *modelFrame, t int, c modelChoice, data []byte) *modelRun {
	m.take(f, t, c.taken)
	m.lastRun++
	r := &modelRun{id: runID(m.lastRun, t), t: t, in: f, taken: c.taken, saw: m.sawBy(f, t), read: savedTokens(c.read), data: data, started: m.now, attempt: 1}
	for _, x := range m.troubles {
		if x.t == t && x.in == f && x.token == first(c.taken) && x.failures > 0 {
			r.attempt = x.failures + 1
			m.counts[t].retries++
		}
	}
	if d := m.bindings[t].Timeout; d > 0 {
		r.deadline = m.now + d
	}
	for _, k := range c.taken {
		k.run = r
	}
	m.touch(c.taken...)
	m.runs = append(m.runs, r)
	m.starts = append(m.starts, r)
	m.changed()
	return r
}

func (m *model) sawBy(f *modelFrame, t int) []byte {
	if g := m.context(f, t); g != nil && m.net.Shared {
		return m.seenIn(g)
	}
	return nil
}

// over ends a run: its tokens are no longer in flight.
func (m *model) over(r *modelRun) {
	for _, k := range r.taken {
		k.run = nil
	}
	m.runs = slices.DeleteFunc(m.runs, func(x *modelRun) bool { return x == r })
}

func (m *model) cancel(r *modelRun) {
	m.counts[r.t].cancels++
	m.stops = append(m.stops, r.id)
	m.touch(r.taken...)
	m.over(r)
}

// unevaluated makes a transition an incident of an evaluation.
func (m *model) unevaluated(f *modelFrame, t int, token uint64) {
	x := m.troubled(f, t, token)
	x.incident, x.again = true, true
}

func (m *model) troubled(f *modelFrame, t int, token uint64) *trouble {
	for _, x := range m.troubles {
		if x.t == t && x.in == f && x.token == token {
			x.due = 0
			x.awaits = false
			x.incident = false
			x.again = false
			x.ripe = 0
			return x
		}
	}
	x := &trouble{t: t, in: f, token: token}
	m.troubles = append(m.troubles, x)
	return x
}

func (m *model) setBack(f *modelFrame, t int, token uint64, after int64) {
	x := m.troubled(f, t, token)
	x.failures++
	retry := m.bindings[t].Retry
	if retry.Attempts > 0 && x.failures >= retry.Attempts {
		x.incident = true
		return
	}
	if after == 0 {
		after = int64(min(float64(retry.First)*math.Pow(retry.Factor, float64(x.failures-1)), float64(retry.Max)))
	}
	x.due = m.now + after
}

// fire completes a firing. Its own run no longer holds the tokens.
func (m *model) fire(f *modelFrame, t int, c modelChoice, branches []petri.BranchArc, x modelExchange, data []byte) {
	m.take(f, t, c.taken)
	m.complete(f, t, c.taken, branches, x, data, nil)
}

func (m *model) complete(f *modelFrame, t int, taken []*modelToken, branches []petri.BranchArc, x modelExchange, data []byte, puts []Put) {
	opened := len(m.frames)
	m.begin(f, t, data, puts)
	m.destroy(taken)
	m.each(func(p int32) {
		if !m.between(p, t).reset {
			return
		}
		for len(m.at(f, p, true)) > 0 {
			m.cancel(m.at(f, p, true)[0].run)
		}
		m.destroy(m.at(f, p, false))
	})
	m.entered = map[string]*modelFrame{}
	put := func(p int32, n int) {
		in := m.aim(f, p)
		m.put(p, in, m.passed(f, t, taken, data, p, in), n)
	}
	if puts != nil {
		m.puts(f, taken, puts)
	} else {
		m.each(func(p int32) {
			left := m.between(p, t).put
			for _, k := range taken {
				if k.place == p && left > 0 {
					left--
					m.again(k, p, k.in, data)
				}
			}
			if left > 0 {
				put(p, left)
			}
		})
		for _, b := range branches {
			put(b.Place, int(b.Put))
		}
		if in := m.entered[x.begins]; in != nil {
			m.writes = append(m.writes, modelWrite{in, x.given})
		}
		m.writes = append(m.writes, x.gives...)
	}
	m.settleWrites(m.frames[opened:])
	m.changed()
	m.counts[t].firings++
	m.troubles = slices.DeleteFunc(m.troubles, func(x *trouble) bool { return x.t == t && x.in == f && x.token == 0 })
}

// again puts a token that was taken and keeps its identity.
func (m *model) again(k *modelToken, place int32, in *modelFrame, data []byte) {
	n := &modelToken{Token: k.Token, place: place, in: in}
	n.Injected = m.now
	if data != nil {
		n.Data = m.carried(data)
	}
	m.tokens = append(m.tokens, n)
	m.touch(n)
}

func (m *model) puts(f *modelFrame, taken []*modelToken, puts []Put) {
	for _, p := range puts {
		in := m.aim(f, p.Place)
		if p.Moved == 0 {
			m.put(p.Place, in, m.keep(p.Place, in, p.Data), 1)
			continue
		}
		k := *taken[slices.IndexFunc(taken, func(k *modelToken) bool { return k.ID == p.Moved })]
		k.Data = m.keep(p.Place, in, k.Data)
		m.again(&k, p.Place, in, nil)
	}
}

func (m *model) destroy(tokens []*modelToken) {
	m.touch(tokens...)
	m.tokens = slices.DeleteFunc(m.tokens, func(k *modelToken) bool { return slices.Contains(tokens, k) })
	m.troubles = slices.DeleteFunc(m.troubles, func(x *trouble) bool {
		return slices.ContainsFunc(tokens, func(k *modelToken) bool { return k.ID == x.token })
	})
}

// fireByHand is Fire, and reports whether the transition could fire.
func (m *model) fireByHand(t int, data []byte) bool {
	for _, f := range m.actors(t) {
		var given []byte
		if slices.ContainsFunc(m.troubles, func(x *trouble) bool { return x.again && x.t == t && x.in == f }) {
			given = data
		}
		c, ok := m.pickWith(f, t, given)
		if !ok {
			continue
		}
		out, ok := m.branches(t, c.taken, data)
		x, fair := m.exchange(f, t, c, data)
		if !m.bindings[t].Action && ok && !fair {
			m.counts[t].failures++
		}
		if !m.bindings[t].Action && (!ok || !fair) {
			continue
		}
		m.troubles = slices.DeleteFunc(m.troubles, func(x *trouble) bool { return x.t == t && x.in == f })
		if m.bindings[t].Action {
			m.start(f, t, c, data)
		} else {
			m.fire(f, t, c, out, x, data)
		}
		return true
	}
	return false
}

// done ends a run.
func (m *model) done(r *modelRun, o Outcome, fair bool) {
	t := r.t
	data := o.Data
	if data == nil {
		data = r.data
	}
	if o.Kind == Fired && fair {
		data, o.Puts = m.rebased(r, data), slices.Clone(o.Puts)
		for k := range o.Puts {
			o.Puts[k].Data = m.rebased(r, o.Puts[k].Data)
		}
		out, ok := m.branches(t, r.taken, data)
		x, right := m.exchange(r.in, t, modelChoice{r.taken, r.read}, data)
		if ok && right || o.Puts != nil {
			m.over(r)
			m.complete(r.in, t, r.taken, out, x, data, o.Puts)
			return
		}
		fair = false
	}
	m.touch(r.taken...)
	m.over(r)
	m.changed()
	if !fair {
		o = Outcome{Kind: Failed}
	}
	switch token := first(r.taken); o.Kind {
	case Failed:
		m.counts[t].failures++
		m.setBack(r.in, t, token, o.After)
	case Delayed:
		m.troubled(r.in, t, token).due = m.now + o.After
	case Awaits:
		m.troubled(r.in, t, token).awaits = true
	}
}
