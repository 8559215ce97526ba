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
	return collector(l,
		family{Name: "pnagent_nats_connected",
			Help: "Whether this process is connected to NATS: 1 or 0. While it is not, what it shows of engines is what it received before."},
		family{Name: "pnagent_nats_disconnects_total", Help: "Times that the connection to NATS ended."})
}

// Upward returns the metrics of a connection to the NATS servers of the sidecar
// above; nil has descriptions and no series.
func Upward(l *natslink.Link) *selfmetrics.Collector {
	return collector(l,
		family{Name: "pnagent_up_nats_connected",
			Help: "Whether this sidecar is connected to the NATS servers of the sidecar above (--up.nats): 1 or 0. While it is not, that one shows this sidecar's nets as they were before. Absent without --up.nats."},
		family{Name: "pnagent_up_nats_disconnects_total",
			Help: "Times that the connection to the NATS servers of the sidecar above ended. Absent without --up.nats."})
}

type family = selfmetrics.Family[*natslink.ConnState]

func collector(l *natslink.Link, connected, disconnects family) *selfmetrics.Collector {
	connected.Read = selfmetrics.Bool(func(s *natslink.ConnState) bool { return s.Connected })
	disconnects.Read = selfmetrics.Number(func(s *natslink.ConnState) uint64 { return s.Disconnects })
	return selfmetrics.New([]family{connected, disconnects}, func() (*natslink.ConnState, bool) {
		if l == nil {
			return nil, false
		}
		return l.State(), true
	})
}
