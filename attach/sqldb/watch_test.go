// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/telemetry"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// watch holds the newest snapshot of each net that a source publishes, and the
// totals of the epochs before.
type watch struct {
	t        *testing.T
	url      string // of the NATS server
	nc       *nats.Conn
	subjects telemetry.Subjects
	status   func() Status       // of the adapter that runs
	sink     *snmptest.Snmptrapd // nil before traps

	mu   sync.Mutex
	last map[string]*telemetry.Snapshot
	base map[string]map[string]count // of former epochs, by net and node
	defs map[string]*petri.Net       // by digest
}

// count is the flow of one node.
type count struct{ Started, Ended, Fired uint64 }

func newWatch(t *testing.T) *watch {
	t.Helper()
	server := natstest.Run(t, natstest.Listen)
	subjects, err := telemetry.NewSubjects("petrinet.v1")
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{t: t, url: server.ClientURL(), nc: natstest.Connect(t, server), subjects: subjects, last: map[string]*telemetry.Snapshot{}, base: map[string]map[string]count{}, defs: map[string]*petri.Net{}}
	for _, subject := range []string{subjects.Snapshots(), subjects.Byes()} {
		_, err = w.nc.Subscribe(subject, func(m *nats.Msg) {
			var d telemetry.Decoder
			s := &telemetry.Snapshot{}
			if err := d.Decode(m.Data, s); err != nil {
				t.Error(err)
				return
			}
			w.take(s)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *watch) take(s *telemetry.Snapshot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.last[s.Net]
	if old != nil && old.Epoch != s.Epoch {
		w.base[s.Net] = w.counts(s.Net)
	}
	if s.Full {
		w.last[s.Net] = s
	} else if old != nil && old.Epoch == s.Epoch {
		old.Rows.Net = s.Rows.Net
		for i, at := range s.PlaceIndex {
			old.Rows.Places[at] = s.Rows.Places[i]
		}
		for i, at := range s.TransitionIndex {
			old.Rows.Transitions[at] = s.Rows.Transitions[i]
		}
	}
}

// run runs the adapter, and returns what ends it.
func (w *watch) run(cfg Config) (end func()) {
	w.t.Helper()
	cfg.Conn, cfg.Subjects, cfg.Source = w.nc, w.subjects, "adapter"
	cfg.Interval, cfg.Timeout, cfg.Overlap = 200*time.Millisecond, 10*time.Second, time.Minute
	cfg.Log = slog.New(slog.NewTextHandler(w.t.Output(), nil))
	w.look(cfg)
	a, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.status = a.Status
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	var once sync.Once
	end = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				w.t.Error(err)
			}
		})
	}
	w.t.Cleanup(end)
	return end
}

// look looks at the engine as --once does, which fails in some tests as the polls do.
func (w *watch) look(cfg Config) {
	w.t.Helper()
	cfg.Conn = nil
	a, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	begin := time.Now()
	found, err := a.Look(w.t.Context(), 10)
	w.t.Logf("a look found %d places with tokens in %v, error %v", len(found), time.Since(begin).Round(10*time.Millisecond), err)
}

// until waits until check returns "", which otherwise says what is missing. It calls
// check with mu held.
func (w *watch) until(check func() string) {
	w.t.Helper()
	until(w.t, func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return check()
	})
}

// net returns the definition of a net, or nil. Callers hold mu.
func (w *watch) net(net string) *petri.Net {
	s := w.last[net]
	if s == nil {
		return nil
	}
	if n := w.defs[s.Digest]; n != nil {
		return n
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Second)
	defer cancel()
	d, err := telemetry.RequestDefinition(ctx, w.nc, w.subjects, net, s.Digest)
	if err != nil {
		return nil
	}
	f, err := pnml.Read(strings.NewReader(string(d.PNML)), "", pnml.DefaultLimits())
	if err != nil {
		w.t.Fatal(err)
	}
	w.defs[s.Digest] = f.Nets[0]
	return f.Nets[0]
}

// counts returns the flow of the nodes of a net that had any.
func (w *watch) counts(net string) map[string]count {
	out := map[string]count{}
	n, s := w.net(net), w.last[net]
	for id, c := range w.base[net] {
		out[id] = c
	}
	if n == nil || len(s.Rows.Places) != len(n.Places) || len(s.Rows.Transitions) != len(n.Transitions) {
		return out
	}
	add := func(id string, c count) {
		if c != (count{}) {
			was := out[id]
			out[id] = count{was.Started + c.Started, was.Ended + c.Ended, was.Fired + c.Fired}
		}
	}
	add("instances", count{s.Rows.Net.Created, s.Rows.Net.Finished, s.Rows.Net.Failed})
	for i, p := range n.Places {
		add(strings.TrimSuffix(p.ID, "/in"), count{Started: s.Rows.Places[i].Arrivals, Ended: s.Rows.Places[i].Departures})
	}
	for i, t := range n.Transitions {
		add(t.ID, count{Fired: s.Rows.Transitions[i].Firings})
	}
	return out
}

// held is a token in a place, as the engine or the adapter report it.
type held struct {
	net, instance, node string
	since               int64 // milliseconds
}

func (w *watch) held() []held {
	var out []held
	for net, s := range w.last {
		n := w.net(net)
		if n == nil || len(n.Places) != len(s.Rows.Places) {
			continue
		}
		for i := range s.Rows.Places {
			for _, t := range s.Rows.Places[i].Stuck {
				out = append(out, held{net, t.Instance, strings.TrimSuffix(n.Places[i].ID, "/in"), t.Injected / 1000})
			}
		}
	}
	return out
}

// waits returns what an instance waits for, by "node transition reason"; nil if there is
// no such instance, or the adapter does not answer yet.
func (w *watch) waits(net, instance string) map[string]string {
	w.t.Helper()
	found, err := telemetry.AskInstance(w.t.Context(), w.nc, w.subjects, net, "adapter", instance)
	if errors.Is(err, telemetry.ErrNoInstance) || errors.Is(err, nats.ErrNoResponders) {
		return nil
	} else if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]string{}
	for _, h := range found.Tokens {
		for _, x := range h.Waits {
			text := x.What
			if x.Count > 0 {
				text = strconv.Itoa(int(x.Count))
			}
			out[strings.TrimSuffix(h.Place, "/in")+" "+x.Transition+" "+x.Reason] = text
		}
	}
	return out
}

// waitsFor waits until an instance waits for what is wanted.
func (w *watch) waitsFor(net, instance string, want map[string]string) {
	w.t.Helper()
	w.until(func() string {
		if diff := cmp.Diff(want, w.waits(net, instance)); diff != "" {
			return "what " + instance + " waits for, - want, + adapter:\n" + diff
		}
		return ""
	})
}

// arcs compares the arcs from task to task with those wanted. Callers hold mu.
func (w *watch) arcs(net string, want ...string) string {
	var got []string
	n := w.net(net)
	if n == nil {
		return "no net"
	}
	for i := range n.Arcs {
		if a := &n.Arcs[i]; strings.HasSuffix(a.Target, "/in") {
			got = append(got, a.Source+" "+strings.TrimSuffix(a.Target, "/in"))
		}
	}
	slices.Sort(got)
	return cmp.Diff(want, got)
}

// document is the page of this adapter.
const document = "../../docs/attach/sql.md"

// shows waits until these nets are published.
func (w *watch) shows(nets ...string) {
	w.t.Helper()
	w.until(func() string {
		for _, n := range nets {
			if w.net(n) == nil {
				return "no net " + n
			}
		}
		return ""
	})
}

// until waits until check returns "", which otherwise says what is missing.
func until(t *testing.T, check func() string) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	pause := 20 * time.Millisecond
	for missing := check(); missing != ""; missing = check() {
		if time.Now().After(deadline) {
			t.Fatal(missing)
		}
		<-time.After(pause)
		pause = min(2*pause, 400*time.Millisecond) // some checks start programs
	}
}
