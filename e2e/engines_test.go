// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/npmtest"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// attachPosts runs the adapter for lines by HTTP, and returns where they are posted.
func attachPosts(t *testing.T, natsURL, model string) (url string) {
	t.Helper()
	adapter := start(t, built.pnagent, "attach", "lines", "--nats", natsURL, "--source", "engine", "--http", "127.0.0.1:0", "--interval", "200ms", "--log.format", "json", model)
	return "http://" + adapter.says(t, `"receiving HTTP posts","http":"([^"]*)"`)[1] + "/events"
}

// startKept is start for a program whose standard input stays open.
func startKept(t *testing.T, path string, args ...string) *process {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	p := startWith(t, []*os.File{r}, "/bin/sh", append([]string{"-c", `exec "$0" "$@" <&3`, path}, args...)...)
	_ = r.Close() // the program has it
	return p
}

// The examples for engines in Java report to attach lines: all orders but one are
// approved, and the age of that one is what the engine's own API gives.
func TestEnginesInJavaReportWhereAnOrderIsStuckAsTheirAPIGivesIt(t *testing.T) {
	t.Parallel()
	java, mvn := need(t, "java", "default-jdk-headless"), need(t, "mvn", "maven")
	for _, c := range []struct{ engine, example string }{{"camunda", "CamundaLines.java"}, {"flowable", "FlowableLines.java"}} {
		t.Run(c.engine, func(t *testing.T) {
			lib := t.TempDir()
			fetch := exec.CommandContext(t.Context(), mvn, "-q", "-B", "-f", filepath.Join("testdata", c.engine, "pom.xml"), "dependency:copy-dependencies", "-DoutputDirectory="+lib)
			if out, err := fetch.CombinedOutput(); err != nil {
				t.Skipf("Maven cannot fetch the engine: %v: %.300s", err, out)
			}
			natsURL := startNATS(t)
			side := serve(t, natsURL, "--snmp", "127.0.0.1:0")
			model := absolute(t, "java", "order.bpmn")
			engine := startKept(t, java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", lib+"/*", absolute(t, "java", c.example), attachPosts(t, natsURL, model), model, "3")
			millis, err := strconv.ParseInt(engine.says(t, `stuck \S+ (\d+)`)[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			want := numbers{
				// A token stays before a gateway until the next event.
				Tokens: map[key]uint64{{"order", "received/start"}: 0, {"order", "f1"}: 1, {"order", "f2"}: 2, {"order", "f3"}: 0, {"order", "f4"}: 0,
					{"order", "f5"}: 0, {"order", "f6"}: 0, {"order", "f7"}: 0, {"order", "done/end"}: 0},
				Firings: map[key]uint64{{"order", "received"}: 3, {"order", "approve"}: 2, {"order", "fork"}: 0, {"order", "pack"}: 0, {"order", "charge"}: 0, {"order", "join"}: 0, {"order", "done"}: 0},
			}
			until(t, "two orders are approved", func() error { return differ(want, side.view(t).numbers()) })
			since := time.UnixMilli(millis)
			side.sinceWhen(t, snmptest.Client{Addr: side.snmp, Community: "public"}, key{"order", "f1"}).within(t, "the task", since.Add(-time.Second), since.Add(time.Second))
		})
	}
}

// producer adds jobs to a queue and works on them: one is done, one fails, one fails once,
// one is for later.
const producer = `
const { Queue, Worker } = require('bullmq');
const connection = { host: '127.0.0.1', port: Number(process.argv[2]) };
(async () => {
  const q = new Queue('mail', { connection });
  await q.add('good', {});
  await q.add('bad', {});
  await q.add('twice', {}, { attempts: 2 });
  await q.add('late', {}, { delay: 3600000 });
  new Worker('mail', async (j) => { if (j.name === 'bad' || j.name === 'twice' && j.attemptsMade === 0) throw new Error('no'); }, { connection });
})();
`

func TestAQueueOfBullMQReportsItsJobs(t *testing.T) {
	t.Parallel()
	node, redis := need(t, "node", "nodejs"), need(t, "redis-server", "redis-server")
	lib := npmtest.Install(t, "bullmq")
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(lib, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	copied := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text, err := os.ReadFile(absolute(t, "node", "bullmq.js"))
	if err != nil {
		t.Fatal(err)
	}
	port := porttest.Port(t)
	start(t, redis, "--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", dir)
	natsURL := startNATS(t)
	side := serve(t, natsURL)
	hook := start(t, node, copied("bullmq.js", text), "mail", attachPosts(t, natsURL, absolute(t, "node", "jobs.pnml")), "127.0.0.1", port)
	hook.says(t, "ready")
	start(t, node, copied("producer.js", []byte(producer)), port)
	job := func(id string) key { return key{"jobs", id} }
	want := numbers{
		Tokens: map[key]uint64{job("waiting"): 0, job("active"): 0, job("failed"): 1, job("delayed"): 1},
		Firings: map[key]uint64{job("new-waiting"): 3, job("new-delayed"): 1, job("delayed-waiting"): 0, job("waiting-active"): 4, job("active-completed"): 2,
			job("active-failed"): 1, job("active-waiting"): 1, job("active-delayed"): 0, job("failed-waiting"): 0},
	}
	until(t, "all jobs are where BullMQ has them", func() error { return differ(want, side.view(t).numbers()) })
}
