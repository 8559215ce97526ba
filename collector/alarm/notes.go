// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/stats"
)

// Limits of notes.
const (
	MaxComment = 1024 // bytes
	MaxBy      = 256  // bytes
	// MaxSilence is the longest time of a silence.
	MaxSilence = 366 * 24 * time.Hour
	// MaxSilences is the largest number of silences whose time is not over, also of those
	// that were ended.
	MaxSilences = 1000
	// DefaultHistory and MaxHistory are for Config.History.
	DefaultHistory = 1000
	MaxHistory     = 10_000

	idLength = 16 // digits of Silence.ID
	maxAcks  = 10_000
	ackGrace = 3600e6 // microseconds after which an acknowledgement of an alarm that is not active is dropped
)

// Errors of what an operator asks for.
var (
	ErrNoAlarm   = errors.New("no active alarm")
	ErrNoSilence = errors.New("no silence")
	ErrNote      = errors.New("invalid note")
)

// Ack is the acknowledgement of an alarm by an operator.
type Ack struct {
	At          int64 // microseconds since the Unix epoch
	By, Comment string
}

// Selection selects alarms. Its texts are patterns, see Match; an empty one matches every
// alarm, and a pattern of Place, Transition or Source only alarms about one.
type Selection struct {
	Kind                           Kind // 0 is every kind
	Net, Place, Transition, Source string
	ForReason                      stats.Reason // of the rule that raised the alarm; ReasonUnknown is every rule
}

// Silence holds back the notifications of the alarms that it selects, from a time until another.
type Silence struct {
	ID          string // 16 hex digits
	From, Until int64  // microseconds since the Unix epoch
	By, Comment string
	Selection
	Recurs Recurrence // between From and Until; zero for a silence without a break

	// Of a silence in an ActiveSet: From and Until are those of its current or next window. Pending
	// reports that the window is not current, and Ends when a silence that recurs is over.
	Pending bool
	Ends    int64
}

// Recurrence is when a silence begins again and again.
type Recurrence struct {
	Cron, Zone string // a cron expression, and the name of its time zone; "" is UTC
	For        time.Duration
}

// ClearedAlarm is an alarm that is over. Its text is the reason.
type ClearedAlarm struct {
	Alarm
	Cleared int64 // microseconds since the Unix epoch
}

// selects reports whether an alarm is one of the selection.
func (s *Selection) selects(a *Alarm) bool {
	place, transition, source, _ := a.About()
	of := func(pattern, name string) bool { return pattern == "" || name != "" && Match(pattern, name) }
	return (s.Kind == 0 || s.Kind == a.Kind) && (s.ForReason == stats.ReasonUnknown || s.ForReason == a.Selects) && Match(s.Net, a.Net) && of(s.Place, place) && of(s.Transition, transition) && of(s.Source, source)
}

// ackNote is the last acknowledgement of an alarm, or its withdrawal.
type ackNote struct {
	Ack
	index     uint32
	withdrawn bool
	about     key   // of the alarm, so that it never counts for another one
	raised    int64 // of the alarm; 0 if the alarm is not known, because only its index was shared
}

// silenceNote is a silence, and who ended it before its time.
type silenceNote struct {
	Silence
	at      int64  // of the last change
	endedBy string // "" unless it was ended

	from, until int64 // the current window or the next one, see expire; 0 for none
	holds       bool  // now is in the window
}

// notes are what operators noted about alarms, and the alarms that were cleared last. The
// sidecars of a pair merge their notes: of two versions of a note the later one counts, and
// of the cleared alarms the newest. So merging is idempotent and commutative. A change is
// later than the version that it replaces, also if the clock is not.
type notes struct {
	acks     map[uint32]ackNote
	silences map[string]silenceNote
	cleared  []ClearedAlarm // by Cleared and Index
	keep     int            // cleared alarms
	news     Noted          // changes not shared yet
	version  uint64         // counts changes
	shown    uint64         // the version that was last published and saved

	silenced map[uint32]int64 // Alarm.SilencedUntil by index, as of cached
	cached   uint64           // a version
	sum      string           // digest as of summed
	summed   uint64           // a version
}

// Noted are notes as a file or a page has them.
type Noted struct {
	acks     []ackNote
	silences []silenceNote
	cleared  []ClearedAlarm
}

func newNotes(keep int) *notes {
	return &notes{acks: map[uint32]ackNote{}, silences: map[string]silenceNote{}, keep: keep}
}

// all returns all notes in a fixed order.
func (n *notes) all() Noted {
	out := Noted{cleared: n.cleared}
	for _, index := range sortedKeys(n.acks) {
		out.acks = append(out.acks, n.acks[index])
	}
	for _, id := range slices.Sorted(maps.Keys(n.silences)) {
		out.silences = append(out.silences, n.silences[id])
	}
	return out
}

// digest returns a text that is equal for the same acknowledgements and silences. It does
// not depend on the cleared alarms, of which two sidecars may keep different numbers.
func (n *notes) digest() string {
	if n.sum == "" || n.summed != n.version {
		all := n.all()
		all.cleared = nil
		h := fnv.New64a()
		_, _ = h.Write(all.text()) // never fails
		n.sum, n.summed = fmt.Sprintf("%d-%d-%016x", len(all.acks), len(all.silences), h.Sum64()), n.version
	}
	return n.sum
}

// later reports whether one version of a note replaces another.
func later(at, than int64, line, other string) bool {
	return cmp.Or(cmp.Compare(at, than), strings.Compare(line, other)) > 0
}

// putAck takes a version of an acknowledgement.
func (n *notes) putAck(a ackNote) {
	old, ok := n.acks[a.index]
	if ok && !later(a.At, old.At, a.line(), old.line()) {
		return
	}
	if a.raised == 0 {
		a.about, a.raised = old.about, old.raised
	}
	n.acks[a.index] = a
	n.news.acks = append(n.news.acks, a)
	n.version++
}

// putSilence does the same for a silence.
func (n *notes) putSilence(s silenceNote) {
	if old, ok := n.silences[s.ID]; ok && !later(s.at, old.at, s.line(), old.line()) {
		return
	}
	n.silences[s.ID] = s
	n.news.silences = append(n.news.silences, s)
	n.version++
}

// putCleared does the same for a cleared alarm.
func (n *notes) putCleared(c ClearedAlarm) {
	i := slices.IndexFunc(n.cleared, func(old ClearedAlarm) bool { return old.Index == c.Index })
	if i >= 0 && !later(c.Cleared, n.cleared[i].Cleared, c.line(), n.cleared[i].line()) {
		return
	}
	kept := slices.Clone(n.cleared) // readers have the old slice
	if i >= 0 {
		kept = slices.Delete(kept, i, i+1)
	}
	at, _ := slices.BinarySearchFunc(kept, c, byCleared)
	if at == 0 && len(kept) >= n.keep {
		return
	}
	kept = slices.Insert(kept, at, c)
	n.cleared = kept[max(0, len(kept)-n.keep):]
	n.news.cleared = append(n.news.cleared, c)
	n.version++
}

func byCleared(a, b ClearedAlarm) int {
	return cmp.Or(cmp.Compare(a.Cleared, b.Cleared), cmp.Compare(a.Index, b.Index))
}

// merge takes notes of another process, or of a file. Those whose time is over are left
// out; active reports whether an alarm is active.
func (n *notes) merge(from Noted, now int64, active func(index uint32) bool) {
	news := n.news
	for _, a := range from.acks {
		if !a.over(now, active) {
			n.putAck(a)
		}
	}
	for _, s := range from.silences {
		if s.Until > now {
			n.putSilence(s)
		}
	}
	for _, c := range from.cleared {
		n.putCleared(c)
	}
	n.news = news // the others have them
	n.bound()
	n.expire(now)
}

// bound drops the oldest notes beyond the limits.
func (n *notes) bound() {
	if over := len(n.silences) - MaxSilences; over > 0 {
		oldest := slices.Collect(maps.Values(n.silences))
		ordered.By(oldest, func(a, b *silenceNote) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ID, b.ID))
		})
		for _, s := range oldest[:over] {
			delete(n.silences, s.ID)
		}
	}
	if over := len(n.acks) - maxAcks; over > 0 {
		oldest := slices.Collect(maps.Values(n.acks))
		ordered.By(oldest, func(a, b *ackNote) int {
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.index, b.index))
		})
		for _, a := range oldest[:over] {
			delete(n.acks, a.index)
		}
	}
}

// over reports whether an acknowledgement can be dropped.
func (a *ackNote) over(now int64, active func(index uint32) bool) bool {
	return now-a.At > ackGrace && !active(a.index)
}

// expire drops the silences whose time is over, and finds out which of the others hold now.
func (n *notes) expire(now int64) {
	before := len(n.silences)
	maps.DeleteFunc(n.silences, func(_ string, s silenceNote) bool { return s.Until <= now })
	changed := len(n.silences) != before
	for id, s := range n.silences {
		was := s
		s.turn(now)
		if s != was {
			n.silences[id], changed = s, true
		}
	}
	if changed {
		n.version++
	}
}

// due returns when the next silence begins or ends; 0 for never.
func (n *notes) due() (at int64) {
	for _, s := range n.silences {
		next := s.Until
		switch {
		case s.holds:
			next = min(next, s.until)
		case s.endedBy == "" && s.from != 0: // an ended one only leaves
			next = min(next, s.from)
		}
		if at == 0 || next < at {
			at = next
		}
	}
	return at
}

// forget drops the acknowledgements of alarms that are over.
func (n *notes) forget(now int64, active func(index uint32) bool) {
	before := len(n.acks)
	maps.DeleteFunc(n.acks, func(_ uint32, a ackNote) bool { return a.over(now, active) })
	if len(n.acks) != before {
		n.version++
	}
}

// acknowledge acknowledges an alarm, or withdraws that.
func (n *notes) acknowledge(a *Alarm, ack Ack, withdrawn bool) {
	if old, ok := n.acks[a.Index]; ok {
		ack.At = max(ack.At, old.At+1)
	}
	n.putAck(ackNote{Ack: ack, index: a.Index, withdrawn: withdrawn, about: a.key(), raised: a.Raised})
}

// silence begins a silence.
func (n *notes) silence(s Silence) error {
	switch {
	case s.Selection == Selection{}:
		return fmt.Errorf("%w: a silence of nothing; expected a kind, reason, net, place, transition or source; the net * is all alarms", ErrNote)
	case s.Until <= s.From || s.Until-s.From > s.longest().Microseconds():
		return fmt.Errorf("%w: a silence of %s; expected more than 0 and at most %s", ErrNote, time.Duration(s.Until-s.From)*time.Microsecond, s.longest())
	case s.Recurs != (Recurrence{}) && s.Recurs.fault() != nil:
		return fmt.Errorf("%w: %w", ErrNote, s.Recurs.fault())
	case len(n.silences) >= MaxSilences:
		return fmt.Errorf("%w: %d silences; expected at most as many", ErrNote, MaxSilences)
	}
	for _, pattern := range []string{s.Net, s.Place, s.Transition, s.Source} {
		if len(pattern) > maxPattern {
			return fmt.Errorf("%w: a pattern of %d bytes; expected at most %d", ErrNote, len(pattern), maxPattern)
		}
	}
	n.putSilence(silenceNote{Silence: s, at: s.From})
	return nil
}

// unsilence ends a silence.
func (n *notes) unsilence(id, by string, now int64) error {
	s, ok := n.silences[id]
	if !ok || s.endedBy != "" || s.Until <= now {
		return fmt.Errorf("%w %q", ErrNoSilence, id)
	}
	s.at, s.endedBy = max(now, s.at+1), by
	n.putSilence(s)
	return nil
}

// checkWords checks the texts of a note.
func checkWords(by, comment string) error {
	switch {
	case by == "" || len(by) > MaxBy || !utf8.ValidString(by):
		return fmt.Errorf("%w: a name of %d bytes; expected UTF-8 of 1 to %d", ErrNote, len(by), MaxBy)
	case len(comment) > MaxComment || !utf8.ValidString(comment):
		return fmt.Errorf("%w: a comment of %d bytes; expected UTF-8 of at most %d", ErrNote, len(comment), MaxComment)
	}
	return nil
}

// inEffect returns the silences that hold back notifications now or later, with their current or next
// window, by its end.
func (n *notes) inEffect() []Silence {
	var out []Silence
	for _, s := range n.silences {
		if s.endedBy == "" && s.until != 0 {
			out = append(out, s.shown())
		}
	}
	ordered.By(out, func(a, b *Silence) int { return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.ID, b.ID)) })
	return out
}

// silencedUntil returns until when an alarm is silenced, or 0.
func (n *notes) silencedUntil(a *Alarm) int64 {
	if len(n.silences) == 0 {
		return 0
	}
	if n.silenced == nil || n.cached != n.version {
		n.silenced, n.cached = map[uint32]int64{}, n.version
	}
	until, known := n.silenced[a.Index]
	if !known {
		for _, s := range n.silences {
			if s.holds && s.selects(a) {
				until = max(until, s.until)
			}
		}
		n.silenced[a.Index] = until
	}
	return until
}

// raisedDuring reports whether an alarm was raised during one of the silences in effect.
func (n *notes) raisedDuring(a *Alarm) bool {
	for _, s := range n.silences {
		if s.holds && s.from <= a.Raised && s.selects(a) {
			return true
		}
	}
	return false
}

// ack returns the acknowledgement of an alarm, or nil. One that was shared by its index is
// that of the alarm which has this index here.
func (n *notes) ack(of *Alarm) *Ack {
	a, ok := n.acks[of.Index]
	if !ok || a.withdrawn {
		return nil
	}
	if a.raised == 0 {
		a.about, a.raised = of.key(), of.Raised
		n.acks[of.Index] = a
	}
	if a.about != of.key() || a.raised != of.Raised {
		return nil
	}
	return &a.Ack
}

// record records alarms that are over.
func (n *notes) record(ended []Alarm, now int64) {
	for _, a := range ended[max(0, len(ended)-n.keep):] {
		a.Ack = n.ack(&a)
		n.putCleared(ClearedAlarm{Alarm: a, Cleared: now})
	}
}

// annotate adds the notes to the active alarms.
func (n *notes) annotate(s *ActiveSet) {
	s.Silences, s.Cleared, s.Noted = n.inEffect(), n.cleared, n.version
	for i := range s.Active {
		a := &s.Active[i]
		a.Ack, a.SilencedUntil = n.ack(a), n.silencedUntil(a)
	}
}
