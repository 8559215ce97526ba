// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// An alarm ends by evidence: its tokens moved, their source said goodbye, the source is
// back and reports otherwise, or a person closes it. What left the sums in another way is
// in the Remnants of its net. An alarm that was active then becomes unknown.

// Origin is a source that held what an alarm is about, and the region that it had; "" for
// none. Source is as in a merge.Remnant.
type Origin struct{ Source, Region string }

// Origins are the origins of an alarm, by name, without one twice; nil for none. They never
// change.
type Origins []Origin

func originsOf(list []Origin) *Origins {
	if len(list) == 0 {
		return nil
	}
	return new(Origins(list))
}

// All returns the origins.
func (o *Origins) All() []Origin {
	if o == nil {
		return nil
	}
	return *o
}

// maxLost is the largest number of origins that an alarm keeps. The zero Origin stands for
// further ones, until none is left in the View.
const maxLost = 200

func (o Origin) compare(p Origin) int {
	return cmp.Or(cmp.Compare(o.Source, p.Source), cmp.Compare(o.Region, p.Region))
}

// trace is what sources of a net that do not report it any more held of one place,
// transition, or net.
type trace struct {
	silent     []string // Stale sources: their part is in the sums
	tokens     uint64   // of them
	oldest     int64
	ages       stats.Ladder
	enabled    uint64
	deadlocked uint64
	lost       []*merge.Remnant // not in the sums any more

	first  string // of silent
	newest int64  // the last raise of their sourceLost alarms, as of generation
	asOf   uint64 // Machine.lostAlarms
}

// traces are those of a net, by index.
type traces struct {
	of                         []*merge.Remnant
	places, transitions, fired map[int]*trace
	net                        *trace
	below                      map[Origin]*merge.Remnant // of sources of sidecars below, that left the sums
}

// tracesOf returns the traces of remnants.
func tracesOf(remnants []*merge.Remnant) traces {
	t := traces{of: remnants}
	if len(remnants) == 0 {
		return t
	}
	t.places, t.transitions, t.fired = map[int]*trace{}, map[int]*trace{}, map[int]*trace{}
	add := func(to map[int]*trace, i int, r *merge.Remnant) *trace {
		if to[i] == nil {
			to[i] = &trace{}
		}
		return to[i].add(r)
	}
	for _, r := range remnants {
		if r.Left != 0 && len(merge.PathOf(r.Source)) > 1 {
			t.addBelow(r)
		}
		for i := range r.Places {
			p := &r.Places[i]
			if to := add(t.places, p.Place, r); r.Left == 0 {
				to.tokens, to.oldest = stats.Sum(to.tokens, p.Tokens), stats.Earlier(to.oldest, p.Oldest)
				to.ages.Merge(&p.Ages)
			}
		}
		for _, tr := range r.Transitions {
			if tr.Fired {
				add(t.fired, tr.Transition, r)
			}
			if tr.Enabled == 0 {
				continue
			}
			if to := add(t.transitions, tr.Transition, r); r.Left == 0 {
				to.enabled = stats.Sum(to.enabled, tr.Enabled)
			}
		}
		if r.Deadlocked > 0 {
			if t.net == nil {
				t.net = &trace{}
			}
			if to := t.net.add(r); r.Left == 0 {
				to.deadlocked = stats.Sum(to.deadlocked, r.Deadlocked)
			}
		}
	}
	return t
}

func (t *traces) addBelow(r *merge.Remnant) {
	if t.below == nil {
		t.below = map[Origin]*merge.Remnant{}
	}
	t.below[Origin{r.Source, r.Region}] = r
}

func (t *trace) add(r *merge.Remnant) *trace {
	if r.Left != 0 {
		t.lost = append(t.lost, r)
	} else {
		t.silent = append(t.silent, r.Source)
	}
	return t
}

// trace updates the traces of the net.
func (w *netWatch) trace(n *merge.NetView) {
	if was := w.traces.of; len(was) != len(n.Remnants) || len(was) > 0 && &was[0] != &n.Remnants[0] {
		w.traces = tracesOf(n.Remnants)
	}
}

// stuckElsewhere reports whether sources that are not silent may hold a token that was
// injected before a time.
func (t *trace) stuckElsewhere(row *stats.Place, columns stats.Columns, before int64) bool {
	switch {
	case t == nil || len(t.silent) == 0 || row.Oldest < t.oldest:
		return true
	case row.Tokens <= t.tokens:
		return false
	case !columns.Has(stats.ColAges):
		return true
	}
	var ages stats.Ladder
	ages.Merge(&t.ages)
	ages.Add(before, row.Ages.At*stats.SlotWidth, 0) // as coarse as that of the row
	return row.Ages.InjectedBefore(before) > ages.InjectedBefore(before)
}

// tokensElsewhere reports whether sources that are not silent hold some of these tokens.
func (t *trace) tokensElsewhere(tokens uint64) bool {
	return t == nil || len(t.silent) == 0 || tokens > t.tokens
}

// enabledElsewhere reports whether sources that are not silent have enabled instances.
func (t *trace) enabledElsewhere(enabled uint64) bool {
	return t == nil || len(t.silent) == 0 || enabled > t.enabled
}

// deadlockedElsewhere reports whether they have more than above deadlocked instances.
func (t *trace) deadlockedElsewhere(deadlocked uint64, above float64) bool {
	return t == nil || len(t.silent) == 0 || deadlocked > t.deadlocked && float64(deadlocked-t.deadlocked) > above
}

// cause returns the lost source from which a condition follows that was found at a time, or
// "": no source that reports has a part in it, and the others were known as lost by then. An
// alarm that follows from one does so if another one is lost later.
func (m *Machine) cause(f *finding, at int64, follows bool) string {
	t := f.trace
	if t == nil || f.elsewhere || len(t.silent) == 0 {
		return ""
	}
	if t.asOf != m.lostAlarms {
		t.asOf = m.lostAlarms
		t.first, t.newest = m.lostBy(len(t.silent), func(i int) string { return t.silent[i] })
	}
	if t.newest == noTime || at < t.newest && !follows {
		return ""
	}
	return t.first
}

// noTime is later than every time.
const noTime = math.MaxInt64

// lostBy returns the first of n sources, and when the last of their sourceLost alarms was
// raised: noTime if one has none.
func (m *Machine) lostBy(n int, source func(i int) string) (first string, newest int64) {
	for i := range n {
		h := m.byKey[keyOf(SourceLost, "", source(i))]
		if h == nil {
			return "", noTime
		}
		newest = max(newest, h.Raised)
	}
	return source(0), newest
}

// causeOfLost returns the lost source from which an alarm follows whose condition is
// unknown, or "".
func (m *Machine) causeOfLost(h *held) string {
	if len(h.Lost.All()) == 0 {
		return h.Follows
	}
	if h.followsAsOf != m.lostAlarms {
		h.followsAsOf = m.lostAlarms
		first, newest := m.lostBy(len(h.Lost.All()), func(i int) string { return h.Lost.All()[i].Source })
		h.cause = first
		if h.Raised < newest {
			h.cause = ""
		}
	}
	return h.cause
}

// follow sets from which lost source an alarm follows, and reports whether that changed.
func (m *Machine) follow(h *held, source string) bool {
	if h.Follows == source {
		return false
	}
	h.Follows = source
	m.followed++
	m.moved()
	return true
}

// noteFollows sets from which lost source each raise follows now.
func (m *Machine) noteFollows(changes []Change) {
	for i := range changes {
		if c := &changes[i]; c.Raise {
			c.Alarm.Follows = ""
			if h := m.heldBy(c.Alarm.Index); h != nil {
				c.Alarm.Follows = h.Follows
			}
		}
	}
}

// mark records the sources that held what the alarm is about when they left the sums.
func (m *Machine) mark(h *held, t *trace) {
	if t != nil && h.marked != t {
		h.marked = t
		for _, r := range t.lost {
			if r.Left >= h.Raised {
				m.lose(h, Origin{r.Source, r.Region})
			}
		}
	}
	if len(h.Lost.All()) == 1 && h.Lost.All()[0] == (Origin{}) && !h.restored && !t.lostSince(h.Raised) {
		m.setLost(h, nil)
	}
}

// lostSince reports whether something left the sums at or after a time.
func (t *trace) lostSince(at int64) bool {
	return t != nil && slices.ContainsFunc(t.lost, func(r *merge.Remnant) bool { return r.Left >= at })
}

// lose adds an origin to those of an alarm.
func (m *Machine) lose(h *held, o Origin) {
	i, known := slices.BinarySearchFunc(h.Lost.All(), o, Origin.compare)
	if known {
		return
	}
	if len(h.Lost.All()) >= maxLost {
		if h.Lost.All()[0] != (Origin{}) {
			m.setLost(h, slices.Insert(slices.Clone(h.Lost.All()), 0, Origin{}))
		}
		return
	}
	m.setLost(h, slices.Insert(slices.Clone(h.Lost.All()), i, o)) // the book has the old slice
}

// setLost sets the origins of an alarm, which the next process and the others of the pair
// get too.
func (m *Machine) setLost(h *held, lost []Origin) {
	m.moved()
	h.Lost, h.followsAsOf, m.unsaved = originsOf(lost), 0, true
	m.want(lost)
	if h.Index != 0 {
		m.book.dirty[h.Index] = true
	}
}

// setShown records that rows of the source of an alarm were shown.
func (m *Machine) setShown(h *held) {
	m.moved()
	h.Unshown, m.unsaved = false, true
	if h.Index != 0 {
		m.book.dirty[h.Index] = true
	}
}

// want notes which sources and regions alarms wait for.
func (m *Machine) want(lost []Origin) {
	for _, o := range lost {
		m.wanted[Origin{Source: o.Source}] = true
		if o.Region != "" {
			m.wanted[Origin{Region: o.Region}] = true
		}
	}
}

// answer is a source of a net that answers.
type answer struct {
	net string
	merge.Answer
}

// answer removes the origins that say again what they hold: they report, or said goodbye.
func (m *Machine) answer(view *merge.View) {
	if len(m.wanted) == 0 {
		return
	}
	var back []answer
	add := func(net string, a merge.Answer) {
		if m.wanted[Origin{Source: a.Source}] || a.Region != "" && m.wanted[Origin{Region: a.Region}] {
			back = append(back, answer{net, a})
		}
	}
	for i := range view.Sources {
		s := &view.Sources[i]
		if bye := s.State == merge.Gone && !s.Forgotten; bye || s.State == merge.Up {
			add(s.Net, merge.Answer{Source: s.Name, Region: s.Region, Bye: bye, Columns: s.Columns})
		}
	}
	for _, n := range view.Nets {
		for _, a := range n.Answers {
			add(n.Name, a)
		}
	}
	if len(back) == 0 {
		return
	}
	clear(m.wanted)
	for _, h := range m.active {
		if len(h.Lost.All()) == 0 {
			continue
		}
		if left := slices.DeleteFunc(slices.Clone(h.Lost.All()), func(o Origin) bool { return answered(h, o, back) }); len(left) < len(h.Lost.All()) {
			m.setLost(h, left)
		}
		m.want(h.Lost.All())
	}
}

// answered reports whether one of the sources answers for an origin of an alarm.
func answered(h *held, o Origin, answers []answer) bool {
	return slices.ContainsFunc(answers, func(a answer) bool {
		switch {
		case a.net != h.Net:
			return false
		case !a.Bye && o.Region != "" && a.Region == o.Region && merge.SameLevel(a.Source, o.Source):
		case a.Source != o.Source:
			return false
		case a.Bye:
			return true
		case o.Region != "" && a.Region != o.Region: // it does not own that region any more
			return false
		}
		return a.Columns.Has(h.Kind.columns())
	})
}

// columns returns the columns without which a condition cannot be judged.
func (k Kind) columns() stats.Columns {
	switch k {
	case TokenStuck:
		return stats.ColOldest
	case TransitionStarved:
		return stats.ColEnabled | stats.ColLastFiring
	case NetDeadlocked:
		return stats.ColInstances
	case FailureRatio:
		return stats.ColFirings | stats.ColFailures
	case TransitionLoop:
		return stats.ColFirings
	}
	return 0
}

// noReport is the reason of a doubt: the column is not there.
const noReport = "no source reports it any more"

// open returns why it is not known whether the condition of an alarm is over, or "".
func (m *Machine) open(h *held, f *finding) string {
	switch {
	case f.proved:
		return ""
	case len(h.Lost.All()) > 0:
		return m.lostText(h)
	case f.unknown == noReport && m.ended(h):
		return ""
	case f.unknown == "" && h.restored && h.Net != "":
		return m.absentText()
	}
	return f.unknown
}

// absentText returns which lost source the collector does not know, or "". A process that
// starts without the rows of earlier ones cannot know what such a source holds.
func (m *Machine) absentText() string {
	if m.absentAt != m.step {
		m.absentAt, m.absent = m.step, ""
		for _, h := range m.active {
			if h.Kind == SourceLost && !h.cleared && (m.sources[h.Subject] == nil || m.sources[h.Subject].step != m.step) {
				m.absent = fmt.Sprintf("source %q was lost before this sidecar started, and is not known here", h.Subject)
				break
			}
		}
	}
	return m.absent
}

// partsOf is how many sources a net has: there, gone with a goodbye, and sidecars below that
// name the sources which went without one.
type partsOf struct{ here, left, explained int }

// ended reports whether a net without a column has none because its sources said goodbye.
func (m *Machine) ended(h *held) bool {
	if m.parts == nil {
		m.parts = map[string]partsOf{}
		for i := range m.seen {
			s := &m.seen[i]
			p := m.parts[s.Net]
			switch {
			case s.State == merge.Up && s.Explains:
				p.explained++
			case s.State != merge.Gone:
				p.here++
			case !s.Forgotten:
				p.left++
			}
			m.parts[s.Net] = p
		}
	}
	p := m.parts[h.Net]
	return p.here == 0 && (p.left > 0 || h.over != 0) || !h.restored && p.left+p.explained > 0
}

// doubt records that it is not known whether the condition of an alarm holds.
func (m *Machine) doubt(h *held, why string) {
	followed := m.follow(h, m.causeOfLost(h))
	h.over, h.step = 0, m.step
	if h.says == unknown && h.Unknown == why && !followed {
		return
	}
	m.moved()
	h.says, h.Unknown = unknown, why
	h.Text = fmt.Sprintf("unknown whether alarm %s still holds for %s: %s", h.Kind, m.subject(&h.Alarm), why) + h.following()
}

// following returns the end of the text of an alarm that follows from another one.
func (a *Alarm) following() string {
	if a.Follows == "" {
		return ""
	}
	return fmt.Sprintf("; it follows from alarm sourceLost of source %q", a.Follows)
}

// sinceText returns for how long counters are known, as a reason of doubt.
func sinceText(window time.Duration) string {
	return fmt.Sprintf("its counters are known for less than %s", span(window))
}
