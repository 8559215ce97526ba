// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/stats"
)

// TestQuartz holds the adapter against the Scheduler interface of Quartz, on PostgreSQL.
func TestQuartz(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and Java")
	}
	t.Parallel()
	for _, version := range []string{"2.5.2", "2.3.2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := newPostgres(t)
			q := &quartz{t: t, s: s, e: newEngine(t, "quartz", s.driver, "none", "quartz.version="+version), w: newWatch(t)}
			q.unattended(version == "2.5.2")
			q.running()
			q.killed()
			q.recovered()
			q.alone()
		})
	}
}

// quartz is a cluster of schedulers named office, and a scheduler named solo.
type quartz struct {
	t *testing.T
	s *server
	e *engine
	w *watch

	ran []held // by killed schedulers: no API reports it any more
}

// waiting is what one trigger waits for: its job's class, the reason and the text, by trigger.
type waiting map[string]string

const (
	mail, hold, alone, broken = "Engine$Mail", "Engine$Hold", "Engine$Alone", "Engine$Broken"

	taken = " is due, no scheduler has taken it"
)

// shows waits until the adapter shows the tokens that Quartz reports, of the triggers that are wanted, and what
// they wait for.
func (q *quartz) shows(net string, want waiting) report {
	q.t.Helper()
	var r report
	q.w.until(func() string {
		r = q.e.report()
		r.held = append(r.held, q.ran...)
		r.held = slices.DeleteFunc(r.held, func(h held) bool { return h.net != net })
		got := q.w.of(net)
		if d := agree(slices.Clone(r.held), got); d != "" {
			return "tokens of " + net + ", - Quartz, + adapter:\n" + d
		}
		all := waiting{}
		for _, h := range got {
			for key, text := range q.w.waits(net, h.instance) {
				node, reason, _ := strings.Cut(key, " ")
				all[h.instance+" "+node+" "+reason[strings.LastIndex(reason, " ")+1:]] = text
			}
		}
		if d := cmp.Diff(want, all); d != "" {
			return "what triggers of " + net + " wait for, - want, + adapter:\n" + d
		}
		return ""
	})
	q.w.traps()
	return r
}

// with returns what is wanted, and more.
func (w waiting) with(more waiting) waiting {
	out := maps.Clone(w)
	maps.Copy(out, more)
	return out
}

// paused are triggers that stay paused in all tests, or before their time.
var paused = waiting{
	"mail.off " + mail + " manual":    "job post.off is due, the trigger is paused",
	"night.shift " + mail + " manual": "job post.night is due, trigger group night is paused",
}

// unattended has no scheduler that runs: what is due waits since then, and what is not due is not there.
func (q *quartz) unattended(faces bool) {
	q.t.Helper()
	for _, command := range []string{
		"standby office true", "standby solo false",
		"schedule office mail.late post.letters Mail -600",
		"schedule office mail.ahead post.ahead Mail 3600",
		"schedule office mail.off post.off Mail -300", "pause office mail.off",
		"schedule office mail.off-ahead post.off-ahead Mail 3600", "pause office mail.off-ahead",
		"pause-group office night", "schedule office night.shift post.night Mail -200",
	} {
		q.e.Do(command)
	}
	q.w.run(newConfig(q.t, q.s.address, "quartz"))
	q.w.shows("office")
	want := paused.with(waiting{"mail.late " + mail + " enabled": "job post.letters" + taken})
	r := q.shows("office", want)
	if report, err := checked(q.t, newConfig(q.t, q.s.address, "quartz")); err != nil || len(report.Notes) > 0 {
		q.t.Errorf("the check: %+v, %v", report, err)
	}
	if !faces {
		return
	}
	watched := newWatch(q.t)
	page := enginetest.Follow(q.t, document, "Quartz", watched.url, "postgres://pnagent:secret@127.0.0.1:5432/quartz", q.s.reader())
	watched.shows("office")
	watched.until(func() string {
		return page.Faces(r.shown(), map[string][]enginetest.Why{"office " + mail: {
			why(mail, "job post.letters"+taken, stats.ReasonEnabled),
			why(mail, "job post.off is due, the trigger is paused", stats.ReasonManual),
			why(mail, "job post.night is due, trigger group night is paused", stats.ReasonManual),
		}})
	})
	page.End()
}

// failed are triggers in state ERROR: of a job whose class throws when it is made, or is not there.
var failed = waiting{
	"work.broken " + broken + " incident": "job work.broken, the trigger is in state ERROR",
	"work.once " + broken + " incident":   "job work.once, the trigger is in state ERROR",
	"work.gone gone.Job incident":         "job work.gone, the trigger is in state ERROR",
}

// running has a scheduler that runs what is due. Two of its three threads have a job then.
func (q *quartz) running() {
	q.t.Helper()
	for _, command := range []string{
		"schedule office work.broken work.broken Broken -100",
		"schedule office work.once work.once Broken -95 once",
		"schedule office work.gone work.gone Mail -90",
		"schedule office work.first work.alone Alone -50",
		"schedule office work.second work.alone Alone -45",
		"schedule office work.hold work.hold Hold -40",
	} {
		q.e.Do(command)
	}
	change(q.t, q.s.open("pgx", q.s.address), "UPDATE qrtz_job_details SET job_class_name = 'gone.Job' WHERE job_name = 'gone'")
	q.e.Do("node office a true 3")
	r := q.shows("office", paused.with(failed).with(waiting{
		"work.first " + alone + " running":  "job work.alone is running, held by scheduler a",
		"work.second " + alone + " enabled": "job work.alone is due, and blocked while it runs",
		"work.hold " + hold + " running":    "job work.hold is running, held by scheduler a",
	}))
	q.ran = r.of("work.first", "work.hold")
}

// killed kills the scheduler while it runs jobs, and before it runs one that it has acquired.
func (q *quartz) killed() {
	q.t.Helper()
	db := q.s.open("pgx", q.s.address)
	q.e.Do("at a schedule office work.soon work.soon Mail 5")
	q.w.until(func() string {
		var state string
		if err := db.QueryRow("SELECT trigger_state FROM qrtz_triggers WHERE trigger_name = 'soon'").Scan(&state); err != nil {
			q.t.Fatal(err)
		}
		return cmp.Diff("ACQUIRED", state)
	})
	q.e.Do("kill a")
	change(q.t, db, "UPDATE qrtz_scheduler_state SET last_checkin_time = last_checkin_time - 120000")
	var millis int64
	if err := db.QueryRow("SELECT last_checkin_time FROM qrtz_scheduler_state WHERE instance_name = 'a'").Scan(&millis); err != nil {
		q.t.Fatal(err)
	}
	unseen := ", no heartbeat since " + time.UnixMilli(millis).UTC().Format(time.RFC3339)
	q.e.Do("schedule office mail.unseen post.unseen Mail -10")
	q.shows("office", paused.with(failed).with(waiting{
		"work.first " + alone + " noWorker":  "job work.alone is running, held by scheduler a" + unseen,
		"work.second " + alone + " noWorker": "job work.alone is due, and blocked while it runs" + unseen,
		"work.hold " + hold + " noWorker":    "job work.hold is running, held by scheduler a" + unseen,
		"work.soon " + mail + " noWorker":    "job work.soon is due, acquired by a scheduler that has not started it, held by scheduler a" + unseen,
		"mail.unseen " + mail + " noWorker":  "job post.unseen" + taken + unseen,
	}))
}

// recovered starts a scheduler again. What is over has no token.
func (q *quartz) recovered() {
	q.t.Helper()
	q.ran = nil
	q.e.Do("node office c true 3")
	q.shows("office", paused.with(failed).with(waiting{"work.second " + alone + " running": "job work.alone is running, held by scheduler c"}))
	q.e.Do("at c end office")
	q.shows("office", paused.with(failed))
	for _, job := range []string{"broken", "once", "gone"} {
		q.e.Do("delete office work." + job)
	}
	q.e.Do("pause-all office")
	q.shows("office", waiting{
		"mail.off " + mail + " manual":    "job post.off is due, all trigger groups are paused",
		"night.shift " + mail + " manual": "job post.night is due, all trigger groups are paused",
	})
	q.e.Do("at c resume office mail.off")
	q.shows("office", waiting{"night.shift " + mail + " manual": "job post.night is due, all trigger groups are paused"})
}

// alone kills a scheduler without a cluster, which never checks in. It is recovered by the next one of its name.
func (q *quartz) alone() {
	q.t.Helper()
	q.e.Do("schedule solo work.first work.alone Alone -20")
	q.e.Do("schedule solo work.second work.alone Alone -10")
	q.e.Do("node solo d false 1")
	want := waiting{
		"work.first " + alone + " running":  "job work.alone is running, held by scheduler d",
		"work.second " + alone + " enabled": "job work.alone is due, and blocked while it runs",
	}
	q.ran = q.shows("solo", want).of("work.first")
	q.e.Do("kill d")
	q.shows("solo", want)
	q.ran = nil
	q.e.Do("node solo d false 1")
	q.shows("solo", waiting{"work.second " + alone + " running": "job work.alone is running, held by scheduler d"})
	q.e.Do("delete solo work.alone")
	q.w.waitsFor("solo", "work.second", map[string]string{"deleted-job deleted-job running": "job work.alone is running, held by scheduler d"})
	q.e.Do("at d end solo")
	q.w.until(func() string { return cmp.Diff(0, len(q.w.of("solo"))) })
}

// of returns the tokens of triggers.
func (r report) of(triggers ...string) []held {
	return slices.DeleteFunc(slices.Clone(r.held), func(h held) bool { return !slices.Contains(triggers, h.instance) })
}

// of returns the tokens of a net. Callers hold mu.
func (w *watch) of(net string) []held {
	return slices.DeleteFunc(w.held(), func(h held) bool { return h.net != net })
}
