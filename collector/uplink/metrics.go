// SPDX-License-Identifier: Apache-2.0

package uplink

import "github.com/pnagent/pnagent/internal/selfmetrics"

var families = []selfmetrics.Family[Stats]{
	selfmetrics.Number("pnagent_up_nets", "Nets that are published to the sidecar above.", func(s Stats) int { return s.Nets }),
	selfmetrics.Number("pnagent_up_snapshots_total", "Snapshots that were published to the sidecar above.", func(s Stats) uint64 { return s.Messages }),
	selfmetrics.Number("pnagent_up_bytes_total", "Bytes of the snapshots that were published to the sidecar above.", func(s Stats) uint64 { return s.Bytes }),
	selfmetrics.Number("pnagent_up_errors_total", "Times that a net could not be published to the sidecar above.", func(s Stats) uint64 { return s.Errors }),
	selfmetrics.Number("pnagent_up_missed_total", "Times that a net was due for the sidecar above while its NATS was disconnected.", func(s Stats) uint64 { return s.Missed }),
}

// Metrics returns the metrics of an uplink; nil has descriptions and no series.
func Metrics(u *Uplink) *selfmetrics.Collector {
	return selfmetrics.Of(families, u, (*Uplink).Stats)
}
