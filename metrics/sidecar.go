// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"maps"
	"slices"

	"github.com/pnagent/pnagent/collector/merge"
)

// sidecarReaders are about pnagent itself. What is read from a View is absent until there is one.
func sidecarReaders() map[string]func(*scrape) {
	viewed := func(value func(*scrape) float64) func(*scrape) {
		return func(s *scrape) {
			if s.view != nil {
				s.put(value(s))
			}
		}
	}
	return map[string]func(*scrape){
		PnagentBuildInfo:             func(s *scrape) { s.put(1, s.build...) },
		PnagentMessagesTotal:         viewed(func(s *scrape) float64 { return float64(s.view.Traffic.Messages) }),
		PnagentBytesTotal:            viewed(func(s *scrape) float64 { return float64(s.view.Traffic.Bytes) }),
		PnagentMessagesLostTotal:     viewed(func(s *scrape) float64 { return float64(s.view.Traffic.Lost) }),
		PnagentMessagesRejectedTotal: rejected,
		PnagentCollectorLoadRatio: func(s *scrape) {
			if s.view != nil && s.view.Load >= 0 {
				s.put(s.view.Load)
			}
		},
		PnagentSourceIntervalAskedSeconds: viewed(func(s *scrape) float64 { return s.view.Pace.Seconds() }),
		PnagentSumDifferencesTotal:        viewed(func(s *scrape) float64 { return float64(s.view.SumDifferences) }),
		PnagentViewAgeSeconds:             viewed(func(s *scrape) float64 { return age(s.view.At, s.now) }),
		PnagentViewGeneration:             viewed(func(s *scrape) float64 { return float64(s.view.Generation) }),
		PnagentSources:                    sourceStates,
		PnagentSeriesDroppedTotal: func(s *scrape) {
			for _, n := range s.nets {
				if n.name != "" || n.dropped > 0 {
					s.put(float64(n.dropped), n.labels.net)
				}
			}
		},
		PnagentScrapesRefusedTotal: func(s *scrape) { s.put(float64(s.refused)) },
		PnagentScrapeSizeBytes: func(s *scrape) {
			if s.answered != nil {
				s.put(float64(s.answered.text), s.fixed.text)
				s.put(float64(s.answered.sent), s.fixed.sent)
			}
		},
		PnagentConfigLastReloadSuccessful:              func(s *scrape) { s.put(s.reloaded) },
		PnagentConfigLastReloadSuccessTimestampSeconds: func(s *scrape) { s.put(float64(s.reloadedAt) / 1e6) },
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
