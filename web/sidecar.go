// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/web/api"
)

const (
	// skewShown is how far the clock of a source may differ from the sidecar's without
	// being shown.
	skewShown = 5 * time.Second
	// maxSkewed is how many sources with such a clock an overview names.
	maxSkewed = 10
	// maxReasons is how many reasons of refused sources it has.
	maxReasons = 50
)

// refusedSources returns the refused sources by reason, the reasons of most sources first.
func refusedSources(all []merge.Source) []api.RefusedSources {
	at, out := map[string]int{}, []api.RefusedSources(nil)
	for i := range all {
		s := &all[i]
		if s.State != merge.Refused {
			continue
		}
		k, known := at[s.Refusal]
		if !known {
			k = len(out)
			at[s.Refusal] = k
			out = append(out, api.RefusedSources{Reason: s.Refusal, Net: s.Net, Source: s.Name, Text: s.Reason})
		}
		out[k].Sources++
	}
	ordered.By(out, func(a, b *api.RefusedSources) int {
		return cmp.Or(cmp.Compare(b.Sources, a.Sources), cmp.Compare(a.Reason, b.Reason))
	})
	return out[:min(len(out), maxReasons)]
}

// skewedSources returns the sources that are received and whose clocks differ from the
// sidecar's; nil if there is none.
func skewedSources(all []merge.Source) *api.SkewedSources {
	d := &api.SkewedSources{}
	for i := range all {
		if s := &all[i]; s.State == merge.Up && s.Skew.Abs() > skewShown {
			d.Worst = append(d.Worst, api.SkewedSource{Net: s.Net, Name: s.Name, Ahead: s.Skew.Seconds()})
		}
	}
	if d.Sources = len(d.Worst); d.Sources == 0 {
		return nil
	}
	ordered.By(d.Worst, func(a, b *api.SkewedSource) int { return cmp.Compare(max(b.Ahead, -b.Ahead), max(a.Ahead, -a.Ahead)) })
	d.Worst = d.Worst[:min(d.Sources, maxSkewed)]
	return d
}
