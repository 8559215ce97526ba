// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	engines = 3
	length  = 20 * time.Minute // of a seed
	calm    = 4 * time.Minute  // between two times at which all is healed, and has to be exact
	settled = time.Minute      // that this takes
	longest = 15 * time.Second // of most faults
	last    = 60               // entries of the diary that a failure shows
)

// world is all processes, and what is to come.
type world struct {
	t        *testing.T
	rng      *rand.Rand
	network  *network
	nodes    []*node
	sidecars []*sidecar
	truth    *truth
	pair     *station
	root     *station
	shown    map[string]*sums // by sidecar, the largest counters that it showed
	earlier  []sums           // the truth of the last seconds, oldest first
	pending  []heal
	mu       sync.Mutex
	diary    []string // guarded by mu
	begin    time.Time
}

// heal ends a fault.
type heal struct {
	at   time.Time
	what string
	do   func()
}

var during = flag.Duration("for", 0, "simulate seeds for so long, instead of a few")

//promise:counters kill stop dark cut messages none
//promise:evidence kill stop dark cut messages
//promise:clears kill stop dark cut
//promise:durable kill stop
//promise:faces kill stop dark cut
//promise:unknown kill dark cut
//promise:dropped dark cut
func TestAFleetUnderRandomFaults(t *testing.T) {
	if seed, err := strconv.ParseUint(os.Getenv(seeds.One), 10, 64); err == nil {
		simulate(t, seed)
		return
	}
	next, stop := iter.Pull(selected())
	defer stop()
	begin := time.Now()
	var mu sync.Mutex // of next and ran
	var ran int
	draw := func() (seed uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if *during > 0 && time.Since(begin) > *during {
			return 0, false
		}
		seed, ok = next()
		if ok {
			ran++
		}
		if *during > 0 && ran%50 == 0 {
			fmt.Printf("%v: %d seeds\n", time.Since(begin).Round(time.Second), ran)
		}
		return seed, ok
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed, ok := draw(); ok; seed, ok = draw() {
				t.Run(fmt.Sprint(seed), func(t *testing.T) { alone(t, seed) })
			}
		})
	}
	workers.Wait()
	if took := time.Since(begin); *during > 0 {
		fmt.Printf("%d seeds, %v simulated in %v: %.0f seconds a minute\n", ran, time.Duration(ran)*length, took.Round(time.Second), float64(ran)*length.Seconds()/took.Minutes())
	}
}

// selected returns the seeds to run: a few that are the same each time, or new ones without end.
func selected() iter.Seq[uint64] {
	if *during == 0 {
		return seeds.Of(4, 400)
	}
	return func(yield func(uint64) bool) {
		for seed := uint64(rand.Uint32()); yield(seed); seed++ {
		}
	}
}

// alone runs a seed in a process of its own: the NATS client keeps timers for all of its process, and a
// timer of one bubble is of no use in another.
func alone(t *testing.T, seed uint64) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestAFleetUnderRandomFaults$", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", seeds.One, seed))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v; run it again by %s=%d go test\n%s", err, seeds.One, seed, out)
	}
}

// simulate runs one seed.
func simulate(t *testing.T, seed uint64) {
	dir, err := os.MkdirTemp(memory(), "pnagent-simulation")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, seed)
		defer w.end()
		w.run()
	})
}

// memory returns a folder in memory, where there is one: to sync a file costs nothing there.
func memory() string {
	if _, err := os.Stat("/dev/shm"); err == nil {
		return "/dev/shm"
	}
	return ""
}

func newWorld(t *testing.T, dir string, seed uint64) *world {
	t.Helper()
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), network: newNetwork(t), truth: newTruth(), shown: map[string]*sums{}, begin: time.Now()}
	w.pair, w.root = newStation(w.truth, w.note), newStation(w.truth, w.note)
	process := func(name string) process {
		p := process{name: name, dir: filepath.Join(dir, name), network: w.network}
		if err := os.Mkdir(p.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return p
	}
	own := telemetry.Subjects{}
	above, err := telemetry.NewSubjects("petrinet.root")
	if err != nil {
		t.Fatal(err)
	}
	w.sidecars = []*sidecar{
		{process: process("primary"), priority: 100, station: w.pair},
		{process: process("standby"), priority: 127, station: w.pair},
		{process: process("below-1"), share: merge.Share{Index: 1, Count: 2}, above: &above},
		{process: process("below-2"), share: merge.Share{Index: 2, Count: 2}, above: &above},
		{process: process("root"), subjects: above, station: w.root},
	}
	for _, s := range w.sidecars[:4] {
		s.subjects = own
	}
	for _, s := range w.sidecars {
		s.start(t)
	}
	time.Sleep(10 * time.Second) // a first start counts what engines do from then on
	for i := range engines {
		n := &node{process: process(fmt.Sprint("shop-", i+1)), seed: seed}
		w.truth.engines[n.name] = &desk{}
		w.nodes = append(w.nodes, n)
		n.start(t)
	}
	time.Sleep(10 * time.Second)
	return w
}

func (w *world) end() {
	for _, n := range w.nodes {
		if n.up {
			_ = n.stop()
		}
	}
	for _, s := range w.sidecars {
		if s.up {
			s.end()
		}
	}
	w.network.stop()
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.diary = append(w.diary, fmt.Sprintf("%v %s", time.Since(w.begin).Truncate(time.Millisecond), fmt.Sprintf(format, args...)))
}

// fail reports a broken promise with what happened before.
func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%v: %s\nbefore:\n\t%s", time.Since(w.begin), fmt.Sprintf(format, args...), strings.Join(w.diary[max(0, len(w.diary)-last):], "\n\t"))
}

func (w *world) run() {
	for time.Since(w.begin) < length {
		for end := time.Now().Add(calm); time.Now().Before(end); {
			w.second(true)
		}
		w.healAll()
		for end := time.Now().Add(settled); time.Now().Before(end); {
			w.second(false)
		}
		w.exact()
	}
}

// second lets a second pass. What begins in it, begins at its end, while all processes wait.
func (w *world) second(faults bool) {
	time.Sleep(time.Second)
	synctest.Wait()
	w.check()
	for len(w.pending) > 0 && !w.pending[0].at.After(time.Now()) {
		h := w.pending[0]
		w.pending = w.pending[1:]
		w.note("%s", h.what)
		h.do()
	}
	if !faults {
		return
	}
	w.work()
	if w.rng.IntN(6) == 0 {
		w.fault()
	}
}

// later ends a fault after a while.
func (w *world) later(what string, do func()) {
	after := time.Duration(500+w.rng.IntN(int(longest.Milliseconds())-500)) * time.Millisecond
	if w.rng.IntN(10) == 0 {
		after = forgetAfter + 10*time.Second // the sidecars forget the source
	}
	w.pending = append(w.pending, heal{at: time.Now().Add(after), what: what, do: do})
	slices.SortStableFunc(w.pending, func(a, b heal) int { return a.at.Compare(b.at) })
}

func (w *world) healAll() {
	for _, h := range w.pending {
		w.note("%s", h.what)
		h.do()
	}
	w.pending = nil
}

// work has the engines put tokens on their desks and take them.
func (w *world) work() {
	for _, n := range w.nodes {
		if !n.up || w.rng.IntN(8) != 0 {
			continue
		}
		d := w.truth.engines[n.name]
		now := time.Now().UnixMicro()
		if d.since == 0 {
			if err := n.engine.Inject(w.t.Context(), netID, 0, "desk", 1); err != nil {
				w.fail("%s refuses a token: %v", n.name, err)
			}
			w.truth.mu.Lock()
			w.note("%s has a token at its desk", n.name)
			d.injected++
			d.since = now
			w.truth.tokens = append(w.truth.tokens, &token{from: now})
			d.token = w.truth.tokens[len(w.truth.tokens)-1]
			w.truth.mu.Unlock()
		} else {
			if err := n.engine.Fire(w.t.Context(), netID, 0, "approve"); err != nil {
				w.fail("%s does not fire: %v", n.name, err)
			}
			w.truth.mu.Lock()
			w.note("%s has approved", n.name)
			d.approved++
			d.since, d.token.to = 0, now
			w.truth.mu.Unlock()
		}
	}
}

// fault begins one fault.
func (w *world) fault() {
	switch kind := w.rng.IntN(20); {
	case kind < 4:
		w.failNode(w.nodes[w.rng.IntN(len(w.nodes))])
	case kind < 9:
		w.failSidecar(w.sidecars[w.rng.IntN(len(w.sidecars))])
	case kind < 10:
		if w.network.ns != nil {
			w.note("the server stops")
			w.network.stop()
			w.later("the server starts", w.network.start)
		}
	default:
		w.failLink()
	}
}

func (w *world) failNode(n *node) {
	if !n.up {
		return
	}
	w.measure(n)
	d := w.truth.engines[n.name]
	if w.rng.IntN(3) == 0 {
		w.note("%s stops", n.name)
		err := n.stop()
		w.truth.mu.Lock()
		if d.token != nil {
			d.token.left = d.token.left || err == nil
		}
		w.truth.mu.Unlock()
		if err != nil {
			w.note("%s: %v", n.name, err)
		}
	} else {
		w.note("%s is killed", n.name)
		n.kill(w.t)
	}
	w.later(n.name+" starts", func() { w.again(n) })
}

// again starts an engine, which has all that it acknowledged.
func (w *world) again(n *node) {
	n.start(w.t)
	d := w.truth.engines[n.name]
	var was, is sums
	was.add(&d.rows)
	w.measure(n)
	is.add(&d.rows)
	before, after := was.counters(), is.counters()
	for what, count := range before {
		if after[what] < count {
			w.fail("%s has lost: %s %d, before %d", n.name, what, after[what], count)
		}
	}
}

// measure asks an engine for its rows, and compares them with what it acknowledged.
func (w *world) measure(n *node) {
	d := w.truth.engines[n.name]
	rows := stats.NewRows(netPlaces, netTransitions)
	if err := n.engine.Rows(w.t.Context(), 0, time.Now().UnixMicro(), rows); err != nil {
		w.fail("%s: %v", n.name, err)
	}
	w.truth.mu.Lock()
	d.rows = *rows
	w.truth.mu.Unlock()
	p, ring := &rows.Places[placeDesk], rows.Places[placeIn].Tokens+rows.Places[placeOut].Tokens
	if p.Arrivals != d.injected || p.Departures != d.approved || p.Tokens != d.injected-d.approved || ring != instances || rows.Transitions[approve].Firings != d.approved {
		w.fail("%s has %d tokens in its ring, and at its desk %d arrivals, %d departures, %d tokens, %d approved; it acknowledged %d and %d",
			n.name, ring, p.Arrivals, p.Departures, p.Tokens, rows.Transitions[approve].Firings, d.injected, d.approved)
	}
	if off := p.Oldest - d.since; off != 0 && (d.since == 0 || off < 0 || off >= 1000) {
		w.fail("%s: the token at the desk is of %d, and was put at %d", n.name, p.Oldest, d.since)
	}
}

func (w *world) failSidecar(s *sidecar) {
	if !s.up {
		return
	}
	if w.rng.IntN(3) == 0 {
		w.note("%s stops", s.name)
		s.end()
	} else {
		w.note("%s is killed", s.name)
		s.kill(w.t)
	}
	w.later(s.name+" starts", func() { s.start(w.t) })
}

func (w *world) failLink() {
	var up []*process
	for _, n := range w.nodes {
		if n.up {
			up = append(up, &n.process)
		}
	}
	for _, s := range w.sidecars {
		if s.up {
			up = append(up, &s.process)
		}
	}
	if len(up) == 0 {
		return
	}
	p := up[w.rng.IntN(len(up))]
	l := p.link
	switch w.rng.IntN(3) {
	case 0:
		w.note("%s is in the dark", p.name)
		l.set(true, false, 0)
	case 1:
		w.note("%s is cut off", p.name)
		l.set(false, true, 0)
	case 2:
		delay := time.Duration(1+w.rng.IntN(400)) * time.Millisecond
		w.note("%s is %v away", p.name, delay)
		l.set(false, false, delay)
	}
	w.later(p.name+" is connected", func() {
		if p.up && p.link == l { // else another process has its name
			l.set(false, false, 0)
		}
	})
}

// check holds what must be so at any moment.
func (w *world) check() {
	now := map[string]*sums{}
	for _, s := range w.sidecars {
		if got := w.shownBy(s); got != nil {
			now[s.name] = got
		}
	}
	for _, n := range w.nodes {
		if n.up {
			w.measure(n)
		}
	}
	truth := w.truth.total()
	w.earlier = append(w.earlier, truth)
	for _, s := range w.sidecars {
		got := now[s.name]
		if got == nil {
			continue
		}
		most, before := truth.counters(), w.shown[s.name]
		for what, count := range got.counters() {
			if count > most[what] {
				w.fail("%s counts %d %s; the engines did %d", s.name, count, what, most[what])
			}
			if before != nil && count < before.counters()[what] {
				w.fail("%s counts %d %s, and showed %d before", s.name, count, what, before.counters()[what])
			}
		}
		w.shown[s.name] = got
	}
	for name, st := range map[string]*station{"the pair": w.pair, "the root": w.root} {
		st.mu.Lock()
		faults := st.faults
		st.mu.Unlock()
		if len(faults) > 0 {
			w.fail("%s notified falsely:\n\t%s", name, strings.Join(faults, "\n\t"))
		}
	}
}

// shownBy returns what a sidecar shows of the net; nil if it shows nothing.
func (w *world) shownBy(s *sidecar) *sums {
	if !s.up {
		return nil
	}
	n := s.collector.View().Net(netID)
	if n == nil || n.Rows.Columns&stats.ColArrivals == 0 {
		return nil
	}
	got := &sums{}
	got.add(n.Rows)
	return got
}

// exact holds what must be so once nothing has been wrong for a while.
func (w *world) exact() {
	truth, past := w.truth.total(), w.earlier[len(w.earlier)-8]
	w.earlier = nil
	held := 0
	for _, d := range w.truth.engines {
		if d.since != 0 {
			held++
		}
	}
	for _, s := range w.sidecars {
		got := w.shownBy(s)
		if got == nil {
			w.fail("%s shows nothing", s.name)
		}
		least, most := past.counters(), truth.counters()
		if s.share.Count == 0 {
			for what, count := range got.counters() {
				if count < least[what] || count > most[what] {
					w.fail("%s counts %d %s; expected %d to %d", s.name, count, what, least[what], most[what])
				}
			}
			if ring := got.tokens[placeIn] + got.tokens[placeOut]; ring != engines*instances || got.tokens[placeDesk] != uint64(held) {
				w.fail("%s shows %d and %d tokens; expected %d and %d", s.name, ring, got.tokens[placeDesk], engines*instances, held)
			}
		}
		v := s.collector.View()
		if d := v.SumDifferences; d > 0 {
			w.fail("%s had %d wrong sums", s.name, d)
		}
		for reason, n := range v.Traffic.Rejected {
			if n > 0 && telemetry.Reason(reason) != merge.Duplicate {
				w.note("%s rejected %d as %v", s.name, n, telemetry.Reason(reason))
			}
		}
	}
	if a, b := w.sidecars[0].member.OnDuty(), w.sidecars[1].member.OnDuty(); a == b {
		w.fail("on duty: %v and %v", a, b)
	}
	for name, st := range map[string]*station{"the pair": w.pair, "the root": w.root} {
		if desk, others := st.active(); desk != min(held, 1) || len(others) > 0 {
			w.fail("%s has %d alarms about the desk, where %d tokens are, and %q", name, desk, held, others)
		}
	}
	w.note("all is exact")
}
