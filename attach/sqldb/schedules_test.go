// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// Of several schedules of an activity the earliest time that is to come counts, and the latest that was.
func TestSchedulesSayWhenAnActivityIsDueNextAndWasLast(t *testing.T) {
	db, address := ownDatabase(t)
	change(t, db, "CREATE TABLE schedule (node TEXT, next TEXT, last TEXT, cron TEXT, zone TEXT)")
	presence, _, _ := strings.Cut(ownMapping, "-- query: started")
	cfg := ownConfig(t, address)
	var err error
	cfg.Mapping, err = ReadMapping(strings.NewReader(presence+"-- query: schedules\nSELECT 'd' AS definition, node AS activity, next, last, cron, zone FROM schedule LIMIT :limit"), "own.sql")
	if err != nil {
		t.Fatal(err)
	}
	w := newWatch(t)
	w.run(cfg)
	shows := func(node string, columns stats.Columns, next, last time.Duration) {
		t.Helper()
		w.until(func() string {
			s, row := w.last["p"], stats.Transition{}
			if s == nil {
				return "no message"
			}
			for i, tr := range w.net("p").Transitions {
				if tr.ID == node {
					row = s.Rows.Transitions[i]
				}
			}
			if got := s.Rows.Columns & (stats.ColNextDue | stats.ColLastFiring | stats.ColFirings); got != columns {
				return fmt.Sprintf("columns %b; expected %b", got, columns)
			}
			if !around(row.NextDue, next) || !around(row.LastFiring, last) {
				return fmt.Sprintf("due %d, last %d; expected in %v, %v", row.NextDue, row.LastFiring, next, last)
			}
			return ""
		})
	}
	shows("desk", stats.ColNextDue, 0, 0)
	change(t, db, "INSERT INTO schedule (node, next, last) VALUES ('desk', '"+at(-time.Hour)+"', NULL)")
	shows("desk", stats.ColNextDue, time.Hour, 0)
	change(t, db, "INSERT INTO schedule (node, next, last) VALUES ('desk', '"+at(time.Hour)+"', '"+at(2*time.Hour)+"'), ('desk', NULL, '"+at(3*time.Hour)+"'), ('cellar', '"+at(-2*time.Hour)+"', NULL)")
	shows("desk", stats.ColNextDue|stats.ColLastFiring, -time.Hour, -2*time.Hour)
	shows("cellar", stats.ColNextDue|stats.ColLastFiring, 2*time.Hour, 0)
	change(t, db, "DELETE FROM schedule")
	shows("desk", stats.ColNextDue|stats.ColLastFiring, 0, -2*time.Hour)
	for _, c := range []struct {
		next, cron string
		want       time.Duration
	}{
		{at(90 * time.Minute), in(-time.Hour), -time.Hour},                     // it did not run an hour ago
		{at(30 * time.Minute), in(-time.Hour), 23 * time.Hour},                 // it did
		{at(90 * time.Minute), in(3*time.Hour) + "', 'Asia/Dubai", -time.Hour}, // four hours ahead of UTC
		{at(30 * time.Minute), in(-time.Hour) + "', 'Asia/Atlantis", 0},        // no such zone
		{at(30 * time.Minute), "30 " + in(-time.Hour), 0},                      // with seconds
		{at(-time.Hour), "", time.Hour},                                        // no cron expression
	} {
		if !strings.Contains(c.cron, "', '") {
			c.cron += "', '"
		}
		change(t, db, "DELETE FROM schedule", "INSERT INTO schedule (node, next, cron, zone) VALUES ('desk', '"+c.next+"', '"+c.cron+"')")
		shows("desk", stats.ColNextDue|stats.ColLastFiring, c.want, -2*time.Hour)
	}

	if _, err := ReadMapping(strings.NewReader(presence+"-- query: schedules\nSELECT 1 WHERE :since"), "own.sql"); err == nil || !strings.Contains(err.Error(), "query schedules: parameter :since; expected :limit, :now, :now_ms") {
		t.Errorf("a parameter of others: %v", err)
	}
}

// in returns the cron expression of the minute that is that far from now, each day.
func in(from time.Duration) string { return time.Now().UTC().Add(from).Format("4 15 * * *") }

// around reports whether a time is that far from now, to five minutes: a cron expression names a minute, not a
// second, and a slow machine takes its time until the next row of the test. 0 is no time.
func around(micros int64, from time.Duration) bool {
	if micros == 0 || from == 0 {
		return micros == 0 && from == 0
	}
	off := time.Until(time.UnixMicro(micros)) - from
	return off.Abs() < 5*time.Minute
}
