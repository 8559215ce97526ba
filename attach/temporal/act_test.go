// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"testing"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/stats"
)

func TestATokenHasTheCommandLineOfTemporal(t *testing.T) {
	activity, wait := tokenID("r-1", 5, &item{queue: "q", key: "pay/2"}), tokenID("r-1", 3, &item{})
	for _, c := range []struct {
		id, instance string
		reason       stats.Reason
		want         string
	}{
		{activity, "order/48/r-1", stats.ReasonManual, "temporal activity unpause --workflow-id order/48 --run-id r-1 --activity-id pay/2"},
		{activity, "it's/r-1", stats.ReasonDelayed, `temporal activity reset --workflow-id 'it'\''s' --run-id r-1 --activity-id pay/2`},
		{activity, "order/48/r-1", stats.ReasonNoWorker, "temporal workflow describe --workflow-id order/48 --run-id r-1"},
		{wait, "order/48/r-1", stats.ReasonManual, "temporal workflow describe --workflow-id order/48 --run-id r-1"},
		{wait, "r-1", stats.ReasonManual, ""},
	} {
		if got := command(nil, &ledger.Token{ID: c.id, Instance: c.instance}, stats.Wait{Reason: c.reason}); got != c.want {
			t.Errorf("%s of %s: %q; expected %q", c.id, c.instance, got, c.want)
		}
	}
}
