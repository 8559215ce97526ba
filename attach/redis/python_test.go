// SPDX-License-Identifier: Apache-2.0

//go:build peers

package redis

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// python returns the Python that has the libraries.
func python(t *testing.T) string {
	t.Helper()
	return enginetest.Python(t, filepath.Join("testdata", "python", "packages.txt"))
}

// inPython returns the environment of a shell with the programs of these libraries.
func inPython(t *testing.T, more ...string) []string {
	t.Helper()
	return append(more, "PATH="+filepath.Dir(python(t))+":/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1")
}

// newPython starts a library of testdata/python.
func newPython(t *testing.T, library, port string) *enginetest.Engine {
	t.Helper()
	return enginetest.Start(t, exec.Command(python(t), filepath.Join("testdata", "python", "engine.py"), library, port)) // it ends with its input
}

// TestRQ holds the adapter against RQ, in each way in which a job may be stuck.
func TestRQ(t *testing.T) {
	t.Parallel()
	port := newRedis(t)
	l := newLibrary(t, "rq", port, newPython(t, "rq", port))

	// No worker works, and all are suspended.
	first := l.Do("add mail hold")[0]
	l.Do(fmt.Sprintf(`add mail send {"after":%q}`, first))
	want := map[string][]string{
		"mail waiting":  {"noWorker: engine.hold: no worker works the queue"},
		"mail deferred": {"missing: engine.send: jobs before it have not ended"},
	}
	l.agrees(want)
	l.Do("pause")
	want["mail waiting"] = []string{"manual: engine.hold: all workers are suspended"}
	l.agrees(want)
	l.Do("resume")

	// A worker has a job that does not end, another one works another queue.
	l.Do("work mail")
	l.Do("work other")
	l.Do("add other send")
	first = l.Do("add other fail")[0]
	l.Do(`add other fails {"attempts":3}`)
	l.Do(`add other send {"delay":86400000}`)
	l.Do(fmt.Sprintf(`add other send {"after":%q}`, first))
	l.Do("add mail send")
	delete(want, "mail waiting")
	want["mail running"] = []string{"running: engine.hold: running, tries left: 0, held by worker WHO until END"}
	want["mail waiting"] = []string{"enabled: engine.send: no worker has taken it"}
	want["other failed"] = []string{"incident: engine.fail: failed, tries left: 0"}
	want["other delayed"] = []string{"delayed: engine.fails: failed, tries left: 1", "delayed: engine.send: scheduled"}
	want["other deferred"] = []string{"incident: engine.send: job " + first + " before it is failed"}
	l.cfg.Detail = false
	l.agrees(want)
	l.record()

	// The command line that is shown puts the failed job into its queue again, where it fails again.
	if out := l.act("other", failed, inPython(t, "RQ_REDIS_URL=redis://127.0.0.1:"+port)...); !strings.Contains(out, "Requeueing 1 jobs") {
		t.Errorf("rq requeue printed %s", out)
	}
	l.agrees(want)

	// The workers are killed. Their heartbeats expire after a minute and more, which is not waited for.
	l.Do("kill")
	s := l.cfg.Server
	s.begin()
	set(t, s, "ZADD rq:wip:mail XX 1795987131 "+s.list(t, "ZRANGE", "rq:wip:mail", "0", "0")[0], "DEL "+strings.Join(s.list(t, "SMEMBERS", "rq:workers"), " "))
	want["mail running"] = []string{"noWorker: engine.hold: running, tries left: 0, the lock of worker WHO ended at END"}
	want["mail waiting"] = []string{"noWorker: engine.send: no worker works the queue"}
	until(t, func() string {
		got := l.look().whys()
		return cmp.Diff(want, got)
	})
}

// TestCelery holds the adapter against Celery's messages. Its API has no times of those that wait,
// which count from when they were first seen.
func TestCelery(t *testing.T) {
	t.Parallel()
	port := newRedis(t)
	l := newLibrary(t, "celery", port, newPython(t, "celery", port))

	// No worker works.
	l.Do("add mail hold")
	l.Do(`add mail send {"priority":3}`)
	want := map[string][]string{"mail waiting": {"noWorker: hold: no worker works the queue", "noWorker: send: no worker works the queue"}}
	until(t, func() string { return cmp.Diff(want, l.look().whys()) })

	// A worker has a task that does not end, and one that is for tomorrow.
	before := time.Now().UnixMilli()
	l.Do("work mail")
	l.Do("add idle send")
	want = map[string][]string{
		"idle waiting":         {"enabled: send: no worker has taken it"},
		"all-queues delivered": {"running: hold of mail: delivered to a worker"},
	}
	until(t, func() string { return cmp.Diff(want, l.look().whys()) })
	tomorrow := l.Do(`add mail send {"delay":86400000}`)[0]
	want["all-queues delivered"] = []string{"delayed: send of mail: scheduled, delivered to a worker", "running: hold of mail: delivered to a worker"}
	until(t, func() string { return cmp.Diff(want, l.look().whys()) })
	l.record()
	for _, j := range l.look().tokens() {
		switch {
		case j.queue == allQueues && (j.since < before || j.since > time.Now().UnixMilli()):
			t.Errorf("%+v; expected that it was delivered after %d", j, before)
		case j.queue != allQueues && j.since != 0:
			t.Errorf("%+v; expected no time", j)
		}
	}

	// The command lines that are shown say whether a worker has a task, and which queues workers have.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.py"), []byte("import celery\napp = celery.Celery(broker='redis://127.0.0.1:"+port+"/0')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell := inPython(t, "CELERY_APP=shop", "PYTHONPATH="+dir)
	if out := l.act(allQueues, celeryPlace, shell...); !strings.Contains(out, "active") {
		t.Errorf("celery inspect query_task printed %s", out)
	}
	if out := l.act("idle", waiting, shell...); !strings.Contains(out, "'name': 'mail'") {
		t.Errorf("celery inspect active_queues printed %s", out)
	}

	// A worker that is killed leaves what it has. Celery delivers it again after an hour.
	l.Do("kill")
	until(t, func() string { return cmp.Diff(want, l.look().whys()) })
	if ids := l.look().tokens(); !slices.ContainsFunc(ids, func(j token) bool { return j.id == tomorrow }) {
		t.Errorf("%v; expected the task %s", ids, tomorrow)
	}
}
