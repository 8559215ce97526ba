// SPDX-License-Identifier: Apache-2.0

//go:build peers

package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/cachetest"
	"github.com/pnagent/pnagent/internal/npmtest"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// attachPosts runs the adapter for lines by HTTP, and returns where they are posted.
func attachPosts(t *testing.T, natsURL, model string) (url string) {
	t.Helper()
	adapter := kit.Start(t, kit.Built().Pnagent, "attach", "lines", "--nats", natsURL, "--source", "engine", "--http", "127.0.0.1:0", "--interval", "200ms", "--log.format", "json", model)
	return "http://" + adapter.Says(t, `"receiving HTTP posts","http":"([^"]*)"`)[1] + "/events"
}

// startKept is start for a program whose standard input stays open.
func startKept(t *testing.T, path string, args ...string) *kit.Process {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	p := kit.StartWith(t, []*os.File{r}, "/bin/sh", append([]string{"-c", `exec "$0" "$@" <&3`, path}, args...)...)
	_ = r.Close() // the program has it
	return p
}

// The examples for engines in Java report to attach lines: all orders but one are
// approved, and the age of that one is what the engine's own API gives.
func TestEnginesInJavaReportWhereAnOrderIsStuckAsTheirAPIGivesIt(t *testing.T) {
	t.Parallel()
	java := kit.Need(t, "java", "default-jdk-headless")
	for _, c := range []struct{ engine, example string }{{"camunda", "CamundaLines.java"}, {"flowable", "FlowableLines.java"}} {
		t.Run(c.engine, func(t *testing.T) {
			lib := cachetest.Jars(t, filepath.Join("testdata", c.engine, "pom.xml"))
			natsURL := kit.StartNATS(t)
			side := kit.Serve(t, natsURL, "--snmp", "127.0.0.1:0")
			model := absolute(t, "java", "order.bpmn")
			engine := startKept(t, java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-cp", lib+"/*", absolute(t, "java", c.example), attachPosts(t, natsURL, model), model, "3")
			millis, err := strconv.ParseInt(engine.Says(t, `stuck \S+ (\d+)`)[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			want := kit.Numbers{
				// A token stays before a gateway until the next event.
				Tokens: map[kit.Key]uint64{{Net: "order", ID: "received/start"}: 0, {Net: "order", ID: "f1"}: 1, {Net: "order", ID: "f2"}: 2, {Net: "order", ID: "f3"}: 0, {Net: "order", ID: "f4"}: 0,
					{Net: "order", ID: "f5"}: 0, {Net: "order", ID: "f6"}: 0, {Net: "order", ID: "f7"}: 0, {Net: "order", ID: "done/end"}: 0},
				Firings: map[kit.Key]uint64{{Net: "order", ID: "received"}: 3, {Net: "order", ID: "approve"}: 2, {Net: "order", ID: "fork"}: 0, {Net: "order", ID: "pack"}: 0, {Net: "order", ID: "charge"}: 0, {Net: "order", ID: "join"}: 0, {Net: "order", ID: "done"}: 0},
			}
			kit.Until(t, "two orders are approved", func() error { return kit.Differ(want, side.View(t).Numbers()) })
			since := time.UnixMilli(millis)
			shownSince(t, side.Web, snmptest.Client{Addr: side.SNMP, Community: "public"}, kit.Key{Net: "order", ID: "f1"}).Within(t, "the task", since.Add(-time.Second), since.Add(time.Second))
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
	node, redis := kit.Need(t, "node", "nodejs"), kit.Need(t, "redis-server", "redis-server")
	lib := npmtest.Install(t, "bullmq")
	q := bullmq{node, redis, t.TempDir(), porttest.Port(t)}
	if err := os.Symlink(filepath.Join(lib, "node_modules"), filepath.Join(q.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	kit.Start(t, redis, "--bind", "127.0.0.1", "--port", q.port, "--save", "", "--dir", q.dir)
	return q
}

// run runs a program beside BullMQ.
func (q bullmq) run(t *testing.T, name string, text []byte, args ...string) *kit.Process {
	t.Helper()
	path := filepath.Join(q.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return kit.Start(t, q.node, append([]string{path}, args...)...)
}

// hook runs the hook, which posts to an adapter, and waits until it is ready.
func (q bullmq) hook(t *testing.T, url string) *kit.Process {
	t.Helper()
	text, err := os.ReadFile(absolute(t, "node", "bullmq.js"))
	if err != nil {
		t.Fatal(err)
	}
	p := q.run(t, "bullmq.js", text, "mail", url, "127.0.0.1", q.port)
	p.Says(t, "ready")
	return p
}

func TestAQueueOfBullMQReportsItsJobs(t *testing.T) {
	t.Parallel()
	q := newBullMQ(t)
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL)
	q.hook(t, attachPosts(t, natsURL, absolute(t, "node", "jobs.pnml")))
	q.run(t, "producer.js", []byte(producer), q.port)
	job := func(id string) kit.Key { return kit.Key{Net: "jobs", ID: id} }
	want := kit.Numbers{
		Tokens: map[kit.Key]uint64{job("waiting"): 0, job("active"): 0, job("failed"): 1, job("delayed"): 1},
		Firings: map[kit.Key]uint64{job("new-waiting"): 3, job("new-delayed"): 1, job("delayed-waiting"): 0, job("waiting-active"): 4, job("active-completed"): 2,
			job("active-failed"): 1, job("active-waiting"): 1, job("active-delayed"): 0, job("failed-waiting"): 0},
	}
	kit.Until(t, "all jobs are where BullMQ has them", func() error { return kit.Differ(want, side.View(t).Numbers()) })
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
//
//promise:unknown stop
func TestJobsThatWereThereBeforeAreNotZero(t *testing.T) {
	t.Parallel()
	q := newBullMQ(t)
	q.run(t, "before.js", []byte(before), q.port).Says(t, "added")
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--snmp", "127.0.0.1:0", "--alarms", kit.Write(t, "alarms.yaml", "settle: 0s\ndefaults: {stuck: {after: 10m, clear_after: 15s}, starved: off, lost: off}\n"))
	port := porttest.Port(t)
	attach := func() *kit.Process {
		return kit.Start(t, kit.Built().Pnagent, "attach", "lines", "--nats", natsURL, "--source", "engine", "--http", "127.0.0.1:"+port, "--log.format", "json", absolute(t, "node", "jobs.pnml"))
	}
	adapter := attach()
	kit.Until(t, "the adapter is there, and has no number", func() error {
		v := side.View(t)
		if state := v.Source("jobs", "engine"); state != "up" {
			return fmt.Errorf("it is %q", state)
		}
		return kit.Differ(map[kit.Key]uint64{}, side.Scrape(t).Numbers().Tokens)
	})
	job := func(id string) kit.Key { return kit.Key{Net: "jobs", ID: id} }
	there := func(waiting uint64) {
		t.Helper()
		want := map[kit.Key]uint64{job("waiting"): waiting, job("active"): 0, job("failed"): 1, job("delayed"): 1}
		kit.Until(t, "the jobs are there", func() error { return kit.Differ(want, side.View(t).Numbers().Tokens) })
	}
	q.hook(t, "http://127.0.0.1:"+port+"/events")
	there(3)
	hourAgo := time.Now().Add(-time.Hour)
	shownSince(t, side.Web, snmptest.Client{Addr: side.SNMP, Community: "public"}, job("waiting")).Within(t, "the job", hourAgo.Add(-5*time.Minute), hourAgo)
	stuck := []string{"tokenStuck waiting"}
	kit.Until(t, "the jobs are stuck", func() error { return kit.Differ(stuck, stuckPlaces(side.Alarms(t))) })
	raised := side.Alarms(t)[0].Raised

	adapter.Kill(t)
	attach()
	there(3)
	q.run(t, "more.js", []byte(`const { Queue } = require('bullmq'); new Queue('mail', { connection: { host: '127.0.0.1', port: Number(process.argv[2]) } }).add('three', {});`), q.port)
	there(4)
	if got := side.Alarms(t); len(got) != 1 || got[0].Raised != raised {
		t.Errorf("alarms %+v; expected the one of %s", got, raised.Time())
	}
}
