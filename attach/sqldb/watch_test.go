// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
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
	status   func() Status // of the adapter that runs

	mu   sync.Mutex
	last map[string]*telemetry.Snapshot
	base map[string]map[string]count // of former epochs, by net and node
	defs map[string]*petri.Net       // by digest
}

// count is the flow of one node.
type count struct{ Started, Ended, Fired uint64 }

func newWatch(t *testing.T) *watch {
	t.Helper()
	options := natstest.Options()
	options.DontListen, options.Host, options.Port = false, "127.0.0.1", -1
	server := natstest.Start(t, options)
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

// agree compares the tokens of both, ages to the second, and returns the difference.
func agree(want, got []held) string {
	if len(want) == 0 {
		return "the engine has no token"
	}
	order := func(a, b held) int {
		return strings.Compare(fmt.Sprint(a.net, " ", a.instance, " ", a.node), fmt.Sprint(b.net, " ", b.instance, " ", b.node))
	}
	slices.SortStableFunc(want, order)
	slices.SortStableFunc(got, order)
	for i := range min(len(want), len(got)) {
		if d := want[i].since - got[i].since; order(want[i], got[i]) == 0 && d < 1000 && d > -1000 {
			got[i].since = want[i].since
		}
	}
	return cmp.Diff(want, got, cmp.AllowUnexported(held{}))
}

// report is what the engine's own API says.
type report struct {
	held      []held
	due       map[string]int64 // by node, milliseconds
	incidents []string         // nodes
	workers   []string         // nodes with an external task, and the worker that has it
	counts    map[string]map[string]count
}

func (e *engine) report() report {
	e.T.Helper()
	r := report{due: map[string]int64{}, counts: map[string]map[string]count{}}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			e.T.Fatal(err)
		}
		return n
	}
	for _, line := range e.Do("report") {
		switch f := strings.Fields(line); f[0] {
		case "at":
			r.held = append(r.held, held{f[1], f[2], f[3], number(f[4])})
		case "job":
			r.due[f[3]] = number(f[5])
		case "incident":
			r.incidents = append(r.incidents, f[3])
		case "worker":
			r.workers = append(r.workers, f[3]+" "+f[4])
		case "count":
			if r.counts[f[1]] == nil {
				r.counts[f[1]] = map[string]count{}
			}
			r.counts[f[1]][f[2]] = count{uint64(number(f[3])), uint64(number(f[4])), uint64(number(f[5]))}
		}
	}
	return r
}

// shown are the tokens as faces show them.
func (r report) shown() (out []enginetest.Held) {
	for _, h := range r.held {
		out = append(out, enginetest.Held{Net: h.net, Instance: h.instance, Node: h.node, Since: h.since})
	}
	return out
}

// same waits until the adapter shows what the engine's API reports.
func (w *watch) same(e *engine) report {
	w.t.Helper()
	r := e.report()
	w.until(func() string {
		if d := agree(slices.Clone(r.held), w.held()); d != "" {
			return "tokens, - engine, + adapter:\n" + d
		}
		for net, counts := range r.counts {
			if d := cmp.Diff(w.expected(net, counts), w.counts(net)); d != "" {
				return "counts of " + net + ", - engine, + adapter:\n" + d
			}
		}
		return ""
	})
	return r
}

// expected returns the counts of the engine that the adapter can have: what has no place
// of its own has no arrivals and departures, nor has a sub-process, whose tokens are at the
// nodes inside. An event gateway does not fire, but the event that comes first. Callers
// hold mu.
func (w *watch) expected(net string, counts map[string]count) map[string]count {
	out, n := map[string]count{}, w.net(net)
	for id, c := range counts {
		if id == "sub" || id != "instances" && n != nil && !slices.ContainsFunc(n.Places, func(p petri.Place) bool { return p.ID == id+"/in" }) {
			c.Started, c.Ended = 0, 0
		}
		if id == "first" {
			c.Fired = 0
		}
		if c != (count{}) {
			out[id] = c
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

// waits returns what an instance waits for, by "node transition reason"; nil if there is
// no such instance.
func (w *watch) waits(net, instance string) map[string]string {
	w.t.Helper()
	found, err := telemetry.AskInstance(w.t.Context(), w.nc, w.subjects, net, "adapter", instance)
	if errors.Is(err, telemetry.ErrNoInstance) {
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

// instance returns the instance of a net that has tokens in only one.
func (r report) instance(net string) string {
	for _, h := range r.held {
		if h.net == net {
			return h.instance
		}
	}
	return ""
}

// why is what SNMP and the page show of a token that waits for one thing: the
// transition's name, what it waits for, and the words of the reason.
func why(name, what string, reason stats.Reason) enginetest.Why {
	words := map[stats.Reason][2]string{
		stats.ReasonManual:   {"waits to be fired from outside", "waits to be fired from outside"},
		stats.ReasonEnabled:  {"enabled, waits for its turn", "can fire and waits for its turn"},
		stats.ReasonRunning:  {"running", "the action is running"},
		stats.ReasonIncident: {"failed permanently, needs an operator", "failed permanently: an operator must act"},
	}[reason]
	if reason == stats.ReasonUnknown {
		return enginetest.Why{SNMP: name + ": " + what, Page: what}
	}
	return enginetest.Why{SNMP: name + ": " + what + " (" + words[0] + ")", Page: what + " (" + words[1] + ")"}
}

// delayed is the same for a time in milliseconds.
func delayed(name, what string, until int64) enginetest.Why {
	return enginetest.Why{SNMP: name + ": " + what + " (delayed until " + time.UnixMilli(until).UTC().Format(time.RFC3339) + ")", Page: what + " (waits until its time has come)"}
}

// both is what is shown of a token that waits for either.
func both(a, b enginetest.Why) []enginetest.Why {
	return []enginetest.Why{{SNMP: a.SNMP + "; " + b.SNMP, Page: a.Page + "; " + b.Page}}
}
