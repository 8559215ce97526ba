// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"encoding/json"
	"fmt"
)

// manyRows is from how many rows on a check names a table that a query reads as a whole. A database
// reads small ones so, whatever indexes they have.
const manyRows = 10_000

// scan is a table of which a query reads all rows.
type scan struct {
	table string
	rows  float64 // as the database estimates; 0 if it does not say
}

// scans returns the tables of which a query reads all rows, by the plan of the database. SQLite does not
// say how large its tables are, so there are none.
func (t *transaction) scans(ctx context.Context, q *query, with map[string]any) ([]scan, error) {
	if t.explain == "" {
		return nil, nil
	}
	text, args := t.text(q, with)
	var plan string
	if err := t.QueryRowContext(ctx, t.explain+text, args...).Scan(&plan); err != nil {
		return nil, explained(err)
	}
	var root any
	if err := json.Unmarshal([]byte(plan), &root); err != nil {
		return nil, fmt.Errorf("the plan of the database: %w", err)
	}
	found := planned(root, nil)
	if t.estimate == "" {
		return found, nil
	}
	for i := range found {
		if err := t.QueryRowContext(ctx, t.estimate, found[i].table).Scan(&found[i].rows); err != nil {
			return nil, explained(err)
		}
	}
	return found, nil
}

// planned adds the tables that are read as a whole in a part of a plan: of PostgreSQL, MySQL or MariaDB.
func planned(part any, found []scan) []scan {
	switch part := part.(type) {
	case []any:
		for _, p := range part {
			found = planned(p, found)
		}
	case map[string]any:
		if part["Node Type"] == "Seq Scan" {
			found = append(found, scan{table: fmt.Sprintf("%q.%q", part["Schema"], part["Relation Name"])})
		}
		if part["access_type"] == "ALL" {
			rows, known := part["rows"].(float64)
			if !known {
				rows, _ = part["rows_examined_per_scan"].(float64)
			}
			found = append(found, scan{table: fmt.Sprint(part["table_name"]), rows: rows})
		}
		for _, p := range part {
			found = planned(p, found)
		}
	}
	return found
}

// cost adds a note for each large table that a query reads as a whole.
func (c *checking) cost(ctx context.Context, name string) error {
	found, err := c.tx.scans(ctx, c.m.queries[name], c.with)
	if err != nil {
		return fmt.Errorf("the plan of query %s: %w", name, err)
	}
	for _, s := range found {
		if s.rows >= manyRows {
			c.costs = append(c.costs, fmt.Sprintf("the query %s reads all of the table %s, about %.0f rows, each time", name, s.table, s.rows))
		}
	}
	return nil
}
