// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"

	"github.com/pnagent/pnagent/telemetry/natslink"
)

// natsWatch watches the connection of this process to NATS.
type natsWatch struct {
	watch
	last    natslink.ConnState
	reasons int // changes of the reason
}

// lookAtNATS judges the connection; nil is a connection of unknown state.
func (m *Machine) lookAtNATS(state *natslink.ConnState) {
	if state == nil {
		return
	}
	w := &m.nats
	if w.alarm == nil {
		w.alarm = m.byKey[keyOf(NATSDisconnected, "", "")]
	}
	if state.Reason != w.last.Reason {
		w.reasons++
	}
	w.last = *state
	rule := m.rules.base[NATSDisconnected]
	f := finding{wrong: rule.On && !state.Connected, since: state.Since, also: float64(w.reasons)}
	m.judge(&w.watch, keyOf(NATSDisconnected, "", ""), &rule, f, func(since int64, wrong bool) string {
		switch {
		case wrong:
			return fmt.Sprintf("%s has no connection to NATS since %s: %s", m.self, date(since), w.last.Reason)
		case !rule.On:
			return ruleOff
		}
		return fmt.Sprintf("connected to NATS at %s", w.last.Server)
	})
}
