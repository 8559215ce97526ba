// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is what a check found.
type Report struct {
	Version string // of the engine's tables
	Queries []Rows // in the order in which they ran
	Notes   []string
}

// Rows is the number of rows that a query returned, at most that of one page.
type Rows struct {
	Query string
	Rows  int
}

// Check is Probe, and runs every query of the mapping as a poll does: without a row to
// ask for, and with the first row that the queries before it returned. The rows of the
// history are those of the overlap. The error wraps ErrProbe if the database lacks
// something, or a query fails or returns a value that cannot be used.
func Check(ctx context.Context, d *Database, m *Mapping, zone *time.Location, overlap time.Duration) (*Report, error) {
	version, err := Probe(ctx, d, m)
	if err != nil {
		return nil, err
	}
	c := checking{m: m, zone: zone, report: &Report{Version: version}}
	c.with = map[string]any{"definition": nil, "limit": page, "floor": 0, "after": ""}
	timed(c.with, "now", time.Now().UnixMicro(), zone)
	timed(c.with, "since", time.Now().Add(-overlap).UnixMicro(), zone)
	err = d.read(ctx, func(tx *transaction) error {
		c.tx = tx
		return c.all(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrProbe, m.Name, err)
	}
	elsewhere, err := d.elsewhere(ctx, m)
	if err != nil {
		return nil, err
	}
	c.report.Notes = append(elsewhere, c.costs...)
	if c.rows["definitions"] == 0 && c.rows["open"] == 0 {
		c.report.Notes = append(c.report.Notes, "there is no definition and no token: is this the database and the schema of the engine?")
	}
	return c.report, nil
}

// checking runs the queries of a mapping.
type checking struct {
	m      *Mapping
	tx     *transaction
	zone   *time.Location
	with   map[string]any
	rows   map[string]int
	costs  []string // notes
	report *Report
}

// checkOrder is the order in which a poll runs the queries.
var checkOrder = [...]string{"flow", "definitions", "model", "tasks", "open", "why", "done", "schedules", "floor", "started", "ended", "created", "finished"}

// all runs each query without a row to ask for, and with one if there is one.
func (c *checking) all(ctx context.Context) error {
	c.rows = map[string]int{}
	for _, name := range checkOrder {
		if c.m.queries[name] == nil {
			continue
		}
		first, n, err := c.each(ctx, name)
		if err != nil {
			return err
		}
		c.rows[name] = n
		if err := c.cost(ctx, name); err != nil {
			return err
		}
		switch {
		case first == nil:
		case name == "definitions":
			c.with["definition"] = asText(first[0])
		case name == "floor":
			c.with["floor"] = asNumber(first[0])
		case isFlow(name):
			if err := c.next(ctx, name, first); err != nil {
				return err
			}
		}
		if (name == "model" || name == "tasks") && c.with["definition"] != nil {
			definition := c.with["definition"]
			c.with["definition"] = nil
			if _, _, err := c.each(ctx, name); err != nil {
				return err
			}
			c.with["definition"] = definition
		}
		c.report.Queries = append(c.report.Queries, Rows{name, c.rows[name]})
	}
	return nil
}

// isFlow reports whether a query returns rows of the history, in pages.
func isFlow(name string) bool {
	return name == "started" || name == "ended" || name == "created" || name == "finished"
}

// next asks for the page after a row.
func (c *checking) next(ctx context.Context, name string, row []any) error {
	with := c.with
	at, _ := asTime(row[1], c.zone) // each checked it
	c.with = timed(maps.Clone(with), "since", at, c.zone)
	c.with["after"] = asText(row[0])
	_, _, err := c.each(ctx, name)
	c.with = with
	return err
}

// each runs a query and checks the values of its rows. It returns the first, and how many
// there are.
func (c *checking) each(ctx context.Context, name string) (first []any, n int, err error) {
	want := shapes[name]
	err = c.tx.each(ctx, c.m, name, c.with, func(row []any) error {
		for i, column := range want.columns {
			if err := c.value(name, column, row[i]); err != nil {
				return err
			}
		}
		if n++; n == 1 {
			first = slices.Clone(row)
		}
		return nil
	})
	return first, n, err
}

// value checks the value of a column: a time is one, and what says which row it is is not NULL.
func (c *checking) value(query, column string, v any) error {
	switch column {
	case "since", "at", "until", "next", "last":
		if _, ok := asTime(v, c.zone); !ok && v != nil {
			return fmt.Errorf("column %s: %.40q; expected a time", column, asText(v))
		}
	}
	if v == nil && required[column] && !absent[[2]string{query, column}] {
		return fmt.Errorf("column %s is NULL; expected a value in each row", column)
	}
	return nil
}

// absent are columns that say which row it is in other queries.
var absent = map[[2]string]bool{{"done", "at"}: true, {"schedules", "activity"}: true}

// required are the columns that say which row it is.
var required = map[string]bool{"token": true, "definition": true, "activity": true, "instance": true, "id": true, "at": true, "net": true, "reason": true}

// elsewhere returns a note for each table of the mapping that several schemas have: which one
// is read depends on the search path.
func (d *Database) elsewhere(ctx context.Context, m *Mapping) (notes []string, err error) {
	seen := map[string]bool{}
	for _, n := range m.needs {
		if d.schemas == "" || n.schema != "" || seen[n.table] {
			continue
		}
		seen[n.table] = true
		read, others, err := d.schemasOf(ctx, n.table)
		if err != nil {
			return nil, err
		}
		if read != "" && len(others) > 0 {
			notes = append(notes, fmt.Sprintf("table %s is read from schema %s; there is one in %s, too. Set search_path in the address to read that one", n.table, read, strings.Join(others, ", ")))
		}
	}
	return notes, nil
}

// schemasOf returns the schema from which a table is read, and the others that have one of
// its name, such as those that the user may not use.
func (d *Database) schemasOf(ctx context.Context, table string) (read string, others []string, err error) {
	err = d.read(ctx, func(tx *transaction) error {
		rows, err := tx.QueryContext(ctx, d.schemas, table)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err has the error
		for rows.Next() {
			var schema string
			var is bool
			if err := rows.Scan(&schema, &is); err != nil {
				return err
			}
			if is {
				read = schema
			} else {
				others = append(others, schema)
			}
		}
		return rows.Err()
	})
	if err != nil {
		err = fmt.Errorf("looking for table %s: %w", table, err)
	}
	return read, others, err
}

// explained adds to an error of the database what can be done about it.
func explained(err error) error {
	if err != nil && strings.Contains(err.Error(), "row-level security") {
		return fmt.Errorf("%w: %w", err, errFiltered)
	}
	return err
}

// errFiltered is wrapped if the database would hide rows from the user.
var errFiltered = errors.New("the user would see only some rows, or none; expected one with the attribute BYPASSRLS (ALTER ROLE pnagent BYPASSRLS)")
