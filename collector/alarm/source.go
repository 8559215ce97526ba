// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"

	"github.com/pnagent/pnagent/collector/merge"
)

// sourceWatch watches a source with all its nets.
type sourceWatch struct {
	lost, conflict, refused sourceAlarm
	name                    string
	step                    uint64
	up                      bool   // for at least one net
	since                   int64  // the earliest last message of a stale net
	forgotten               int    // nets of which it was forgotten
	forgottenSince          int64  // the earliest last message of one of them
	met                     bool   // messages of it arrive for at least one net, and are not refused
	shown                   bool   // rows of it are or were in the sums of at least one net
	silent                  string // see silence; as of silentSince
	silentSince             int64
}

// sourceAlarm is one kind of alarm about a source.
type sourceAlarm struct {
	watch
	rule   Rule
	nets   uint64 // nets for which the condition holds
	reason string // of the first of them
}

func (m *Machine) watchSource(name string) *sourceWatch {
	s := &sourceWatch{name: name}
	for kind, a := range s.alarms() {
		a.alarm = m.byKey[keyOf(kind, "", name)]
	}
	s.find(m.rules)
	return s
}

func (s *sourceWatch) alarms() map[Kind]*sourceAlarm {
	return map[Kind]*sourceAlarm{SourceLost: &s.lost, SourceConflict: &s.conflict, SourceRefused: &s.refused}
}

// find finds the rules of the source.
func (s *sourceWatch) find(rules *Rules) {
	for kind, a := range s.alarms() {
		a.rule = rules.source(kind, s.name)
	}
}

// lookAtSources groups the sources of all nets by name: a lost process is one alarm,
// however many nets it has.
func (m *Machine) lookAtSources(sources []merge.Source) {
	order := m.order[:0]
	for i := range sources {
		src := &sources[i]
		s := m.sourceAt(i, src.Name)
		if s.step != m.step {
			s.step = m.step
			s.up = false
			s.met = false
			s.since = 0
			s.lost.nets = 0
			s.conflict.nets = 0
			s.refused.nets = 0
			s.forgotten, s.forgottenSince = 0, 0
			order = append(order, s)
		}
		s.add(src)
	}
	m.order = order
	for _, s := range order {
		s.judge(m)
	}
}

// sourceAt returns the watch of the source that a View has at an index: mostly that of the last View.
func (m *Machine) sourceAt(i int, name string) *sourceWatch {
	if i < len(m.at) && m.at[i].name == name {
		return m.at[i]
	}
	s := m.sources[name]
	if s == nil {
		s = m.watchSource(name)
		m.sources[name] = s
	}
	if m.at = m.at[:min(i, len(m.at))]; i == len(m.at) {
		m.at = append(m.at, s)
	}
	return s
}

// add counts one net of the source.
func (s *sourceWatch) add(src *merge.Source) {
	a := &s.lost
	s.shown = s.shown || wasShown(src)
	switch {
	case src.State == merge.Stale:
		if s.since == 0 || src.LastMessage < s.since {
			s.since = src.LastMessage
		}
	case src.Conflict:
		a = &s.conflict
	case src.State == merge.Refused:
		a = &s.refused
	case src.State == merge.Up:
		s.up, s.met = true, true
		return
	case src.Forgotten:
		if s.forgotten == 0 || src.LastMessage < s.forgottenSince {
			s.forgottenSince = src.LastMessage
		}
		s.forgotten++
		return
	case src.State == merge.Undefined:
		s.met = true
		return
	default:
		return
	}
	if a.nets++; a.nets == 1 {
		a.reason = src.Reason
	}
}

// wasShown reports whether rows of a source are or were in the sums. A source that is
// refused or undefined and fills in no column has none.
func wasShown(src *merge.Source) bool {
	waits := src.State == merge.Refused || src.State == merge.Undefined
	return !src.Unread && (!waits || src.Columns != 0)
}

func (s *sourceWatch) judge(m *Machine) {
	lost := finding{wrong: s.lost.rule.On && s.lost.nets > 0, since: s.since, affected: s.lost.nets}
	if !s.met && s.forgotten > 0 {
		lost.unknown = s.silence()
	}
	m.judge(&s.lost.watch, keyOf(SourceLost, "", s.name), &s.lost.rule, lost, s.lostText)
	for kind, a := range [...]*sourceAlarm{SourceConflict: &s.conflict, SourceRefused: &s.refused} {
		if a == nil || a.nets == 0 && a.alarm == nil && a.wrong == 0 && !m.linked {
			continue
		}
		f := finding{wrong: a.rule.On && a.nets > 0, affected: a.nets, unshown: !s.shown}
		if !s.met {
			f.unknown = s.silence()
		}
		m.judge(&a.watch, keyOf(Kind(kind), "", s.name), &a.rule, f, func(since int64, wrong bool) string {
			return s.refusedText(Kind(kind), a, since, wrong)
		})
	}
}

// silence returns since when a source of which no messages arrive is silent, or "".
func (s *sourceWatch) silence() string {
	switch {
	case s.forgotten == 0 && s.lost.nets == 0:
		return ""
	case s.forgotten == 0:
		return fmt.Sprintf("it is silent since %s", date(s.since))
	case s.silentSince != s.forgottenSince || s.silent == "":
		s.silent, s.silentSince = fmt.Sprintf("it is silent since %s and was forgotten", date(s.forgottenSince)), s.forgottenSince
	}
	return s.silent
}

func (s *sourceWatch) lostText(since int64, wrong bool) string {
	switch {
	case wrong:
		return fmt.Sprintf("source %q is silent since %s; nets: %d", s.name, date(since), s.lost.nets)
	case !s.lost.rule.On:
		return ruleOff
	case s.up:
		return fmt.Sprintf("source %q publishes again", s.name)
	}
	return fmt.Sprintf("source %q stopped", s.name)
}

func (s *sourceWatch) refusedText(kind Kind, a *sourceAlarm, since int64, wrong bool) string {
	switch {
	case wrong && kind == SourceConflict:
		return fmt.Sprintf("two processes named %q since %s; nets: %d: %s", s.name, date(since), a.nets, a.reason)
	case wrong:
		return fmt.Sprintf("messages of source %q are refused since %s; nets: %d: %s", s.name, date(since), a.nets, a.reason)
	case !a.rule.On:
		return ruleOff
	case kind == SourceConflict:
		return fmt.Sprintf("one process publishes as source %q", s.name)
	}
	return fmt.Sprintf("messages of source %q are no longer refused, or it stopped", s.name)
}
