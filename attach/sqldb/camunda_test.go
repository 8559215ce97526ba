// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// kind is an engine that plays the processes of testdata, and what differs of it.
type kind struct {
	mapping  string
	settings []string // of its pom.xml
	failed   string   // what the service task waits for that fails
	detail   string   // the same with what may be about persons

	suspended string // what an external task waits for that a worker has, if it is suspended
}

// The engines of testdata.
var (
	camunda7 = kind{mapping: "camunda7", failed: "incident failedJob; job, out of retries",
		detail: "incident failedJob: Unknown property used in expression: ${missing}", suspended: "running: external task ship, held by worker packer-7 until END; suspended"}
	flowable7 = kind{mapping: "flowable", failed: "job in the dead-letter table",
		detail: "job in the dead-letter table: Unknown property used in expression: ${missing}", suspended: "manual: job, suspended; suspended"}
	flowable6 = kind{mapping: "flowable", failed: flowable7.failed, detail: flowable7.detail, suspended: flowable7.suspended, settings: []string{"flowable.version=6.8.0"}}
)

// TestCamunda7 holds the adapter against the engine's own API.
func TestCamunda7(t *testing.T) {
	t.Parallel()
	t.Run("PostgreSQL", func(t *testing.T) { equal(t, camunda7, startPostgres, true) })
	t.Run("MariaDB", func(t *testing.T) { equal(t, camunda7, startMaria, true) })
}

// TestFlowable does the same with Flowable 6 and 7.
func TestFlowable(t *testing.T) {
	t.Parallel()
	t.Run("7 on PostgreSQL", func(t *testing.T) { equal(t, flowable7, startPostgres, true) })
	t.Run("7 on MariaDB", func(t *testing.T) { equal(t, flowable7, startMaria, false) })
	t.Run("6 on PostgreSQL", func(t *testing.T) { equal(t, flowable6, startPostgres, false) })
}

func startMaria(t *testing.T) *server { return startMariaDB(t, "UTC") }

// play is a process that an engine plays, and what adapters show of it.
type play struct {
	t        *testing.T
	kind     kind
	s        *server
	e        *engine
	w        *watch
	cfg      Config
	end      func() // ends the adapter of w
	instance string // of the process stuck

	page    *enginetest.Page // nil without
	watched *watch           // sees the adapter of the page
	replica *watch           // sees an adapter that reads a replica; nil without
}

// equal plays a process on an engine, and compares after each step what the adapter
// shows with the engine's own API; with pages, also what SNMP, Prometheus and the page show
// if one follows the document.
func equal(t *testing.T, k kind, start func(*testing.T) *server, pages bool) {
	if testing.Short() {
		t.Skip("starts a database and Java")
	}
	t.Parallel()
	s := start(t)
	p := &play{t: t, kind: k, s: s, w: newWatch(t), e: newEngine(t, k.mapping, s.driver, "audit", k.settings...)}
	p.cfg = newConfig(t, s.address, k.mapping)
	p.cfg.State, p.cfg.Show.Detail = filepath.Join(t.TempDir(), "state"), true
	p.e.Do("deploy child.bpmn stuck.bpmn")
	p.end = p.w.run(p.cfg)
	p.w.shows("stuck", "child")
	p.drawn()
	if pages {
		p.follow()
	}
	if k.mapping == "camunda7" && s.replicate != nil {
		p.replicate()
	}
	p.begins()
	p.restarts()
	p.migrates()
	p.ends()
	if k.mapping == "camunda7" {
		costs(t, s, p.e, 20, 100_000, 200_000)
	} else if s.replicate != nil {
		p.e.Do("start stuck order-2")
		s.steady(t, k.mapping, endedProcesses)
	}
}

// drawn compares where the nodes are drawn with the diagram that the author deployed.
func (p *play) drawn() {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", p.kind.mapping, "stuck.bpmn"))
	if err != nil {
		p.t.Fatal(err)
	}
	var file struct {
		Diagram struct {
			Shapes []struct {
				Node   string `xml:"bpmnElement,attr"`
				Bounds struct {
					X      float64 `xml:"x,attr"`
					Y      float64 `xml:"y,attr"`
					Width  float64 `xml:"width,attr"`
					Height float64 `xml:"height,attr"`
				}
			} `xml:"BPMNPlane>BPMNShape"`
		} `xml:"BPMNDiagram"`
	}
	if err := xml.Unmarshal(text, &file); err != nil || len(file.Diagram.Shapes) == 0 {
		p.t.Fatal(err, file)
	}
	want, got := map[string]petri.Point{}, map[string]petri.Point{}
	for _, s := range file.Diagram.Shapes {
		want[s.Node] = petri.Point{X: s.Bounds.X + s.Bounds.Width/2, Y: s.Bounds.Y + s.Bounds.Height/2}
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	for _, tr := range p.w.net("stuck").Transitions {
		if tr.At != nil {
			got[tr.ID] = *tr.At
		}
	}
	delete(want, "first") // an event gateway has no transition
	if d := cmp.Diff(want, got); d != "" {
		p.t.Errorf("where nodes are, - drawn, + published:\n%s", d)
	}
}

// follow follows the document, as the user of the database that it makes.
func (p *play) follow() {
	p.t.Helper()
	p.watched = newWatch(p.t)
	replace := []string{"postgres://pnagent:secret@127.0.0.1:5432/camunda", p.s.reader()}
	if p.kind.mapping != "camunda7" || p.s.replicate == nil { // otherwise word for word
		replace = append(replace, "--mapping camunda7", "--mapping "+p.kind.mapping, "--state", "--interval 1s --state")
	}
	p.page = enginetest.Follow(p.t, document, "", p.watched.url, replace...)
	p.watched.shows("stuck", "child")
	if out, want := p.page.Check(), "The database has what the mapping "+p.kind.mapping+" needs; version of its tables: "; !strings.HasPrefix(out, want) {
		p.t.Errorf("--check prints %q; expected %q", out, want)
	}
}

// replicate runs an adapter that reads a replica of the database.
func (p *play) replicate() {
	p.t.Helper()
	p.replica = newWatch(p.t)
	p.replica.run(newConfig(p.t, p.s.replicate(), p.kind.mapping))
	p.replica.shows("stuck", "child")
}

// same waits until all adapters show what the engine's API reports.
func (p *play) same() report {
	p.t.Helper()
	r := p.w.same(p.e)
	if p.replica != nil {
		p.replica.same(p.e)
	}
	return r
}

// begins starts the process, and compares what all faces show.
func (p *play) begins() {
	p.t.Helper()
	p.instance = p.e.Do("start stuck order-1")[0]
	p.w.until(func() string {
		if len(p.e.report().incidents) == 0 {
			return "no incident"
		}
		return ""
	})
	r := p.same()
	p.w.until(func() string { return p.w.reasons(r, p.instance, p.kind.detail) })
	p.w.traps()
	if p.page == nil {
		return
	}
	p.w.until(func() string { return p.page.Faces(r.shown(), p.kind.shown(r)) })
	if p.kind.mapping == "camunda7" {
		p.w.until(func() string { return p.page.Printed(p.instance) })
	}
	p.watched.same(p.e)
}

// restarts restarts the adapter while the engine works, and that of the page after a kill;
// then it kills the database.
func (p *play) restarts() {
	p.t.Helper()
	again := func() {}
	if p.page != nil {
		again = p.page.Kill()
	}
	p.end()
	p.e.Do("complete pack")
	p.e.Do("complete approve")
	p.w.run(p.cfg)
	p.same()
	again()
	if p.page != nil {
		p.watched.same(p.e)
		p.page.End()
	}
	p.s.kill()
	p.s.start()
	p.e.Do("message paid order-1")
	p.e.Do("complete review")
	p.same()
}

// migrates migrates a version, which is neither an arrival nor a departure. By version,
// the tokens move to the net of the other version.
func (p *play) migrates() {
	p.t.Helper()
	versions := newWatch(p.t)
	cfg := p.cfg
	cfg.ByVersion, cfg.State = true, ""
	versions.run(cfg)
	versions.until(func() string { return versions.at("child:1", "decide") })
	before := p.same().counts["child"]
	p.e.Do("deploy child2.bpmn")
	p.e.Do("migrate child")
	if diff := cmp.Diff(before, p.same().counts["child"]); diff != "" {
		p.t.Errorf("a migration changes counts: %s", diff)
	}
	versions.until(func() string { return versions.at("child:2", "decide") })
	p.e.Do("complete decide")
	p.same()
}

// ends gives the external task to a worker, suspends the process, and cancels it.
func (p *play) ends() {
	p.t.Helper()
	ship := func(want string) {
		p.t.Helper()
		p.w.until(func() string {
			var got []string
			for key, text := range p.w.waits("stuck", p.instance) {
				if reason, is := strings.CutPrefix(key, "ship ship "); is {
					got = append(got, reason+": "+text)
				}
			}
			return cmp.Diff([]string{want}, got)
		})
	}
	p.e.Do("lock ship packer-7")
	r := p.e.report()
	end := time.UnixMilli(r.due["ship-locked"]).UTC().Format(time.RFC3339)
	if d := cmp.Diff([]string{"ship packer-7"}, r.workers); d != "" {
		p.t.Fatal("external tasks that a worker has, by the engine:", d)
	}
	ship("running: external task ship, held by worker packer-7 until " + end)
	p.e.Do("suspend stuck")
	ship(strings.Replace(p.kind.suspended, "END", end, 1))
	p.same()
	p.e.Do("cancel stuck")
	p.w.until(func() string {
		if left := p.w.held(); len(left) > 0 {
			return fmt.Sprint("tokens after a cancel: ", left)
		}
		return ""
	})
	after := p.e.report()
	p.w.until(func() string {
		// The activities that were canceled did not fire.
		if c := p.w.counts("stuck")["ship"]; c != (count{1, 1, 0}) || after.counts["stuck"]["ship"] != c {
			return fmt.Sprintf("a canceled activity has %+v; the engine has %+v", c, after.counts["stuck"]["ship"])
		}
		return ""
	})
}

// shown is what SNMP and the page say of the tokens, without what may be about persons.
func (k kind) shown(r report) map[string][]enginetest.Why {
	timer := func(kind, name, node string) enginetest.Why {
		return delayed("timer "+kind+` "`+name+`"`, "timer", r.due[node])
	}
	task := func(name string) enginetest.Why {
		return awaits(`user task "`+name+`"`, "user task", "waits for a person to complete it")
	}
	return map[string][]enginetest.Why{
		"stuck approve": both(timer("boundary event", "remind", "remind"), task("Approve the order")),
		"stuck wait":    {timer("intermediate catch event", "One hour", "wait")},
		"stuck payment": {awaits(`message intermediate catch event "Payment"`, "message paid", "waits for a message")},
		"stuck charge":  {why(`service task "Charge"`, k.failed, stats.ReasonIncident)},
		"stuck review":  {task("Review")},
		"stuck call":    {why(`call activity "Call"`, "in called process child "+r.instance("child"), stats.ReasonRunning)},
		"stuck ship":    {why(`service task "Ship"`, "external task ship, no worker has any of its topic", stats.ReasonNoWorker)},
		"stuck first":   both(timer("intermediate catch event", "late", "late"), awaits(`message intermediate catch event "arrived"`, "message shipped", "waits for a message")),
		"stuck pack":    {task("Pack")},
		"stuck join":    {{SNMP: `parallel gateway "join": 2 tokens short in parallel gateway "join"`, Page: `waits for 2 tokens in parallel gateway "join"`}},
		"child decide":  {task("Decide")},
	}
}

// at reports what differs from one token of child, which is at a node of a net.
func (w *watch) at(net, node string) string {
	var got []string
	for _, h := range w.held() {
		if strings.HasPrefix(h.net, "child") {
			got = append(got, h.net+" "+h.node)
		}
	}
	return cmp.Diff([]string{net + " " + node}, got)
}

// TestCamunda7WithoutHistory runs the engine with the history level none: tokens and
// reasons are right, ages are known of what has a job, a task or a subscription, and
// flow is absent.
func TestCamunda7WithoutHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and Java")
	}
	t.Parallel()
	s := newPostgres(t)
	e := newEngine(t, "camunda7", s.driver, "none")
	w := newWatch(t)
	e.Do("deploy child.bpmn stuck.bpmn")
	begin := time.Now().UnixMilli()
	instance := e.Do("start stuck order-1")[0]
	cfg := newConfig(t, s.address, "camunda7")
	cfg.Show.Detail = true
	w.run(cfg)
	var r report
	w.until(func() string {
		r = e.report()
		got := w.held()
		for i := range got {
			if got[i].since < begin-1000 || got[i].since > time.Now().UnixMilli() {
				return fmt.Sprintf("%+v; expected a time since %d", got[i], begin)
			}
			got[i].since = 0
		}
		for i := range r.held {
			r.held[i].since = 0
		}
		return agree(r.held, got)
	})
	w.until(func() string {
		return w.reasons(r, instance, camunda7.detail)
	})
	// Blocks are on the wire if a token is old enough.
	if c, want := w.last["stuck"].Rows.Columns|stats.ColBlocks, ledger.Presence|stats.ColNextDue; c != want {
		t.Errorf("columns %b; expected %b: what was not counted is absent", c, want)
	}
}

// reasons compares what an instance of stuck waits for with what it should.
func (w *watch) reasons(r report, instance, failed string) string {
	want := map[string]string{
		"approve approve manual": "user task: kermit",
		"approve remind delayed": "timer",
		"wait wait delayed":      "timer",
		"payment payment manual": "message paid",
		"charge charge incident": failed,
		"review review manual":   "user task",
		"call call running":      "in called process child ",
		"ship ship noWorker":     "external task ship, no worker has any of its topic",
		"first late delayed":     "timer",
		"first arrived manual":   "message shipped",
		"pack pack manual":       "user task",
		"join join missing":      "2",
	}
	got := w.waits("stuck", instance)
	for key, text := range want { // a name and a message that the engine adds are left out
		if strings.HasPrefix(got[key], text) {
			got[key] = text
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return "waits, - expected, + adapter:\n" + diff
	}
	found, err := telemetry.AskInstance(w.t.Context(), w.nc, w.subjects, "stuck", "adapter", instance)
	if err != nil {
		return err.Error()
	}
	for _, h := range found.Tokens {
		for _, x := range h.Waits {
			if d := x.Until/1000 - r.due[x.Transition]; x.Reason == stats.ReasonDelayed.String() && (d > 1000 || d < -1000) {
				return fmt.Sprintf("%s is due at %d; expected %d", x.Transition, x.Until/1000, r.due[x.Transition])
			}
		}
	}
	return ""
}
