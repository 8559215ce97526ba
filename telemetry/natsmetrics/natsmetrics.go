// SPDX-License-Identifier: Apache-2.0

// Package natsmetrics has the metrics of a [natslink.Link]. It is apart from
// natslink so that engines, which embed natslink, do not import Prometheus.
package natsmetrics

import (
	"github.com/pnagent/pnagent/internal/selfmetrics"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// Of returns the metrics of the connection of a process to NATS; nil has
// descriptions and no series.
func Of(l *natslink.Link) *selfmetrics.Collector {
	return collector(l, "pnagent_nats",
		"Whether this process is connected to NATS: 1 or 0. While it is not, what it shows of engines is what it received before.",
		"Times that the connection to NATS ended.")
}

// Upward returns the metrics of a connection to the NATS servers of the sidecar
// above; nil has descriptions and no series.
func Upward(l *natslink.Link) *selfmetrics.Collector {
	return collector(l, "pnagent_up_nats",
		"Whether this sidecar is connected to the NATS servers of the sidecar above (--up.nats): 1 or 0. While it is not, that one shows this sidecar's nets as they were before. Absent without --up.nats.",
		"Times that the connection to the NATS servers of the sidecar above ended. Absent without --up.nats.")
}

func collector(l *natslink.Link, prefix, connected, disconnects string) *selfmetrics.Collector {
	return selfmetrics.Of([]selfmetrics.Family[*natslink.ConnState]{
		selfmetrics.Bool(prefix+"_connected", connected, func(s *natslink.ConnState) bool { return s.Connected }),
		selfmetrics.Number(prefix+"_disconnects_total", disconnects, func(s *natslink.ConnState) uint64 { return s.Disconnects }),
	}, l, (*natslink.Link).State)
}
