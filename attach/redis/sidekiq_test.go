// SPDX-License-Identifier: Apache-2.0

//go:build peers

package redis

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// TestSidekiq holds the adapter against Sidekiq, in each way in which a job may be stuck.
func TestSidekiq(t *testing.T) {
	t.Parallel()
	ruby := enginetest.Program(t, "ruby")
	enginetest.Program(t, "sidekiq")
	file, err := filepath.Abs(filepath.Join("testdata", "ruby", "engine.rb"))
	if err != nil {
		t.Fatal(err)
	}
	port := newRedis(t)
	l := newLibrary(t, "sidekiq", port, enginetest.Start(t, exec.Command(ruby, file, port)))
	l.cfg.Detail = false

	// No process works.
	l.Do("add mail Hold")
	l.Do("add idle Send")
	want := map[string][]string{
		"mail waiting": {"noWorker: Hold: no worker works the queue"},
		"idle waiting": {"noWorker: Send: no worker works the queue"},
	}
	l.agrees(want)

	// A process has a job that does not end, one is out of tries, one is tried again, one is for
	// tomorrow, and a queue is paused as Sidekiq Pro does.
	l.Do(`add mail Fail {"retry":0}`)
	l.Do("add mail Fail")
	l.Do(`add mail Send {"in":86400}`)
	l.Do("work mail")
	s := l.cfg.Server
	s.begin()
	set(t, s, "SADD paused off", `SADD queues off`)
	l.Do("add off Send")
	delete(want, "mail waiting")
	want["mail running"] = []string{"running: Hold: running, held by process WHO"}
	want["all-queues failed"] = []string{"incident: Fail of mail: failed, try 1 of 1"}
	want["all-queues retry"] = []string{"delayed: Fail of mail: failed, try 1 of 26"}
	want["all-queues delayed"] = []string{"delayed: Send of mail: scheduled"}
	want["off waiting"] = []string{"manual: Send: the queue is paused"}
	l.agrees(want)
	l.record()

	// The command lines that are shown try again what is out of tries, which fails again, and send what is for tomorrow.
	l.act(allQueues, failed, "REDIS_URL=redis://127.0.0.1:"+port)
	l.act(allQueues, delayed, "REDIS_URL=redis://127.0.0.1:"+port)
	delete(want, "all-queues delayed")
	l.agrees(want)

	// The process is killed. Its last heartbeat gets older, which is not waited for; it expires after a
	// minute, and with it the job.
	l.Do("kill")
	process := s.list(t, "SMEMBERS", "processes")[0]
	set(t, s, "HSET "+process+" beat 1795987131.5")
	want["mail running"] = []string{"noWorker: Hold: running, its process is gone, no heartbeat since 2026-11-29T21:18:51Z, held by process WHO"}
	until(t, func() string { return cmp.Diff(want, l.look().whys()) })
	set(t, s, "DEL "+process+" "+process+":workers")
	delete(want, "mail running")
	l.agrees(want)
}
