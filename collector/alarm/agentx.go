// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"

	"github.com/pnagent/pnagent/collector/merge"
)

// own reports whether alarms of the kind are about the sidecar itself, so that they are judged
// while it receives nothing.
func (k Kind) own() bool { return k == NATSDisconnected || k == AgentXDisconnected }

// agentxWatch watches the sessions of this process and its group with AgentX masters.
type agentxWatch struct {
	watch
	last    merge.Master
	reasons int // changes of the text
}

// lookAtAgentX judges the sessions; nil is a process that has none. The sidecars of a group judge
// the same: one of them has no session. So the one on duty announces the alarm of another.
func (m *Machine) lookAtAgentX(state *merge.Master) {
	if state == nil {
		return
	}
	w := &m.agentx
	if w.alarm == nil {
		w.alarm = m.byKey[keyOf(AgentXDisconnected, "", "")]
	}
	if state.Reason != w.last.Reason || state.Others != w.last.Others || state.Connected != w.last.Connected {
		w.reasons++
	}
	w.last = *state
	rule := m.rules.base[AgentXDisconnected]
	f := finding{wrong: rule.On && (!state.Connected || state.Others != ""), also: float64(w.reasons)}
	if !state.Connected {
		f.since = state.Since
	}
	m.judge(&w.watch, keyOf(AgentXDisconnected, "", ""), &rule, f, func(since int64, wrong bool) string {
		switch {
		case wrong && w.last.Connected:
			return fmt.Sprintf("sidecar %q has no session with its AgentX master: the log there has the reason, and %s notifies", w.last.Others, m.self)
		case wrong:
			return fmt.Sprintf("%s has no session with the AgentX master at %s since %s: %s", m.self, w.last.Server, date(since), w.last.Reason)
		case !rule.On:
			return ruleOff
		}
		return fmt.Sprintf("a session with the AgentX master at %s", w.last.Server)
	})
}
