// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// views returns Views of a net of 500 places and 500 transitions.
func views(busy float64) (out []*merge.View) {
	w := newWorld(9, busy, 500)
	for range 64 {
		out = append(out, w.tick(time.Second))
	}
	return out
}

// BenchmarkTick adds a View of 1,000 nodes, all of which change; the base
// copies the numbers.
func BenchmarkTick(b *testing.B) {
	for name, busy := range map[string]float64{"busy": 1, "quiet": 0.02} {
		all := views(busy)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s := New(Config{})
			at := int64(noon)
			for i := range b.N {
				v := *all[i%len(all)]
				at += second
				v.At = at
				s.Add(&v, nil)
			}
			n := s.Counters()
			b.ReportMetric(float64(n.Bytes)/float64(max(n.Frames, 1)), "B/frame")
		})
	}
	all := views(1)
	b.Run("base", func(b *testing.B) {
		var into values
		for i := range b.N {
			gather(all[i%len(all)].Nets[0], nil, &into)
		}
	})
}

// BenchmarkMoment adds the moment of a View of 10,000 sources that stay; the base copies their
// names.
func BenchmarkMoment(b *testing.B) {
	v := &merge.View{}
	for i := range 10_000 {
		v.Sources = append(v.Sources, merge.Source{Net: fmt.Sprint("net-", i/100), Name: fmt.Sprintf("host-%05d", i)})
	}
	slices.SortFunc(v.Sources, func(a, b merge.Source) int {
		return cmp.Or(strings.Compare(a.Net, b.Net), strings.Compare(a.Name, b.Name))
	})
	b.Run("add", func(b *testing.B) {
		m := newMoments()
		for i := range b.N {
			v.At = int64(i)
			m.add(v)
		}
	})
	b.Run("base", func(b *testing.B) {
		names := make([]string, len(v.Sources))
		for range b.N {
			for i := range v.Sources {
				names[i] = v.Sources[i].Name
			}
		}
	})
}

// BenchmarkSeries reads the series of one place over an hour.
func BenchmarkSeries(b *testing.B) {
	s := New(Config{Budget: 256 << 20})
	w := newWorld(9, 1, 500)
	for range 3600 {
		s.Add(w.tick(time.Second), nil)
	}
	b.ReportMetric(float64(s.Counters().Bytes)/(1<<20), "MiB/hour")
	b.ResetTimer()
	for range b.N {
		if len(s.Past("net-0").Place(1)) == 0 {
			b.Fatal("no points")
		}
	}
}

// BenchmarkSightings records 5,000 tokens that were seen before; the base
// compares their names.
func BenchmarkSightings(b *testing.B) {
	v := views(1)[0]
	places := v.Nets[0].Rows.Places
	for i := range places {
		for k := range stats.MaxStuck {
			places[i].Stuck = append(places[i].Stuck, waiting(fmt.Sprintf("host-%d/%05d", k, i), noon+int64(i)*second, stats.ReasonMissing))
		}
	}
	b.Run("look", func(b *testing.B) {
		seen := newSightings(DefaultSightings)
		for range b.N {
			seen.look(v)
		}
	})
	b.Run("base", func(b *testing.B) {
		same := 0
		for range b.N {
			for i := range places {
				for k := range places[i].Stuck {
					if places[i].Stuck[k].Instance == places[0].Stuck[0].Instance {
						same++
					}
				}
			}
		}
		if same != b.N {
			b.Fatal(same)
		}
	})
}
