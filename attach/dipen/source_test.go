// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/attach/dipen/replica"
	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func until(t *testing.T, what string, check func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !check() {
		select {
		case <-ctx.Done():
			t.Fatalf("waiting until %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// reader runs Run against a fake, and holds the snapshots that it publishes.
type reader struct {
	t      *testing.T
	status func() Status
	last   chan *telemetry.Snapshot // full ones; the newest
	end    func() error
}

func connection(t *testing.T) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(natstest.Run(t, natstest.Listen).ClientURL(), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func config(t *testing.T, endpoints ...string) Config {
	t.Helper()
	subjects, err := telemetry.NewSubjects("petrinet.v1")
	if err != nil {
		t.Fatal(err)
	}
	return Config{Etcd: Etcd{Endpoints: endpoints}, Prefix: "p/", Net: &petri.Net{ID: "line"}, Limits: replica.DefaultLimits(),
		Conn: connection(t), Subjects: subjects, Source: "adapter", Interval: 20 * time.Millisecond, Log: slog.New(slog.DiscardHandler)}
}

func read(t *testing.T, cfg Config) *reader {
	t.Helper()
	status := make(chan func() Status, 1)
	cfg.Status = func(s func() Status) { status <- s }
	r := &reader{t: t, last: make(chan *telemetry.Snapshot, 1)}
	sub, err := cfg.Conn.Subscribe(cfg.Subjects.Snapshot("line", "adapter"), func(m *nats.Msg) {
		var d telemetry.Decoder
		s := &telemetry.Snapshot{}
		if err := d.Decode(m.Data, s); err != nil {
			t.Error(err)
		} else if s.Full {
			select {
			case <-r.last:
			default:
			}
			r.last <- s
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, cfg) }()
	ended := false
	r.end = func() (err error) {
		if ended {
			return nil
		}
		ended = true
		cancel()
		return errors.Join(<-done, sub.Unsubscribe())
	}
	t.Cleanup(func() {
		if err := r.end(); err != nil {
			t.Error(err)
		}
	})
	r.status = <-status
	return r
}

// shows waits until a snapshot has the given tokens by place and firings by
// transition.
func (r *reader) shows(tokens, firings []uint64) *stats.Rows {
	r.t.Helper()
	var rows *stats.Rows
	until(r.t, fmt.Sprint("it shows ", tokens, firings), func() bool {
		select {
		case s := <-r.last:
			rows = &s.Rows
		default:
		}
		if rows == nil || len(rows.Places) != len(tokens) || len(rows.Transitions) != len(firings) {
			return false
		}
		for i, n := range tokens {
			if rows.Places[i].Tokens != n {
				return false
			}
		}
		for i, n := range firings {
			if rows.Transitions[i].Firings != n {
				return false
			}
		}
		return true
	})
	return rows
}

func names(f *fake) {
	f.has("p/place_ids/a", "1", 2)
	f.has("p/place_ids/b", "2", 3)
	f.has("p/transition_ids/t", "1", 4)
}

func TestKeysAreReadInPagesAtOneRevision(t *testing.T) {
	f := startFake(t)
	names(f)
	for i := range 25 {
		f.has(fmt.Sprintf("p/pl/1/%d", i+1), "x", 5)
	}
	f.page = 2
	r := read(t, config(t, f.URL))
	r.shows([]uint64{25, 0}, []uint64{0})
	f.do(func() { f.revision = 12 })
	if !f.was("range 10") || f.was("range 0") || f.was("range 12") {
		t.Errorf("asked %v", f.asked)
	}
	until(t, "it watches from the next revision on", func() bool { return f.was("watch 11") })
}

// Without a file, a collector sees that the oldest token of the net is stuck.
func TestTokensOfANetWithoutAFileCanBeStuck(t *testing.T) {
	f := startFake(t)
	names(f)
	f.has("p/pl/2/1", "x", 5)
	cfg := config(t, f.URL)
	c, err := collector.New(collector.Config{Conn: cfg.Conn, Subjects: cfg.Subjects, Interval: 20 * time.Millisecond, PNML: pnml.DefaultLimits(), Log: cfg.Log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	read(t, cfg)
	until(t, "the token at b is stuck", func() bool {
		n := c.View().Net("line")
		return n != nil && len(n.Rows.Places) == 2 && n.Rows.Places[1].Tokens == 1 && n.OldestSince > 0
	})
}

func TestChangesOfOneRevisionMayComeInFragments(t *testing.T) {
	f := startFake(t)
	names(f)
	f.has("p/pl/1/1", "x", 5)
	f.watches = [][]string{{created,
		answer(false, putJSON("p/pl/1/1/1", "", 11)),
		answer(true, delJSON("p/pl/1/1/1", 11, 12), delJSON("p/pl/1/1", 5, 12)),
		answer(true, putJSON("p/pl/2/2", "y", 12)),
		answer(false, putJSON("p/pl/2/3", "y", 12), putJSON("p/place_ids/c", "3", 13)),
		`{"result":{"header":{"revision":"40"}}}`}}
	r := read(t, config(t, f.URL))
	r.shows([]uint64{0, 2, 0}, []uint64{1})
	until(t, "a progress notification is heeded", func() bool { return r.status().Revision == 40 })
	if s := r.status(); s.Changes != 6 || s.Sessions != 1 || len(s.Dropped) != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestAStreamThatEndsIsContinuedAtAnotherEndpoint(t *testing.T) {
	f, other := startFake(t), startFake(t)
	names(f)
	f.has("p/pl/1/1", "x", 5)
	f.watches = [][]string{{created, answer(false, putJSON("p/pl/1/2", "", 11)), answer(true, putJSON("p/pl/1/3", "", 12)), hangUp}}
	other.revision = 12
	other.watches = [][]string{{created, answer(false, putJSON("p/pl/1/3", "", 12), putJSON("p/pl/1/4", "", 12))}}
	r := read(t, config(t, f.URL, other.URL))
	r.shows([]uint64{4, 0}, []uint64{0})
	if !other.was("watch 12") || other.was("range 12") || r.status().Gaps.Count != 0 {
		t.Errorf("asked %v, status %+v", other.asked, r.status())
	}
}

func TestInvalidAnswersOfEtcdAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		after string // the request that follows
	}{
		"no JSON":                     {[]string{created, `{"result":`}, "watch 11"},
		"an error":                    {[]string{`{"error":{"code":14,"message":"no leader"}}`}, "watch 11"},
		"an end without a reason":     {[]string{created, `{"result":{"canceled":true}}`}, "watch 11"},
		"a key that is no base64":     {[]string{created, `{"result":{"events":[{"kv":{"key":"%%","mod_revision":"11"}}]}}`}, "watch 11"},
		"a line that is far too long": {[]string{created, strings.Repeat("x", maxLine+1)}, "range 10"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFake(t)
			names(f)
			f.watches = [][]string{append(c.lines, hangUp), {created, answer(false, putJSON("p/pl/1/1", "", 11))}}
			r := read(t, config(t, f.URL))
			r.shows([]uint64{1, 0}, []uint64{0})
			if !f.was(c.after) {
				t.Errorf("asked %v", f.asked)
			}
		})
	}
}

func TestAnInvalidEventIsCounted(t *testing.T) {
	f := startFake(t)
	names(f)
	f.watches = [][]string{{created, answer(false, putJSON("elsewhere", "", 11), `{"kv":{"key":"cC9hYQ=="}}`, putJSON("p/pl/1/1", "", 11))}}
	r := read(t, config(t, f.URL))
	r.shows([]uint64{1, 0}, []uint64{0})
	if n := r.status().Dropped[replica.FaultBadValue]; n != 2 {
		t.Errorf("%d dropped", n)
	}
}

func TestACompactionIsSkippedAndReported(t *testing.T) {
	f := startFake(t)
	names(f)
	f.oldest, f.revision = 20, 25
	f.has("p/pl/1/1", "x", 19)
	f.watches = [][]string{{created, answer(false, putJSON("p/pl/1/2", "", 22))}}
	cfg := config(t, f.URL)
	cfg.State = filepath.Join(t.TempDir(), "state")
	state := "pnagent-dipen 1 7 \"p/\"\nmark 5 1000000 1\nmark 12 2000000 1900000\npublished 12 1000\ncut of"
	if err := os.WriteFile(cfg.State, []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	r := read(t, cfg)
	r.shows([]uint64{2, 0}, []uint64{0})
	if g := r.status().Gaps; g.Count != 1 || g.Revisions != 8 || g.Since == 0 {
		t.Errorf("gaps %+v", g)
	}
	if !f.was("range 12") || !f.was("range 20") || !f.was("watch 21") {
		t.Errorf("asked %v", f.asked)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	k, err := readJournal(cfg.State)
	if err != nil || k.published != 22 || k.epoch <= 1000 || len(k.marks) < 3 || k.marks[1] != (replica.Mark{Revision: 12, At: 2000000, Since: 1900000}) {
		t.Errorf("state: %+v, %v", k, err)
	}
}

// When etcd compacts, it also cancels a watch that it considers slow, although
// the watch has read all that was compacted.
func TestACompactionOfWhatWasReadIsNoGap(t *testing.T) {
	for _, compacted := range []int{5, 10, 11} {
		f := startFake(t)
		names(f)
		f.watches = [][]string{
			{created, fmt.Sprintf(`{"result":{"canceled":true,"compact_revision":"%d"}}`, compacted)},
			{created, answer(false, putJSON("p/pl/1/1", "", 11))},
		}
		r := read(t, config(t, f.URL))
		r.shows([]uint64{1, 0}, []uint64{0})
		if g := r.status().Gaps; g.Count != 0 || r.status().Sessions != 2 || f.was(fmt.Sprint("range ", compacted)) && compacted != 10 {
			t.Errorf("compacted at %d: gaps %+v, asked %v", compacted, g, f.asked)
		}
	}
}

func TestAnotherEtcdIsReadFromScratch(t *testing.T) {
	f := startFake(t)
	names(f)
	f.has("p/pl/1/1", "x", 5)
	cfg := config(t, f.URL)
	cfg.State = filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(cfg.State, []byte("pnagent-dipen 1 8 \"p/\"\nmark 5 1000000 1\npublished 500 1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := read(t, cfg)
	rows := r.shows([]uint64{1, 0}, []uint64{0})
	if rows.Places[0].Oldest < 2_000_000 {
		t.Errorf("the source uses the times of another etcd: %d", rows.Places[0].Oldest)
	}
	f.do(func() { f.revision = 6 }) // restored from a backup
	until(t, "it is seen that etcd was set back", func() bool { return r.status().Gaps.Count == 2 && r.status().Connected })
	r.shows([]uint64{1, 0}, []uint64{0})
}

func TestAUserLogsInAndDoesSoAgain(t *testing.T) {
	f := startFake(t)
	names(f)
	f.token = "none yet"
	cfg := config(t, f.URL)
	cfg.Etcd.User, cfg.Etcd.Password = "reader", "secret"
	r := read(t, cfg)
	r.shows([]uint64{0, 0}, []uint64{0})
	f.do(func() { f.token, f.asked = "another", nil })
	until(t, "it logs in again", func() bool { return f.was("login") })
	looks := r.status().Looks
	until(t, "it looks again", func() bool { return r.status().Looks > looks })
	if r.status().Sessions != 1 {
		t.Errorf("%d sessions", r.status().Sessions)
	}
}

func TestEtcdThatIsUnreachableIsRetried(t *testing.T) {
	f := startFake(t)
	names(f)
	f.down = true
	r := read(t, config(t, f.URL))
	if r.status().Connected {
		t.Error("the source reports that it is connected")
	}
	f.do(func() { f.down = false })
	r.shows([]uint64{0, 0}, []uint64{0})
}

func TestConfigurationsThatCannotWork(t *testing.T) {
	cfg := config(t, "http://127.0.0.1:1")
	for name, change := range map[string]func(*Config){
		"no slash":            func(c *Config) { c.Prefix = "p" },
		"no prefix":           func(c *Config) { c.Prefix = "" },
		"no endpoint":         func(c *Config) { c.Etcd.Endpoints = nil },
		"no URL":              func(c *Config) { c.Etcd.Endpoints = []string{"127.0.0.1:2379"} },
		"a password in a URL": func(c *Config) { c.Etcd.Endpoints = []string{"http://u:p@127.0.0.1:2379"} },
	} {
		c := cfg
		change(&c)
		if !errors.Is(Run(t.Context(), c), ErrConfig) {
			t.Errorf("%s does not wrap ErrConfig", name)
		}
	}
	for text, want := range map[string]string{"hello": "expected", "pnagent-dipen 1 7 \"q/\"\n": "prefix"} {
		cfg.State = filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(cfg.State, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("state %q: %v", text, err)
		}
	}
}
