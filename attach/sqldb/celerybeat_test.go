// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

// beatRules expect of each periodic task a firing when its schedule says.
const beatRules = "settle: 1s\ndefaults: {stuck: off, starved: off, expect: {grace: 3s}}\n"

// TestCeleryBeat holds the adapter against the schedules of django-celery-beat, and kills beat. The net of each
// periodic task has its name.
func TestCeleryBeat(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	e, reader := newPython(t, "celerybeat", "beat2.txt", s.address), s.reader()
	for _, command := range []string{"interval tick 2", "interval hourly 3600", "interval later 60 7200", "clocked once 7200", "sunset lights", "interval paused 60",
		"crontab nightly Europe/Berlin 30 3 * * *", "crontab weekly UTC 0,15,30,45 6-18/3 * * mon-fri", "crontab friday13 UTC 0 0 13 * fri", "disable paused"} {
		e.Do(command)
	}
	w := newWatch(t)
	w.run(newConfig(t, reader, "celery-beat"))

	// No beat runs.
	const unsent, disabled = "enabled: due, beat has not sent it", "manual: the schedule is disabled"
	w.sendsWait(e, map[string]string{"tick": unsent, "paused": disabled})
	for _, name := range []string{"hourly", "later", "once", "nightly", "weekly"} {
		w.next(name, time.UnixMilli(e.report().due[name]))
	}
	for _, name := range []string{"lights", "friday13", "paused"} { // the times of the first two are not in the tables
		w.next(name, time.UnixMicro(0))
	}

	// Beat runs. The net of a task shows when it was sent.
	e.Do("work one")
	w.sendsWait(e, map[string]string{"paused": disabled})
	w.until(func() string {
		row := w.last["tick"].Rows.Transitions[0]
		if row.LastFiring == 0 || row.NextDue-row.LastFiring != 2_000_000 {
			return fmt.Sprintf("tick was sent at %d, next at %d; expected 2 s between", row.LastFiring, row.NextDue)
		}
		return ""
	})

	q := &ticking{t: t, sink: snmptest.StartTrapd(t)}
	q.side = newSidecar(t, w.url, beatRules, q.sink)
	until(t, func() string {
		if view, err := api.Get[api.View](t.Context(), q.client(), "view", nil); err != nil || len(view.Nets) < 9 {
			return fmt.Sprintf("the sidecar has %d nets, %v; expected 9", len(view.Nets), err)
		}
		return ""
	})

	// Beat is killed, and its next firing is missed. The other tasks are not due yet.
	e.Do("kill one")
	killed := time.Now()
	text := q.traps("22", "tick")["tick"]
	t.Logf("beat was killed: reported after %v: %s", time.Since(killed).Round(100*time.Millisecond), text)
	if want := `transition "send" of net "tick" was due at `; !strings.HasPrefix(text, want) || !strings.Contains(text, "missing; the last one was at 20") {
		t.Errorf("the trap: %q; expected %q and when it was sent last", text, want)
	}
	w.sendsWait(e, map[string]string{"tick": unsent, "paused": disabled})
	e.Do("work two")
	if text := q.traps("23", "tick")["tick"]; !strings.Contains(text, `transition "send" of net "tick" fired at 20`) {
		t.Errorf("the trap that it was sent again: %q", text)
	}

	// A person disables a schedule, and enables another one by the command line that faces show.
	e.Do("disable tick")
	w.sendsWait(e, map[string]string{"tick": disabled, "paused": disabled})
	w.act("paused", "6", newProject(t, s.address)...)
	w.sendsWait(e, map[string]string{"tick": disabled})
	w.next("paused", time.UnixMilli(e.report().due["paused"]))
	if got, err := checked(t, newConfig(t, reader, "celery-beat")); err != nil || len(got.Notes) > 0 {
		t.Errorf("the check: %+v, %v", got, err)
	}
}

// sendsWait waits until the periodic tasks that are due or disabled are those of the engine, and wait for what is wanted.
func (w *watch) sendsWait(e *engine, want map[string]string) {
	w.t.Helper()
	w.until(func() string {
		r, got := e.report(), map[string]string{}
		if len(r.held) == 0 {
			return "the engine has no token"
		}
		if d := agree(r.held, w.held()); d != "" {
			return "tokens, - engine, + adapter:\n" + d
		}
		for _, h := range w.held() {
			for key, text := range w.waits(h.net, h.instance) {
				got[h.net] = strings.TrimPrefix(key, "send send ") + ": " + text
			}
		}
		return cmp.Diff(want, got)
	})
}

// newProject returns the environment in which the manage.py of a Django project is run, with these schedules.
func newProject(t *testing.T, database string) []string {
	t.Helper()
	from, err := filepath.Abs(filepath.Join("testdata", "celerybeat"))
	if err != nil {
		t.Fatal(err)
	}
	dir, python := t.TempDir(), enginetest.Python(t, filepath.Join(from, "beat2.txt"))
	for name, text := range map[string]string{
		"manage.py": "import sys\nfrom django.core.management import execute_from_command_line\nfrom engine import new_app\nnew_app('" + database + "')\nexecute_from_command_line(sys.argv)\n",
		"start":     "cd " + dir + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"BASH_ENV=" + filepath.Join(dir, "start"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" + from, "PATH=" + filepath.Dir(python) + ":" + os.Getenv("PATH")}
}
