// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
)

func TestEachMetricShowsItsCounter(t *testing.T) {
	m := &Member{counters: Counters{Received: 2, TakeOvers: 3, Rejected: map[Reason]uint64{Reasons()[0]: 4, Reasons()[1]: 5}}}
	m.state.Store(&GroupState{OnDuty: true, Live: 1, Known: 9, At: time.Now()})
	selfmetricstest.Show(t, families, m,
		"pnagent_sidecar_on_duty 1", "pnagent_sidecar_peers 1", "pnagent_sidecar_messages_total 2", "pnagent_sidecar_takeovers_total 3",
		"pnagent_sidecar_messages_rejected_total reason="+string(Reasons()[0])+" 4", "pnagent_sidecar_messages_rejected_total reason="+string(Reasons()[1])+" 5")
	for name, s := range map[string]*GroupState{"stands by": {At: time.Now()}, "was paused": {OnDuty: true, At: time.Now().Add(-2 * Silent)}} {
		t.Run(name, func(t *testing.T) {
			m.state.Store(s)
			selfmetricstest.Show(t, families[:1], m, "pnagent_sidecar_on_duty 0")
		})
	}
}
