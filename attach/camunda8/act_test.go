// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"testing"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/stats"
)

func TestAnIncidentHasTheCallThatResolvesIt(t *testing.T) {
	token := &ledger.Token{ID: "7", Instance: "2251799813685338"}
	for reason, want := range map[stats.Reason]string{
		stats.ReasonIncident: `curl -sS -X POST "$CAMUNDA_REST_ADDRESS"/v2/process-instances/2251799813685338/incident-resolution`,
		stats.ReasonManual:   "",
	} {
		if got := command(nil, token, stats.Wait{Reason: reason}); got != want {
			t.Errorf("%s: %q; expected %q", reason, got, want)
		}
	}
}
