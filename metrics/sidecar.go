// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"maps"
	"slices"

	"github.com/pnagent/pnagent/collector/merge"
)

// sidecarFamilies returns the families about pnagent itself. Those of the
// collector are absent until there is a View.
func sidecarFamilies() []Family {
	sidecar := func(name, help string, typ Type, read func(*scrape), labels ...string) Family {
		return Family{Name: name, Type: typ, Help: help, Labels: labels, scope: ofSidecar, read: read}
	}
	traffic := func(name, help string, value func(*merge.Traffic) uint64) Family {
		return sidecar(name, help, Counter, func(s *scrape) {
			if s.view != nil {
				s.put(float64(value(&s.view.Traffic)))
			}
		})
	}
	return []Family{
		sidecar(PnagentBuildInfo, "Version, revision and Go version of the program; always 1.", Gauge,
			func(s *scrape) { s.put(1, s.build...) }, "version", "revision", "goversion"),
		traffic(PnagentMessagesTotal, "Messages that the collector received.",
			func(t *merge.Traffic) uint64 { return t.Messages }),
		traffic(PnagentBytesTotal, "Bytes of the messages that the collector received.",
			func(t *merge.Traffic) uint64 { return t.Bytes }),
		traffic(PnagentMessagesLostTotal, "Snapshots of all sources that were lost on the way, as in "+SourceGapsTotal+".",
			func(t *merge.Traffic) uint64 { return t.Lost }),
		sidecar(PnagentMessagesRejectedTotal, "Messages that the collector rejected, by reason.", Counter, rejected, "reason"),
		sidecar(PnagentCollectorLoadRatio, "Share of a processor that messages of shown sources took in the last ten seconds. Above 0.5 the collector asks sources for rarer messages.", Gauge,
			func(s *scrape) {
				if s.view != nil && s.view.Load >= 0 {
					s.put(s.view.Load)
				}
			}),
		sidecar(PnagentSourceIntervalAskedSeconds, "Interval at which the collector asks sources to publish, because their messages make too much work; 0 while it asks for none.", Gauge,
			func(s *scrape) {
				if s.view != nil {
					s.put(s.view.Pace.Seconds())
				}
			}),
		sidecar(PnagentSumDifferencesTotal, "Sums that were not what their sources add up to, in a sample that is taken once a minute. They were corrected; above 0 is a fault of pnagent.", Counter,
			func(s *scrape) {
				if s.view != nil {
					s.put(float64(s.view.SumDifferences))
				}
			}),
		sidecar(PnagentViewAgeSeconds, "Age of the current View.", Gauge, func(s *scrape) {
			if s.view != nil {
				s.put(age(s.view.At, s.now))
			}
		}),
		sidecar(PnagentViewGeneration, "Number of the current View; it rises by one with each View.", Gauge, func(s *scrape) {
			if s.view != nil {
				s.put(float64(s.view.Generation))
			}
		}),
		sidecar(PnagentSources, "Sources by state.", Gauge, sourceStates, "state"),
		sidecar(PnagentSeriesDroppedTotal, "Series that were omitted from scrapes because the net was over its budget.", Counter,
			func(s *scrape) {
				for _, n := range s.nets {
					if n.name != "" || n.dropped > 0 {
						s.put(float64(n.dropped), n.labels.net)
					}
				}
			}, "net"),
		sidecar(PnagentScrapesRefusedTotal, "Scrapes that were refused because too many were running.", Counter,
			func(s *scrape) { s.put(float64(s.refused)) }),
		sidecar(PnagentScrapeSizeBytes, "Size of the last answer at /metrics, as text and as it was sent.", Gauge,
			func(s *scrape) {
				if s.answered != nil {
					s.put(float64(s.answered.text), s.fixed.text)
					s.put(float64(s.answered.sent), s.fixed.sent)
				}
			}, "form"),
		sidecar(PnagentConfigLastReloadSuccessful, "Whether the last reload of the configuration succeeded: 1 if so, and before the first reload.", Gauge,
			func(s *scrape) { s.put(s.reloaded) }),
		sidecar(PnagentConfigLastReloadSuccessTimestampSeconds, "Unix time of the last successful reload of the configuration, or of the start.", Gauge,
			func(s *scrape) { s.put(float64(s.reloadedAt) / 1e6) }),
	}
}

func rejected(s *scrape) {
	if s.view == nil {
		return
	}
	for _, reason := range slices.Sorted(maps.Keys(s.view.Traffic.Rejected)) {
		s.put(float64(s.view.Traffic.Rejected[reason]), pair("reason", reason))
	}
}

func sourceStates(s *scrape) {
	if s.view == nil {
		return
	}
	for state, count := range s.view.States {
		s.put(float64(count), pair("state", merge.SourceState(state).String()))
	}
}
