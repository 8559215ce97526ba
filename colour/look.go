// SPDX-License-Identifier: Apache-2.0

package colour

import (
	"slices"

	"github.com/pnagent/pnagent/game"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/pool"
	"github.com/pnagent/pnagent/stats"
)

// Columns are those that Look fills in: all but those of queues, see Work.
const Columns = stats.AllColumns &^ (stats.ColQueues | stats.ColWaiting)

// Look adds the shard's rows as of now. The tokens that are
// present are counted here, by going through all instances once, so that firing
// does not have to; name gives the name of the instance with a number. Guards
// are not asked: of an instance that waits for its turn the transitions count
// as enabled that have the tokens they need. In one part of several nobody sees
// whether an instance has finished or is deadlocked: it leaves stats.ColInstances
// out.
func (s *Shard) Look(now int64, name func(number int) string, rows *stats.Rows) {
	s.addCounts(rows)
	if s.part == nil {
		rows.Net.Active += s.rec.Net.Created - s.rec.Net.Finished - s.rec.Net.Failed
		rows.Net.Deadlocked += s.deadlocked
		rows.Columns |= stats.ColInstances
	}
	rows.Columns |= Columns &^ stats.ColInstances
	l := newLook(s, now)
	for i := range s.instances {
		l.instance(i)
	}
	for p := range l.places {
		row := l.place(p, name)
		rows.Places[p].Merge(&row)
	}
	for t := range l.transitions {
		rows.Transitions[t].Merge(&l.transitions[t])
	}
	rows.Blocks = stats.MergeBlocks(rows.Blocks, l.blocks())
}

// TakeSlowest adds to the rows whose token stayed longest in each place
// and whose firing of each transition took longest,
// of what was over since the last call. It is for the one who publishes the
// rows: whoever calls it takes it from others. name gives the name of the
// instance with a number.
func (s *Shard) TakeSlowest(name func(number int) string, rows *stats.Rows) {
	s.rec.TakeSlowest(func(i int) string { return name(s.Number(i)) }, rows)
}

// look is one pass over all instances.
type look struct {
	s           *Shard
	now         int64
	rungs       *stats.Rungs
	places      []placeLook
	transitions []stats.Transition // what is enabled and running
	seen        []int32            // by transition: 1 + the last instance that was counted for it
	held        map[stats.Block]uint64
	waits       []stats.Wait // memory that is used again
}

type placeLook struct {
	tokens, instances uint64
	injected          stats.TimeSum
	ladder            []uint64 // by rung; nil before the first token
	oldest            []old    // oldest first, at most stats.MaxStuck
}

// old is one of the oldest tokens of a place.
type old struct {
	injected int64
	instance int32
	run      int32 // its note, if it is in flight; else none
}

func newLook(s *Shard, now int64) *look {
	return &look{s: s, now: now, rungs: stats.NewRungs(now), places: make([]placeLook, s.tables.Places()),
		transitions: make([]stats.Transition, len(s.rules)), seen: make([]int32, len(s.rules)), held: map[stats.Block]uint64{}}
}

// instance counts what is in one instance.
func (l *look) instance(i int) {
	in := &l.s.instances[i]
	for k := range in.piles {
		p := &in.piles[k]
		l.places[p.place].instances++
		for _, lot := range p.left() {
			l.tokens(int(p.place), old{lot.injected, int32(i), none}, lot.n)
		}
	}
	for id := in.runs; id != none; id = l.s.notes.all[id].next {
		l.run(i, id)
	}
	for k := range in.piles {
		if p := &in.piles[k]; !l.s.tables.Final(int(p.place)) && l.now-l.s.oldest(in, p) >= game.BlockedAfter {
			l.blocked(i, in, int(p.place))
		}
	}
	for id := in.notes; id != none; id = l.s.notes.all[id].next {
		if n := &l.s.notes.all[id]; n.kind == noteClock {
			l.transitions[n.transition].Merge(&stats.Transition{Enabled: 1, EnabledSince: n.since})
		}
	}
	if l.s.pool.State(l.s.channels[i]) == pool.Ready {
		l.ready(i, in)
	}
}

func (l *look) run(i int, id int32) {
	n := &l.s.notes.all[id]
	l.transitions[n.transition].Merge(&stats.Transition{Running: 1, RunningSince: n.since})
	for _, t := range l.s.load(id).taken {
		l.tokens(int(t.Place), old{t.Token.Injected, int32(i), id}, 1)
	}
}

// oldest is the injection time of the oldest token of a place.
func (s *Shard) oldest(in *instance, p *pile) int64 {
	var oldest int64
	if left := p.left(); len(left) > 0 {
		oldest = left[0].injected
	}
	if p.flying == 0 {
		return oldest
	}
	for id := in.runs; id != none; id = s.notes.all[id].next {
		for _, t := range s.load(id).taken {
			if t.Place == p.place {
				oldest = stats.Earlier(oldest, t.Token.Injected)
			}
		}
	}
	return oldest
}

func (l *look) tokens(p int, o old, n uint32) {
	row := &l.places[p]
	row.tokens += uint64(n)
	row.injected.Merge(stats.TimeSum{Sec: uint64(o.injected) / 1e6 * uint64(n)})
	row.injected.Merge(stats.TimeSum{Micro: uint64(o.injected) % 1e6 * uint64(n)})
	if row.ladder == nil {
		row.ladder = make([]uint64, l.rungs.Len())
	}
	row.ladder[l.rungs.Index(o.injected)] += uint64(n)
	if k := len(row.oldest); k < stats.MaxStuck || o.injected < row.oldest[k-1].injected {
		row.remember(o, n)
	}
}

// remember keeps the oldest tokens in order of their age.
func (row *placeLook) remember(o old, n uint32) {
	at, _ := slices.BinarySearchFunc(row.oldest, o, func(a, b old) int {
		if a.injected <= b.injected {
			return -1
		}
		return 1
	})
	for range min(int(n), stats.MaxStuck-at) {
		row.oldest = slices.Insert(row.oldest, at, o)
	}
	row.oldest = row.oldest[:min(len(row.oldest), stats.MaxStuck)]
}

// place returns the row of what is present in a place.
func (l *look) place(p int, name func(int) string) stats.Place {
	row := &l.places[p]
	if row.tokens == 0 {
		return stats.Place{}
	}
	out := stats.Place{
		Tokens: row.tokens, Arrivals: row.tokens, Instances: row.instances,
		Oldest: row.oldest[0].injected, Injected: row.injected,
		Ages: l.rungs.Ladder(row.ladder),
	}
	for _, o := range row.oldest {
		out.Stuck = append(out.Stuck, stats.Token{Instance: name(l.s.Number(int(o.instance))), Injected: o.injected,
			Waits: l.s.waits(&l.s.instances[o.instance], p, o.run)})
	}
	slices.SortFunc(out.Stuck, func(a, b stats.Token) int { return a.Compare(&b) })
	return out
}

// ready counts the immediate transitions of an instance that waits for its
// turn.
func (l *look) ready(i int, in *instance) {
	count := func(t int32) {
		if l.seen[t] == -int32(i)-1 || !l.s.holds(in, int(t)) || l.s.blocked(in, int(t)) {
			return
		}
		l.seen[t] = -int32(i) - 1
		since := in.latest(&l.s.rules[t])
		if since == 0 {
			since = l.now
		}
		l.transitions[t].Merge(&stats.Transition{Enabled: 1, EnabledSince: since})
	}
	for k := range in.piles {
		for _, t := range l.s.triggered[in.piles[k].place] {
			count(t)
		}
	}
	for _, t := range l.s.untriggered {
		count(t)
	}
}

// blocked counts what holds back the transitions that need a place where an
// instance has an old token; each transition once an instance.
func (l *look) blocked(i int, in *instance, p int) {
	for _, t := range l.s.users[p] {
		if l.seen[t] == int32(i)+1 {
			continue
		}
		l.seen[t] = int32(i) + 1
		l.waits = l.s.why(in, int(t), l.waits[:0])
		for _, w := range l.waits {
			switch w.Reason {
			case stats.ReasonMissing, stats.ReasonInhibited, stats.ReasonGuarded, stats.ReasonIncident:
				l.held[stats.Block{Transition: w.Transition, Place: w.Place, Reason: w.Reason}]++
			}
		}
	}
}

func (l *look) blocks() []stats.Block {
	out := make([]stats.Block, 0, len(l.held))
	for b, n := range l.held {
		b.Instances = n
		out = append(out, b)
	}
	slices.SortFunc(out, stats.Block.Compare)
	if len(out) == 0 {
		return nil
	}
	return out
}

// maxWaits bounds what one token is said to wait for.
const maxWaits = 16

// waits says what each transition that needs a place waits for in an instance.
// In an instance that is deadlocked it is first said to be dead, which is the
// whole, and then what it lacks. run is the run that a token is in flight with,
// or none.
func (s *Shard) waits(in *instance, p int, run int32) []stats.Wait {
	var out []stats.Wait
	for _, t := range s.users[p] {
		if len(out) >= maxWaits {
			break
		}
		if run != none && int32(s.notes.all[run].transition) == t {
			out = append(out, stats.Wait{Transition: t, Place: stats.NoPlace, Reason: stats.ReasonRunning})
			continue
		}
		if in.has(deadlocked) {
			out = append(out, stats.Wait{Transition: t, Reason: stats.ReasonDead, Place: stats.NoPlace})
		}
		out = s.why(in, int(t), out)
	}
	return out[:min(len(out), maxWaits)]
}

// why appends what a transition waits for: first what is remembered of it, then
// the conditions that do not hold.
func (s *Shard) why(in *instance, t int, out []stats.Wait) []stats.Wait {
	r := &s.rules[t]
	before := len(out)
	for id := in.notes; id != none; id = s.notes.all[id].next {
		if n := &s.notes.all[id]; int(n.transition) == t {
			if w, ok := s.waitOf(n); ok {
				return append(out, w)
			}
		}
	}
	for _, c := range r.conds {
		if !s.met(in, r, c) {
			out = append(out, unmet(in, t, c))
		}
	}
	for _, p := range s.awaits(in, r.join) {
		out = append(out, stats.Wait{Transition: int32(t), Reason: stats.ReasonMissing, Place: p, Count: 1})
	}
	if len(out) == before {
		w := stats.Wait{Transition: int32(t), Place: stats.NoPlace, Reason: stats.ReasonEnabled}
		if r.held && r.Mode.Kind != game.Delayed {
			w.Reason = stats.ReasonManual
		}
		return append(out, w)
	}
	return out
}

func unmet(in *instance, t int, c petri.Cond) stats.Wait {
	available, total := in.count(c.Place)
	if c.Hi > 0 && total >= c.Hi && available >= c.Lo {
		return stats.Wait{Transition: int32(t), Reason: stats.ReasonInhibited, Place: c.Place, Count: total - c.Hi + 1}
	}
	return stats.Wait{Transition: int32(t), Reason: stats.ReasonMissing, Place: c.Place, Count: c.Lo - available}
}

// waitOf says what a note has its transition wait for, if it does.
func (s *Shard) waitOf(n *note) (stats.Wait, bool) {
	w := stats.Wait{Transition: int32(n.transition), Place: stats.NoPlace}
	switch n.kind {
	case noteClock:
		w.Reason = stats.ReasonManual
		if s.rules[n.transition].Mode.Kind == game.Delayed {
			w.Reason, w.Until = stats.ReasonDelayed, n.due
		}
	case noteNo:
		if w.Reason, w.Place = stats.ReasonGuarded, n.ref; s.refusedForGood(n) {
			w.Reason = stats.ReasonIncident
		}
	case noteWait:
		w.Reason, w.Until = stats.ReasonDelayed, n.due
	case noteAwaits:
		w.Reason = stats.ReasonManual
	case noteIncident:
		w.Reason, w.Place = stats.ReasonIncident, n.ref
	default:
		return w, false
	}
	return w, true
}
