// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Status is the state of the adapter; counts are cumulative since its start.
type Status struct {
	ledger.Status
	sizes
	Requests map[string]requests // by resource
}

// Status returns the present state. Any goroutine may call it.
func (a *Adapter) Status() Status {
	out := Status{Status: a.Source.Status(), Requests: map[string]requests{}}
	for _, c := range a.collections {
		c.mu.Lock()
		out.Requests[c.name] = c.counts
		c.mu.Unlock()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	out.sizes = a.sizes
	return out
}

// byResource returns a family with a value for each resource.
func byResource(name, help string, of func(requests) uint64) selfmetrics.Family[Status] {
	return selfmetrics.ByLabel("pnagent_kubernetes_"+name, "resource", help+", by resource.", func(s Status) map[string]uint64 {
		out := make(map[string]uint64, len(s.Requests))
		for resource, r := range s.Requests {
			out[resource] = of(r)
		}
		return out
	})
}

var families = append(ledger.Families("pnagent_kubernetes", "net, place, run", func(s Status) ledger.Status { return s.Status }),
	selfmetrics.Number("pnagent_kubernetes_runs", "Jobs and other runs that the cluster has, also those that ended.", func(s Status) int { return s.Runs }),
	selfmetrics.Number("pnagent_kubernetes_pods", "Pods of them.", func(s Status) int { return s.Pods }),
	byResource("lists_total", "Lists of all objects", func(r requests) uint64 { return r.Lists }),
	byResource("watches_total", "Watches that were begun", func(r requests) uint64 { return r.Watches }),
	byResource("expired_total", "Times that the server did not know a version any more, so that a list followed", func(r requests) uint64 { return r.Expired }),
	byResource("request_errors_total", "Requests that failed", func(r requests) uint64 { return r.Errors }),
	byResource("events_total", "Events of watches, also bookmarks", func(r requests) uint64 { return r.Events }),
)

// Metrics returns the metrics of the adapter.
func (a *Adapter) Metrics() *selfmetrics.Collector {
	return selfmetrics.New(families, func() (Status, bool) { return a.Status(), true })
}
