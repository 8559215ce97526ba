// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/standby/roster"
	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
)

func TestEachMetricShowsItsCounter(t *testing.T) {
	m := &Member{counters: Counters{Received: 2, TakeOvers: 3, Rejected: map[roster.Reason]uint64{roster.Reasons()[0]: 4, roster.Reasons()[1]: 5}}}
	m.state.Store(&roster.State{OnDuty: true, Live: 1, Known: 9, At: time.Now()})
	selfmetricstest.Show(t, families, m,
		"pnagent_sidecar_on_duty 1", "pnagent_sidecar_peers 1", "pnagent_sidecar_messages_total 2", "pnagent_sidecar_takeovers_total 3",
		"pnagent_sidecar_messages_rejected_total reason="+string(roster.Reasons()[0])+" 4", "pnagent_sidecar_messages_rejected_total reason="+string(roster.Reasons()[1])+" 5")
	for name, s := range map[string]*roster.State{"stands by": {At: time.Now()}, "was paused": {OnDuty: true, At: time.Now().Add(-2 * roster.Silent)}} {
		t.Run(name, func(t *testing.T) {
			m.state.Store(s)
			selfmetricstest.Show(t, families[:1], m, "pnagent_sidecar_on_duty 0")
		})
	}
}
