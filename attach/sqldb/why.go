// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/stats"
)

// whyRow is a row of why.
type whyRow struct {
	diagram.Why
	failed int64  // when the last try failed, of one that is tried again
	before string // text with the ids of tokens that must end before, in double quotes
	silent bool   // what should act has sent no heartbeat for too long
}

// missing returns how many of the open tokens must end before.
func (w *whyRow) missing(open func() map[string]bool) uint32 {
	if w.before == "" {
		return 0
	}
	found := map[string]bool{}
	for id := range strings.SplitSeq(w.before, `"`) {
		if open()[id] {
			found[id] = true
		}
	}
	return uint32(len(found))
}

// heartbeatLate is how old the last sign of life may be of what a token waits for, in
// seconds, if the mapping does not say.
const heartbeatLate = 60

// readWhy reads what tokens wait for, by their ids.
func (s *Adapter) readWhy(ctx context.Context, with map[string]any, now int64) (map[string][]whyRow, error) {
	whys, count := map[string][]whyRow{}, 0
	err := s.each(ctx, "why", with, func(row []any) error {
		if count++; count > MaxTokens {
			s.Drop("why")
			return nil
		}
		reason := asText(row[2])
		w := whyRow{Why: diagram.Why{Node: strings.TrimSuffix(asText(row[1]), multiBody), Text: strings.TrimSpace(asText(row[4])), Reason: stats.ReasonNamed(reason)}}
		switch {
		case reason == "retry":
			w.failed = s.time(row[3])
		case w.Reason == stats.ReasonDelayed:
			w.Why = diagram.Due(w.Why, s.time(row[3]), now)
		case w.Reason == stats.ReasonRunning || w.Reason == stats.ReasonNoWorker:
			w.Until = s.time(row[3])
		case w.Reason == stats.ReasonMissing:
			w.Count = uint32(min(max(asNumber(row[9]), 0), MaxTokens))
		}
		w.before = asText(row[7])
		if holder := asText(row[10]); holder != "" {
			lock := int64(0)
			if w.Reason == stats.ReasonRunning || w.Reason == stats.ReasonNoWorker {
				lock = w.Until
			}
			w.Why = diagram.Held(w.Why, holder, lock, now)
		}
		late := cmp.Or(asNumber(row[8]), heartbeatLate) * 1_000_000
		if seen := s.time(row[6]); seen > 0 && seen < now-late {
			w.silent = true
			w.Text = strings.TrimPrefix(w.Text+", no heartbeat since "+time.UnixMicro(seen).UTC().Format(time.RFC3339), ", ")
		}
		if detail := asText(row[5]); detail != "" && s.cfg.Show.Detail {
			w.Text += ": " + detail
		}
		w.Text = stats.Clip(w.Text, stats.MaxWhat)
		whys[asText(row[0])] = append(whys[asText(row[0])], w)
		return nil
	})
	return whys, err
}

// settle returns what a token waits for. It sets when the next try is due, and what a
// token lacks that waits for the tasks before its own, or for open tokens. It reports
// false if none of these tasks has ended, so that the token is not there yet; it came
// when the first ended.
func settle(r *openRow, rows []whyRow, ended *done, open func() map[string]bool, now int64) (whys []diagram.Why, here bool) {
	for _, w := range rows {
		if count := w.missing(open); count > 0 {
			whys = append(whys, diagram.Why{Node: w.Node, Reason: stats.ReasonMissing, Count: count})
			continue
		}
		if w.failed > 0 {
			if delay, known := r.version.Delays[r.node]; known {
				w.Why = diagram.Due(w.Why, w.failed+delay, now)
			} else {
				w.Text += ", time of the next try not known"
			}
		}
		if w.Reason == stats.ReasonMissing && ended != nil {
			left, of, first := ended.before(r)
			switch left {
			case 0:
				w.Reason = stats.ReasonEnabled
			case of:
				return nil, false
			}
			w.Count = uint32(left)
			if first > 0 {
				r.Since = first
			}
		}
		if w.silent && slices.Contains([]stats.Reason{stats.ReasonEnabled, stats.ReasonRunning, stats.ReasonManual}, w.Reason) {
			w.Reason = stats.ReasonNoWorker
		}
		whys = append(whys, w.Why)
	}
	return whys, true
}
