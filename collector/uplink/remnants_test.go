// SPDX-License-Identifier: Apache-2.0

package uplink

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	start  = int64(1_790_000_000_000_000)
	second = int64(1e6)
)

// stuckRules raise and clear within a second or two.
const stuckRules = `{settle: 1s, defaults: {stuck: {after: 10s, clear_after: 1s}, starved: off, deadlocked: {above: 0, for: 0s, clear_after: 1s}, failures: off, loop: {above: 50/s, window: 10s, for: 0s, clear_after: 1s}, lost: {clear_after: 0s}}}`

// station is a collector with its alarms, and what it publishes to the one above.
type station struct {
	t      *testing.T
	name   string
	def    *petri.Net
	old    bool // it publishes no Remnants
	m      *merge.Merger
	alarms *alarm.Machine
	seq    uint64
	clock  int64 // ahead of the others
	view   *merge.View
	passed bool // it takes no step
}

func newStation(t *testing.T, name string, def *petri.Net, now int64) *station {
	t.Helper()
	rules, err := alarm.ReadRules(strings.NewReader(stuckRules), "alarms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := &station{t: t, name: name, def: def, m: merge.NewMerger(merge.Rules{ForgetAfter: 10 * time.Second}, now), alarms: alarm.NewMachine(rules, alarm.Saved{}, 10*time.Second)}
	s.define(def, now)
	return s
}

func (s *station) define(def *petri.Net, now int64) {
	s.t.Helper()
	if _, err := s.m.Define(telemetry.Digest(text(s.t, def)), def, now); err != nil {
		s.t.Fatal(err)
	}
}

// wired returns what arrives at the other end of a message.
func wired(t *testing.T, msg *telemetry.Snapshot, json bool) *telemetry.Snapshot {
	t.Helper()
	var enc telemetry.Encoder
	dec := telemetry.Decoder{Sums: true}
	encode, decode := enc.Append, dec.Decode
	if json {
		encode, decode = enc.AppendJSON, dec.DecodeJSON
	}
	payload, err := encode(nil, msg)
	if err != nil {
		t.Fatal(err)
	}
	var out telemetry.Snapshot
	if err := decode(payload, &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

func (s *station) take(msg *telemetry.Snapshot, now int64) {
	s.t.Helper()
	if _, err := s.m.Take(msg, 0, now); err != nil {
		s.t.Fatalf("%s, from %s: %v", s.name, msg.Source, err)
	}
}

// step makes a View, judges it, and publishes it as package uplink does.
func (s *station) step(above *station, now int64) {
	s.t.Helper()
	s.view, _ = s.m.Tick(now + s.clock)
	s.alarms.Step(s.view, now+s.clock)
	if above == nil || s.view.Nets[0].Rows.Columns == 0 {
		return
	}
	def := s.view.Nets[0].Def
	above.define(def, now)
	s.seq++
	msg := &telemetry.Snapshot{Source: s.name, Net: "n", Digest: telemetry.Digest(text(s.t, def)), Epoch: start, Seq: s.seq, SentAt: now + s.clock, Interval: time.Second,
		Full: true, Region: merge.BelowRegion + s.name, Fence: 1, Since: start, Rows: *stats.NewRows(len(def.Places), len(def.Transitions))}
	if err := s.view.FillRows("n", &msg.Rows); err != nil {
		s.t.Fatal(err)
	}
	if !s.old {
		msg.Remnants = s.view.Remnants("n", 1<<18)
	}
	above.take(wired(s.t, msg, s.seq%2 == 0), now+above.clock)
}

// shown returns the active alarms about the net, with why they are unknown.
func (s *station) shown() (out []string) {
	for _, a := range s.alarms.State(0).Active {
		if a.Net == "" {
			continue
		}
		line := a.Subject
		if a.Unknown != "" {
			line += ": " + a.Unknown
		}
		out = append(out, line)
	}
	return out
}

// speaker is an engine of one place and one transition, with a token that is stuck.
type speaker struct {
	name    string
	seq     uint64
	columns stats.Columns
	tokens  uint64
	oldest  int64
	dead    uint64
	region  string
	firings uint64
	rate    uint64 // of firings
}

func (e *speaker) say(to *station, now int64, bye bool) {
	to.t.Helper()
	e.seq++
	def := to.def
	msg := &telemetry.Snapshot{Source: e.name, Net: "n", Digest: telemetry.Digest(text(to.t, def)), Epoch: start, Seq: e.seq, SentAt: now, Interval: time.Second, Full: true, Bye: bye,
		Rows: *stats.NewRows(len(def.Places), len(def.Transitions))}
	if e.region != "" {
		msg.Region, msg.Fence = e.region, 1
	}
	msg.Rows.Columns = e.columns
	if e.tokens > 0 {
		msg.Rows.Places[0] = stats.Place{Tokens: e.tokens, Oldest: e.oldest}
	}
	msg.Rows.Net.Deadlocked = e.dead
	e.firings += e.rate
	msg.Rows.Transitions[0].Firings = e.firings
	to.take(wired(to.t, msg, false), now+to.clock)
}

// line returns a net of a place, a transition and an end; with others, rows before them.
func line(others ...string) *petri.Net {
	n := &petri.Net{ID: "n"}
	for _, id := range others {
		n.Places = append(n.Places, petri.Place{ID: id})
		n.Transitions = append(n.Transitions, petri.Transition{ID: id + " moves"})
		n.Arcs = append(n.Arcs, petri.Arc{Source: id, Target: id + " moves", Weight: 1})
	}
	n.Places = append(n.Places, petri.Place{ID: "inbox"})
	n.Transitions = append(n.Transitions, petri.Transition{ID: "ship"})
	n.Arcs = append(n.Arcs, petri.Arc{Source: "inbox", Target: "ship", Weight: 1})
	return n
}

const countAndAge = stats.ColTokens | stats.ColOldest | stats.ColFirings | stats.ColInstances

// play runs stations, the lowest first, and returns the second after the last. say has the
// engines publish.
func play(from, to int64, say func(s, now int64), stations ...*station) int64 {
	for s := from; s <= to; s++ {
		now := start + s*second
		say(s, now)
		for i, st := range stations {
			var above *station
			if i+1 < len(stations) {
				above = stations[i+1]
			}
			if !st.passed {
				st.step(above, now)
			}
		}
	}
	return to + 1
}

// sees fails unless a station shows these alarms; each is a prefix.
func (s *station) sees(when string, want ...string) {
	s.t.Helper()
	got := s.shown()
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	if !ok {
		s.t.Errorf("%s: %s shows\n\t%s\nwant\n\t%s", when, s.name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// TestAnAlarmAboutASourceForgottenBelowStaysUnknownAbove: in a tree of three levels whose
// clocks and definitions differ.
//
//promise:evidence kill clock
func TestAnAlarmAboutASourceForgottenBelowStaysUnknownAbove(t *testing.T) {
	low, mid, root := newStation(t, "low", line(), start), newStation(t, "mid", line("other"), start), newStation(t, "root", line("more", "other"), start)
	low.clock, mid.clock = 3600*second, -7200*second
	a := &speaker{name: "a", columns: countAndAge, tokens: 1, oldest: start - 60*second}
	b := &speaker{name: "b", columns: countAndAge}
	speaks := map[*speaker]bool{a: true, b: true}
	say := func(_, now int64) {
		for _, e := range []*speaker{a, b} {
			if speaks[e] {
				e.say(low, now, false)
			}
		}
	}
	at := play(1, 20, say, low, mid, root)
	for _, s := range []*station{low, mid, root} {
		s.sees("while a reports", "inbox")
	}
	speaks[a] = false
	at = play(at, at+5, say, low, mid, root)
	root.sees("while a is silent", "inbox")
	at = play(at, at+400, say, low, mid, root)
	low.sees("after a is forgotten", `inbox: source "a" is silent since `)
	mid.sees("after a is forgotten", `inbox: source "a" of sidecar "low" is silent since 2026-09-21T12:`)
	root.sees("after a is forgotten", `inbox: source "a" of sidecar "low" of sidecar "mid" is silent since 2026-09-21T14:`)
	if got := root.view.Nets[0].Rows.Places[2].Tokens; got != 0 {
		t.Errorf("the root adds %d tokens of what is forgotten", got)
	}
	speaks[a], a.tokens = true, 0
	play(at, at+5, say, low, mid, root)
	for _, s := range []*station{low, mid, root} {
		s.sees("after a reports that its token moved")
	}
}

func TestWhatLeavesASidecarBelowIsKnownAbove(t *testing.T) {
	for name, c := range map[string]struct {
		alone  bool                                // no other engine has columns
		after  func(e *speaker, low *station) bool // whether it publishes from then on
		lost   []string                            // at the root, then
		resume func(e *speaker, low *station, now int64)
		then   []string
	}{
		"a column": {
			after:  func(e *speaker, _ *station) bool { e.columns &^= stats.ColOldest; return true },
			lost:   []string{`inbox: source "a" of sidecar "low" does not report it any more`},
			resume: func(e *speaker, _ *station, _ int64) { e.columns, e.tokens = countAndAge, 0 },
		},
		"a column that no other source has": {
			alone:  true,
			after:  func(e *speaker, _ *station) bool { e.columns &^= stats.ColOldest; return true },
			lost:   []string{`inbox: source "a" of sidecar "low" does not report it any more`},
			resume: func(e *speaker, _ *station, _ int64) { e.columns, e.tokens = countAndAge, 0 },
		},
		"the only source": {
			alone:  true,
			after:  func(*speaker, *station) bool { return false },
			lost:   []string{`inbox: source "a" of sidecar "low" is silent since `},
			resume: func(e *speaker, _ *station, _ int64) { e.tokens = 0 },
		},
		"a source that reports the token again": {
			after:  func(*speaker, *station) bool { return false },
			lost:   []string{`inbox: source "a" of sidecar "low" is silent since `},
			resume: func(*speaker, *station, int64) {},
			then:   []string{"inbox"},
		},
		"a source that comes back to say goodbye": {
			after:  func(*speaker, *station) bool { return false },
			lost:   []string{`inbox: source "a" of sidecar "low" is silent since `},
			resume: func(e *speaker, low *station, now int64) { e.tokens = 0; e.say(low, now, true) },
		},
		"deadlocks": {
			after:  func(*speaker, *station) bool { return false },
			lost:   []string{`: source "a" of sidecar "low" is silent since `, `inbox: source "a" of sidecar "low" is silent since `},
			resume: func(e *speaker, _ *station, _ int64) { e.tokens, e.dead = 0, 0 },
		},
		"a source that said goodbye": {
			after:  func(e *speaker, low *station) bool { e.say(low, start+21*second-1, true); return false },
			resume: func(*speaker, *station, int64) {},
		},
		"the only source, which said goodbye": {
			alone:  true,
			after:  func(e *speaker, low *station) bool { e.say(low, start+21*second-1, true); return false },
			resume: func(*speaker, *station, int64) {},
		},
		"a region": {
			after:  func(*speaker, *station) bool { return false },
			lost:   []string{`inbox: region "north" of source "a" of sidecar "low" is silent since `},
			resume: func(e *speaker, _ *station, _ int64) { e.tokens = 0 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			low, root := newStation(t, "low", line(), start), newStation(t, "root", line(), start)
			a := &speaker{name: "a", columns: countAndAge, tokens: 1, oldest: start - 60*second}
			b := &speaker{name: "b", columns: countAndAge}
			switch {
			case c.alone:
				b.columns = stats.ColFirings
			case name == "deadlocks":
				a.dead = 1
			case name == "a region":
				a.region = "north"
			}
			speaks := true
			say := func(_, now int64) {
				if speaks {
					a.say(low, now, false)
				}
				b.say(low, now, false)
			}
			at := play(1, 20, say, low, root)
			speaks = c.after(a, low)
			at = play(at, at+40, say, low, root)
			root.sees("then", c.lost...)
			left := a.seq
			c.resume(a, low, start+at*second-1)
			speaks = len(c.lost) > 0 && (a.seq == left)
			play(at, at+5, say, low, root)
			root.sees("in the end", c.then...)
		})
	}
}

// TestCountersOfASourceThatIsSilentBelowAreOldAbove: that a transition fires no more does not
// end its loop.
func TestCountersOfASourceThatIsSilentBelowAreOldAbove(t *testing.T) {
	low, root := newStation(t, "low", line(), start), newStation(t, "root", line(), start)
	a, b := &speaker{name: "a", columns: countAndAge, rate: 100}, &speaker{name: "b", columns: countAndAge}
	both := func(_, now int64) { a.say(low, now, false); b.say(low, now, false) }
	only := func(_, now int64) { b.say(low, now, false) }
	at := play(1, 20, both, low, root)
	root.sees("while it fires", "ship")
	at = play(at, at+8, only, low, root)
	low.sees("while a is silent", `ship: source "a" is silent`)
	root.sees("while a is silent", `ship: source "a" of sidecar "low" is silent`)
	at = play(at, at+20, only, low, root)
	root.sees("after a is forgotten", `ship: source "a" of sidecar "low" is silent since `)
	a.rate = 0
	play(at, at+15, both, low, root)
	low.sees("after a is back and fires no more")
	root.sees("after a is back and fires no more")
}

// TestASidecarBelowWithoutRemnantsIsAsBefore: its messages do not have the field.
func TestASidecarBelowWithoutRemnantsIsAsBefore(t *testing.T) {
	low, root := newStation(t, "low", line(), start), newStation(t, "root", line(), start)
	low.old = true
	a, b := &speaker{name: "a", columns: countAndAge, tokens: 1, oldest: start - 60*second}, &speaker{name: "b", columns: countAndAge}
	at := play(1, 20, func(_, now int64) { a.say(low, now, false); b.say(low, now, false) }, low, root)
	at = play(at, at+40, func(_, now int64) { b.say(low, now, false) }, low, root)
	low.sees("after a is forgotten", "inbox: ")
	root.sees("after a is forgotten")
	low.old = false // it is another version now
	at = play(at, at+5, func(_, now int64) { b.say(low, now, false) }, low, root)
	root.sees("after it was updated")
	b.columns = stats.ColFirings // and back, and its only source with ages lacks them
	low.old, b.tokens, b.oldest = true, 1, start
	b.columns = countAndAge
	at = play(at, at+5, func(_, now int64) { b.say(low, now, false) }, low, root)
	b.columns = stats.ColFirings
	play(at, at+5, func(_, now int64) { b.say(low, now, false) }, low, root)
	root.sees("without a column", `inbox: region "up/low" of source "low" does not report it any more`)
}

// TestAPersonClosesAboveWhatIsLostBelow by the name of the sidecar or of the source.
func TestAPersonClosesAboveWhatIsLostBelow(t *testing.T) {
	low, root := newStation(t, "low", line(), start), newStation(t, "root", line(), start)
	a, b := &speaker{name: "a", columns: countAndAge, tokens: 1, oldest: start - 60*second}, &speaker{name: "b", columns: countAndAge}
	at := play(1, 20, func(_, now int64) { a.say(low, now, false); b.say(low, now, false) }, low, root)
	only := func(_, now int64) { b.say(low, now, false) }
	at = play(at, at+40, only, low, root)
	index := low.alarms.State(0).Active[0].Index
	for _, alarm := range low.alarms.State(0).Active {
		if alarm.Subject == "inbox" {
			index = alarm.Index
		}
	}
	if _, _, err := low.alarms.Close([]uint32{index}, "closed by ada", start+at*second); err != nil {
		t.Fatal(err)
	}
	at = play(at, at+5, only, low, root)
	low.sees("after ada closed it below")
	root.sees("after ada closed it below", `inbox: source "a" of sidecar "low" is silent since `)
	if _, _, err := root.alarms.Close([]uint32{root.alarms.State(0).Active[0].Index}, "closed by ada", start+at*second); err != nil {
		t.Fatal(err)
	}
	play(at, at+5, only, low, root)
	root.sees("after ada closed it above")
}

// TestASidecarBelowThatIsAwayAnswersForNothing: only the source does.
func TestASidecarBelowThatIsAwayAnswersForNothing(t *testing.T) {
	low, root := newStation(t, "low", line(), start), newStation(t, "root", line(), start)
	a, b := &speaker{name: "a", columns: countAndAge, tokens: 1, oldest: start - 60*second}, &speaker{name: "b", columns: countAndAge}
	at := play(1, 20, func(_, now int64) { a.say(low, now, false); b.say(low, now, false) }, low, root)
	only := func(_, now int64) { b.say(low, now, false) }
	at = play(at, at+40, only, low, root)
	low.passed = true
	at = play(at, at+5, only, low, root)
	root.sees("while the sidecar is silent", `inbox: source "a" of sidecar "low" is silent since `)
	at = play(at, at+40, only, low, root)
	root.sees("after the sidecar is forgotten", `inbox: source "a" of sidecar "low" fell silent and is not known any more`)
	low.passed = false
	at = play(at, at+5, only, low, root)
	root.sees("after the sidecar is back", `inbox: source "a" of sidecar "low" is silent since `)
	a.tokens = 0
	play(at, at+5, func(_, now int64) { a.say(low, now, false); b.say(low, now, false) }, low, root)
	root.sees("after the source is back")
}

// TestMoreLostSourcesThanAMessageHoldsAreKeptTogether: what has no room is published without
// names, and no alarm ends.
//
//promise:evidence load
func TestMoreLostSourcesThanAMessageHoldsAreKeptTogether(t *testing.T) {
	low, root := newStation(t, "low", line(), start), newStation(t, "root", line(), start)
	var all []*speaker
	for i := range 1500 {
		all = append(all, &speaker{name: fmt.Sprintf("%04d%s", i, strings.Repeat("x", 240)), columns: countAndAge, tokens: 1, oldest: start - 60*second})
	}
	b := &speaker{name: "b", columns: countAndAge}
	speaks := true
	say := func(_, now int64) {
		for _, e := range all {
			if speaks {
				e.say(low, now, false)
			}
		}
		b.say(low, now, false)
	}
	at := play(1, 2, say, low, root)
	speaks = false
	at = play(at, at+20, say, low, root)
	told := low.view.Remnants("n", 1<<18)
	last := told.Lost[len(told.Lost)-1]
	if len(told.Lost) < 500 || len(told.Lost) >= 1500 || len(last.Path) != 0 || last.Left == 0 {
		t.Errorf("%d are published, the last is %+v; want some by name, and one for the others", len(told.Lost), last)
	}
	root.sees("after all are forgotten", `inbox: source "0000`)
	speaks = true
	for _, e := range all {
		e.tokens = 0
	}
	play(at, at+5, say, low, root)
	low.sees("after all are back")
}
