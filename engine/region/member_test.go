// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"context"
	"encoding/binary"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/engine/region/regiontest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/telemetry"
)

// world is a net in parts, its logs and the NATS server of its members.
type world struct {
	t    *testing.T
	nats natstest.Server
	ear  *nats.Conn // of surveys
	logs *regiontest.Server
	base region.Config // with all parts

	stops []func() *region.Member
}

// stopAll stops all members that member has started.
func (w *world) stopAll() {
	for _, stop := range w.stops {
		stop()
	}
}

func newWorld(t *testing.T, tokens uint32, instances int) *world {
	tables, parts := ring(t, tokens)
	w := &world{t: t, nats: natstest.Run(t), logs: regiontest.NewServer()}
	w.base = region.Config{Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Engine: engineOf(tables, "", instances), Parts: parts, Open: w.open}
	return w
}

func (w *world) open(_ context.Context, part string, create bool, keep func() uint64) (region.Log, error) {
	if !create && !w.logs.Exists(part) {
		return nil, journal.ErrMissing
	}
	return w.logs.Open(part, keep), nil
}

// slow makes each transition wait for 50 ms.
func (w *world) slow() {
	mode := plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: 50_000}}
	w.base.Engine.Nets[0].Transitions = []engine.Transition{{Mode: mode}, {Mode: mode}}
}

// member starts a member that may play the named parts.
func (w *world) member(source string, parts ...string) (stop func() *region.Member) {
	cfg := w.base
	if cfg.Conn == nil {
		cfg.Conn = natstest.Connect(w.t, w.nats)
	}
	cfg.Engine.Source = source
	cfg.Parts = nil
	for _, p := range w.base.Parts {
		for _, name := range parts {
			if p.Name == name {
				cfg.Parts = append(cfg.Parts, p)
			}
		}
	}
	stop = run(w.t, cfg)
	w.stops = append(w.stops, stop)
	return stop
}

func (w *world) count() *regiontest.Tally {
	w.t.Helper()
	tally, err := regiontest.Count(context.Background(), &w.base)
	if err != nil {
		w.t.Fatal(err)
	}
	return tally
}

// statuses returns the result of a survey.
func (w *world) statuses() map[string]region.Status { return w.survey(region.SurveyFor) }

// survey receives beats for the given time, in which some members may not send
// one.
func (w *world) survey(listen time.Duration) map[string]region.Status {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), listen)
	defer cancel()
	if w.ear == nil {
		w.ear = natstest.Connect(w.t, w.nats)
	}
	all, err := region.Survey(ctx, w.ear, telemetry.Subjects{}, "ring")
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]region.Status{}
	for _, s := range all {
		out[s.Part] = s
	}
	return out
}

func TestTokensGoRoundOverTwoRegionsAndNoneIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, 5)
	one, two := w.member("x", "one"), w.member("y", "two")
	until(t, "4,000 commits of region one", func() bool { return w.logs.Open("one", nil).Last() > 4000 })
	one()
	two()
	tally := w.count()
	if tally.Total() != 15 {
		t.Errorf("%d tokens; want 15: %+v", tally.Total(), tally)
	}
	if f := tally.Firings; f["t1"] == 0 || f["t1"] < f["t2"] || f["t1"]-f["t2"] > 15 {
		t.Errorf("firings %v; want t2 at most 15 behind t1", f)
	}
}

func TestAnOwnerThatEndsHandsOver(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 1, 3)
		w.slow()
		w.member("y", "two")
		first := w.member("x1", "one")
		until(t, "x1 owns one", func() bool { return w.statuses()["one"].Owner == "x1" })
		second := w.member("x2", "one")
		until(t, "x2 stands by", func() bool { return len(w.statuses()["one"].Standbys) == 1 })
		before := w.statuses()["one"]
		first()
		until(t, "x2 owns one", func() bool { return w.statuses()["one"].Owner == "x2" })
		after := w.statuses()["one"]
		if after.Epoch != before.Epoch+1 {
			t.Errorf("epoch %d after %d; want one more: a hand-over takes one epoch", after.Epoch, before.Epoch)
		}
		until(t, "x2 plays", func() bool { return w.statuses()["one"].Commits > after.Commits })
		second()
	})
}

// stoppable are the logs of one process. They can be stopped in the middle of
// an append, as the process can.
type stoppable struct {
	region.Log
	gate *gate
}

// gate is passed before each append. A closed gate blocks. (A mutex would also
// stop the clock of a bubble.)
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // nil while the gate is open
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.opened)
	g.opened = nil
}

func (g *gate) pass() {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	if opened != nil {
		<-opened
	}
}

func (l stoppable) Append(ctx context.Context, last uint64, commits ...[]byte) (uint64, error) {
	l.gate.pass()
	return l.Log.Append(ctx, last, commits...)
}

// glance is the duration of a survey that is repeated until it finds something.
const glance = 60 * time.Millisecond

// This test runs in real time: a stopped process holds its locks, and the clock
// of a bubble stops while a goroutine waits for a lock.
//
//promise:owner pause
func TestAnOwnerThatWasStoppedCommitsNothingAfterItsSuccessor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, 3)
	w.slow()
	w.member("y", "two")
	cfg, gate := w.base, &gate{}
	cfg.Conn, cfg.Engine.Source = natstest.Connect(t, w.nats), "x1"
	cfg.Parts = cfg.Parts[:1]
	cfg.Open = func(ctx context.Context, part string, create bool, keep func() uint64) (region.Log, error) {
		log, err := w.open(ctx, part, create, keep)
		return stoppable{log, gate}, err
	}
	first := run(t, cfg)
	until(t, "x1 owns one", func() bool { return w.survey(glance)["one"].Owner == "x1" })
	second := w.member("x2", "one")
	until(t, "x2 stands by", func() bool { return len(w.statuses()["one"].Standbys) == 1 })
	gate.shut()      // the process is stopped in an append,
	cfg.Conn.Close() // and its beats no longer arrive
	until(t, "x2 owns one", func() bool { return w.survey(glance)["one"].Owner == "x2" })
	gate.open()
	at := w.statuses()["one"]
	until(t, "x2 plays", func() bool { return w.survey(glance)["one"].Commits > at.Commits })
	first()
	if now := w.statuses()["one"]; now.Owner != "x2" || now.Epoch != at.Epoch {
		t.Errorf("%q owns the part in epoch %d; want x2 in epoch %d", now.Owner, now.Epoch, at.Epoch)
	}
	second()
	w.stopAll()
	if tally := w.count(); tally.Total() != 3 {
		t.Errorf("tokens %+v; want 3", tally)
	}
}

func TestPartitionsMoveToMembersThatJoinAndFromThoseThatLeave(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 1, 64)
		w.base.Parts, w.base.Balance, w.base.Standbys = region.Partitions(64, 8), true, 1
		w.slow()
		names := make([]string, 8)
		for i, p := range w.base.Parts {
			names[i] = p.Name
		}
		owned := func() map[string]int {
			n := map[string]int{}
			for _, s := range w.statuses() {
				n[s.Owner]++
			}
			return n
		}
		stops := map[string]func() *region.Member{"m1": w.member("m1", names...)}
		until(t, "m1 owns all", func() bool { return owned()["m1"] == 8 })
		stops["m2"] = w.member("m2", names...)
		until(t, "m2 owns half", func() bool { n := owned(); return n["m1"] == 4 && n["m2"] == 4 })
		stops["m3"] = w.member("m3", names...)
		until(t, "no member owns more than 3", func() bool { n := owned(); return n["m1"]+n["m2"]+n["m3"] == 8 && max(n["m1"], n["m2"], n["m3"]) == 3 })
		stops["m1"]()
		until(t, "the others own all", func() bool { n := owned(); return n["m2"] == 4 && n["m3"] == 4 })
		stops["m2"]()
		stops["m3"]()
		if tally := w.count(); tally.Total() != 64 {
			t.Errorf("%d tokens; want 64", tally.Total())
		}
	})
}

// Logs are trimmed while they are read, but they keep what the owner downstream
// still has to read. A standby that starts late begins with a snapshot.
func TestLogsAreTrimmedUnderTheirReaders(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 3, 5)
		w.slow()
		w.base.Engine.SnapshotAfter = 4 << 10
		w.member("x", "one")
		w.member("y", "two")
		until(t, "both logs were trimmed", func() bool { return w.logs.First("one") > 1000 && w.logs.First("two") > 1000 })
		late := w.member("z", "one", "two")
		until(t, "z stands by", func() bool {
			now := w.statuses()
			return len(now["one"].Standbys) == 1 && len(now["two"].Standbys) == 1
		})
		at := w.logs.First("one")
		until(t, "they were trimmed again", func() bool { return w.logs.First("one") > at+1000 })
		late()
		w.stopAll()
		if tally := w.count(); tally.Total() != 15 {
			t.Errorf("tokens %+v; want 15", tally)
		}
	})
}

// The clock of the next owner is an hour behind. Time in its part continues
// from the time of the previous owner.
//
//promise:owner clock
func TestTimeDoesNotGoBackWithTheNextOwner(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 1, 3)
		w.slow()
		w.member("y", "two")
		first := w.member("x1", "one")
		until(t, "x1 plays", func() bool { return w.logs.Open("one", nil).Last() > 20 })
		w.base.Engine.Clock = func() int64 { return time.Now().Add(-time.Hour).UnixMicro() }
		second := w.member("x2", "one")
		until(t, "x2 stands by", func() bool { return len(w.statuses()["one"].Standbys) == 1 })
		first()
		at := w.logs.Open("one", nil).Last()
		until(t, "x2 plays, delays and all", func() bool { return w.logs.Open("one", nil).Last() > at+20 })
		second()
		w.stopAll()
		last := uint64(0)
		for c, err := range w.logs.Open("one", nil).Read(t.Context(), 2) {
			if err != nil {
				t.Fatal(err)
			}
			now, _ := binary.Uvarint(c.Payload[10:]) // after the mark
			if now < last {
				t.Fatalf("commit %d has the time %d, after one with %d", c.Sequence, now, last)
			}
			last = now
		}
		if tally := w.count(); tally.Total() != 3 {
			t.Errorf("tokens %+v; want 3", tally)
		}
	})
}
