// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/engine/region/regiontest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// relay is a net of two regions: "one" takes from a and puts to b, "two" takes
// from b. Nothing moves by itself.
func relay(t testing.TB, guard coloured.Guard) (engine.Config, []region.Part) {
	t.Helper()
	net := &petri.Net{ID: "relay", Places: []petri.Place{{ID: "a", Initial: 5}, {ID: "b"}, {ID: "c"}},
		Transitions: []petri.Transition{{ID: "t1"}, {ID: "t2"}},
		Arcs: []petri.Arc{{ID: "1", Source: "a", Target: "t1", Weight: 1}, {ID: "2", Source: "t1", Target: "b", Weight: 1},
			{ID: "3", Source: "b", Target: "t2", Weight: 1}, {ID: "4", Source: "t2", Target: "c", Weight: 1}}}
	tables, err := petri.Compile(net)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := split.Split(tables, func(id string) string { return map[string]string{"t1": "one", "t2": "two"}[id] }, nil)
	if err != nil {
		t.Fatal(err)
	}
	manual := engine.Transition{Mode: plain.Mode{Kind: plain.Manual}, Guard: guard}
	return engine.Config{Source: "s", Nets: []engine.NetConfig{{Tables: tables, Transitions: []engine.Transition{manual, manual}}}, Instances: 2, Workers: 1},
		region.Regions(tables, plan)
}

// ownerOf returns an engine that owns a part.
func ownerOf(t testing.TB, cfg engine.Config, part region.Part, log journal.Log) *engine.Engine {
	t.Helper()
	cfg.Journal, cfg.Part = log, &part.Part
	e, err := engine.New(cfg)
	if err == nil {
		err = e.Lead(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// running starts an engine, and returns what ends it.
func running(e *engine.Engine) (end func() error) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	return func() error {
		stop()
		return <-ended
	}
}

func tokensAt(t testing.TB, e *engine.Engine, place int) uint64 {
	t.Helper()
	rows := stats.NewRows(3, 2)
	e.Followed(e.Latest(), rows)
	return rows.Places[place].Tokens
}

func TestWhatAPartCanBe(t *testing.T) {
	good, parts := relay(t, nil)
	for name, change := range map[string]func(*engine.Config){
		"without a name":              func(c *engine.Config) { c.Part.Name = "" },
		"without a log":               func(c *engine.Config) { c.Journal = nil },
		"of two nets":                 func(c *engine.Config) { c.Nets = append(c.Nets, netOfID("other")) },
		"with a negative group":       func(c *engine.Config) { c.Part.Group = -1 },
		"with a dispatcher":           func(c *engine.Config) { c.Dispatch = &engine.Dispatch{} },
		"(without anything that bad)": nil,
	} {
		t.Run(name, func(t *testing.T) {
			cfg, part := good, parts[0].Part
			cfg.Journal, cfg.Part, cfg.Workers = regiontest.NewServer().Open("x", nil), &part, 4
			if change != nil {
				change(&cfg)
			}
			if _, err := engine.New(cfg); errors.Is(err, engine.ErrConfig) != (change != nil) || change == nil && err != nil {
				t.Errorf("%v; want it refused: %t", err, change != nil)
			}
		})
	}
}

func netOfID(id string) engine.NetConfig {
	tables, err := petri.Compile(&petri.Net{ID: id, Transitions: []petri.Transition{{ID: "t"}}})
	if err != nil {
		panic(err)
	}
	return engine.NetConfig{Tables: tables}
}

//promise:notempty version
func TestALogOfAnotherPartIsRefused(t *testing.T) {
	good, parts := relay(t, nil)
	logs := regiontest.NewServer()
	ownerOf(t, good, parts[0], logs.Open("one", nil))
	for name, change := range map[string]func(*engine.Config){
		"another name":      func(c *engine.Config) { c.Part.Name = "other" },
		"another plan":      func(c *engine.Config) { c.Part.Plan = "other" },
		"more instances":    func(c *engine.Config) { c.Instances++ },
		"all of the net":    func(c *engine.Config) { c.Part = nil },
		"another net":       func(c *engine.Config) { c.Nets = []engine.NetConfig{netOfID("other")}; c.Part.Cut = nil },
		"(nothing changed)": nil,
	} {
		t.Run(name, func(t *testing.T) {
			cfg, part := good, parts[0].Part
			cfg.Journal, cfg.Part = logs.Open("one", nil), &part
			if change != nil {
				change(&cfg)
			}
			if _, err := engine.New(cfg); errors.Is(err, engine.ErrJournal) != (change != nil) || change == nil && err != nil {
				t.Errorf("%v; want ErrJournal: %t", err, change != nil)
			}
		})
	}
}

// What a log says that the part can not have done is no fault of the connection.
func TestALogThatCannotBeIsRefused(t *testing.T) {
	cfg, parts := relay(t, nil)
	for name, commit := range map[string][]byte{
		"a firing that cannot be": {7, 0, 2, 0, 1}, // t2, whose place is empty and elsewhere
		"no commit":               {7, 0},
		"an owner without epoch":  append([]byte{7, 3, 2}, "{}"...),
	} {
		t.Run(name, func(t *testing.T) {
			logs := regiontest.NewServer()
			e := ownerOf(t, cfg, parts[0], logs.Open("one", nil))
			c := cfg
			c.Journal, c.Part = logs.Open("one", nil), &parts[0].Part
			follower, err := engine.New(c)
			if err != nil {
				t.Fatal(err)
			}
			last, err := logs.Open("one", nil).Append(t.Context(), e.Standing().Position, commit)
			if err != nil {
				t.Fatal(err)
			}
			if err := follower.Follow(journal.Commit{Sequence: last, Payload: commit}); !errors.Is(err, engine.ErrReplay) {
				t.Errorf("a follower: %v; want ErrReplay", err)
			}
			if _, err := engine.New(c); !errors.Is(err, engine.ErrReplay) {
				t.Errorf("a new process: %v; want ErrReplay", err)
			}
		})
	}
}

// Instances of a part have the net's name, whichever process owns it.
func TestInstancesOfAPartAreNamedAfterTheNet(t *testing.T) {
	cfg, parts := relay(t, nil)
	cfg.Instances = 12
	logs := regiontest.NewServer()
	for _, source := range []string{"here", "there"} {
		cfg.Source = source
		if got := ownerOf(t, cfg, parts[0], logs.Open("one", nil)).InstanceName(3); got != "relay/03" {
			t.Errorf("%s: instance 3 is %q; want relay/03", source, got)
		}
	}
}

func TestNothingIsWrittenAfterARelease(t *testing.T) {
	cfg, parts := relay(t, nil)
	logs := regiontest.NewServer()
	e := ownerOf(t, cfg, parts[0], logs.Open("one", nil))
	if err := running(e)(); err != nil {
		t.Fatal(err)
	}
	if err := e.Release(t.Context(), "heir"); err != nil {
		t.Fatal(err)
	}
	last := logs.Open("one", nil).Last()
	if err := e.Inject(t.Context(), "relay", 0, "a", 1); err == nil {
		t.Error("it takes tokens after its release")
	}
	if err := e.Fire(t.Context(), "relay", 0, "t1"); err == nil {
		t.Error("it fires after its release")
	}
	if got := tokensAt(t, e, 0); got != 10 || logs.Open("one", nil).Last() != last {
		t.Errorf("%d tokens, %d commits; want 10 and %d as before", got, logs.Open("one", nil).Last(), last)
	}
	if _, err := e.Marking(t.Context(), "relay", 0); err != nil {
		t.Errorf("looking: %v", err)
	}
	if heir, from, free := e.Free(); heir != "heir" || from != "s" || !free {
		t.Errorf("heir %q, from %q, free %t", heir, from, free)
	}
}

// Tokens that have left another part cannot be returned to it.
func TestTokensThatCrossAreNotRefusedForABound(t *testing.T) {
	cfg, parts := relay(t, func([]coloured.Placed, int64) coloured.Verdict { return coloured.Verdict{} })
	cfg.Nets[0].Bound = 1
	e := ownerOf(t, cfg, parts[1], regiontest.NewServer().Open("two", nil))
	for k := range 5 {
		if err := e.Arrive(t.Context(), 0, engine.Cursor{Position: uint64(k + 2)}, []split.Crossing{{Instance: 1, Place: 1, Tokens: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Turn(); err != nil {
		t.Fatal(err)
	}
	if got := tokensAt(t, e, 1); got != 5 || e.Standing().Cursors[0].Position != 6 {
		t.Errorf("%d tokens, cursor %d; want 5 and 6", got, e.Standing().Cursors[0].Position)
	}
}

// What has arrived in part, because a place overflows, is never written: the next
// owner would take it in again.
func TestAnArrivalIsWrittenAsAWholeOrNotAtAll(t *testing.T) {
	cfg, parts := relay(t, nil)
	log := regiontest.NewServer().Open("two", nil)
	e := ownerOf(t, cfg, parts[1], log)
	tokens := []split.Crossing{{Instance: 0, Place: 1, Tokens: 1}, {Instance: 0, Place: 1, Tokens: math.MaxUint32}}
	if err := e.Arrive(t.Context(), 0, engine.Cursor{Position: 2}, tokens); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(t.Context()); !errors.Is(err, petri.ErrOverflow) {
		t.Fatalf("%v; want an overflow", err)
	}
	before := log.Last()
	if err := e.Inject(t.Context(), "relay", 0, "b", 1); err == nil {
		t.Error("it takes tokens although it has failed")
	}
	rows := stats.NewRows(3, 2)
	_ = e.Rows(t.Context(), 0, 0, rows) // as the last words of telemetry do
	if log.Last() != before {
		t.Errorf("commit %d was written after the failure", log.Last())
	}
}

// silent is a log that does not answer.
type silent struct{ *regiontest.Log }

func (silent) Read(ctx context.Context, _ uint64) iter.Seq2[journal.Commit, error] {
	return func(yield func(journal.Commit, error) bool) {
		<-ctx.Done()
		yield(journal.Commit{}, ctx.Err())
	}
}

func TestOpeningGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, parts := relay(t, nil)
		logs := regiontest.NewServer()
		ownerOf(t, cfg, parts[0], logs.Open("one", nil))
		cfg.Journal, cfg.Part = silent{logs.Open("one", nil)}, &parts[0].Part
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := engine.Open(ctx, cfg); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v; want that the time is over", err)
		}
	})
}

// full is a log with no room for snapshots.
type full struct {
	*regiontest.Log
	tries chan struct{}
}

var errNoRoom = errors.New("no room")

func (l full) SaveSnapshot(context.Context, uint64, func(io.Writer) error) error {
	l.tries <- struct{}{}
	return errNoRoom
}

func TestAnOwnerPlaysOnWhenASnapshotCannotBeSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, parts := relay(t, nil)
		var said strings.Builder
		cfg.SnapshotAfter, cfg.Log = 1, slog.New(slog.NewTextHandler(&said, nil))
		log := full{regiontest.NewServer().Open("one", nil), make(chan struct{}, 100)}
		e := ownerOf(t, cfg, parts[0], log)
		end := running(e)
		for range 3 {
			if err := e.Inject(t.Context(), "relay", 0, "a", 1); err != nil {
				t.Fatal(err)
			}
			<-log.tries // each time that the log has grown
		}
		synctest.Wait()
		if err := end(); err != nil {
			t.Error(err)
		}
		if n := strings.Count(said.String(), "no room"); n != 3 {
			t.Errorf("it is logged %d times; want 3\n%s", n, &said)
		}
	})
}

// An owner that was replaced and has not noticed sends no answer to an
// injection: the next owner answers.
//
//promise:refused cut
func TestAReplacedOwnerAnswersNoRequest(t *testing.T) {
	s := natstest.Run(t, natstest.Listen)
	cfg, parts := relay(t, nil)
	logs := regiontest.NewServer()
	serve := func(source string) (*engine.Engine, func()) {
		cfg.Source = source
		nc, err := nats.Connect(s.ClientURL(), nats.Timeout(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		e := ownerOf(t, cfg, parts[0], logs.Open("one", nil))
		end := running(e)
		said, err := engine.Serve(e, nc, telemetry.Subjects{}, 0, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil { // a request that comes before its subscription is for the other one alone
			t.Fatal(err)
		}
		return e, func() {
			_ = end() // an error for the replaced owner
			_ = said(t.Context())
			nc.Close()
		}
	}
	first, endFirst := serve("a")
	defer endFirst()
	if err := first.Inject(t.Context(), "relay", 0, "a", 1); err != nil { // its start is written before
		t.Fatal(err)
	}
	second, endSecond := serve("b")
	defer endSecond()
	asks, err := nats.Connect(s.ClientURL(), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	defer asks.Close()
	for range 20 {
		m, err := asks.Request("petrinet.v1.inject.relay.one", []byte(`{"place":"a"}`), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Data) != `{"ok":true}` {
			t.Fatalf("%s; want the answer of the present owner", m.Data)
		}
	}
	if m, err := second.Marking(t.Context(), "relay", 0); err != nil || m[0] != 26 {
		t.Errorf("marking %d, %v; want 26 tokens in a", m, err)
	}
	if m, err := asks.Request("petrinet.v1.inject.relay.one", []byte(`{"place":"x"}`), time.Minute); err != nil || !strings.Contains(string(m.Data), "no such place") {
		t.Errorf("%v, %v; want that there is no such place", m, err)
	}
}
