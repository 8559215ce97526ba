// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/action"
	engines "github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/internal/regiontest"
	"github.com/pnagent/pnagent/journal/stream"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/region"
	"github.com/pnagent/pnagent/telemetry"
)

// circleNet has tokens go round over three regions.
const circleNet = `<?xml version="1.0"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="ring" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="a"><initialMarking><text>3</text></initialMarking></place><place id="b"/><place id="c"/>
<transition id="t1"/><transition id="t2"/><transition id="t3"/>
<arc id="x1" source="a" target="t1"/><arc id="x2" source="t1" target="b"/><arc id="x3" source="b" target="t2"/>
<arc id="x4" source="t2" target="c"/><arc id="x5" source="c" target="t3"/><arc id="x6" source="t3" target="a"/>
</page></net></pnml>`

// circleRegions has each transition wait a little, so that the logs are not all
// that the machine does.
const circleRegions = `nets:
  ring:
    transitions: {t1: {delay: 2ms}, t2: {delay: 2ms}, t3: {delay: 2ms}}
    regions: {one: [t1], two: [t2], three: [t3]}
`

// jetStream is a NATS server with JetStream that keeps its state over restarts.
type jetStream struct {
	t    *testing.T
	opts server.Options
	s    *server.Server
	url  string
}

func startJetStream(t *testing.T, change func(*server.Options)) *jetStream {
	t.Helper()
	j := &jetStream{t: t, opts: server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true}}
	if change != nil {
		change(&j.opts)
	}
	j.start()
	t.Cleanup(j.stop)
	return j
}

func (j *jetStream) start() {
	j.t.Helper()
	opts := j.opts
	s, err := server.NewServer(&opts)
	if err != nil {
		j.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		j.t.Fatal("the NATS server does not get ready")
	}
	j.s, j.url = s, s.ClientURL()
	j.opts.Port = opts.Port // the same when it is started again
}

func (j *jetStream) stop() {
	j.s.Shutdown()
	j.s.WaitForShutdown()
}

// fleet is the processes that play one net in parts.
type fleet struct {
	t         *testing.T
	nats      func() string
	net       string // file
	bindings  string
	instances int
	args      []string // of each process
	all       []region.Part
	tables    *petri.Tables
	conn      *nats.Conn
}

func newFleet(t *testing.T, natsURL func() string, instances, partitions int) *fleet {
	t.Helper()
	f := &fleet{t: t, nats: natsURL, net: write(t, "ring.pnml", circleNet), bindings: write(t, "b.yaml", circleRegions), instances: instances}
	nets, err := pnml.Read(strings.NewReader(circleNet), "ring.pnml", pnml.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if f.tables, err = petri.Compile(nets.Nets[0]); err != nil {
		t.Fatal(err)
	}
	if partitions > 0 {
		f.all = region.Partitions(instances, partitions)
		f.args = []string{"--partitions", strconv.Itoa(partitions)}
	} else {
		b, err := engines.ReadBindings(strings.NewReader(circleRegions), "b.yaml")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := b.Split(f.tables)
		if err != nil {
			t.Fatal(err)
		}
		f.all = region.Regions(f.tables, plan)
	}
	f.connect()
	return f
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
func (f *fleet) start(source string, regions ...string) *process {
	f.t.Helper()
	return f.startAt(f.nats(), source, regions...)
}

func (f *fleet) startAt(natsURL, source string, regions ...string) *process {
	f.t.Helper()
	args := append([]string{"engine", "--nats", natsURL, "--journal", "jetstream", "--bindings", f.bindings, "--instances", strconv.Itoa(f.instances),
		"--source", source, "--interval", "200ms"}, f.args...)
	for _, r := range regions {
		args = append(args, "--region", r)
	}
	return start(f.t, built.pnagent, append(args, f.net)...)
}

// statuses is what the members say.
func (f *fleet) statuses() map[string]region.Status {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), region.SurveyFor)
	defer cancel()
	all, err := region.Survey(ctx, f.conn, telemetry.Subjects{}, "ring")
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[string]region.Status{}
	for _, s := range all {
		out[s.Part] = s
	}
	return out
}

// plays waits until a source owns a part and the part goes on.
func (f *fleet) plays(part, source string) region.Status {
	f.t.Helper()
	var first region.Status
	until(f.t, source+" plays "+part, func() error {
		now := f.statuses()[part]
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

// agrees waits until a stand-by of each part was heard, and every one of them
// has the owner's log.
func (f *fleet) agrees(parts ...string) {
	f.t.Helper()
	until(f.t, "stand-bys have the logs of the owners", func() error {
		now := f.statuses()
		for _, part := range parts {
			checked := 0
			for _, s := range now[part].Standbys {
				if s.Agrees != nil {
					if !*s.Agrees {
						f.t.Fatalf("part %q: the log of %q is not the owner's", part, s.Source)
					}
					checked++
				}
			}
			if checked == 0 {
				return fmt.Errorf("part %q: %+v", part, now[part])
			}
		}
		return nil
	})
}

// count folds all logs, when no process runs any more.
func (f *fleet) count() *regiontest.Tally {
	f.t.Helper()
	cfg := region.Config{Parts: f.all, Engine: engines.Config{Source: "count", Nets: []engines.Net{{Tables: f.tables}}, Instances: f.instances, Workers: 1}}
	b, err := engines.ReadBindings(strings.NewReader(circleRegions), "b.yaml")
	if err != nil {
		f.t.Fatal(err)
	}
	if cfg.Engine.Nets[0], err = b.Bind(f.tables, action.Peers{}); err != nil {
		f.t.Fatal(err)
	}
	cfg.Open = func(ctx context.Context, part string, keep func() uint64) (region.Log, error) {
		return stream.Open(ctx, stream.Config{Conn: f.conn, Name: telemetry.DefaultPrefix + "/ring/" + part, Keep: keep})
	}
	tally, err := regiontest.Count(f.t.Context(), &cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	return tally
}

// conserves ends all processes and checks that each token is where it can be.
func (f *fleet) conserves(processes ...*process) {
	f.t.Helper()
	for _, p := range processes {
		p.stop(f.t, syscall.SIGTERM)
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

func TestARegionIsTakenOverFromAProcessThatHangs(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, 5, 0)
	rest := f.start("rest", "two", "three")
	first := f.start("first", "one")
	f.plays("one", "first")
	second := f.start("second", "one")
	f.agrees("one")
	first.signal(t, syscall.SIGSTOP)
	at := f.plays("one", "second")
	first.signal(t, syscall.SIGCONT)
	f.agrees("one") // the one that hung follows again
	if now := f.statuses()["one"]; now.Owner != "second" || now.Epoch != at.Epoch {
		t.Errorf("%+v after %+v; want the same owner in the same epoch", now, at)
	}
	f.conserves(rest, first, second)
}

func TestALeaderKilledAtAnyPointLosesNothing(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, 5, 0)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	alive := []*process{f.start("p0"), f.start("p1")}
	names := []string{"p0", "p1"}
	for n := range kills() {
		f.agrees("one", "two", "three")
		i := r.IntN(2)
		wait := time.NewTimer(time.Duration(r.IntN(300)) * time.Millisecond)
		<-wait.C
		alive[i].kill(t)
		names[i] = fmt.Sprintf("p%d", n+2)
		alive[i] = f.start(names[i])
		for _, part := range []string{"one", "two", "three"} {
			f.plays(part, "")
		}
	}
	f.conserves(alive...)
}
