// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
)

// plainLook computes the Look of one instance from its tokens and clocks.
type plainLook struct {
	s      *Shard
	i      int
	now    int64
	tokens [][]int64 // by place: when they were injected, oldest first
}

func newPlainLook(s *Shard, i int, now int64) *plainLook {
	l := &plainLook{s, i, now, make([][]int64, s.Tables.Places())}
	held := stats.HeldList{Limit: 1 << 20}
	s.Inside(i, nil, &held)
	for _, h := range held.Oldest() {
		for range h.Tokens {
			l.tokens[h.Place] = append(l.tokens[h.Place], h.Injected)
		}
	}
	for p := range l.tokens {
		slices.Sort(l.tokens[p])
	}
	return l
}

// met reports whether all conditions of a transition are met, and since when.
func (l *plainLook) met(tr int) (since int64, met bool) {
	for _, c := range l.s.Tables.Conds(tr) {
		have := len(l.tokens[c.Place])
		if have < int(c.Lo) || c.Hi > 0 && have >= int(c.Hi) {
			return 0, false
		}
		if c.Lo > 0 {
			since = max(since, l.tokens[c.Place][c.Lo-1])
		}
	}
	if since == 0 {
		since = l.now
	}
	return since, true
}

// ready adds the enabled transitions: immediate ones while the instance waits
// for its turn, others since their clock started.
func (l *plainLook) ready(rows []stats.Transition) {
	queued := l.s.cells[l.i].flags&queued != 0
	for tr := range rows {
		row, since, enabled := &rows[tr], int64(0), false
		if id := l.clock(tr); id != none {
			since, enabled = l.s.clocks.all[id].since, true
		} else if queued && l.s.modes[tr].Kind == Immediate && !l.s.Tables.Source(tr) {
			since, enabled = l.met(tr)
		}
		if enabled {
			row.Enabled++
			row.EnabledSince = stats.Earlier(row.EnabledSince, since)
		}
	}
}

func (l *plainLook) clock(tr int) int32 {
	if !l.s.Timed {
		return none
	}
	return l.s.clocks.of(l.i, tr)
}

// dead reports whether the instance is deadlocked: it is not at its end, does
// not wait for its turn or a clock, and no tokens can come from outside on
// their own.
func (l *plainLook) dead() bool {
	c := &l.s.cells[l.i]
	if c.flags&(queued|failed) != 0 {
		return false
	}
	unfinished := false
	for tr := range l.s.modes {
		if l.clock(tr) != none || l.s.Tables.Source(tr) {
			return false
		}
	}
	for p := range l.tokens {
		unfinished = unfinished || len(l.tokens[p]) > 0 && !l.s.Tables.Final(p)
	}
	return unfinished
}

// waits returns what a token of a place waits for: one entry for each
// transition that needs it.
func (l *plainLook) waits(place int) (out []stats.Wait) {
	for tr := range l.s.modes {
		needs := false
		for _, c := range l.s.Tables.Conds(tr) {
			needs = needs || int(c.Place) == place && c.Lo > 0
		}
		if !needs {
			continue
		}
		if l.dead() {
			out = append(out, stats.Wait{Transition: int32(tr), Reason: stats.ReasonDead, Place: stats.NoPlace})
		}
		if _, met := l.met(tr); met {
			out = append(out, l.enabledWait(tr))
		}
		for _, c := range l.s.Tables.Conds(tr) {
			switch have := uint32(len(l.tokens[c.Place])); {
			case have < c.Lo:
				out = append(out, stats.Wait{Transition: int32(tr), Reason: stats.ReasonMissing, Place: c.Place, Count: c.Lo - have})
			case c.Hi > 0 && have >= c.Hi:
				out = append(out, stats.Wait{Transition: int32(tr), Reason: stats.ReasonInhibited, Place: c.Place, Count: have - c.Hi + 1})
			}
		}
	}
	return out[:min(len(out), 16)]
}

func (l *plainLook) enabledWait(tr int) stats.Wait {
	w := stats.Wait{Transition: int32(tr), Place: stats.NoPlace, Reason: stats.ReasonEnabled}
	switch l.s.modes[tr].Kind {
	case Manual:
		w.Reason = stats.ReasonManual
	case Delayed:
		w.Reason = stats.ReasonDelayed
		if id := l.clock(tr); id != none {
			w.Until = l.s.clocks.all[id].due
		}
	}
	return w
}

// The enabled transitions, in how many instances and since when, and the
// reasons of the oldest tokens are those computed from the tokens and clocks of
// the instances.
func TestALookListsWhatIsEnabledAndWhatTokensWaitFor(t *testing.T) {
	r := rand.New(rand.NewPCG(85, 1))
	count := map[string]int{}
	for range 250 {
		tables := petritest.Compile(t, petritest.RandomNet(r))
		cfg := Config{Tables: tables, Stride: 1, Count: 3}
		if r.IntN(3) > 0 {
			cfg.Modes = restful(r, tables)
		}
		s := newShard(t, cfg)
		now := now0
		for range 6 {
			s.Step(r.IntN(20), now)
			act(t, r, r.IntN(3), []*Shard{s}, now)
			now += r.Int64N(second)
		}
		rows := rowsOf(s, now)
		want := make([]stats.Transition, tables.Transitions())
		looks := map[string]*plainLook{}
		for i := range s.Count {
			looks[name(i)] = newPlainLook(s, i, now)
			looks[name(i)].ready(want)
		}
		for tr := range want {
			want[tr].Firings, want[tr].LastFiring = rows.Transitions[tr].Firings, rows.Transitions[tr].LastFiring
			if want[tr].Enabled > 0 {
				count[fmt.Sprint("enabled ", s.modes[tr].Kind)]++
			}
		}
		if d := difference(want, rows.Transitions); d != "" {
			t.Fatalf("(-plain +look):\n%s", d)
		}
		for p := range rows.Places {
			for _, g := range rowsOf(s, now+stats.BlockedAfter).Places[p].Groups {
				if w := stats.Foremost(looks[g.Oldest.Instance].waits(p)); w.Reason != g.Reason || g.Tokens > rows.Places[p].Tokens {
					t.Fatalf("place %d: group %+v, its oldest token waits: %v", p, g, w.Reason)
				}
				count["group of "+g.Reason.String()]++
			}
			for _, token := range rows.Places[p].Stuck {
				l := looks[token.Instance]
				if d := difference(l.waits(p), token.Waits); d != "" {
					t.Fatalf("place %d of %s, dead: %v (-plain +look):\n%s", p, token.Instance, l.dead(), d)
				}
				for _, w := range token.Waits {
					count[fmt.Sprint(w.Reason)]++
				}
			}
		}
	}
	for _, what := range []string{"enabled 0", "enabled 1", "enabled 2", fmt.Sprint(stats.ReasonDead), fmt.Sprint(stats.ReasonMissing), fmt.Sprint(stats.ReasonInhibited),
		fmt.Sprint(stats.ReasonEnabled), fmt.Sprint(stats.ReasonManual), fmt.Sprint(stats.ReasonDelayed), "group of missing"} {
		if count[what] < 30 {
			t.Errorf("%s was seen only %d times: %v", what, count[what], count)
		}
	}
}
