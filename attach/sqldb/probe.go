// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// ErrProbe is wrapped by the error of Probe if the database lacks something.
var ErrProbe = errors.New("the database does not fit the mapping")

// Probe checks that the database has what the mapping needs, and that its user
// may read it. It returns the version of the engine's tables. The error names each
// table, column or index that is missing, with the database's own words.
func Probe(ctx context.Context, d *Database, m *Mapping) (version string, err error) {
	if err := d.db.PingContext(ctx); err != nil {
		return "", fmt.Errorf("connecting to the database: %w", err)
	}
	var faults []error
	for _, n := range m.needs {
		if n.index {
			err = d.probeIndex(ctx, n)
		} else {
			err = d.probeTable(ctx, n)
		}
		if err != nil {
			faults = append(faults, err)
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
	if len(faults) > 0 {
		if err := d.db.PingContext(ctx); err != nil {
			return "", fmt.Errorf("connecting to the database: %w", err)
		}
		return "", fmt.Errorf("%w %s: %w", ErrProbe, m.Name, errors.Join(faults...))
	}
	err = d.read(ctx, func(tx *transaction) error {
		return tx.each(ctx, m, "probe", nil, func(row []any) error {
			version = asText(row[0])
			return nil
		})
	})
	if err != nil {
		return "", fmt.Errorf("%w %s: %w", ErrProbe, m.Name, err)
	}
	return version, nil
}

// probeTable reads no row of a table. If that fails, it does so for each column. Columns have an alias of the table before them:
// without it, a name that is no column may be the table itself in PostgreSQL, and a text in SQLite.
func (d *Database) probeTable(ctx context.Context, n need) error {
	read := func(columns string) error {
		return d.read(ctx, func(tx *transaction) error {
			rows, err := tx.QueryContext(ctx, "SELECT "+columns+" FROM "+n.name()+" x WHERE 1 = 0")
			if err != nil {
				return explained(err)
			}
			err = rows.Err()
			return explained(errors.Join(err, rows.Close()))
		})
	}
	if read("x."+strings.Join(n.columns, ", x.")) == nil {
		return nil
	}
	if err := read("1"); err != nil {
		return fmt.Errorf("table %s: %w", n.name(), d.where(ctx, n, err))
	}
	var faults []error
	for _, c := range n.columns {
		if err := read("x." + c); err != nil {
			faults = append(faults, fmt.Errorf("column %s of table %s: %w", c, n.name(), err))
		}
	}
	return errors.Join(faults...)
}

func (d *Database) probeIndex(ctx context.Context, n need) error {
	err := d.read(ctx, func(tx *transaction) error {
		var one int
		return tx.QueryRowContext(ctx, d.indexes, n.schema, n.table, n.columns[0]).Scan(&one)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("table %s has no index that begins with %s; a poll would read the whole table", n.name(), n.columns[0])
	}
	return err
}

// where adds to the error about a table the schemas that have one of its name, if the database
// does not look there: the user may not use the schema, or the search path lacks it.
func (d *Database) where(ctx context.Context, n need, err error) error {
	if d.schemas == "" || n.schema != "" {
		return err
	}
	read, others, failed := d.schemasOf(ctx, n.table)
	if failed != nil || read != "" || len(others) == 0 {
		return err
	}
	return fmt.Errorf("%w; there is one in schema %s: expected that search_path in the address names the schema, and GRANT USAGE ON SCHEMA", err, strings.Join(others, ", "))
}
