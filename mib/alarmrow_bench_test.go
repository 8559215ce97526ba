// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"fmt"
	"testing"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
)

// silentFleet is a View of a fleet that fell silent, and the alarms of it: one for each source.
func silentFleet(sources int) (*merge.View, *alarm.ActiveSet) {
	view, state := viewOf(), &alarm.ActiveSet{}
	for i := range sources {
		name := fmt.Sprintf("engine-%05d", i)
		view.Sources = append(view.Sources, merge.Source{Net: "n", Name: name, State: merge.Stale, LastMessage: now0 - 60e6})
		state.Active = append(state.Active, alarm.Alarm{Index: uint32(i + 1), Kind: alarm.SourceLost, Subject: name,
			Severity: alarm.Major, Raised: now0 - 50e6, Since: now0 - 60e6, Affected: 1, Text: "silent"})
	}
	return view, state
}

// BenchmarkSilentFleet makes the table of a fleet of which every source is silent, and has an
// alarm. The base is the same fleet without alarms. The cost of an alarm must not grow with
// the number of sources.
func BenchmarkSilentFleet(b *testing.B) {
	for _, sources := range []int{1_000, 10_000} {
		view, state := silentFleet(sources)
		for _, c := range []struct {
			name  string
			state *alarm.ActiveSet
		}{{"base", nil}, {"alarms", state}} {
			b.Run(fmt.Sprintf("sources=%d/%s", sources, c.name), func(b *testing.B) {
				builder, err := NewBuilder(testRoot(b), "", Agent{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := builder.Build(view, c.state, now0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestAnAlarmOfAFleetCostsTheSameWhateverTheSizeOfTheFleet(t *testing.T) {
	const most = 6 // allocations: its row's name, its texts and dates
	view, state := silentFleet(2_000)
	cost := func(state *alarm.ActiveSet) float64 {
		builder, err := NewBuilder(testRoot(t), "", Agent{})
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(2, func() {
			if _, err := builder.Build(view, state, now0); err != nil {
				t.Error(err)
			}
		})
	}
	if each := (cost(state) - cost(nil)) / float64(len(state.Active)); each > most {
		t.Errorf("%.1f allocations for each alarm; want at most %d", each, most)
	}
}
