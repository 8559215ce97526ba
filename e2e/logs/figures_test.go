// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/engine/journal/stream"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/internal/measure"
	"github.com/pnagent/pnagent/telemetry"
)

// Flags of TestFiguresOfRegions, which make bench-regions runs.
var (
	figuresAll       = flag.Bool("figures", false, "measure nets in regions and print the table of docs/benchmarks.md")
	figuresOnly      = flag.String("figures.only", "", "regular expression: the figures to measure; all if empty")
	figuresWindow    = flag.Duration("figures.window", 5*time.Second, "how long each rate is measured")
	figuresTakeovers = flag.Int("figures.takeovers", 20, "hand-overs, as many kills and as many stops that are measured")
	figuresProcs     = flag.Int("figures.procs", 1, "processors that each engine uses (GOMAXPROCS); 0 for all")
	figuresBase      = flag.Bool("figures.base", true, "measure the emulation of DiPeN's protocol too")
)

// TestFiguresOfRegions measures rates and take-overs of nets in regions, played
// by real processes over a NATS server of their own, and checks after each that
// no token was lost. Beside them it runs the emulation of DiPeN's protocol.
func TestFiguresOfRegions(t *testing.T) {
	if !*figuresAll {
		t.Skip("measures for minutes; make bench-regions runs it")
	}
	wanted, err := regexp.Compile(*figuresOnly)
	if err != nil {
		t.Fatal(err)
	}
	var base map[string]float64
	if *figuresBase {
		base = emulated(t)
	}
	var rows []figureResult
	for _, f := range regionFigures() {
		if wanted.MatchString(f.what) {
			t.Run(f.what, func(t *testing.T) {
				row := f.measure(t, base)
				fmt.Fprintf(os.Stderr, "%s: %s\n", f.what, row.text())
				rows = append(rows, row)
			})
		}
	}
	if err := writeFigures(os.Stdout, rows); err != nil {
		t.Error(err)
	}
}

// Processes are started, measured and ended, and every token is found.
func TestARateAndAHandOverAreMeasured(t *testing.T) {
	t.Parallel()
	if rate := pingpong(3).rate(t, false, time.Second/2); rate <= 0 {
		t.Errorf("got %v firings a second; want some", rate)
	}
	if took := worked(3, time.Millisecond).takeovers(t, syscall.SIGTERM, 1); len(took) != 1 {
		t.Errorf("got hand-overs %v; want one", took)
	}
}

// workload is a net and how the engines run it.
type workload struct {
	played
	tokens    int // of one instance
	instances int
	args      []string // additional ones of every engine
}

const figuresNet = "bench"

// pingpong returns a net whose tokens move back and forth between the regions
// "one" and "two".
func pingpong(tokens int, args ...string) workload {
	return workload{played{ringOf(2, tokens), "nets: {" + figuresNet + ": {regions: {one: [t0], two: [t1]}}}\n"}, tokens, 1, args}
}

// worked returns a ping-pong in which each firing takes as long as delay.
func worked(tokens int, delay time.Duration) workload {
	g := pingpong(tokens)
	g.bindings = fmt.Sprintf("nets: {%s: {transitions: {t0: {delay: %v}, t1: {delay: %v}}, regions: {one: [t0], two: [t1]}}}\n", figuresNet, delay, delay)
	return g
}

// ring returns a net with a cycle of places in the region "one", with one token in
// each instance.
func ring(places, instances int) workload {
	all := make([]string, places)
	for i := range all {
		all[i] = "t" + strconv.Itoa(i)
	}
	return workload{played{ringOf(places, 1), "nets: {" + figuresNet + ": {regions: {one: [" + strings.Join(all, ", ") + "]}}}\n"}, 1, instances, nil}
}

func ringOf(places, tokens int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id=%q type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">`, figuresNet)
	for i := range places {
		fmt.Fprintf(&b, `<place id="p%d">`, i)
		if i == 0 {
			fmt.Fprintf(&b, `<initialMarking><text>%d</text></initialMarking>`, tokens)
		}
		fmt.Fprintf(&b, `</place><transition id="t%d"/><arc id="in%d" source="p%d" target="t%d"/><arc id="out%d" source="t%d" target="p%d"/>`,
			i, i, i, i, i, i, (i+1)%places)
	}
	b.WriteString(`</page></net></pnml>`)
	return b.String()
}

// start starts a NATS server of its own, which syncs every write if syncAlways is
// set, and returns the fleet without engines.
func (w workload) start(t *testing.T, syncAlways bool) *fleet {
	t.Helper()
	conf := ""
	if syncAlways {
		conf = "jetstream {\n  sync_interval: always\n}\n"
	}
	url := kit.StartNATS(t, "--jetstream", "--store_dir", t.TempDir(), "--config", kit.Write(t, "nats.conf", conf))
	f := newFleet(t, func() string { return url }, w.played, w.instances, 0)
	f.args = append(f.args, w.args...)
	f.procs = *figuresProcs
	return f
}

// ends stops the engines. It checks that every token is in a place or between two
// regions, and that the logs hold the published firings.
func (w workload) ends(t *testing.T, f *fleet, published uint64, engines ...*kit.Process) {
	t.Helper()
	for _, p := range engines {
		p.Stop(t, syscall.SIGTERM)
	}
	tally := f.count()
	if want := uint64(w.tokens * w.instances); tally.Total() != want {
		t.Errorf("%d tokens; want %d: %+v", tally.Total(), want, tally)
	}
	var firings uint64
	for _, n := range tally.Firings {
		firings += n
	}
	if firings < published {
		t.Errorf("%d firings in the logs; want the %d published ones", firings, published)
	}
}

// settled waits until owner owns a region and standby, unless that is "", follows
// it closely.
func (f *fleet) settled(part, owner, standby string) {
	f.t.Helper()
	const near = 1000 // commits
	kit.Until(f.t, owner+" owns "+part, func() error {
		now := f.glance()[part]
		follows := func(s region.StandbyStatus) bool { return s.Source == standby && s.Lag < near }
		if now.Owner != owner || standby != "" && !slices.ContainsFunc(now.Standbys, follows) {
			return fmt.Errorf("%+v; expected standby %q", now, standby)
		}
		return nil
	})
}

// rate returns the firings a second of a workload with one process for each
// region.
func (w workload) rate(t *testing.T, syncAlways bool, window time.Duration) float64 {
	t.Helper()
	warmUp := min(window, 1500*time.Millisecond)
	f := w.start(t, syncAlways)
	m := &meter{sources: map[string]*sourceFirings{}}
	if _, err := f.conn.Subscribe(telemetry.Subjects{}.Snapshots(), m.receive); err != nil {
		t.Fatal(err)
	}
	var engines []*kit.Process
	for _, part := range f.parts() {
		engines = append(engines, f.start("engine-"+part, part))
	}
	for _, part := range f.parts() {
		f.settled(part, "engine-"+part, "")
	}
	time.Sleep(warmUp)
	rate, published := m.measure(t, window)
	w.ends(t, f, published, engines...)
	return rate
}

// meter receives the snapshots of the engines.
type meter struct {
	mu      sync.Mutex
	dec     telemetry.Decoder
	sources map[string]*sourceFirings
	dropped int // snapshots that could not be decoded
}

// sourceFirings is what one source has published.
type sourceFirings struct {
	firings map[int]uint64 // by transition
	points  []point
}

// point is the firings that a source had counted at a time of its clock.
type point struct {
	at      int64 // microseconds since the Unix epoch
	firings uint64
}

func (m *meter) receive(msg *nats.Msg) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var s telemetry.Snapshot
	if err := m.dec.DecodeMsg(telemetry.Subjects{}, msg, &s); err != nil {
		m.dropped++
		return
	}
	source := m.sources[s.Source]
	if source == nil {
		source = &sourceFirings{firings: map[int]uint64{}}
		m.sources[s.Source] = source
	}
	for i := range s.Rows.Transitions {
		at := i
		if !s.Full {
			at = int(s.TransitionIndex[i])
		}
		source.firings[at] = s.Rows.Transitions[i].Firings
	}
	sum := uint64(0)
	for _, n := range source.firings {
		sum += n
	}
	source.points = append(source.points, point{s.SentAt, sum})
}

// between returns the rate of the firings of all sources between two times, and
// the number of firings up to the last snapshots before the second one.
func (m *meter) between(from, to time.Time) (rate float64, published uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dropped > 0 {
		return 0, 0, fmt.Errorf("%d snapshots could not be decoded", m.dropped)
	}
	for source, c := range m.sources {
		var in []point
		for _, p := range c.points {
			if p.at >= from.UnixMicro() && p.at <= to.UnixMicro() {
				in = append(in, p)
			}
		}
		if len(in) < 2 {
			return 0, 0, fmt.Errorf("%w: %d of source %q", errFew, len(in), source)
		}
		first, last := in[0], in[len(in)-1]
		rate += float64(last.firings-first.firings) / (float64(last.at-first.at) / 1e6)
		published += last.firings
	}
	return rate, published, nil
}

var errFew = errors.New("fewer than two snapshots")

// measure returns the result of between for a window that begins now. It extends
// the window if a source publishes fewer than two snapshots.
func (m *meter) measure(t *testing.T, window time.Duration) (rate float64, published uint64) {
	t.Helper()
	from := time.Now()
	for {
		time.Sleep(window)
		rate, published, err := m.between(from, time.Now())
		if err == nil {
			return rate, published
		}
		if !errors.Is(err, errFew) || time.Since(from) > window+kit.Patience {
			t.Fatal(err)
		}
	}
}

// departure is a signal to an owner.
type departure struct {
	at        time.Time // just before the signal
	successor string
}

// takeovers ends the owner of the region "one" a number of times by a signal. It
// returns how long after each signal the first firing of the successor was stored.
func (w workload) takeovers(t *testing.T, signal syscall.Signal, times int) (took []time.Duration) {
	t.Helper()
	f := w.start(t, false)
	var engines []*kit.Process
	for _, part := range f.parts()[1:] {
		engines = append(engines, f.start("engine-"+part, part))
	}
	departures, members := f.relay(times, signal)
	w.ends(t, f, 0, append(engines, members...)...)
	tenures := f.tenures("one")
	for _, d := range departures {
		if down, ok := downtime(d, tenures); ok {
			took = append(took, down)
		} else { // on a busy machine a standby may miss its owner's messages and take over
			t.Logf("%s owned the region before the signal to its owner; this take-over is not counted", d.successor)
		}
	}
	if len(took) == 0 {
		t.Fatal("every successor owned the region before the signal")
	}
	return took
}

// relay makes two members own the region "one" in turn. A member that has ended
// is started again under its name; one that was stopped continues. It returns the
// members that run at the end.
func (f *fleet) relay(times int, signal syscall.Signal) (all []departure, running []*kit.Process) {
	f.t.Helper()
	const recovery = 3 * time.Second // until the effects of an absence on other members are over
	name := func(i int) string { return "member-" + strconv.Itoa(i%2) }
	members := map[string]*kit.Process{name(0): f.start(name(0), "one")}
	f.settled("one", name(0), "")
	for i := range times {
		owner, successor := name(i), name(i+1)
		if members[successor] == nil {
			members[successor] = f.start(successor, "one")
		}
		f.settled("one", owner, successor)
		all = append(all, departure{time.Now(), successor})
		switch p := members[owner]; signal {
		case syscall.SIGSTOP:
			p.Pause(f.t)
			f.settled("one", successor, "")
			p.Resume(f.t)
			time.Sleep(recovery)
			continue
		case syscall.SIGKILL:
			p.Kill(f.t)
		default:
			p.Stop(f.t, signal)
		}
		delete(members, owner)
		f.settled("one", successor, "")
	}
	return all, slices.Collect(maps.Values(members))
}

// tenure is the time of one owner of a region.
type tenure struct {
	owner string
	began time.Time // when its first commit was stored
	fired time.Time // when its first commit with a firing was stored; zero if there is none
}

// downtime returns how long after the signal the successor fired. ok is false if
// the successor owned the region before the signal.
func downtime(l departure, tenures []tenure) (d time.Duration, ok bool) {
	for _, r := range tenures {
		if r.owner == l.successor && r.began.After(l.at) && !r.fired.IsZero() {
			return r.fired.Sub(l.at), true
		}
	}
	return 0, false
}

// tenures returns the owners of a region in order, from the server's log.
func (f *fleet) tenures(part string) (all []tenure) {
	f.t.Helper()
	name, err := stream.NameOf(telemetry.DefaultPrefix + "/" + f.id() + "/" + part)
	if err != nil {
		f.t.Fatal(err)
	}
	js, err := jetstream.New(f.conn)
	if err != nil {
		f.t.Fatal(err)
	}
	s, err := js.Stream(f.t.Context(), name)
	if err != nil {
		f.t.Fatal(err)
	}
	consumer, err := s.OrderedConsumer(f.t.Context(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		f.t.Fatal(err)
	}
	in, err := consumer.Messages()
	if err != nil {
		f.t.Fatal(err)
	}
	defer in.Stop()
	for i := range s.CachedInfo().State.Msgs {
		m, err := in.Next(jetstream.NextMaxWait(kit.Patience))
		if err != nil {
			f.t.Fatal(err)
		}
		meta, err := m.Metadata()
		if err != nil {
			f.t.Fatal(err)
		}
		if i == 0 { // the header
			continue
		}
		c, err := parseCommit(m.Data())
		if err != nil {
			f.t.Fatalf("commit %d of %q: %v", meta.Sequence.Stream, part, err)
		}
		if c.owner != "" {
			all = append(all, tenure{owner: c.owner, began: meta.Timestamp})
		}
		if n := len(all); c.fired && n > 0 && all[n-1].fired.IsZero() {
			all[n-1].fired = meta.Timestamp
		}
	}
	return all
}

// commit is the part of a commit that is read here.
type commit struct {
	owner string // the new owner of the region; "" if it does not change
	fired bool   // whether tokens left for the other region, as in each firing of a ping-pong
}

// The sections of a commit of one net; see package engine.
const (
	sectionCrossings = 1
	sectionOwnership = 2
)

var errCommit = errors.New("invalid commit")

// markSize is the size of the prefix of a commit: a zero, which marks a whole
// commit, and the mark of the previous commit.
const markSize = 10

// parseCommit reads the time of a commit, which it ignores, and its sections.
func parseCommit(payload []byte) (c commit, err error) {
	if len(payload) < markSize || payload[0] != 0 {
		return c, errCommit
	}
	rest := payload[markSize:]
	number := func() uint64 {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			err, n = errCommit, len(rest)
		}
		rest = rest[n:]
		return v
	}
	number()
	for err == nil && len(rest) > 0 {
		kind, length := number(), number()
		if err != nil || length > uint64(len(rest)) {
			return c, errCommit
		}
		body := rest[:length]
		rest = rest[length:]
		switch kind {
		case sectionCrossings:
			c.fired = true
		case sectionOwnership:
			var o struct {
				Owner   string
				Release bool
			}
			if err := json.Unmarshal(body, &o); err != nil {
				return c, fmt.Errorf("%w: %w", errCommit, err)
			}
			if !o.Release {
				c.owner = o.Owner
			}
		}
	}
	return c, err
}

// figure is a measurement and its goal.
type figure struct {
	what       string
	workload   workload
	syncAlways bool
	signal     syscall.Signal // that ends the owner; 0 for a rate
	goal       float64        // firings a second, or milliseconds
	dipen      float64        // DiPeN's published figure; 0 for none
	base       string         // benchmark of the emulation; "" for none
}

// figureResult is a measured figure. Rates are firings a second, durations milliseconds.
type figureResult struct {
	What    string
	Unit    string
	Reached float64   // the median of durations
	All     []float64 // durations in ascending order
	Goal    float64   // a minimum; of durations a maximum
	DiPeN   float64
	Base    float64 // the emulation of DiPeN in this run
	Ratio   float64
}

const (
	rateUnit = "firings/s"
	timeUnit = "ms"
)

// regionFigures returns the promised figures for nets in regions. The constants are
// DiPeN's: firings a second across regions, of one net and at best over 96 nets,
// and milliseconds of a hand-over.
func regionFigures() []figure {
	const across, alone, many, handOver = 5, 284, 4868, 100
	one, hundred := pingpong(1), pingpong(100)
	single := pingpong(100, "--journal.group", "1")
	net, nets := ring(100, 1), ring(100, 96)
	busy := worked(100, time.Millisecond)
	return []figure{
		{what: "1 token back and forth between two regions", workload: one, goal: 10_000, dipen: across, base: "Firings/across/tokens=1/sync=false"},
		{what: "100 tokens, one firing a message", workload: single, goal: 50_000, dipen: across, base: "Firings/across/tokens=100/sync=false"},
		{what: "100 tokens, grouped", workload: hundred, goal: 500_000, dipen: across, base: "Firings/across/tokens=100/sync=false"},
		{what: "one region, one ring, grouped", workload: net, goal: 100_000, dipen: alone, base: "Firings/inside/nets=1/sync=false"},
		{what: "one region, 96 rings, grouped", workload: nets, goal: 100_000, dipen: many, base: "Firings/inside/nets=96/sync=false"},
		{what: "1 token back and forth, sync always", workload: one, syncAlways: true, goal: 500, dipen: across, base: "Firings/across/tokens=1/sync=true"},
		{what: "one region, 96 rings, grouped, sync always", workload: nets, syncAlways: true, goal: 100_000, dipen: many, base: "Firings/inside/nets=96/sync=true"},
		{what: "planned hand-over, SIGTERM to the successor's first firing", workload: busy, signal: syscall.SIGTERM, goal: 5, dipen: handOver, base: "HandOver"},
		{what: "take-over, kill -9 to the successor's first firing", workload: busy, signal: syscall.SIGKILL, goal: 500},
		{what: "take-over 3 s after the last stopped owner resumed, SIGSTOP to the successor's first firing", workload: busy, signal: syscall.SIGSTOP, goal: 500},
	}
}

func (f *figure) measure(t *testing.T, base map[string]float64) figureResult {
	r := figureResult{What: f.what, Unit: rateUnit, Goal: f.goal, DiPeN: f.dipen}
	if f.signal == 0 {
		r.Reached = f.workload.rate(t, f.syncAlways, *figuresWindow)
		r.Base = base[f.base+" "+rateUnit]
		if r.Base > 0 {
			r.Ratio = r.Reached / r.Base
		}
		return r
	}
	r.Unit = timeUnit
	for _, d := range f.workload.takeovers(t, f.signal, *figuresTakeovers) {
		r.All = append(r.All, float64(d.Microseconds())/1000)
	}
	slices.Sort(r.All)
	r.Reached = r.All[len(r.All)/2]
	r.Base = base[f.base+" ms-median"]
	if r.Base > 0 {
		r.Ratio = r.Base / r.Reached
	}
	return r
}

// writeFigures writes results as a Markdown table.
func writeFigures(out io.Writer, rows []figureResult) error {
	fmt.Fprintf(out, "%s, %d processors, %s\n\n", measure.Processor(), runtime.NumCPU(), runtime.Version())
	t := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	fmt.Fprintln(t, "| what\t| reached\t| goal\t| DiPeN, published\t| DiPeN, emulated here\t| times as fast\t|")
	fmt.Fprintln(t, "|---\t|---:\t|---:\t|---:\t|---:\t|---:\t|")
	for _, r := range rows {
		sign := "≥ "
		if r.Unit == timeUnit {
			sign = "≤ "
		}
		ratio := ""
		if r.Ratio > 0 {
			ratio = number(r.Ratio)
		}
		fmt.Fprintf(t, "| %s\t| %s\t| %s%s\t| %s\t| %s\t| %s\t|\n", r.What, r.text(), sign, amount(r.Goal, r.Unit), amount(r.DiPeN, r.Unit), amount(r.Base, r.Unit), ratio)
	}
	return t.Flush()
}

func (r *figureResult) text() string {
	if len(r.All) == 0 {
		return amount(r.Reached, r.Unit)
	}
	at := func(share float64) string { return number(r.All[int(share*float64(len(r.All)-1))]) }
	return fmt.Sprintf("%s (nine of ten %s, most %s, of %d)", amount(r.Reached, r.Unit), at(0.9), at(1), len(r.All))
}

// amount formats a value with its unit, or returns "" for 0.
func amount(v float64, unit string) string {
	switch {
	case v == 0:
		return ""
	case unit == rateUnit:
		return number(v) + "/s"
	}
	return number(v) + " " + unit
}

// number formats a small number with three digits, and a large one with commas.
func number(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.3g", v)
	}
	return measure.Integer(v)
}

// emulation is the directory of the module that emulates DiPeN's protocol.
var emulation = filepath.Join("..", "..", "attach", "dipen", "etcdtest")

// emulated runs the emulation of DiPeN's protocol and returns its results, by
// benchmark and unit. Benchmarks that wait for etcd have a number of runs, because
// their pace is not even.
func emulated(t *testing.T) map[string]float64 {
	t.Helper()
	program := filepath.Join(t.TempDir(), "locks.test")
	build := exec.Command("go", "test", "-c", "-o", program, "./locks")
	build.Dir = emulation
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the emulation of DiPeN's protocol in %s: %v\n%s", emulation, err, out)
	}
	results := map[string]float64{}
	for pattern, times := range map[string]string{
		"Firings/across/tokens=1/":                                      "30x",
		"Firings/across/tokens=100/sync=false":                          "150x",
		"Firings/inside/.*/sync=false|Firings/inside/nets=96/sync=true": "1s",
		"HandOver": "10x",
	} {
		cmd := exec.Command(program, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", times)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, os.Stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("emulating DiPeN's protocol: %v\n%s", err, &out)
		}
		maps.Copy(results, measure.Benchmarks(&out))
	}
	return results
}

func section(kind uint64, body string) []byte {
	b := binary.AppendUvarint(nil, kind)
	b = binary.AppendUvarint(b, uint64(len(body)))
	return append(b, body...)
}

func joined(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func TestCommitsOfALogAreParsed(t *testing.T) {
	at := binary.AppendUvarint([]byte("\x00\x04the mark"), 1_700_000_000_000_000)
	for name, c := range map[string]struct {
		payload []byte
		want    commit
		err     bool
	}{
		"tokens that left":      {joined(at, section(0, "ops"), section(1, "tokens")), commit{fired: true}, false},
		"tokens that came":      {joined(at, section(0, "ops"), section(3, "\x00\x07")), commit{}, false},
		"an owner":              {joined(at, section(2, `{"epoch":2,"owner":"x"}`)), commit{owner: "x"}, false},
		"a release":             {joined(at, section(2, `{"epoch":2,"owner":"x","release":true}`)), commit{}, false},
		"nothing":               {nil, commit{}, true},
		"a section that breaks": {joined(at, []byte{1, 200}), commit{}, true},
	} {
		got, err := parseCommit(c.payload)
		if (err != nil) != c.err || !c.err && got != c.want {
			t.Errorf("%s: %+v, %v; want %+v, an error: %t", name, got, err, c.want, c.err)
		}
	}
}

func TestDowntimeIsFromTheSignalToTheFirstFiringOfTheSuccessor(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	tenures := []tenure{{"a", at(0), at(1)}, {"b", at(1200), at(1300)}, {"a", at(5000), at(5400)}, {"b", at(9000), time.Time{}}}
	for name, c := range map[string]struct {
		departure departure
		want      time.Duration
		ok        bool
	}{
		"the first":                      {departure{at(1000), "b"}, 300 * time.Millisecond, true},
		"the same one again":             {departure{at(4000), "a"}, 1400 * time.Millisecond, true},
		"one that owned it already":      {departure{at(1250), "b"}, 0, false},
		"one that has never fired again": {departure{at(8000), "b"}, 0, false},
	} {
		if d, ok := downtime(c.departure, tenures); d != c.want || ok != c.ok {
			t.Errorf("%s: %v, %t; want %v, %t", name, d, ok, c.want, c.ok)
		}
	}
}

func TestTheTableOfFiguresHasGoalsAndBases(t *testing.T) {
	var out strings.Builder
	rows := []figureResult{
		{What: "a rate", Unit: rateUnit, Reached: 12_345, Goal: 10_000, DiPeN: 5, Base: 4.95, Ratio: 2494},
		{What: "a time", Unit: timeUnit, Reached: 2.5, All: []float64{2, 2.5, 3.25}, Goal: 5},
	}
	if err := writeFigures(&out, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"12,345/s", "≥ 10,000/s", "4.95/s", "2,494", "2.5 ms (nine of ten 2.5, most 3.25, of 3)", "≤ 5 ms"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%s\nwant %q in it", &out, want)
		}
	}
}
