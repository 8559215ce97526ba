// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
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

// bullmq is a queue with its hook and what else a test runs beside it.
type bullmq struct {
	node, redis, dir, port string
}

func newBullMQ(t *testing.T) bullmq {
	t.Helper()
	node, redis := need(t, "node", "nodejs"), need(t, "redis-server", "redis-server")
	lib := npmtest.Install(t, "bullmq")
	q := bullmq{node, redis, t.TempDir(), porttest.Port(t)}
	if err := os.Symlink(filepath.Join(lib, "node_modules"), filepath.Join(q.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	start(t, redis, "--bind", "127.0.0.1", "--port", q.port, "--save", "", "--dir", q.dir)
	return q
}

// run runs a program beside BullMQ.
func (q bullmq) run(t *testing.T, name string, text []byte, args ...string) *process {
	t.Helper()
	path := filepath.Join(q.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, q.node, append([]string{path}, args...)...)
}

// hook runs the hook, which posts to an adapter, and waits until it is ready.
func (q bullmq) hook(t *testing.T, url string) *process {
	t.Helper()
	text, err := os.ReadFile(absolute(t, "node", "bullmq.js"))
	if err != nil {
		t.Fatal(err)
	}
	p := q.run(t, "bullmq.js", text, "mail", url, "127.0.0.1", q.port)
	p.says(t, "ready")
	return p
}

func TestAQueueOfBullMQReportsItsJobs(t *testing.T) {
	t.Parallel()
	q := newBullMQ(t)
	natsURL := startNATS(t)
	side := serve(t, natsURL)
	q.hook(t, attachPosts(t, natsURL, absolute(t, "node", "jobs.pnml")))
	q.run(t, "producer.js", []byte(producer), q.port)
	job := func(id string) key { return key{"jobs", id} }
	want := numbers{
		Tokens: map[key]uint64{job("waiting"): 0, job("active"): 0, job("failed"): 1, job("delayed"): 1},
		Firings: map[key]uint64{job("new-waiting"): 3, job("new-delayed"): 1, job("delayed-waiting"): 0, job("waiting-active"): 4, job("active-completed"): 2,
			job("active-failed"): 1, job("active-waiting"): 1, job("active-delayed"): 0, job("failed-waiting"): 0},
	}
	until(t, "all jobs are where BullMQ has them", func() error { return differ(want, side.view(t).numbers()) })
}

// before has jobs in the queue, two of which wait since an hour and one of which failed.
const before = `
const { Queue, Worker } = require('bullmq');
const connection = { host: '127.0.0.1', port: Number(process.argv[2]) };
(async () => {
  const q = new Queue('mail', { connection });
  await q.add('bad', {});
  const w = new Worker('mail', async () => { throw new Error('no'); }, { connection });
  await new Promise((failed) => w.on('failed', failed));
  await w.close();
  await q.add('one', {}, { timestamp: Date.now() - 3600000 });
  await q.add('two', {}, { timestamp: Date.now() - 3600000 });
  await q.add('urgent', {}, { priority: 1 });
  await q.add('late', {}, { delay: 3600000 });
  console.error('added');
})();
`

// Jobs were in the queue before the adapter and the hook began. Until they are read their
// number is not known; then they are there, as old as they are, also after the adapter was
// killed and started again without its state.
func TestJobsThatWereThereBeforeAreNotZero(t *testing.T) {
	t.Parallel()
	q := newBullMQ(t)
	q.run(t, "before.js", []byte(before), q.port).says(t, "added")
	natsURL := startNATS(t)
	side := serve(t, natsURL, "--snmp", "127.0.0.1:0", "--alarms", write(t, "alarms.yaml", "settle: 0s\ndefaults: {stuck: {after: 10m, clear_after: 15s}, starved: off, lost: off}\n"))
	port := porttest.Port(t)
	attach := func() *process {
		return start(t, built.pnagent, "attach", "lines", "--nats", natsURL, "--source", "engine", "--http", "127.0.0.1:"+port, "--log.format", "json", absolute(t, "node", "jobs.pnml"))
	}
	adapter := attach()
	until(t, "the adapter is there, and has no number", func() error {
		v := side.view(t)
		if state := v.source("jobs", "engine"); state != "up" {
			return fmt.Errorf("it is %q", state)
		}
		return differ(map[key]uint64{}, side.scrape(t).numbers().Tokens)
	})
	job := func(id string) key { return key{"jobs", id} }
	there := func(waiting uint64) {
		t.Helper()
		want := map[key]uint64{job("waiting"): waiting, job("active"): 0, job("failed"): 1, job("delayed"): 1}
		until(t, "the jobs are there", func() error { return differ(want, side.view(t).numbers().Tokens) })
	}
	q.hook(t, "http://127.0.0.1:"+port+"/events")
	there(3)
	hourAgo := time.Now().Add(-time.Hour)
	side.sinceWhen(t, snmptest.Client{Addr: side.snmp, Community: "public"}, job("waiting")).within(t, "the job", hourAgo.Add(-5*time.Minute), hourAgo)
	stuck := []string{"tokenStuck waiting"}
	until(t, "the jobs are stuck", func() error { return differ(stuck, stuckPlaces(side.alarms(t))) })
	raised := side.alarms(t)[0].Raised

	adapter.kill(t)
	attach()
	there(3)
	q.run(t, "more.js", []byte(`const { Queue } = require('bullmq'); new Queue('mail', { connection: { host: '127.0.0.1', port: Number(process.argv[2]) } }).add('three', {});`), q.port)
	there(4)
	if got := side.alarms(t); len(got) != 1 || got[0].Raised != raised {
		t.Errorf("alarms %+v; expected the one of %s", got, raised)
	}
}
