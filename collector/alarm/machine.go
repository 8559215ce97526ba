// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// MaxActive is the largest number of active alarms. A further one is counted in
// Tally.Dropped, and raised once there is room.
const MaxActive = 100_000

// maxIndex is the largest index that every SNMP tool accepts.
const maxIndex = math.MaxInt32

// epoch is 2025-01-01 in seconds since the Unix epoch.
const epoch = 1_735_689_600

// FirstIndex returns an index at or beyond those in use when their record is lost: the
// seconds since 2025. It assumes fewer alarms than one a second.
func FirstIndex(now int64) uint32 {
	return uint32(min(max(now/1e6-epoch, 0), maxIndex/2))
}

// LastOfAll returns an index at or beyond those that another process may have given since
// the state was written (at): like FirstIndex it assumes at most one alarm a second.
func LastOfAll(last uint32, at, now int64) uint32 {
	room := uint32(min(max(now-at, 0)/1e6, maxIndex/2))
	return max(last, FirstIndex(now), min(last+room, maxIndex/2))
}

// Saved is the part of a Machine's state that outlives the process.
type Saved struct {
	Last       uint32   // the largest index that was ever used
	LastChange int64    // see State
	Alarms     []Entry  // by Index
	Cleared    []uint32 // the newest maxCleared of them
}

// Change is the raise or the clear of an alarm.
type Change struct {
	Alarm Alarm // its Text is the condition, or the reason of the clear
	Raise bool
}

// Tally counts the work of a Machine.
type Tally struct {
	Raised, Cleared [kinds]uint64 // by Kind
	Dropped         uint64        // not raised because MaxActive were active
}

// key identifies the condition of an alarm.
type key struct {
	kind         Kind
	net, subject string
	selects      stats.Reason
}

// keyOf returns the condition of an alarm whose rule selects no reason.
func keyOf(kind Kind, net, subject string) key { return key{kind: kind, net: net, subject: subject} }

// held is an active alarm.
type held struct {
	Alarm
	also     float64 // finding.also of the Text
	says     wording // of the Text
	over     int64   // since when the condition does not hold; 0 while it holds
	step     uint64  // the last step that judged it
	restored bool    // from an earlier process, and its condition was not seen to hold since
	rewrite  bool    // its text is of other rules
	cleared  bool    // removed by the next compact
	rule     *Rule   // see ruleOfHeld; nil before

	marked      *trace // the last that was marked
	cause       string // see causeOfLost, as of followsAsOf
	followsAsOf uint64 // Machine.lostAlarms; 0 for none
}

// watch watches one condition: since when it holds, or its active alarm.
type watch struct {
	wrong   int64 // 0 if the condition does not hold
	alarm   *held // nil if there is none
	dropped bool  // counted in Tally.Dropped
}

// finding is the result of evaluating one condition.
type finding struct {
	wrong    bool  // the condition holds
	since    int64 // 0 for the first step that found it
	affected uint64
	also     float64 // another number of the text
	why      Why

	unknown   string // why it cannot be judged, for example noReport; "" if it can
	proved    bool   // it does not hold, whatever is not reported
	trace     *trace // what sources held that do not report; nil for nothing
	elsewhere bool   // sources that are not silent have a part in it
	unshown   bool   // see Alarm.Unshown
}

// Machine turns Views into alarms. It is deterministic: no clock, no I/O, and the same
// Views at the same times give the same alarms. It is not safe for concurrent use.
type Machine struct {
	rules       *Rules
	forgetAfter int64
	maxActive   int
	self        string // this process, in texts

	began       int64 // the first Step; 0 before
	now         int64
	step        uint64
	lastChange  int64
	book        *book
	follows     bool             // another process gives the indices, see Follow
	linked      bool             // alarms were added since the last Step
	unnumbered  []unnumbered     // while it follows
	told        map[uint32]bool  // active alarms whose raise this process has sent while it could not reach the other ones
	awaited     map[uint32]int64 // notifications that another process had begun, and when this one was informed
	resent      map[uint32]bool  // alarms of changes that resend returned by the last Step
	twins       map[key]bool     // alarms of which the book may have two indices
	active      []*held          // by Index; those without one first
	byKey       map[key]*held
	byIndex     map[uint32]*held // those with an index
	nets        map[string]*netWatch
	resting     map[string][]string // see ActiveSet; replaced as a whole
	sources     map[string]*sourceWatch
	at          []*sourceWatch // of sources, by their index in the last View
	order       []*sourceWatch // those of the View, once
	recalled    bool           // the net shows snapshots from before the start
	nats        linkWatch
	agentx      linkWatch
	interrupted bool // View.Interrupted
	regions     map[regionKey]*regionWatch
	doubts      map[doubt]string
	seen        []merge.Source     // of the View
	parts       map[string]partsOf // of nets, as of this step; nil before it is needed
	wanted      map[Origin]bool    // sources and regions that alarms wait for, one field each
	lostAlarms  uint64             // changes of sourceLost alarms, from 1
	followed    uint64             // changes of Alarm.Follows
	unsaved     bool               // Alarm.Lost changed
	absent      string             // see absentText, as of the step absentAt
	absentAt    uint64
	changes     []Change
	tally       Tally
	rest        rest
}

// NewMachine returns a Machine with the saved alarms. After forgetAfter of silence the
// collector forgets a source; the restored alarm of a source without messages since the
// start ends then too.
func NewMachine(rules *Rules, saved Saved, forgetAfter time.Duration) *Machine {
	m := &Machine{rules: rules, forgetAfter: forgetAfter.Microseconds(), maxActive: MaxActive, self: "this sidecar", book: bookOf(&saved), lastChange: saved.LastChange,
		wanted: map[Origin]bool{}, lostAlarms: 1, byKey: map[key]*held{}, byIndex: map[uint32]*held{}, twins: map[key]bool{}, awaited: map[uint32]int64{}, told: map[uint32]bool{}, nets: map[string]*netWatch{}, resting: map[string][]string{}, sources: map[string]*sourceWatch{}, regions: map[regionKey]*regionWatch{}}
	for i := range saved.Alarms {
		e := &saved.Alarms[i]
		k := e.key()
		switch {
		case !e.Phase.open():
		case m.byKey[k] == nil && len(m.active) < m.maxActive:
			h := &held{Alarm: e.Alarm, restored: true}
			m.byKey[k], m.byIndex[e.Index] = h, h
			m.active = append(m.active, h)
			m.want(h.Lost.All())
		default:
			m.twins[k] = true
		}
	}
	m.sort()
	return m
}

// With returns the Machine with other rules. Active alarms stay until the new rules
// clear them. A condition that holds by both has held since it did.
func (m *Machine) With(rules *Rules) *Machine {
	m.moved()
	m.rules, m.linked = rules, true // so that each net finds its rules
	for _, h := range m.active {
		h.rule, h.rewrite = nil, true
	}
	for _, s := range m.sources {
		s.find(rules)
	}
	for _, w := range m.regions {
		net := rules.net(w.net)
		w.rule = net.whole(RegionStopped)
	}
	return m
}

// Step judges a View as of now, in microseconds, and returns the changes. A nil View has
// no nets. A time that goes backwards only prolongs waits. A View with Interrupted set shows an
// earlier state: it raises and clears alarms about the sidecar itself only.
func (m *Machine) Step(view *merge.View, now int64) []Change {
	if view == nil {
		view = &merge.View{}
	}
	if m.rests(view, now) {
		m.now, m.changes, m.resent = now, nil, nil
		return nil
	}
	if m.began == 0 || view.Interrupted { // sources had no time to publish yet
		m.began = now
	}
	m.now, m.changes, m.interrupted, m.resent = now, nil, view.Interrupted, nil
	m.step++
	moves := m.rest.moves
	m.rest.due = 0
	m.seen, m.parts, m.doubts = view.Sources, nil, doubtsOf(view.Sources)
	m.answer(view)
	m.lookAtSources(view.Sources) // before what follows from them
	for _, n := range view.Nets {
		m.recalled = n.Recalled > 0 && m.now-m.began < m.rules.Settle.Microseconds()
		m.watchNet(n).look(m, n)
	}
	m.recalled = false
	m.lookAtLinks(view)
	m.lookAtRegions(view.Sources)
	m.forget()
	m.missing()
	m.linked = false
	if !m.follows {
		m.numberAll()
		m.resend()
	}
	if !m.follows && len(m.twins) > 0 {
		m.unify()
	}
	m.compact()
	m.judged(view, moves)
	return m.changes
}

// missing handles the alarms whose subject is not in the View.
func (m *Machine) missing() {
	for _, h := range m.active {
		switch {
		case h.step == m.step || h.cleared || m.interrupted:
		case h.Kind == SourceLost && h.restored && m.now-h.Since <= m.forgetAfter:
			h.step = m.step // the source is still silent
			m.wake(h.Since + m.forgetAfter + 1)
		default:
			r := m.ruleOfHeld(h)
			if r.On && m.suspended(h) {
				continue
			}
			if stopped := h.Unshown || h.over != 0 && h.Net == "" && len(h.Lost.All()) == 0; r.On && !stopped {
				m.doubt(h, m.missingText(h))
				continue
			}
			m.expire(h, *r, func() string { return why(r, "it is no longer defined or published") })
		}
	}
}

// missingText returns why it is not known whether an alarm whose subject is not in the View
// holds.
func (m *Machine) missingText(h *held) string {
	switch {
	case len(h.Lost.All()) > 0:
		return m.lostText(h)
	case h.Kind == SourceLost:
		return "it fell silent and is not known any more"
	}
	return "it is not defined or published any more"
}

// why returns the reason of a clear; ok is the reason if the rule is on.
func why(r *Rule, ok string) string {
	if !r.On {
		return ruleOff
	}
	return ok
}

// ruleOf returns the rule of an alarm, also for a subject that is not in the View.
func (m *Machine) ruleOf(a *Alarm) Rule { return m.rules.of(a) }

// countersSince returns the start of the counters of a net. While sources have not
// published since the start, each step begins a new window.
func (m *Machine) countersSince(n *merge.NetView) int64 {
	if m.recalled {
		return -int64(m.step)
	}
	return n.Since
}

// judge applies a finding to a watch. text returns the condition or, if wrong is false,
// the reason of the clear; judge calls it only when needed.
func (m *Machine) judge(w *watch, k key, r *Rule, f finding, text func(since int64, wrong bool) string) {
	m.link(w, k, f.wrong)
	if m.interrupted && !k.kind.own() {
		return
	}
	if h := w.alarm; h != nil {
		m.mark(h, f.trace)
		if h.Unshown && !f.unshown {
			m.setShown(h)
		}
		h.step = m.step
		if f.wrong {
			m.refresh(h, &f, text)
			return
		}
		if r.On && m.suspended(h) {
			return
		}
		if why := m.open(h, &f); r.On && why != "" {
			m.doubt(h, why)
			return
		}
		if m.expire(h, *r, func() string { return text(h.Since, false) }) {
			w.alarm = nil
			return
		}
		m.noteOver(h)
		return
	}
	if !f.wrong {
		w.wrong, w.dropped = 0, false
		return
	}
	if w.wrong == 0 || w.wrong > m.now {
		w.wrong = m.now
	}
	if m.recalled || m.now-w.wrong < r.For.Microseconds() {
		m.wake(w.wrong + r.For.Microseconds())
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
	h := &held{step: m.step, also: f.also, Alarm: Alarm{Kind: k.kind, Net: k.net, Subject: k.subject, Selects: k.selects, Why: f.why,
		Raised: m.now, Since: f.since, Affected: f.affected, Follows: m.cause(&f, m.now, false), Unshown: f.unshown}}
	h.Text = text(f.since, true) + h.following()
	m.moved()
	*w = watch{alarm: h}
	m.byKey[k] = h
	m.changedLost(k.kind)
	m.active = append(m.active, h)
	if !m.follows {
		m.number(h)
	}
}

// expire advances an alarm whose condition does not hold, and reports whether that
// cleared it. A restored alarm stays for Rules.Settle. An alarm of another process that
// leads stays until that process clears it.
func (m *Machine) expire(h *held, r Rule, why func() string) bool {
	if h.over == 0 || h.over > m.now {
		h.over = m.now
	}
	settled := !h.restored || m.now-m.began >= m.rules.Settle.Microseconds()
	_, awaited := m.awaited[h.Index]
	if r.On && (m.now-h.over < r.ClearAfter.Microseconds() || !settled) || m.follows && h.Index != 0 || awaited {
		h.step = m.step
		m.wakeForEnd(h, &r, settled)
		return false
	}
	m.clear(h, why())
	return true
}

// wakeForEnd notes when an alarm whose condition does not hold may end.
func (m *Machine) wakeForEnd(h *held, r *Rule, settled bool) {
	end := h.over
	if r.On {
		end += r.ClearAfter.Microseconds()
	}
	if r.On && !settled {
		end = max(end, m.began+m.rules.Settle.Microseconds())
	}
	if end > m.now { // after that another process ends it
		m.wake(end)
	}
}

// changedLost notes that a sourceLost alarm began, ended, or has another time.
func (m *Machine) changedLost(k Kind) {
	if k == SourceLost {
		m.lostAlarms++
	}
}

// clear ends an alarm.
func (m *Machine) clear(h *held, why string) {
	a := h.Alarm
	a.Lost, a.Unknown, a.Follows, a.Unshown = nil, "", "", false
	a.Text = fmt.Sprintf("over after %s: %s", span(time.Duration(m.now-a.Raised)*time.Microsecond), why)
	m.drop(h)
	if a.Index == 0 {
		m.keep(h.Alarm, a.Text)
		return
	}
	m.book.advance(a, Clearing)
	m.tally.Cleared[a.Kind]++
	m.changes = append(m.changes, Change{a, false})
}

// span formats a duration to the second, without trailing zero units.
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

// forget removes nets and sources that are not in the View.
func (m *Machine) forget() {
	for name, n := range m.nets {
		if n.step != m.step {
			delete(m.nets, name)
			m.noteResting(name, nil)
		}
	}
	if len(m.order) == len(m.sources) {
		return
	}
	for name, s := range m.sources {
		if s.step != m.step {
			m.moved() // what is known of it is in texts
			delete(m.sources, name)
		}
	}
	m.at = nil
}

// State returns the active alarms with an index, and the number of suppressed notifications.
func (m *Machine) State(suppressed uint64) *ActiveSet {
	s := &ActiveSet{LastChange: m.lastChange, Suppressed: suppressed, Resting: m.resting, Settling: m.settling(), Active: make([]Alarm, 0, len(m.active))}
	for _, h := range m.active {
		if h.Index == 0 {
			continue
		}
		s.Active = append(s.Active, m.rated(h))
	}
	return s
}

// settling returns ActiveSet.Settling.
func (m *Machine) settling() bool {
	return m.began == 0 || m.now-m.began < m.rules.Settle.Microseconds()
}

// alarm returns the active alarm with an index, or nil.
func (m *Machine) alarm(index uint32) *Alarm {
	h := m.heldBy(index)
	if h == nil {
		return nil
	}
	return new(m.rated(h))
}

// heldBy returns the same as it is held.
func (m *Machine) heldBy(index uint32) *held {
	e := m.book.entries[index]
	if e == nil {
		return nil
	}
	h := m.byKey[e.key()]
	if h == nil || h.Index != index {
		return nil
	}
	return h
}

// Tally returns the counters.
func (m *Machine) Tally() Tally { return m.tally }
