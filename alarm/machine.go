// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pnagent/pnagent/collector"
)

// MaxActive is how many alarms are active at most. What would be one more is
// counted in Tally.Dropped, and raised when there is room.
const MaxActive = 100_000

// maxIndex is what every SNMP tool takes as an index.
const maxIndex = math.MaxInt32

// epoch is 2025-01-01 in seconds since the Unix epoch.
const epoch = 1_735_689_600

// FirstIndex returns after which index to go on when it is not known which
// were used: the seconds since 2025. Fewer alarms than one a second were
// raised since then, whatever was lost.
func FirstIndex(now int64) uint32 {
	return uint32(min(max(now/1e6-epoch, 0), maxIndex/2))
}

// lastOfAll returns after which index to go on where another process may have
// given indices since last was written, at that time: like FirstIndex it leaves
// room for one alarm a second.
func lastOfAll(last uint32, at, now int64) uint32 {
	room := uint32(min(max(now-at, 0)/1e6, maxIndex/2))
	return max(last, FirstIndex(now), min(last+room, maxIndex/2))
}

// Saved is what must outlive a process for alarms to go on where they were.
type Saved struct {
	Last       uint32   // the largest index that was ever used
	LastChange int64    // see State
	Active     []Alarm  // by Index
	Raising    []uint32 // of Active, those whose notification may not have been sent
	Clearing   []Alarm  // by Index: over, and the notification of that may not have been sent
	Unsent     []uint32 // of Clearing, those of which the raise may not have been sent either
	Cleared    []uint32 // the newest of those that were, so that they do not come back
}

// Change is an alarm that was raised or cleared.
type Change struct {
	Alarm Alarm // its Text says what is wrong, or how it ended
	Raise bool
}

// Tally is what a Machine did since it was made.
type Tally struct {
	Raised, Cleared [kinds]uint64 // by Kind
	Dropped         uint64        // that were not raised because MaxActive were active
}

// key is what an alarm is about.
type key struct {
	kind         Kind
	net, subject string
}

// held is an active alarm.
type held struct {
	Alarm
	also     float64 // finding.also of the Text
	says     wording // of the Text
	over     int64   // since when it is not so any more; 0 while it is so
	step     uint64  // that last looked at it
	restored bool    // from before the start, and not seen to be so since
	cleared  bool    // to be taken out of the list
	rule     *Rule   // while it is not in the View; nil before
}

// watch is one thing that can go wrong: while it is not active, since when it
// has been wrong; else the alarm.
type watch struct {
	wrong   int64 // 0 if it is not
	alarm   *held // nil if it is not active
	dropped bool  // counted as such
}

// finding is what a look at one thing shows.
type finding struct {
	wrong    bool
	since    int64 // 0 for since it was first seen to be wrong
	affected uint64
	also     float64 // another number of the text
	unknown  bool    // no source reports what the rule looks at
}

// Machine turns Views into alarms. It is a pure function of what it is given:
// no clock, no I/O, and the same Views at the same times give the same alarms.
// It is for one goroutine.
type Machine struct {
	rules       *Rules
	forgetAfter int64
	maxActive   int
	self        string // this process, in texts

	began      int64 // the first Step; 0 before
	now        int64
	step       uint64
	lastChange int64
	book       *book
	follows    bool             // another process gives the indices, see Follow
	linked     bool             // since the last Step there are alarms that were not raised by one
	brief      []brief          // while it follows: what ended before it was given an index
	awaited    map[uint32]int64 // notifications that another process had begun, and when that became known
	twins      map[key]bool     // of which the book may have two indices
	active     []*held          // by Index; those without one first
	byKey      map[key]*held
	nets       map[string]*netWatch
	sources    map[string]*sourceWatch
	unheard    bool // what the net shows is what its sources said before the start
	nats       natsWatch
	deaf       bool // View.Deaf
	regions    map[regionKey]*regionWatch
	doubts     map[doubt]string
	changes    []Change
	tally      Tally
}

// NewMachine returns a Machine that goes on where saved stopped. After
// forgetAfter of silence the collector forgets a source; the alarm of one that
// was not heard since the start ends then too.
func NewMachine(rules *Rules, saved Saved, forgetAfter time.Duration) *Machine {
	m := &Machine{rules: rules, forgetAfter: forgetAfter.Microseconds(), maxActive: MaxActive, self: "this sidecar", book: bookOf(&saved), lastChange: saved.LastChange,
		byKey: map[key]*held{}, twins: map[key]bool{}, awaited: map[uint32]int64{}, nets: map[string]*netWatch{}, sources: map[string]*sourceWatch{}, regions: map[regionKey]*regionWatch{}}
	for _, a := range saved.Active {
		h := &held{Alarm: a, restored: true}
		k := key{a.Kind, a.Net, a.Subject}
		if m.byKey[k] == nil && len(m.active) < m.maxActive {
			m.byKey[k] = h
			m.active = append(m.active, h)
		} else {
			m.twins[k] = true
		}
	}
	m.sort()
	return m
}

// With returns a Machine that goes on with other rules. Alarms that are active
// stay until the new rules clear them; what was wrong for not long enough yet
// begins anew.
func (m *Machine) With(rules *Rules) *Machine {
	next := NewMachine(rules, m.Saved(), 0)
	next.forgetAfter, next.maxActive, next.self = m.forgetAfter, m.maxActive, m.self
	next.began, next.now, next.step, next.tally = m.began, m.now, m.step, m.tally
	next.book, next.follows, next.brief, next.awaited = m.book, m.follows, m.brief, m.awaited
	return next
}

// Step looks at a View as of now, in microseconds, and returns what was raised
// and cleared. A nil View is one without nets. Time that goes backwards only
// makes what waits for it wait longer. A View that is deaf says what was so
// before: it raises and clears nothing but the alarm about that.
func (m *Machine) Step(view *collector.View, now int64) []Change {
	if view == nil {
		view = &collector.View{}
	}
	if m.began == 0 || view.Deaf { // there was no time yet to hear of anything
		m.began = now
	}
	m.now, m.changes, m.deaf = now, nil, view.Deaf
	m.step++
	m.doubts = doubtsOf(view.Sources)
	for _, n := range view.Nets {
		m.unheard = n.Recalled > 0 && m.now-m.began < m.rules.Settle.Microseconds()
		m.watchNet(n).look(m, n)
	}
	m.unheard = false
	m.lookAtSources(view.Sources)
	m.lookAtNATS(view.NATS)
	m.lookAtRegions(view.Sources)
	m.forget()
	m.missing()
	m.linked = false
	if !m.follows {
		m.numberAll()
		m.retell()
	}
	if !m.follows && len(m.twins) > 0 {
		m.unify()
	}
	m.compact()
	return m.changes
}

// missing lets time pass for the alarms of which this step saw nothing.
func (m *Machine) missing() {
	for _, h := range m.active {
		switch {
		case h.step == m.step || h.cleared || m.deaf:
		case h.Kind == SourceLost && h.restored && m.now-h.Since <= m.forgetAfter:
			h.step = m.step // nothing was heard of it, which is what the alarm says
		default:
			if h.rule == nil {
				r := m.ruleOf(h)
				h.rule = &r
			}
			if h.rule.On && m.suspended(h) {
				continue
			}
			if !m.ebb(h, *h.rule, func() string { return "it is not known any more" }) {
				h.vanish()
			}
		}
	}
}

// ruleOf is the rule for something that is not in the View.
func (m *Machine) ruleOf(h *held) Rule {
	n := m.rules.net(h.Net)
	switch h.Kind {
	case SourceLost, SourceConflict, SourceRefused:
		return m.rules.source(h.Kind, h.Subject)
	case NATSDisconnected:
		return m.rules.base[h.Kind]
	case NetDeadlocked, RegionStopped:
		return n.whole(h.Kind)
	case TokenStuck:
		return n.place(h.Kind, h.Subject)
	}
	return n.transition(h.Kind, h.Subject)
}

// countersSince returns when the counters of a net began. Those that come in with
// the sources that were not heard yet are of a time that was not seen: a window
// begins after them.
func (m *Machine) countersSince(n *collector.Net) int64 {
	if m.unheard {
		return -int64(m.step)
	}
	return n.Since
}

// judge lets a finding act on what is watched. text says what is wrong or, of
// an alarm that is over, why; it is asked for only when it is needed.
func (m *Machine) judge(w *watch, k key, r *Rule, f finding, text func(since int64, wrong bool) string) {
	m.link(w, k, f.wrong)
	if m.deaf && k.kind != NATSDisconnected {
		return
	}
	if w.alarm != nil {
		if w.alarm.step = m.step; f.wrong {
			w.alarm.refresh(f, text)
			return
		}
		if r.On && m.suspended(w.alarm) {
			return
		}
		if m.ebb(w.alarm, *r, func() string { return text(w.alarm.Since, false) }) {
			w.alarm = nil
			return
		}
		w.alarm.doubt(f.unknown)
		return
	}
	if !f.wrong {
		w.wrong, w.dropped = 0, false
		return
	}
	if w.wrong == 0 || w.wrong > m.now {
		w.wrong = m.now
	}
	if m.unheard || m.now-w.wrong < r.For.Microseconds() {
		return
	}
	if f.since == 0 {
		f.since = w.wrong
	}
	m.raise(w, k, f, text)
}

func (m *Machine) raise(w *watch, k key, f finding, text func(since int64, wrong bool) string) {
	if len(m.byKey) >= m.maxActive || m.book.last >= maxIndex {
		if !w.dropped {
			w.dropped = true
			m.tally.Dropped++
		}
		return
	}
	h := &held{step: m.step, also: f.also, Alarm: Alarm{Kind: k.kind, Net: k.net, Subject: k.subject,
		Raised: m.now, Since: f.since, Affected: f.affected, Text: text(f.since, true)}}
	*w = watch{alarm: h}
	m.byKey[k] = h
	m.active = append(m.active, h)
	if !m.follows {
		m.number(h)
	}
}

// ebb lets time pass for an alarm of which nothing is wrong any more, and
// reports whether that cleared it. An alarm from before the start stays until
// there was time to hear of it, and one with an index until the process that gave
// it clears it.
func (m *Machine) ebb(h *held, r Rule, why func() string) bool {
	if h.over == 0 || h.over > m.now {
		h.over = m.now
	}
	settled := !h.restored || m.now-m.began >= m.rules.Settle.Microseconds()
	_, awaited := m.awaited[h.Index]
	if r.On && (m.now-h.over < r.ClearAfter.Microseconds() || !settled) || m.follows && h.Index != 0 || awaited {
		h.step = m.step
		return false
	}
	m.clear(h, why())
	return true
}

// clear ends an alarm. Step takes it out of the list.
func (m *Machine) clear(h *held, why string) {
	a := h.Alarm
	a.Text = fmt.Sprintf("over after %s: %s", span(time.Duration(m.now-a.Raised)*time.Microsecond), why)
	m.drop(h)
	if a.Index == 0 {
		m.keepBrief(h.Alarm, a.Text)
		return
	}
	m.book.advance(a, clearing)
	m.tally.Cleared[a.Kind]++
	m.changes = append(m.changes, Change{a, false})
}

// span is a time for people: to the second, without zeros at its end.
func span(d time.Duration) string {
	text := max(d, 0).Round(time.Second).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// forget drops what is kept of nets and sources that are not in the View.
func (m *Machine) forget() {
	for name, n := range m.nets {
		if n.step != m.step {
			delete(m.nets, name)
		}
	}
	for name, s := range m.sources {
		if s.step != m.step {
			delete(m.sources, name)
		}
	}
}

// State returns what is wrong now: the alarms that have an index. suppressed is
// how many notifications were held back.
func (m *Machine) State(suppressed uint64) *State {
	s := &State{LastChange: m.lastChange, Suppressed: suppressed, Active: make([]Alarm, 0, len(m.active))}
	for _, h := range m.active {
		if h.Index != 0 {
			s.Active = append(s.Active, h.Alarm)
		}
	}
	return s
}

// Tally returns what was done since the Machine was made.
func (m *Machine) Tally() Tally { return m.tally }
