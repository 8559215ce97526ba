// SPDX-License-Identifier: Apache-2.0

package collector

import "github.com/pnagent/pnagent/internal/selfmetrics"

var shareFamilies = []selfmetrics.Family[*Collector]{
	selfmetrics.Number("pnagent_messages_passed_over_total", "Messages of sources in another share, received because the NATS server does not map subjects to shares.", (*Collector).Passed),
}

// ShareMetrics returns the metrics of a collector with a share. For nil, or a
// collector without a share, they have descriptions and no series.
func ShareMetrics(c *Collector) *selfmetrics.Collector {
	return selfmetrics.New(shareFamilies, func() (*Collector, bool) { return c, c != nil && c.cfg.Share.Count > 0 })
}
