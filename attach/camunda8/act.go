// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// command returns the call of the REST API, of version 8.9 on, that resolves all incidents of an instance. Camunda
// gives a job without retries another one first.
func command(_ *petri.Net, t *ledger.Token, w stats.Wait) string {
	if w.Reason != stats.ReasonIncident {
		return ""
	}
	return `curl -sS -X POST "$CAMUNDA_REST_ADDRESS"/v2/process-instances/` + act.Quote(t.Instance) + "/incident-resolution"
}
