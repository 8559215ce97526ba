// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"

	"github.com/pnagent/pnagent/collector/merge"
)

// own reports whether alarms of the kind are about the sidecar itself, so that they are judged
// while it receives nothing.
func (k Kind) own() bool { return k == NATSDisconnected || k == AgentXDisconnected }

// linkWatch watches what a process and its group are connected to.
type linkWatch struct {
	watch
	last    merge.Master
	changes int // of what the text says
}

// lookAtLinks judges the connection to NATS and the session with the AgentX master. The sidecars of a
// group judge the same of their sessions: one of them has none. So the one on duty announces the alarm of another.
func (m *Machine) lookAtLinks(view *merge.View) {
	if view.NATS != nil {
		m.lookAtLink(&m.nats, NATSDisconnected, merge.Master{ConnState: *view.NATS}, "no connection to NATS", "connected to NATS at %s")
	}
	if view.AgentX != nil {
		m.lookAtLink(&m.agentx, AgentXDisconnected, *view.AgentX, "no session with the AgentX master at "+view.AgentX.Server, "a session with the AgentX master at %s")
	}
}

// lookAtLink judges one of them. lost says that it is away, and back where it is.
func (m *Machine) lookAtLink(w *linkWatch, kind Kind, state merge.Master, lost, back string) {
	k := keyOf(kind, "", "")
	if w.alarm == nil {
		w.alarm = m.byKey[k]
	}
	if state.Reason != w.last.Reason || state.Others != w.last.Others || state.Connected != w.last.Connected {
		w.changes++
	}
	w.last = state
	rule := m.rules.base[kind]
	f := finding{wrong: rule.On && (!state.Connected || state.Others != ""), also: float64(w.changes)}
	if !state.Connected {
		f.since = state.Since
	}
	m.judge(&w.watch, k, &rule, f, func(since int64, wrong bool) string {
		switch {
		case wrong && w.last.Connected:
			return fmt.Sprintf("sidecar %q has no session with its AgentX master: the log there has the reason, and %s notifies", w.last.Others, m.self)
		case wrong:
			return fmt.Sprintf("%s has %s since %s: %s", m.self, lost, date(since), w.last.Reason)
		case !rule.On:
			return ruleOff
		}
		return fmt.Sprintf(back, w.last.Server)
	})
}
