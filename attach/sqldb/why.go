// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"strings"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/stats"
)

// readWhy reads what tokens wait for, by their ids.
func (s *Adapter) readWhy(ctx context.Context, with map[string]any, now int64) (map[string][]diagram.Why, error) {
	whys, count := map[string][]diagram.Why{}, 0
	err := s.each(ctx, "why", with, func(row []any) error {
		if count++; count > MaxTokens {
			s.Drop("why")
			return nil
		}
		w := diagram.Why{Node: strings.TrimSuffix(asText(row[1]), multiBody), Text: strings.TrimSpace(asText(row[4])), Reason: stats.ReasonNamed(asText(row[2]))}
		if w.Reason == stats.ReasonDelayed {
			w = diagram.Due(w, s.time(row[3]), now)
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
