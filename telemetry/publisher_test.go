// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/stats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeLink is a connection that a test can interrupt, and that records what is
// published.
type fakeLink struct {
	t          *testing.T
	mu         sync.Mutex
	start      time.Time
	down       bool
	reconnects uint64
	fail       error
	last       [2][]byte // the last two messages
	said       []string  // "second.tenth net seq full|sparse"
	pings      int
}

func (l *fakeLink) publish(subject string, payload []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return l.fail
	}
	var s Snapshot
	if err := new(Decoder).Decode(payload, &s); err != nil {
		l.t.Errorf("decode what was published: %v", err)
	}
	l.last = [2][]byte{l.last[1], slices.Clone(payload)}
	kind := "sparse"
	if s.Full {
		kind = "full"
	}
	if s.Bye {
		kind += " bye"
	}
	if want := (Subjects{}).Snapshot(s.Net, s.Source); !s.Bye && subject != want {
		l.t.Errorf("subject %q, want %q", subject, want)
	}
	if want := (Subjects{}).Bye(s.Net, s.Source); s.Bye && subject != want {
		l.t.Errorf("subject %q, want %q", subject, want)
	}
	l.said = append(l.said, fmt.Sprintf("%d %s %d %s", time.Since(l.start)/time.Second, s.Net, s.Seq, kind))
	return nil
}

func (l *fakeLink) state() (bool, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.down, l.reconnects
}

func (l *fakeLink) ping() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pings++
}

func (l *fakeLink) limit() int { return MaxMessage }

// set changes the connection.
func (l *fakeLink) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// take returns what was published since its last call.
func (l *fakeLink) take() string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	said := strings.Join(l.said, "\n")
	l.said = nil
	return said
}

func testConfig(nets ...string) Config {
	cfg := Config{Source: "host-1", Log: slog.New(slog.DiscardHandler),
		Rows: func(_ int, now int64, into *stats.Rows) error {
			into.Columns = stats.AllColumns
			into.Places[0].Tokens, into.Transitions[0].Firings = 1, uint64(now)
			return nil
		}}
	for _, id := range nets {
		cfg.Nets = append(cfg.Nets, SourceNet{ID: id, PNML: []byte("<pnml>" + id), Places: 2, Transitions: 1})
	}
	return cfg
}

// story runs a Publisher on a fake link in fake time.
func story(t *testing.T, cfg Config, tell func(t *testing.T, p *Publisher, l *fakeLink)) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLink{t: t, start: time.Now()}
		p, err := newPublisher(cfg, l, time.Now().UnixMicro())
		if err != nil {
			t.Fatal(err)
		}
		go p.run()
		time.Sleep(time.Millisecond) // from here on, checks are between two ticks
		tell(t, p, l)
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func want(t *testing.T, when, got string, lines ...string) {
	t.Helper()
	if d := cmp.Diff(strings.Join(lines, "\n"), got); d != "" {
		t.Errorf("%s (-want +sent):\n%s", when, d)
	}
}

func TestPublishesAtOnceThenEveryIntervalAndByeAtTheEnd(t *testing.T) {
	story(t, testConfig("a", "b"), func(t *testing.T, p *Publisher, l *fakeLink) {
		want(t, "start", l.take(), "0 a 1 full", "0 b 1 full")
		time.Sleep(2 * time.Second)
		want(t, "2 s later", l.take(), "1 a 2 sparse", "1 b 2 sparse", "2 a 3 sparse", "2 b 3 sparse")
		time.Sleep(7 * time.Second)
		l.take()
		time.Sleep(time.Second)
		want(t, "the tenth after a full one", l.take(), "10 a 11 full", "10 b 11 full")
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		want(t, "close", l.take(), "10 a 12 full bye", "10 b 12 full bye")
		if got := p.Stats(); got.Messages != 24 || got.Bytes == 0 || got.Errors+got.Missed != 0 {
			t.Errorf("stats %+v", got)
		}
	})
}

// A ping goes with every second message of each second, and with each one of longer intervals.
func TestPingsGoWithSnapshots(t *testing.T) {
	for interval, pings := range map[time.Duration]int{100 * time.Millisecond: 20, time.Second: 15, 2 * time.Second: 15, 6 * time.Second: 5} {
		cfg := testConfig("a", "b")
		cfg.Interval = interval
		story(t, cfg, func(t *testing.T, _ *Publisher, l *fakeLink) {
			time.Sleep(30*time.Second - interval/2)
			l.take()
			if l.pings != pings {
				t.Errorf("%d pings in 30 seconds with an interval of %v; want %d", l.pings, interval, pings)
			}
		})
	}
}

// Many requests get one answer, after a short delay, and only for the requested
// net. The regular snapshots continue as before.
func TestAnswersRequestsWithinHalfASecond(t *testing.T) {
	story(t, testConfig("a", "b"), func(t *testing.T, p *Publisher, l *fakeLink) {
		l.take()
		for range 1000 {
			p.ask(1)
			synctest.Wait()
		}
		time.Sleep(maxJitter)
		want(t, "asked", l.take(), "0 b 2 full")
		time.Sleep(maxJitter)
		want(t, "next", l.take(), "1 a 2 sparse", "1 b 3 sparse")
		p.ask(0)
		p.ask(1)
		time.Sleep(time.Second)
		want(t, "asked for both", l.take(), "1 a 3 full", "1 b 4 full", "2 a 4 sparse", "2 b 5 sparse")
	})
}

// A region that is handed over is not gone: its last snapshot is an ordinary
// full one.
func TestLeaveSendsNoBye(t *testing.T) {
	cfg := testConfig("a", "b")
	for i := range cfg.Nets {
		cfg.Nets[i].Region, cfg.Nets[i].Fence, cfg.Nets[i].Since = "north", 3, now0
	}
	position := uint64(0)
	cfg.Region = func(net int) *RegionState {
		if net == 1 {
			return nil
		}
		position++
		return &RegionState{Position: position}
	}
	cfg.Refused = func(net int) *stats.RefusedRequests {
		return &stats.RefusedRequests{stats.RefusedPlace: uint64(7 + net)}
	}
	cfg.Remnants = func(net, _ int) *Remnants {
		return &Remnants{Lost: []Remnant{{Path: []string{"x"}, Left: int64(7 + net)}}}
	}
	story(t, cfg, func(t *testing.T, p *Publisher, l *fakeLink) {
		time.Sleep(time.Second)
		want(t, "as ever", l.take(), "0 a 1 full", "0 b 1 full", "1 a 2 sparse", "1 b 2 sparse")
		for range 2 { // a later Close publishes nothing
			if err := p.Leave(t.Context()); err != nil {
				t.Error(err)
			}
		}
		want(t, "leave", l.take(), "1 a 3 full", "1 b 3 full")
		for i, want := range []*RegionState{{Position: 3}, nil} {
			var got Snapshot
			if err := new(Decoder).Decode(l.last[i], &got); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got.State); d != "" || got.Since != now0 || got.Fence != 3 || got.Refused == nil || got.Refused[stats.RefusedPlace] != uint64(7+i) || len(got.Remnants.Lost) != 1 || got.Remnants.Lost[0].Left != int64(7+i) {
				t.Errorf("net %d since %d, fence %d (-want +sent):\n%s", i, got.Since, got.Fence, d)
			}
		}
	})
}

// While the server is unreachable, nothing is queued. After that, all rows are
// sent at once.
func TestPublishesNothingWhileNATSIsUnreachableAndAllWhenItIsBack(t *testing.T) {
	story(t, testConfig("a"), func(t *testing.T, p *Publisher, l *fakeLink) {
		time.Sleep(2 * time.Second)
		l.take()
		l.set(func() { l.down = true })
		time.Sleep(5 * time.Second)
		p.ask(0)
		want(t, "away", l.take())
		if got := p.Stats().Missed; got != 5 {
			t.Errorf("missed %d, want 5", got)
		}
		l.set(func() { l.down = false })
		time.Sleep(time.Second)
		said := l.take()
		if !strings.HasSuffix(strings.Split(said, "\n")[0], "a 4 full") {
			t.Errorf("after the reconnect: sent %q, want a full snapshot first", said)
		}
		time.Sleep(time.Second)
		l.take()
		l.set(func() { l.reconnects++ }) // disconnected and reconnected between two snapshots
		time.Sleep(time.Second)
		if said := l.take(); !strings.HasSuffix(said, "full") {
			t.Errorf("reconnected: sent %q, want a full snapshot", said)
		}
	})
}

func TestErrorsAreCountedAndTheNextSnapshotIsFull(t *testing.T) {
	cfg := testConfig("a", "b")
	rows := cfg.Rows
	var broken atomic.Bool
	cfg.Rows = func(net int, now int64, into *stats.Rows) error {
		if broken.Load() && net == 0 {
			return errors.New("engine is away")
		}
		return rows(net, now, into)
	}
	var log strings.Builder
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	story(t, cfg, func(t *testing.T, p *Publisher, l *fakeLink) {
		l.take()
		broken.Store(true)
		time.Sleep(2 * time.Second)
		want(t, "no rows of a", l.take(), "1 b 2 sparse", "2 b 3 sparse")
		broken.Store(false)
		l.set(func() { l.fail = errors.New("too fast") })
		time.Sleep(time.Second)
		l.set(func() { l.fail = nil })
		time.Sleep(time.Second)
		want(t, "after a failure", l.take(), "4 a 3 full", "4 b 5 full")
		if got := p.Stats().Errors; got != 4 {
			t.Errorf("%d errors, want 4", got)
		}
		if n := strings.Count(log.String(), "\n"); n != 2 {
			t.Errorf("logged %d times, want once for each net:\n%s", n, log.String())
		}
	})
}

func TestCloseDoesNotWaitLongerThanItsContext(t *testing.T) {
	cfg := testConfig("a")
	release := make(chan struct{})
	cfg.Rows = func(int, int64, *stats.Rows) error { <-release; return nil }
	synctest.Test(t, func(t *testing.T) {
		release = make(chan struct{})
		p, err := newPublisher(cfg, &fakeLink{t: t}, 1)
		if err != nil {
			t.Fatal(err)
		}
		go p.run()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(release)
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// The epoch is the clock's time, unless the clock was set back.
func TestEpochRisesStrictly(t *testing.T) {
	cfg := testConfig("a")
	cfg.LastEpoch = 1000
	for now, want := range map[int64]int64{5000: 5000, 1001: 1001, 1000: 1001, 10: 1001} {
		p, err := newPublisher(cfg, &fakeLink{}, now)
		if err != nil {
			t.Fatal(err)
		}
		if p.Epoch() != want {
			t.Errorf("at %d: epoch %d, want %d", now, p.Epoch(), want)
		}
	}
}

func TestStartRejectsAnInvalidConfiguration(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no source":         func(c *Config) { c.Source = "" },
		"long source":       func(c *Config) { c.Source = strings.Repeat("x", MaxName+1) },
		"no net":            func(c *Config) { c.Nets = nil },
		"net twice":         func(c *Config) { c.Nets = append(c.Nets, c.Nets[0]) },
		"net without id":    func(c *Config) { c.Nets[0].ID = "" },
		"no definition":     func(c *Config) { c.Nets[0].PNML = nil },
		"too many places":   func(c *Config) { c.Nets[0].Places = MaxRows + 1 },
		"bad region":        func(c *Config) { c.Nets[0].Region = "\n" },
		"since of nothing":  func(c *Config) { c.Nets[0].Since = 1 },
		"since, no fence":   func(c *Config) { c.Nets[0].Region, c.Nets[0].Since = "r", 1 },
		"interval too long": func(c *Config) { c.Interval = 25 * time.Hour },
		"no rows":           func(c *Config) { c.Rows = nil },
		"no log":            func(c *Config) { c.Log = nil },
	} {
		cfg := testConfig("a")
		change(&cfg)
		if _, err := newPublisher(cfg, &fakeLink{}, 1); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := Start(testConfig("a")); err == nil {
		t.Error("a configuration without a connection is accepted")
	}
}
