// SPDX-License-Identifier: Apache-2.0

//go:build peers

package redis

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestResque holds the adapter against node-resque, in each way in which a job may be stuck. Resque has no
// time of a job that waits.
func TestResque(t *testing.T) {
	t.Parallel()
	port := newRedis(t)
	l := newLibrary(t, "resque", port, newNode(t, "resque", port))
	l.cfg.Detail = false

	// No worker works.
	l.Do("add mail hold")
	l.Do("add idle send")
	want := map[string][]string{
		"mail waiting": {"noWorker: hold: no worker works the queue"},
		"idle waiting": {"noWorker: send: no worker works the queue"},
	}
	l.agrees(want)

	// A worker has a job that does not end, another one had one that failed, and one is for tomorrow.
	l.Do("add other fail")
	l.Do(`add mail send {"delay":86400000}`)
	l.Do("work mail")
	l.Do("work other")
	l.Do("add mail send")
	want["mail waiting"] = []string{"enabled: send: no worker has taken it"}
	want["mail running"] = []string{"running: hold: running, held by worker WHO"}
	want["all-queues failed"] = []string{"incident: fail of other: failed"}
	want["all-queues delayed"] = []string{"delayed: send of mail: scheduled"}
	l.agrees(want)
	l.record()

	// The workers are killed. Their last heartbeat gets older, which is not waited for.
	l.Do("kill")
	s := l.cfg.Server
	s.begin()
	for _, worker := range s.list(t, "SMEMBERS", "resque:workers") {
		set(t, s, `HSET resque:workers:heartbeat `+worker+` 2026-11-29T21:18:51Z`, `SET resque:worker:ping:`+worker[:strings.LastIndexByte(worker, ':')]+` {"time":1795987131}`)
	}
	want["mail waiting"] = []string{"noWorker: send: no worker works the queue"}
	want["mail running"] = []string{"noWorker: hold: running, its worker is gone, no heartbeat since 2026-11-29T21:18:51Z, held by worker WHO"}
	until(t, func() string { return cmp.Diff(want, l.look().whys()) })
}
