// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// whyRow is a row of why.
type whyRow struct {
	node, text string
	reason     stats.Reason
	until      int64
}

func (s *Adapter) readWhy(ctx context.Context, with map[string]any, now int64) (map[string][]whyRow, error) {
	whys, count := map[string][]whyRow{}, 0
	err := s.each(ctx, "why", with, func(row []any) error {
		if count++; count > MaxTokens {
			s.Drop("why")
			return nil
		}
		w := whyRow{node: strings.TrimSuffix(asText(row[1]), multiBody), text: strings.TrimSpace(asText(row[4])), reason: stats.ReasonNamed(asText(row[2])), until: s.time(row[3])}
		switch {
		case w.reason != stats.ReasonDelayed:
			w.until = 0
		case w.until == 0:
			w.reason = stats.ReasonEnabled
		case w.until <= now:
			w.reason, w.until, w.text = stats.ReasonEnabled, 0, w.text+", due since "+time.UnixMicro(w.until).UTC().Format(time.RFC3339)
		}
		if detail := asText(row[5]); detail != "" && s.cfg.Show.Detail {
			w.text += ": " + detail
		}
		w.text = stats.Clip(w.text, stats.MaxWhat)
		whys[asText(row[0])] = append(whys[asText(row[0])], w)
		return nil
	})
	return whys, err
}

// waits returns what a token at a node waits for, strongest reason first. Of a
// transition that does not take from the token's place nothing is said.
func (n *netLedger) waits(node string, whys []whyRow) []stats.Wait {
	var out []stats.Wait
	for _, w := range whys {
		i, ok := n.transition[w.node]
		if w.node == "" {
			i, ok = n.transition[node]
		}
		if !ok || w.node != node && w.node != "" && !n.HasArc(node+"/in", w.node) {
			continue
		}
		at := slices.IndexFunc(out, func(o stats.Wait) bool { return o.Transition == int32(i) })
		one := stats.Wait{Transition: int32(i), Reason: w.reason, Place: stats.NoPlace, Until: w.until, What: w.text}
		switch {
		case at < 0:
			out = append(out, one)
		case strength(w.reason) > strength(out[at].Reason):
			one.What = stats.Clip(one.What+"; "+out[at].What, stats.MaxWhat)
			out[at] = one
		default:
			out[at].What = stats.Clip(out[at].What+"; "+w.text, stats.MaxWhat)
		}
	}
	if i, ok := n.transition[node]; ok && len(out) == 0 {
		one := stats.Wait{Transition: int32(i), Reason: stats.ReasonUnknown, Place: stats.NoPlace}
		if _, join := n.joins[node]; join {
			one.Reason, one.Place = stats.ReasonMissing, int32(n.place[node])
		}
		out = append(out, one)
	}
	return out
}

// strength orders the reasons of which one row names the strongest.
func strength(r stats.Reason) int {
	return slices.Index([]stats.Reason{stats.ReasonUnknown, stats.ReasonEnabled, stats.ReasonManual, stats.ReasonDelayed, stats.ReasonRunning, stats.ReasonIncident}, r)
}
