// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"

	"github.com/pnagent/pnagent/collector"
)

// doubt is a net, or a source, of which the View does not show all: it has a
// source whose messages are refused, or cannot be read yet. A source of which nothing
// was ever shown is no reason for doubt. One of the two is "".
type doubt struct{ net, source string }

// doubtsOf returns why nets and sources are in doubt; nil where none is.
func doubtsOf(sources []collector.Source) map[doubt]string {
	var doubts map[doubt]string
	for i := range sources {
		s := &sources[i]
		if s.Unread || s.State != collector.Refused && s.State != collector.Undefined {
			continue
		}
		if doubts == nil {
			doubts = map[doubt]string{}
		}
		why := fmt.Sprintf("source %q of net %q is %s", s.Name, s.Net, s.State)
		if s.Reason != "" {
			why += ": " + s.Reason
		}
		for _, d := range []doubt{{net: s.Net}, {source: s.Name}} {
			if doubts[d] == "" {
				doubts[d] = why
			}
		}
	}
	return doubts
}

// suspended reports whether it cannot be judged that an alarm is over, because of
// a source that is refused or undefined. The alarm stays then, and its text says
// why.
func (m *Machine) suspended(h *held) bool {
	d := doubt{net: h.Net}
	switch h.Kind {
	case NATSDisconnected, SourceConflict, SourceRefused:
		return false
	case SourceLost:
		d = doubt{source: h.Subject}
	}
	why := m.doubts[d]
	if why == "" {
		return false
	}
	h.over, h.step, h.says = 0, m.step, unknown
	h.Text = fmt.Sprintf("unknown whether alarm %s still holds for %s: %s", h.Kind, h.subject(), why)
	return true
}
