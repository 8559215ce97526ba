// SPDX-License-Identifier: Apache-2.0

//go:build peers

package redis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/npmtest"
)

// modules returns a directory in which a version of a library has its usual name.
func modules(t *testing.T, version string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(npmtest.Install(t, filepath.Join("testdata", "node")), "node_modules", version), filepath.Join(dir, strings.TrimRight(version, "5"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBullMQ holds the adapter against BullMQ and Bull, in each way in which a job may be stuck.
func TestBullMQ(t *testing.T) {
	for _, version := range []string{"bullmq", "bullmq5", "bull"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			port, name := newRedis(t), strings.TrimRight(version, "5")
			l := newLibrary(t, name, port, newNode(t, version, port))

			// No worker works.
			l.Do("add idle send")
			l.Do(`add idle vip {"priority":5}`)
			l.Do("add mail hold")
			want := map[string][]string{
				"idle waiting": {"noWorker: send: no worker works the queue", "noWorker: vip: no worker works the queue"},
				"mail waiting": {"noWorker: hold: no worker works the queue"},
			}
			l.agrees(want)

			// A worker has a job that does not end, one is out of tries, one is tried again in an hour,
			// one is for tomorrow, and a queue is paused.
			l.Do(`add mail later {"delay":86400000}`)
			l.Do("work mail")
			l.Do("add mail fail")
			l.Do(`add mail fails {"attempts":3,"backoff":3600000}`)
			l.Do("add mail quick")
			l.Do("pause off")
			l.Do("add off send")
			delete(want, "mail waiting")
			want["mail running"] = []string{"running: hold: running, try 1 of 1"}
			want["mail failed"] = []string{"incident: fail: failed, try 1 of 1: out of paper"}
			want["mail delayed"] = []string{"delayed: fails: failed, try 1 of 3: out of paper", "delayed: later: scheduled"}
			want["off waiting"] = []string{"manual: send: the queue is paused"}
			if name == "bullmq" {
				l.Do("family idle parent")
				want["idle waiting-children"] = []string{"missing: parent: it has children that have not ended"}
				want["children waiting"] = []string{"noWorker: child: no worker works the queue"}
			}
			l.agrees(want)
			l.Do("repeat cron nightly")
			if name == "bullmq" { // adds the first one now
				want["cron waiting"] = []string{"noWorker: nightly: no worker works the queue"}
			} else {
				want["cron delayed"] = []string{"delayed: nightly: scheduled"}
			}
			until(t, func() string {
				for _, f := range l.look().all {
					if in := f.due/1000 - time.Now().UnixMilli(); f.queue == "cron" && in < 3_601_000 && in > -60_000 {
						return ""
					}
				}
				return "the queue cron is not due"
			})
			if version == name {
				l.record()
			}

			// The command lines that are shown try again what failed, which fails again, send what is for tomorrow,
			// and resume the queue.
			shell := []string{"REDIS_URL=redis://127.0.0.1:" + port, "NODE_PATH=" + modules(t, version)}
			l.act("mail", failed, shell...)
			l.act("off", waiting, shell...)
			l.act("mail", delayed, shell...)
			want["off waiting"] = []string{"noWorker: send: no worker works the queue"}
			want["mail delayed"] = want["mail delayed"][:1]
			want["mail failed"][0] = "incident: fail: failed, try 2 of 2: out of paper"
			l.agrees(want)

			// The worker is killed, and its locks expire. The job is running until another worker looks.
			l.Do("kill")
			want["mail running"] = []string{"noWorker: hold: running, try 1 of 1, its worker is gone, its lock has expired"}
			l.agrees(want)
		})
	}
}
