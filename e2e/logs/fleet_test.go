// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	engines "github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/engine/journal/stream"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/engine/region/regiontest"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

// jetStream is a NATS server with JetStream that keeps its state over restarts.
type jetStream struct {
	t    *testing.T
	opts server.Options // with the port, which is the same when it is started again
	s    *server.Server
	url  string
}

func startJetStream(t *testing.T, change func(*server.Options)) *jetStream {
	t.Helper()
	j := &jetStream{t: t, opts: server.Options{Host: "127.0.0.1", Port: port(t), JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true}}
	if change != nil {
		change(&j.opts)
	}
	j.start()
	t.Cleanup(j.stop)
	return j
}

// port returns a port where nothing listens.
func port(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(porttest.Port(t))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (j *jetStream) start() {
	j.t.Helper()
	opts := j.opts
	s, err := server.NewServer(&opts)
	if err != nil {
		j.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(kit.Patience) {
		j.t.Fatal("the NATS server does not get ready")
	}
	j.s, j.url = s, s.ClientURL()
}

func (j *jetStream) stop() {
	j.s.Shutdown()
	j.s.WaitForShutdown()
}

// fleet is the processes that play one net in parts.
type fleet struct {
	t         *testing.T
	nats      func() string
	played    played
	net       string // file
	bindings  string
	instances int
	args      []string // of each process
	all       []region.Part
	tables    *petri.Tables
	conn      *nats.Conn
	procs     int // processors that each process uses; 0 for all
}

// played is a net and its bindings.
type played struct{ net, bindings string }

func newFleet(t *testing.T, natsURL func() string, what played, instances, partitions int) *fleet {
	t.Helper()
	f := &fleet{t: t, nats: natsURL, played: what, net: kit.Write(t, "net.pnml", what.net), bindings: kit.Write(t, "b.yaml", what.bindings), instances: instances}
	nets, err := pnml.Read(strings.NewReader(what.net), "net.pnml", pnml.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	f.tables, err = petri.Compile(nets.Nets[0])
	if err != nil {
		t.Fatal(err)
	}
	if partitions > 0 {
		f.all = region.Partitions(instances, partitions)
		f.args = []string{"--partitions", strconv.Itoa(partitions)}
	} else {
		plan, err := f.bound().Split(f.tables)
		if err != nil {
			t.Fatal(err)
		}
		f.all = region.Regions(f.tables, plan)
	}
	f.connect()
	return f
}

// bound reads the bindings.
func (f *fleet) bound() *engines.Bindings {
	f.t.Helper()
	b, err := engines.ReadBindings(strings.NewReader(f.played.bindings), "b.yaml")
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

// id is that of the net.
func (f *fleet) id() string { return f.tables.Net.ID }

// parts are the names of all parts.
func (f *fleet) parts() []string {
	var names []string
	for i := range f.all {
		names = append(names, f.all[i].Name)
	}
	return names
}

// connect makes the test's own connection, after a restart of the server too.
func (f *fleet) connect() {
	f.t.Helper()
	nc, err := nats.Connect(f.nats(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(nc.Close)
	f.conn = nc
}

// start starts a process that plays some regions, or all that there are.
func (f *fleet) start(source string, regions ...string) *kit.Process {
	f.t.Helper()
	return f.startAt(f.nats(), source, regions...)
}

func (f *fleet) startAt(natsURL, source string, regions ...string) *kit.Process {
	f.t.Helper()
	args := append([]string{"engine", "--nats", natsURL, "--journal", "jetstream", "--bindings", f.bindings, "--instances", strconv.Itoa(f.instances),
		"--source", source, "--interval", "200ms"}, f.args...)
	for _, r := range regions {
		args = append(args, "--region", r)
	}
	args = append(args, f.net)
	if f.procs > 0 {
		return kit.Start(f.t, kit.Need(f.t, "env", "coreutils"), append([]string{"GOMAXPROCS=" + strconv.Itoa(f.procs), kit.Built().Pnagent}, args...)...)
	}
	return kit.Start(f.t, kit.Built().Pnagent, args...)
}

// statuses is what all members say.
func (f *fleet) statuses() map[string]region.Status {
	f.t.Helper()
	return f.survey(region.SurveyFor)
}

// glance is what members say that are not late; on a busy machine some are. It is for
// conditions that are looked at again, and for what is there.
func (f *fleet) glance() map[string]region.Status {
	f.t.Helper()
	return f.survey(2 * region.SurveyFor / 5)
}

func (f *fleet) survey(length time.Duration) map[string]region.Status {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), length)
	defer cancel()
	all, err := region.Survey(ctx, f.conn, telemetry.Subjects{}, f.id())
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[string]region.Status{}
	for _, s := range all {
		out[s.Part] = s
	}
	return out
}

// plays waits until a source owns a part and the part has new commits.
func (f *fleet) plays(part, source string) region.Status {
	f.t.Helper()
	var first region.Status
	kit.Until(f.t, source+" plays "+part, func() error {
		now := f.glance()[part]
		switch {
		case source != "" && now.Owner != source, now.Owner == "":
			return fmt.Errorf("%+v", now)
		case first.Commits == 0:
			first = now
		}
		if now.Commits <= first.Commits {
			return fmt.Errorf("%+v, and nothing more", now)
		}
		return nil
	})
	return first
}

// goesOn waits until every part has an owner and new commits.
func (f *fleet) goesOn() {
	f.t.Helper()
	first := map[string]uint64{}
	kit.Until(f.t, "every part continues", func() error {
		now := f.glance()
		var still error
		for _, part := range f.parts() {
			s := now[part]
			if s.Owner == "" || first[part] == 0 || s.Commits <= first[part] {
				still = fmt.Errorf("%q: %+v", part, s)
			}
			if first[part] == 0 && s.Owner != "" {
				first[part] = s.Commits
			}
		}
		return still
	})
}

// agrees waits until a standby of each part has reported the same commit as the owner,
// and checks that it has the same log up to there. A survey may miss members, so each
// part is checked until its standby has answered.
func (f *fleet) agrees(parts ...string) {
	f.t.Helper()
	seen := map[string]bool{}
	kit.Until(f.t, "standbys have the logs of the owners", func() error {
		now := f.statuses()
		for _, part := range parts {
			for _, s := range now[part].Standbys {
				if s.Agrees != nil && !*s.Agrees {
					f.t.Fatalf("part %q: the log of %q is not the owner's", part, s.Source)
				}
				seen[part] = seen[part] || s.Agrees != nil
			}
		}
		for _, part := range parts {
			if !seen[part] {
				return fmt.Errorf("part %q: %+v", part, now[part])
			}
		}
		return nil
	})
}

// config is what reads the logs without playing.
func (f *fleet) config() *region.Config {
	f.t.Helper()
	cfg := &region.Config{Parts: f.all, Engine: engines.Config{Source: "count", Nets: []engines.NetConfig{{Tables: f.tables}}, Instances: f.instances, Workers: 1}}
	var err error
	cfg.Engine.Nets[0], err = f.bound().Bind(f.tables, action.Peers{NATS: f.conn, HTTP: http.DefaultTransport})
	if err != nil {
		f.t.Fatal(err)
	}
	cfg.Open = func(ctx context.Context, part string, create bool, keep func() uint64) (region.Log, error) {
		return stream.Open(ctx, stream.Config{Conn: f.conn, Name: telemetry.DefaultPrefix + "/" + f.id() + "/" + part, Existing: !create, Keep: keep})
	}
	return cfg
}

// count folds all logs, when no process runs any more, or nothing happens.
func (f *fleet) count() *regiontest.Tally {
	f.t.Helper()
	tally, err := regiontest.Count(f.t.Context(), f.config())
	if err != nil {
		f.t.Fatal(err)
	}
	return tally
}

// conserves ends all processes and checks that each token is where it can be.
func (f *fleet) conserves(processes ...*kit.Process) {
	f.t.Helper()
	for _, p := range processes {
		p.Stop(f.t, syscall.SIGTERM)
	}
	tally := f.count()
	if want := uint64(3 * f.instances); tally.Total() != want {
		f.t.Errorf("%d tokens; want %d: %+v", tally.Total(), want, tally)
	}
	fired := tally.Firings
	if d := int64(fired["t1"]) - int64(fired["t3"]); fired["t3"] == 0 || d < 0 || d > int64(3*f.instances) {
		f.t.Errorf("firings %v; want t3 behind t1 by at most the tokens", fired)
	}
}
