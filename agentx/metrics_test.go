// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"testing"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
)

func TestEachMetricShowsItsCounter(t *testing.T) {
	selfmetricstest.Show(t, families, Stats{State: StateUp, Changed: time.UnixMilli(1500), Sessions: 2, Requests: map[pdu.Type]uint64{pdu.TypeGet: 3, pdu.TypeGetBulk: 4},
		Variables: 5, Notifications: 6, Faults: map[Fault]uint64{FaultDial: 7, FaultTooBig: 8}},
		"pnagent_agentx_up 1", "pnagent_agentx_state_since_timestamp_seconds 1.5", "pnagent_agentx_sessions_total 2",
		"pnagent_agentx_requests_total type="+pdu.TypeGet.String()+" 3", "pnagent_agentx_requests_total type="+pdu.TypeGetBulk.String()+" 4",
		"pnagent_agentx_variables_total 5", "pnagent_agentx_notifications_total 6",
		"pnagent_agentx_faults_total reason=dial 7", "pnagent_agentx_faults_total reason=too_big 8")
	for _, down := range []SessionState{StateDown, StateConnecting} {
		selfmetricstest.Show(t, families[:1], Stats{State: down}, "pnagent_agentx_up 0")
	}
}
