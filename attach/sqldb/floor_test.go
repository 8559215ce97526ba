// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tables makes the tables and indexes that a mapping needs.
func tables(t *testing.T, db *sql.DB, m *Mapping) {
	t.Helper()
	for _, n := range m.needs {
		if n.index {
			change(t, db, "CREATE INDEX i_"+n.table+n.columns[0]+" ON "+n.table+"("+n.columns[0]+")")
		} else {
			change(t, db, "CREATE TABLE "+n.table+" ("+strings.Join(n.columns, ", ")+")")
		}
	}
}

// TestFlowOfAirflowIsThatOfRunsThatWereOpen changes runs in tables like those of Airflow. It
// counts which of them finish: those that were open or new, and not an old one that ended
// before, although its end is now.
func TestFlowOfAirflowIsThatOfRunsThatWereOpen(t *testing.T) {
	for _, name := range []string{"airflow2", "airflow3"} {
		t.Run(name, func(t *testing.T) {
			db, address := ownDatabase(t)
			cfg := ownConfig(t, address)
			var err error
			cfg.Mapping, err = Mappings.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			tables(t, db, cfg.Mapping)
			set := func(state, end string, runs ...int) {
				t.Helper()
				for _, id := range runs {
					change(t, db, fmt.Sprintf("DELETE FROM dag_run WHERE id = %d", id),
						fmt.Sprintf("INSERT INTO dag_run (id, dag_id, run_id, state, start_date, end_date, clear_number) VALUES (%d, 'p', 'r%d', '%s', '%s', %s, 0)", id, id, state, at(time.Hour), end))
				}
			}
			if name == "airflow2" {
				change(t, db, `INSERT INTO serialized_dag (dag_id, data, dag_hash) VALUES ('p', '{"dag":{"tasks":[]}}', 'h')`)
			} else {
				change(t, db, `INSERT INTO dag_version VALUES ('h', 'p', 1)`, `INSERT INTO serialized_dag (dag_version_id, data) VALUES ('h', '{"dag":{"tasks":[]}}')`)
			}
			now := func() string { return "'" + at(0) + "'" }
			set("success", "'"+at(time.Hour)+"'", 1, 2)
			set("running", "NULL", 300)
			set("queued", "NULL", 301)
			set("success", "'"+at(time.Hour)+"'", 500)
			cfg.Overlap = time.Minute
			a := adapter(t, cfg)
			poll := func(want uint64) {
				t.Helper()
				if name == "airflow3" {
					change(t, db, "UPDATE dag_run SET created_dag_version_id = 'h'")
				}
				a.flowTook = 0 // the history is due at each poll
				if err := a.poll(t.Context()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, a.Status().Rows["finished"]); diff != "" {
					t.Errorf("runs that finished: %s", diff)
				}
			}
			poll(0)
			set("success", now(), 1)
			poll(0)
			set("success", now(), 300, 501) // the first was open, the other one is new
			poll(2)
			set("failed", now(), 301)
			poll(3)
		})
	}
}

// TestTheFloorIsThatOfAnOverlap takes the numbers of polls; an overlap is 10.
func TestTheFloorIsThatOfAnOverlap(t *testing.T) {
	var f floor
	for _, step := range []struct{ at, number, want int64 }{
		{100, 50, 50}, {105, 60, 50}, {110, 61, 50}, {115, 70, 50}, {120, 71, 61}, {125, 40, 40}, {130, 80, 40}, {140, 81, 80},
	} {
		f.take(step.number, step.at, 10)
		if got := min(f.This, f.Before); got != step.want {
			t.Errorf("at %d the floor is %d; expected %d", step.at, got, step.want)
		}
	}
}
