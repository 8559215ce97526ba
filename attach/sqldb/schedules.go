// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"cmp"
	"context"
	"strings"

	"github.com/pnagent/pnagent/attach/internal/diagram"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/cron"
	"github.com/pnagent/pnagent/internal/zones"
)

// scheduleRow is a row of schedules: when an activity is to run next, and did last; 0 for NULL. The node is that with which
// a run begins if the row names none. The token is that of
// what is due, "" if none is shown.
type scheduleRow struct {
	definition, node, token string
	version                 *diagram.Definition
	net                     *diagram.Process
	next, last              int64
}

// due adds the tokens of activities that were to run, and did not, to those that are open.
func due(open []openRow, schedules []scheduleRow, now int64) []openRow {
	for i := range schedules {
		if r := &schedules[i]; r.token != "" && r.next != 0 && r.next <= now {
			open = append(open, openRow{definition: r.definition, node: r.node, version: r.version, net: r.net,
				Token: ledger.Token{ID: r.token, Instance: r.token, Since: r.next}})
		}
	}
	return open
}

// readSchedules reads when activities are to run, if the mapping has that query.
func (s *Adapter) readSchedules(ctx context.Context, with map[string]any) (all []scheduleRow, err error) {
	if s.cfg.Mapping.queries["schedules"] == nil {
		return nil, nil
	}
	crons := map[cronText]*cron.Schedule{}
	err = s.each(ctx, "schedules", with, func(row []any) error {
		if len(all) == MaxTokens {
			s.Drop("schedule")
			return nil
		}
		r := scheduleRow{definition: asText(row[0]), node: strings.TrimSuffix(asText(row[1]), multiBody), token: asText(row[6]), next: s.time(row[2]), last: s.time(row[3])}
		if text := (cronText{asText(row[4]), asText(row[5])}); text.expression != "" && r.next != 0 {
			crons[text] = s.schedule(text)
			r.next = 0
			if crons[text] != nil {
				r.next = crons[text].Next(s.time(row[2]))
			}
		}
		all = append(all, r)
		return nil
	})
	s.crons = crons
	if err != nil {
		return nil, err
	}
	known := all[:0]
	for _, r := range all {
		r.version, r.net, err = s.definitions.Of(ctx, r.definition, r.node)
		if err != nil {
			return nil, err
		}
		if r.net != nil && r.node == "" {
			r.node = cmp.Or(r.version.Model, r.net).First()
		}
		if r.net != nil && r.node != "" {
			known = append(known, r)
		}
	}
	return known, nil
}

// cronText is a cron expression and the name of its time zone; "" is UTC.
type cronText struct{ expression, zone string }

// schedule returns a cron expression that the last poll read, or reads it; nil if it is not of five fields, or not valid.
func (s *Adapter) schedule(text cronText) *cron.Schedule {
	if c, read := s.crons[text]; read {
		return c
	}
	zone, err := zones.Load(cmp.Or(text.zone, "UTC"))
	if err != nil {
		return nil
	}
	c, err := cron.Parse(text.expression, zone)
	if err != nil {
		return nil
	}
	return c
}
