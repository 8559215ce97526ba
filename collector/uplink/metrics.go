// SPDX-License-Identifier: Apache-2.0

package uplink

import "github.com/pnagent/pnagent/internal/selfmetrics"

var families = []selfmetrics.Family[Stats]{
	{Name: "pnagent_up_nets", Help: "Nets that are published to the sidecar above.",
		Read: selfmetrics.Number(func(s Stats) int { return s.Nets })},
	{Name: "pnagent_up_snapshots_total", Help: "Snapshots that were published to the sidecar above.",
		Read: selfmetrics.Number(func(s Stats) uint64 { return s.Messages })},
	{Name: "pnagent_up_bytes_total", Help: "Bytes of the snapshots that were published to the sidecar above.",
		Read: selfmetrics.Number(func(s Stats) uint64 { return s.Bytes })},
	{Name: "pnagent_up_errors_total", Help: "Times that a net could not be published to the sidecar above.",
		Read: selfmetrics.Number(func(s Stats) uint64 { return s.Errors })},
	{Name: "pnagent_up_missed_total", Help: "Times that a net was due for the sidecar above while its NATS was disconnected.",
		Read: selfmetrics.Number(func(s Stats) uint64 { return s.Missed })},
}

// Metrics returns the metrics of an uplink; nil has descriptions and no series.
func Metrics(u *Uplink) *selfmetrics.Collector {
	return selfmetrics.Of(families, u, (*Uplink).Stats)
}
