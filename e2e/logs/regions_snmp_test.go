// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// What a station reads of the line net, in one request: since when it counts,
// how often each transition fired, and the tokens that have come through.
var lineNames = []string{kit.OIDRoot + ".1.1.2.1.19.1", kit.OIDRoot + ".1.1.5.1.4.1.1", kit.OIDRoot + ".1.1.5.1.4.1.2", kit.OIDRoot + ".1.1.5.1.4.1.3", kit.OIDRoot + ".1.1.3.1.4.1.4"}

var (
	counterOrGauge = regexp.MustCompile(`(?:Counter32|Counter64|Gauge32): (\d+)`)
	hexString      = regexp.MustCompile(`Hex-STRING: (.+?)\s*$`)
)

// behind is how old the numbers may be with which a sidecar begins to answer: it
// waits 3 s for its sources and makes a View each second, and a reading takes up to 1 s.
const behind = 5 * time.Second

// sampler is a station that reads the same numbers all the time. Within one
// discontinuity time none may fall, and none may ever be more than was put in.
// After a change of that time, no number may be older than behind. The differences of
// a number within discontinuity times may together be more than was put in only by
// what a sidecar that began to answer was behind.
type sampler struct {
	noc  snmptest.Client
	load *load

	mu      sync.Mutex
	since   string
	latest  []reading // of this discontinuity time, for behind
	sums    []uint64  // of the differences within discontinuity times
	again   []uint64  // of that, what another sidecar had shown before
	changes int       // of the discontinuity time
	read    int
	faults  []string
}

type reading struct {
	at      time.Time
	numbers []uint64
}

func (s *sampler) run(ctx context.Context) {
	next := time.NewTicker(kit.ReadEvery)
	defer next.Stop()
	for ctx.Err() == nil {
		<-next.C
		out, err := s.noc.Run(ctx, "snmpget", []string{"-t", "1", "-r", "0"}, lineNames...)
		at, sent := time.Now(), s.load.sent.Load()
		since, now, ok := parseLine(out)
		if err != nil || !ok {
			continue
		}
		s.mu.Lock()
		s.take(at, since, now, sent)
		s.mu.Unlock()
	}
}

// parseLine reads an answer; false if a number is not published yet.
func parseLine(out string) (since string, numbers []uint64, ok bool) {
	for line := range strings.Lines(out) {
		if m := hexString.FindStringSubmatch(line); m != nil {
			since = m[1]
		} else if m := counterOrGauge.FindStringSubmatch(line); m != nil {
			n, _ := strconv.ParseUint(m[1], 10, 64) // it matched digits
			numbers = append(numbers, n)
		}
	}
	return since, numbers, since != "" && len(numbers) == len(lineNames)-1
}

func (s *sampler) take(at time.Time, since string, now []uint64, sent uint64) {
	s.read++
	if s.sums == nil {
		s.sums, s.again = make([]uint64, len(now)), make([]uint64, len(now))
	}
	for i, n := range now {
		if n > sent {
			s.faultf("%s is %d, and %d were put in", lineNames[1+i], n, sent)
		}
		if len(s.latest) == 0 {
			continue
		}
		last := s.latest[len(s.latest)-1].numbers[i]
		switch {
		case s.since == since && n < last:
			s.faultf("%s fell from %d to %d, in the time since %s", lineNames[1+i], last, n, since)
		case s.since == since:
			s.sums[i] += n - last
		case n < last:
			s.again[i] += last - n
			if old := s.latest[0]; at.Sub(old.at) > behind && n < old.numbers[i] {
				s.faultf("%s began with %d at %s, and %d was read %s before", lineNames[1+i], n, since, old.numbers[i], at.Sub(old.at))
			}
		}
		if s.sums[i] > sent+s.again[i] {
			s.faultf("%s: differences of %d, and %d were put in, and %d of these shown twice", lineNames[1+i], s.sums[i], sent, s.again[i])
		}
	}
	if s.since != since {
		s.since, s.latest = since, nil
		s.changes++
	}
	s.latest = append(s.latest, reading{at, now})
	recent := slices.IndexFunc(s.latest, func(r reading) bool { return at.Sub(r.at) <= behind })
	s.latest = s.latest[max(recent-1, 0):]
}

// faultf notes a fault, and of many the first ones.
func (s *sampler) faultf(format string, args ...any) {
	if len(s.faults) < 10 {
		s.faults = append(s.faults, fmt.Sprintf(format, args...))
	}
}

// times is how many discontinuity times there were.
func (s *sampler) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// sample reads all the time, until the test ends.
func sample(t *testing.T, noc snmptest.Client, l *load) *sampler {
	t.Helper()
	s := &sampler{noc: noc, load: l}
	ctx, stop := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	reading.Go(func() { s.run(ctx) })
	t.Cleanup(func() {
		stop()
		reading.Wait()
		for _, f := range s.faults {
			t.Error(f)
		}
		t.Logf("%d readings, %d discontinuity times", s.read, s.changes)
		if s.read == 0 {
			t.Error("got no reading; want some")
		}
	})
	return s
}

// arrives waits until all that was put in has come through and every face says
// so, and returns the numbers. The load has ended, and processes may run.
func (f *fleet) arrives(l *load, noc snmptest.Client, sides ...*kit.Sidecar) kit.Numbers {
	f.t.Helper()
	var tally kit.Numbers
	kit.Until(f.t, "all has come through", func() error {
		got := f.count()
		tally = kit.Numbers{Tokens: map[kit.Key]uint64{}, Firings: map[kit.Key]uint64{}}
		for _, p := range f.tables.Net.Places {
			tally.Tokens[kit.Key{Net: f.id(), ID: p.ID}] = got.Tokens[p.ID]
		}
		for _, tr := range f.tables.Net.Transitions {
			tally.Firings[kit.Key{Net: f.id(), ID: tr.ID}] = got.Firings[tr.ID]
		}
		if done := got.Tokens["done"]; done != got.Total() || done < l.acknowledged.Load() || done > l.sent.Load() {
			return fmt.Errorf("%d acknowledged, %d sent, in the logs %+v", l.acknowledged.Load(), l.sent.Load(), got)
		}
		return nil
	})
	for _, id := range []string{"t1", "t2", "t3"} {
		if n := tally.Firings[kit.Key{Net: f.id(), ID: id}]; n != tally.Tokens[kit.Key{Net: f.id(), ID: "done"}] {
			f.t.Errorf("%s fired %d times in the logs, for %d tokens", id, n, tally.Tokens[kit.Key{Net: f.id(), ID: "done"}])
		}
	}
	shows := func(face string, look func() kit.Numbers) {
		f.t.Helper()
		kit.Until(f.t, face+" shows what is in the logs", func() error {
			if diff := cmp.Diff(tally, look()); diff != "" {
				return errors.New("-logs +shown\n" + diff)
			}
			return nil
		})
	}
	shows("SNMP", func() kit.Numbers { return kit.Walk(f.t, noc).Numbers() })
	for _, side := range sides {
		shows("the view", func() kit.Numbers { return side.View(f.t).Numbers() })
		shows("/metrics", func() kit.Numbers { return side.Scrape(f.t).Numbers() })
	}
	return tally
}

// follows waits until each part has an owner and a standby that is near.
func (f *fleet) follows() {
	f.t.Helper()
	kit.Until(f.t, "each part has an owner and a standby", func() error {
		now := f.glance()
		for _, part := range f.parts() {
			s := now[part]
			if s.Owner == "" || !slices.ContainsFunc(s.Standbys, func(b region.StandbyStatus) bool { return b.Lag < 1000 }) {
				return fmt.Errorf("%q: %+v", part, s)
			}
		}
		return nil
	})
}

// serves is a row of sourceTable, or of the page, of the owner of a part.
type serves struct {
	source                        string
	epoch, commits, standbys, lag uint64
}

// inSourceTable returns the owner of each part, by SNMP.
func inSourceTable(w kit.Walked) map[string]serves {
	out := map[string]serves{}
	num := func(column int, index string) uint64 { return w.Column(kit.SourceTable, column)[index].Num }
	for index, name := range w.Column(kit.SourceTable, kit.ColumnID) {
		part := w.Column(kit.SourceTable, kit.SourceRegion)[index].Str
		if part != "" && num(kit.SourceState, index) == 1 && num(kit.SourceRegionEpoch, index) > out[part].epoch {
			out[part] = serves{name.Str, num(kit.SourceRegionEpoch, index), num(kit.SourceRegionPosition, index),
				num(kit.SourceRegionStandbys, index), num(kit.SourceRegionLag, index)}
		}
	}
	return out
}

// onPage is the same by the page's list.
func onPage(t *testing.T, w kit.Web) map[string]serves {
	t.Helper()
	var doc struct {
		Sources []struct {
			Name, State, Region            string
			Fence, Position, Standbys, Lag uint64
		}
	}
	if err := json.Unmarshal(w.Page(t, "/api/v1/overview"), &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]serves{}
	for _, s := range doc.Sources {
		if s.Region != "" && s.State == "up" && s.Fence > out[s.Region].epoch {
			out[s.Region] = serves{s.Name, s.Fence, s.Position, s.Standbys, s.Lag}
		}
	}
	return out
}

// byCommand is the same by "pnagent regions".
func (f *fleet) byCommand() map[string]serves {
	f.t.Helper()
	r := kit.Pnagent(f.t, "regions", "--nats", f.nats(), "--json", f.id())
	var all []region.Status
	if err := json.Unmarshal([]byte(r.Out), &all); err != nil || r.Code != 0 {
		f.t.Fatalf("pnagent regions: got %+v, %v; want exit code 0 and JSON", r, err)
	}
	out := map[string]serves{}
	for _, s := range all {
		one := serves{s.Owner + "/" + s.Part, s.Epoch, s.Commits, uint64(len(s.Standbys)), 0}
		for i, b := range s.Standbys {
			if i == 0 || b.Lag < one.lag {
				one.lag = b.Lag
			}
		}
		out[s.Part] = one
	}
	return out
}

// tellTheSame waits until SNMP, the page and the command say the same of every part.
func (f *fleet) tellTheSame(noc snmptest.Client, side *kit.Sidecar) {
	f.t.Helper()
	kit.Until(f.t, "SNMP, the page and pnagent regions agree", func() error {
		want := f.byCommand()
		if names := slices.Sorted(maps.Keys(want)); len(names) != len(f.all) {
			return fmt.Errorf("pnagent regions tells of %q", names)
		}
		allow := cmp.AllowUnexported(serves{})
		if diff := cmp.Diff(want, inSourceTable(kit.Walk(f.t, noc)), allow); diff != "" {
			return errors.New("-command +SNMP\n" + diff)
		}
		if diff := cmp.Diff(want, onPage(f.t, side.Web), allow); diff != "" {
			return errors.New("-command +page\n" + diff)
		}
		return nil
	})
}

// A standby that is stopped, one that joins late, and a restart of every
// process, the servers and the sidecars too: a station that reads all the time
// never sees a number fall within a discontinuity time, nor one that is more
// than what was done; and at rest it sees what is in the logs. No other test of this package
// runs beside it, for that no number is older than behind is a matter of time.
//
//promise:durable stop
func TestNothingIsLostOrDoubleInSNMPWhileEveryProcessIsRestarted(t *testing.T) {
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, line(), 40, 0)
	snmpd, mibs := snmptest.Start(t, snmptest.Config{}), t.TempDir()
	sidecarAt := func(priority int) *kit.Sidecar {
		side := kit.Serve(t, js.url, "--agentx", snmpd.AgentX, "--agentx.priority", strconv.Itoa(priority), "--mib-dir", mibs,
			"--state-dir", filepath.Join(mibs, strconv.Itoa(priority)), f.net)
		side.Registered(t)
		return side
	}
	primary, standby := sidecarAt(100), sidecarAt(127)
	regions := map[string][]string{"a": {"one"}, "b": {"one"}, "c": {"two", "three"}, "d": {"two", "three"}}
	running := map[string]*kit.Process{}
	begin := func(name string) {
		running[name] = f.start(name, regions[name]...)
		f.follows()
	}
	for name := range regions {
		running[name] = f.start(name, regions[name]...)
	}
	f.follows()
	l := f.injections(inRegion)
	s := sample(t, snmpd.Client, l)
	l.grows(t, 400)

	// A standby is stopped for a while.
	stopped := f.statuses()["one"].Standbys[0].Source
	running[stopped].Pause(t)
	l.grows(t, 1200)
	running[stopped].Resume(t)
	f.follows()

	// Another one joins late.
	regions["late"] = []string{"one", "two", "three"}
	begin("late")

	// All are restarted, one after the other.
	for _, name := range slices.Sorted(maps.Keys(regions)) {
		l.grows(t, 200)
		running[name].Stop(t, syscall.SIGTERM)
		begin(name)
	}
	for _, p := range []struct {
		side     **kit.Sidecar
		priority int
	}{{&primary, 100}, {&standby, 127}} {
		l.grows(t, 200)
		(*p.side).Stop(t, syscall.SIGTERM)
		*p.side = sidecarAt(p.priority)
	}
	for _, name := range slices.Sorted(maps.Keys(regions)) {
		l.grows(t, 200)
		running[name].Kill(t)
		begin(name)
	}
	js.stop()
	js.start()
	l.grows(t, 400)
	primary.Kill(t)
	primary = sidecarAt(100)
	l.grows(t, 400)

	l.end()
	atRest := f.arrives(l, snmpd.Client, primary, standby)
	f.tellTheSame(snmpd.Client, primary)
	for _, p := range running {
		p.Stop(t, syscall.SIGTERM)
	}
	if diff := cmp.Diff(atRest, f.arrives(l, snmpd.Client, primary, standby)); diff != "" {
		t.Errorf("when all owners have gone: -before +after\n%s", diff)
	}
	if n := s.times(); n < 4 {
		t.Errorf("the station has seen %d discontinuity times; want those of 4 sidecars", n)
	}
	primary.Stop(t, syscall.SIGTERM)
	standby.Stop(t, syscall.SIGTERM)
}
