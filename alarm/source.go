// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"

	"github.com/pnagent/pnagent/collector"
)

// sourceWatch is a source with all of its nets.
type sourceWatch struct {
	watch
	name   string
	rule   Rule
	step   uint64
	silent uint64 // nets of which it is silent
	heard  bool   // of one net at least
	since  int64  // when the first of the silent ones was last heard
}

// lookAtSources takes the sources of all nets together by name: it is one
// process that is lost, not as many as it has nets.
func (m *Machine) lookAtSources(sources []collector.Source) {
	var order []*sourceWatch
	for i := range sources {
		src := &sources[i]
		s := m.sources[src.Name]
		if s == nil {
			s = &sourceWatch{name: src.Name, rule: m.rules.Source(src.Name)}
			s.alarm = m.byKey[key{SourceLost, "", src.Name}]
			m.sources[src.Name] = s
		}
		if s.step != m.step {
			s.step, s.silent, s.heard, s.since = m.step, 0, false, 0
			order = append(order, s)
		}
		switch src.State {
		case collector.Stale:
			if s.silent++; s.since == 0 || src.LastHeard < s.since {
				s.since = src.LastHeard
			}
		case collector.Up:
			s.heard = true
		}
	}
	for _, s := range order {
		m.judge(&s.watch, key{SourceLost, "", s.name}, &s.rule, finding{wrong: s.rule.On && s.silent > 0, since: s.since, affected: s.silent}, s.text)
	}
}

func (s *sourceWatch) text(since int64, wrong bool) string {
	switch {
	case wrong:
		return fmt.Sprintf("source %q is silent since %s; nets: %d", s.name, date(since), s.silent)
	case !s.rule.On:
		return "no rule watches it any more"
	case s.heard:
		return fmt.Sprintf("source %q is heard", s.name)
	}
	return fmt.Sprintf("source %q stopped, or was forgotten", s.name)
}
