// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"strings"
	"testing"

	"github.com/pnagent/pnagent/stats"
)

func FuzzParseKey(f *testing.F) {
	for _, key := range []string{"pl/1/2", "pl/1/2/3", "pl/1/lock/ff", "region/a/election/1", "place_ids/a", "transition_ids/a/region", "id_generator/to"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		k, fault := ParseKey(key)
		if fault == FaultNone && (k.Kind == KindPlace || k.Kind == KindRegion || k.Kind == KindElection) && k.Name == "" {
			t.Errorf("%q has no name", key)
		}
	})
}

// Rows stay valid for any changes of a hostile etcd.
func FuzzApply(f *testing.F) {
	f.Add("+pl/1/1\n+pl/1/1/1\n\n-pl/1/1/1\n-pl/1/1\n+pl/2/1\n")
	f.Add("+region/n/election/1\n+transition_ids/t 1\n+transition_ids/t/region n\n\n+pl/1/1\n\n+pl/1/1/1\n\n+region/n/election/2\n-region/n/election/1\n\n-pl/1/1/1")
	f.Fuzz(func(t *testing.T, script string) {
		r := New(line(), 0, Limits{Tokens: 8, Names: 4, Leaders: 3})
		now := int64(100 * second)
		r.Times.Look(1, now, now)
		r.Begin(1)
		r.Commit(now)
		for i, group := range strings.Split(script, "\n\n") {
			revision := int64(i + 2)
			var events []Event
			for text := range strings.Lines(group) {
				key, value, _ := strings.Cut(strings.TrimSpace(text), " ")
				if key == "" {
					continue
				}
				events = append(events, Event{KV: KV{Key: key[1:], Value: []byte(value), Create: revision - int64(len(value)%2)},
					Delete: key[0] == '-', PrevCreate: int64(len(value) % 3), Same: len(value)%2 == 0})
			}
			now += second
			r.Times.Saw(revision, now)
			r.Apply(revision, now, events)
		}
		rows := stats.NewRows(r.Size())
		r.Rows(now, rows)
		for i, p := range rows.Places {
			if !p.Ages.Valid() || !p.Dwell.Valid() || p.Ages.Tokens() != p.Tokens || p.Arrivals < p.Departures {
				t.Errorf("place %d: %+v", i, p)
			}
		}
		if err := r.Definition().Validate(); err != nil {
			t.Error(err)
		}
		if len(r.cells)+r.held > 8 || r.count > 3 {
			t.Errorf("%d cells, %d taken, %d candidates", len(r.cells), r.held, r.count)
		}
	})
}
