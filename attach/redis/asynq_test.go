// SPDX-License-Identifier: Apache-2.0

//go:build peers

package redis

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// newAsynq starts the program of testdata/asynq.
func newAsynq(t *testing.T, port string) *enginetest.Engine {
	t.Helper()
	return enginetest.Start(t, exec.Command(enginetest.Module(t, "asynq"), port)) // it ends with its input
}

// TestAsynq holds the adapter against asynq, in each way in which a task may be stuck. Its Inspector
// has no time of a task that waits or is scheduled.
func TestAsynq(t *testing.T) {
	t.Parallel()
	port := newRedis(t)
	l := newLibrary(t, "asynq", port, newAsynq(t, port))
	agrees := func(want map[string][]string) {
		t.Helper()
		until(t, func() string {
			found, reported := l.look(), l.reported()
			tokens := found.tokens()
			for i := range tokens {
				if p := tokens[i].place; p == waiting {
					if age := time.Now().UnixMilli() - tokens[i].since; age < 0 || age > 60_000 {
						return fmt.Sprintf("%+v has waited for %d ms", tokens[i], age)
					}
					tokens[i].since = 0
				}
			}
			if d := agree(reported, tokens); d != "" {
				return "tasks, - library, + adapter:\n" + d
			}
			return cmp.Diff(want, found.whys())
		})
	}

	// No server works.
	l.Do("add mail hold")
	l.Do("add idle send")
	want := map[string][]string{
		"mail waiting": {"noWorker: hold: no worker works the queue"},
		"idle waiting": {"noWorker: send: no worker works the queue"},
	}
	agrees(want)

	// A server has a task that does not end, one is out of tries, one is tried again in an hour, one
	// is for tomorrow, and a queue is paused.
	l.Do("work mail")
	l.Do("add mail fail")
	l.Do(`add mail fails {"attempts":3}`)
	l.Do("add mail send")
	l.Do(`add mail send {"delay":86400000}`)
	l.Do("add off send")
	l.Do("pause off")
	delete(want, "mail waiting")
	want["mail running"] = []string{"running: hold: running, try 1 of 1, held by server WHO until END"}
	want["mail failed"] = []string{"incident: fail: failed, try 1 of 1: out of paper"}
	want["mail retry"] = []string{"delayed: fails: failed, try 1 of 3: out of paper"}
	want["mail delayed"] = []string{"delayed: send: scheduled"}
	want["off waiting"] = []string{"manual: send: the queue is paused"}
	agrees(want)
	l.record()
	if done := l.look().all; len(done) != 3 || done[1].done != 1 {
		t.Errorf("%+v; expected that one task of mail has succeeded", done)
	}

	// The server is killed. Its heartbeat expires after 10 s, and its lease after 30 s, which is not
	// waited for.
	l.Do("kill")
	s := l.cfg.Server
	s.begin()
	set(t, s, "ZADD asynq:{mail}:lease XX 1795987131 "+s.list(t, "ZRANGE", "asynq:{mail}:lease", "0", "0")[0])
	want["mail running"] = []string{"noWorker: hold: running, try 1 of 1, the lock of its worker ended at END"}
	until(t, func() string { return cmp.Diff(want, l.look().whys()) })
}
