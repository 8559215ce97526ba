// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/pnagent/pnagent/collector/merge"

// sourceReaders are about sources, and about the regions of a net: a series for each source
// that owns a region and reports the number. A source that is gone has none.
func sourceReaders() map[string]func(*scrape) {
	sources := func(value func(src *merge.Source, now int64) float64) func(*scrape) {
		return func(s *scrape) {
			for i, src := range s.sources {
				s.put(value(src, s.now), s.labels.net, s.labels.sources[i])
			}
		}
	}
	regions := func(value func(src *merge.Source) *uint64) func(*scrape) {
		return func(s *scrape) {
			for i, src := range s.sources {
				if src.Region == "" || src.State == merge.Gone {
					continue
				}
				if n := value(src); n != nil {
					s.put(float64(*n), s.labels.net, s.labels.regions[i], s.labels.sources[i])
				}
			}
		}
	}
	owned := func(src *merge.Source, n *uint64) *uint64 {
		if src.Fence == 0 {
			return nil
		}
		return n
	}
	return map[string]func(*scrape){
		SourceUp: sources(func(src *merge.Source, _ int64) float64 { return oneIf(src.State == merge.Up) }),
		SourceRefused: func(s *scrape) {
			for i, src := range s.sources {
				if src.State == merge.Refused {
					s.put(1, s.labels.net, s.labels.sources[i], pair("reason", src.Refusal))
				}
			}
		},
		SourceLastSnapshotAgeSeconds: sources(func(src *merge.Source, now int64) float64 { return age(src.LastMessage, now) }),
		SourceGapsTotal:              sources(func(src *merge.Source, _ int64) float64 { return float64(src.Gaps) }),
		SourceRequestsRefusedTotal:   (*scrape).putRequests,
		RegionEpoch:                  regions(func(src *merge.Source) *uint64 { return owned(src, &src.Fence) }),
		RegionSetbacksTotal:          regions(func(src *merge.Source) *uint64 { return owned(src, &src.Setbacks) }),
		RegionCommitsTotal:           regions(func(src *merge.Source) *uint64 { return src.Position }),
		RegionStandbys:               regions(func(src *merge.Source) *uint64 { return src.Standbys }),
		RegionLagCommits:             regions(func(src *merge.Source) *uint64 { return src.Lag }),
		RegionStopped: regions(func(src *merge.Source) *uint64 {
			if src.Position == nil {
				return nil
			}
			return new(uint64(oneIf(src.RegionStopped != "")))
		}),
	}
}

// oneIf returns 1 for true and 0 for false.
func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// putRequests emits the requests that each source refused, by reason.
func (s *scrape) putRequests() {
	for i, src := range s.sources {
		if src.Requests == nil {
			continue
		}
		for reason, n := range src.Requests {
			s.put(float64(n), s.labels.net, s.labels.sources[i], s.fixed.refusals[reason])
		}
	}
}
