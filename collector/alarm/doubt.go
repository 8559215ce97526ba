// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"

	"github.com/pnagent/pnagent/collector/merge"
)

// doubt is a net or a source that the View shows incompletely: the messages of a source
// are refused, or cannot be decoded yet. A source that was never shown does not count.
// One of the two fields is "".
type doubt struct{ net, source string }

// doubtsOf returns the reason of each doubt; nil if there is none.
func doubtsOf(sources []merge.Source) map[doubt]string {
	var doubts map[doubt]string
	for i := range sources {
		s := &sources[i]
		if s.Unread || s.State != merge.Refused && s.State != merge.Undefined {
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

// suspended reports whether a source that is refused or undefined makes it unknown
// whether an alarm is over. The alarm then stays, and its text has the reason.
func (m *Machine) suspended(h *held) bool {
	d := doubt{net: h.Net}
	switch h.Kind {
	case NATSDisconnected, AgentXDisconnected, SourceConflict, SourceRefused:
		return false
	case SourceLost:
		d = doubt{source: h.Subject}
	}
	why := m.doubts[d]
	if why == "" {
		return false
	}
	m.doubt(h, why)
	return true
}
