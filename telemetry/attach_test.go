// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// bareSource returns a Source without a connection and without goroutines.
func bareSource(places, transitions int) *Source {
	n := &petri.Net{ID: "n", Places: make([]petri.Place, places), Transitions: make([]petri.Transition, transitions)}
	return &Source{net: n, a: Attachment{Log: slog.New(slog.DiscardHandler)}, present: present{places: make([][]bucket, places)}}
}

func rowsOf(t *testing.T, s *Source, now int64) *stats.Rows {
	t.Helper()
	rows := stats.NewRows(len(s.net.Places), len(s.net.Transitions))
	if err := s.rows(now, rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// slowSource computes the rows of a Source in the simplest way: it keeps every
// token.
type slowSource struct {
	rows   *stats.Rows
	tokens []map[int64]uint64 // by place and injection time
}

func newSlowSource(places, transitions int) *slowSource {
	s := &slowSource{rows: stats.NewRows(places, transitions)}
	for range places {
		s.tokens = append(s.tokens, map[int64]uint64{})
	}
	return s
}

func (s *slowSource) inject(place, n int, injected int64) {
	s.tokens[place][injected] += uint64(n)
	row := &s.rows.Places[place]
	row.Arrivals += uint64(n)
	row.LastInjection = max(row.LastInjection, injected)
}

func (s *slowSource) take(place, n int, injected, now int64) {
	if s.tokens[place][injected] -= uint64(n); s.tokens[place][injected] == 0 {
		delete(s.tokens[place], injected)
	}
	row := &s.rows.Places[place]
	row.Departures += uint64(n)
	for range n {
		row.Dwell.Observe(now - injected)
	}
}

func (s *slowSource) look(now int64) *stats.Rows {
	rows := stats.NewRows(len(s.rows.Places), len(s.rows.Transitions))
	rows.Merge(s.rows)
	for i := range rows.Places {
		row := &rows.Places[i]
		for injected, n := range s.tokens[i] {
			row.Tokens += n
			row.Oldest = stats.Earlier(row.Oldest, injected)
			row.Ages.Add(injected, now, n)
			for range n {
				row.Injected.Add(injected)
			}
		}
		if row.Tokens > 0 {
			row.Ages.At = now / stats.SlotWidth
		}
	}
	rows.Columns = recorderColumns | stats.ColEnabled
	return rows
}

// The rows equal those of a reference that keeps every token, however events
// are distributed over recorders, in any order and over any time.
func TestRowsAreTheSumOfAllRecorders(t *testing.T) {
	const places, transitions, recorders = 4, 3, 3
	for seed := range seeds.Of(2, 8) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, slow := bareSource(places, transitions), newSlowSource(places, transitions)
		var rec [recorders]*Recorder
		for i := range rec {
			rec[i] = s.Recorder()
		}
		rec[0].Enabled(2, 7, now0)
		slow.rows.Transitions[2].Enabled, slow.rows.Transitions[2].EnabledSince = 7, now0
		now := now0
		for range 30 {
			for range r.IntN(600) {
				now += 200_000 + r.Int64N(1<<r.IntN(24)) // one injection per bucket, so that the oldest is exact
				one := rec[r.IntN(recorders)]
				place, n := r.IntN(places), 1+r.IntN(3)
				one.Inject(place, n, now)
				slow.inject(place, n, now)
				fired := r.IntN(transitions)
				one = rec[r.IntN(recorders)]
				if from := r.IntN(places); len(slow.tokens[from]) > 0 && r.IntN(4) > 0 {
					injected := anyToken(r, slow.tokens[from])
					n := 1 + r.IntN(int(slow.tokens[from][injected]))
					one.Take(from, n, injected, now)
					slow.take(from, n, injected, now)
				}
				one.Fire(fired, now)
				slow.rows.Transitions[fired].Firings++
				slow.rows.Transitions[fired].LastFiring = now
			}
			if d := differ(slow.look(now), rowsOf(t, s, now)); d != "" {
				t.Fatalf("seed %d (-slow +source):\n%s", seed, d)
			}
		}
	}
}

// anyToken draws one of the injection times that tokens have. Each call orders
// them differently, because sorting them would take longer than the rest of the
// test.
func anyToken(r *rand.Rand, tokens map[int64]uint64) int64 {
	scatter, least, drawn := r.Uint64()|1, uint64(math.MaxUint64), int64(0)
	for injected := range tokens {
		if rank := uint64(injected) * scatter; rank <= least { // odd factors keep them distinct
			least, drawn = rank, injected
		}
	}
	return drawn
}

// Tokens pass from goroutine to goroutine while rows are read. No row counts a
// token that left before it arrived, or a token twice.
func TestTokensThatChangeGoroutinesNeverLeaveBeforeTheyCame(t *testing.T) {
	const goroutines, tokens, rounds = 4, 50, 300
	s := bareSource(goroutines, goroutines)
	rings := make([]chan int64, goroutines)
	for i := range rings {
		rings[i] = make(chan int64, tokens)
	}
	first := s.Recorder()
	for i := range tokens {
		first.Inject(0, 1, now0+int64(i))
		rings[0] <- now0 + int64(i)
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rec, next := s.Recorder(), (g+1)%goroutines
			for i := range tokens * rounds {
				injected, now := <-rings[g], now0+int64(i)*1000
				rec.Take(g, 1, injected, now)
				rec.Fire(g, now)
				rec.Inject(next, 1, now)
				rings[next] <- now
			}
			s.Release(rec)
		})
	}
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }()
	looks := 0
	for over := false; !over; looks++ {
		select {
		case <-finished:
			over = true
		default:
		}
		rows := rowsOf(t, s, now0+int64(tokens*rounds)*1000)
		for i := range rows.Places {
			p := &rows.Places[i]
			if p.Arrivals-p.Departures != p.Tokens || p.Dwell.Count() != p.Departures || p.Ages.Tokens() != p.Tokens {
				t.Fatalf("place %d: %d arrivals, %d departures, %d dwells, %d tokens, %d in the ladder", i, p.Arrivals, p.Departures, p.Dwell.Count(), p.Tokens, p.Ages.Tokens())
			}
		}
		if s.strays != 0 {
			t.Fatalf("%d strays", s.strays)
		}
	}
	rows := rowsOf(t, s, now0+int64(tokens*rounds)*1000)
	var left uint64
	for i := range goroutines {
		left += rows.Places[i].Tokens
		if got := rows.Transitions[i].Firings; got != tokens*rounds {
			t.Errorf("transition %d fired %d times, want %d", i, got, tokens*rounds)
		}
	}
	if left != tokens {
		t.Errorf("%d tokens, want %d, after reading rows %d times", left, tokens, looks)
	}
}

// While rows are read, a new Recorder injects a token that an older one takes.
// The take is read after that.
func TestTokensOfANewRecorderNeverLeaveBeforeTheyCame(t *testing.T) {
	s := bareSource(1, 1)
	first, second := s.Recorder(), s.Recorder()
	first.Inject(0, 1, now0)
	first.halves[1].mu.Lock() // rows blocks here
	read := make(chan *stats.Rows)
	go func() { read <- rowsOf(t, s, now0+10) }()
	for begun := false; !begun; runtime.Gosched() {
		first.halves[0].mu.Lock()
		begun = first.halves[0].folded > 0
		first.halves[0].mu.Unlock()
	}
	s.Recorder().Inject(0, 1, now0+1)
	second.Take(0, 1, now0+1, now0+5)
	second.Fire(0, now0+5)
	first.halves[1].mu.Unlock()
	rows := <-read
	if p := &rows.Places[0]; s.strays != 0 || p.Tokens != 1 || p.Arrivals != 2 || p.Departures != 1 {
		t.Errorf("%d strays, %d tokens, %d arrivals, %d departures", s.strays, p.Tokens, p.Arrivals, p.Departures)
	}
}

// While a reader holds one half, however long, a Recorder continues with the other.
func TestRecorderNeverWaitsForAReader(t *testing.T) {
	for _, held := range []int{0, 1} {
		s := bareSource(1, 1)
		rec := s.Recorder()
		rec.halves[held].mu.Lock()
		for range 10 * logSize {
			rec.Fire(0, now0)
		}
		rec.halves[held].mu.Unlock()
		if got := rowsOf(t, s, now0).Transitions[0].Firings; got != 10*logSize {
			t.Errorf("half %d held: %d firings, want %d", held, got, 10*logSize)
		}
	}
}

func TestStraysChangeNothingButTheirCount(t *testing.T) {
	s := bareSource(2, 2)
	rec := s.Recorder()
	rec.Inject(0, 1, now0)
	for _, wrong := range []func(){
		func() { rec.Inject(2, 1, now0) }, func() { rec.Inject(-1, 1, now0) }, func() { rec.Inject(0, 0, now0) }, func() { rec.Inject(0, -1, now0) },
		func() { rec.Take(2, 1, now0, now0) }, func() { rec.Take(0, 0, now0, now0) },
		func() { rec.Fire(2, now0) }, func() { rec.Enabled(2, 1, now0) }, func() { rec.Enabled(0, -1, now0) },
	} {
		wrong()
	}
	if rows := rowsOf(t, s, now0); rows.Places[0].Tokens != 1 || s.strays != 9 {
		t.Errorf("%d tokens, %d strays, want 1 and 9", rows.Places[0].Tokens, s.strays)
	}
	rec.Remove(0, 1, now0-5e6, now0) // no token was injected at that time
	rows := rowsOf(t, s, now0)
	if p := rows.Places[0]; p.Tokens != 1 || p.Oldest != now0 || p.Departures != 1 || p.Arrivals != 2 || s.strays != 10 {
		t.Errorf("%d tokens since %d, %d departures, %d arrivals, %d strays", p.Tokens, p.Oldest, p.Departures, p.Arrivals, s.strays)
	}
	rec.Inject(0, 1, now0-5e6) // recorded late
	rows = rowsOf(t, s, now0)
	if p := rows.Places[0]; p.Tokens != 1 || p.Arrivals != 2 || s.strays != 9 {
		t.Errorf("recorded late: %d tokens, %d arrivals, %d strays", p.Tokens, p.Arrivals, s.strays)
	}
	for i := range int64(2 * maxStrays) {
		rec.Remove(1, 1, now0-i*stats.SlotWidth, now0)
	}
	rowsOf(t, s, now0)
	if s.strays != 9+2*maxStrays || len(s.present.places[1]) != maxStrays {
		t.Errorf("%d strays, %d of them kept", s.strays, len(s.present.places[1]))
	}
}

func TestWhatIsNotPresentTakesNoMemory(t *testing.T) {
	s := bareSource(1, 1)
	a, b := s.Recorder(), s.Recorder()
	for i := range int64(100_000) {
		now := now0 + i*100_000
		a.Inject(0, 1, now)
		b.Remove(0, 1, now, now+50_000)
		if i%1000 == 999 {
			rowsOf(t, s, now)
		}
	}
	rowsOf(t, s, now0+1e10)
	if len(s.present.places[0]) != 0 {
		t.Errorf("%d buckets are kept of no tokens", len(s.present.places[0]))
	}
	for _, h := range [...]*half{&a.halves[0], &a.halves[1], &b.halves[0], &b.halves[1]} {
		if n := len(h.in.cells) + len(h.out.cells); n > 64*fewSums {
			t.Errorf("a half keeps %d cells", n)
		}
	}
}

func TestEnabledIsTheLastReportOfEachRecorder(t *testing.T) {
	s := bareSource(1, 2)
	a, b := s.Recorder(), s.Recorder()
	if rowsOf(t, s, now0).Columns.Has(stats.ColEnabled) {
		t.Error("the column is present before a transition was reported")
	}
	a.Enabled(1, 3, now0-5)
	b.Enabled(1, 2, now0-9)
	for range 3 * logSize { // into the other half and back
		a.Fire(0, now0)
		a.Enabled(1, 4, now0-4)
	}
	rows := rowsOf(t, s, now0)
	if got := rows.Transitions[1]; got.Enabled != 6 || got.EnabledSince != now0-9 || !rows.Columns.Has(stats.ColEnabled) {
		t.Errorf("enabled in %d since %d", got.Enabled, got.EnabledSince-now0)
	}
	s.Release(b)
	if got := rowsOf(t, s, now0).Transitions[1]; got.Enabled != 4 || got.EnabledSince != now0-4 {
		t.Errorf("after the release enabled in %d since %d", got.Enabled, got.EnabledSince-now0)
	}
	if c := s.Recorder(); c != b || len(s.recorders) != 2 {
		t.Error("a released Recorder is not reused")
	}
}

const attachNet = `<pnml><net id="orders" type="ptnet"><page id="g"><place id="inbox"/><place id="done"/><transition id="take"/>
<arc id="1" source="inbox" target="take"/><arc id="2" source="take" target="done"/></page></net></pnml>`

func attach(t *testing.T, a Attachment) *Source {
	t.Helper()
	a.PNML, a.Source, a.Interval, a.Log = []byte(attachNet), "host-1", 10*time.Millisecond, slog.New(slog.DiscardHandler)
	s, err := Attach(a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = s.Close(ctx) // NATS may be unreachable
	})
	return s
}

func TestSourceThatStartsWithoutNATSPublishesOnceItIsThere(t *testing.T) {
	addr := porttest.Addr(t)
	url := "nats://" + addr
	s := attach(t, Attachment{URL: url})
	rec := s.Recorder()
	inbox, _ := s.Place("inbox")
	const firings = 100_000
	for range firings {
		rec.Inject(inbox, 1, now0)
		rec.Fire(0, now0)
	}
	for _, when := range []string{"there at last", "there again"} {
		srv := startServer(t, addr)
		nc := connect(t, url)
		got := nextSnapshot(t, listen(t, nc, Subjects{}.Snapshots()))
		for !got.Full {
			got = nextSnapshot(t, listen(t, nc, Subjects{}.Snapshots()))
		}
		if got.Rows.Places[inbox].Tokens != firings || got.Rows.Transitions[0].Firings != firings {
			t.Errorf("%s: %d tokens, %d firings", when, got.Rows.Places[inbox].Tokens, got.Rows.Transitions[0].Firings)
		}
		nc.Close()
		srv.Shutdown()
		srv.WaitForShutdown()
	}
	if s.Stats().Missed == 0 {
		t.Error("no snapshot is counted as missed")
	}
}

func TestSourceAnswersFromTheEngine(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	sub := listen(t, nc, Subjects{}.Snapshots())
	s := attach(t, Attachment{Conn: nc,
		Fill: func(_ int64, rows *stats.Rows) error {
			rows.Net.Active, rows.Columns = 3, rows.Columns|stats.ColInstances
			return nil
		},
		Oldest: func(place, limit int) ([]stats.Token, error) {
			return []stats.Token{{Instance: fmt.Sprintf("order-%d of %d", place, limit), Injected: now0}}, nil
		},
		Instance: func(string) (*Instance, error) { return nil, ErrNoInstance },
	})
	s.Recorder().Inject(0, 1, now0)
	var got *Snapshot
	for got = nextSnapshot(t, sub); !got.Full || got.Rows.Places[0].Tokens == 0; got = nextSnapshot(t, sub) {
		if err := nc.Publish(Subjects{}.Hello(), nil); err != nil {
			t.Fatal(err)
		}
	}
	want := []stats.Token{{Instance: "order-0 of 10", Injected: now0}}
	if d := cmp.Diff(want, got.Rows.Places[0].Stuck); d != "" || got.Rows.Net.Active != 3 {
		t.Errorf("active %d, stuck (-want +got):\n%s", got.Rows.Net.Active, d)
	}
	reply, err := nc.Request(Subjects{}.Instances("orders", "host-1"), []byte(`{"instance":"x"}`), patience)
	if err != nil || reply.Header.Get("Nats-Service-Error-Code") != "404" {
		t.Errorf("an unknown instance: %v, %v", reply, err)
	}
}

func TestAttachRejects(t *testing.T) {
	two := strings.Replace(attachNet, "</net>", `</net><net id="b" type="ptnet"><page id="h"/></net>`, 1)
	for _, c := range []struct {
		name string
		a    Attachment
		want string
	}{
		{"a file that is not there", Attachment{File: "none.pnml"}, "no such file"},
		{"no net at all", Attachment{}, "no root element"},
		{"one of two nets without a name", Attachment{PNML: []byte(two)}, `has 2 nets; expected one with the id ""`},
		{"a net that is not in the file", Attachment{PNML: []byte(attachNet), Net: "x"}, `expected one with the id "x"`},
		{"an invalid URL", Attachment{PNML: []byte(attachNet), URL: "nats://a b"}, "attach net"},
		{"an interval of nothing", Attachment{PNML: []byte(attachNet), Interval: time.Nanosecond}, "interval"},
	} {
		if _, err := Attach(c.a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	s := bareSource(1, 1)
	if _, err := s.Place("x"); err == nil || !strings.Contains(err.Error(), `place "x"`) {
		t.Errorf("an unknown place: %v", err)
	}
}

// An engine that embeds this package also imports a NATS client, protobuf and a
// reader of nets, but no server and no Prometheus library.
func TestEnginesImportLittle(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		for _, heavy := range []string{"github.com/nats-io/nats-server", "github.com/prometheus", "github.com/alecthomas"} {
			if strings.HasPrefix(path, heavy) {
				t.Errorf("imports %s", path)
			}
		}
		ours, is := strings.CutPrefix(path, "github.com/pnagent/pnagent/")
		if is && !slices.Contains([]string{"internal/firstfields", "internal/lograte", "internal/plaintext", "internal/wakeup", "petri", "petri/pnml", "petri/xmlscan", "stats", "telemetry", "telemetry/natslink", "telemetry/wire"}, ours) {
			t.Errorf("imports %s", path)
		}
	}
}
