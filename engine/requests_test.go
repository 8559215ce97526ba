// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/internal/selfmetrics/selfmetricstest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// manualLine is a line of two places whose transitions fire from outside. A guard
// makes its tokens carry data.
func manualLine(t *testing.T, data bool) NetConfig {
	all := fire(plain.Mode{Kind: plain.Manual}, plain.Mode{Kind: plain.Manual})
	if data {
		all[1].Guard = func([]coloured.Placed, int64) coloured.Verdict { return coloured.Verdict{OK: true} }
	}
	return NetConfig{Tables: petritest.Compile(t, line(2)), Transitions: all}
}

func TestInjectionsAreBounded(t *testing.T) {
	for _, data := range []bool{false, true} {
		t.Run(fmt.Sprintf("data=%t", data), func(t *testing.T) {
			e := newEngine(t, Config{Source: "s", Nets: []NetConfig{manualLine(t, data)}, Instances: 2, Workers: 1, InjectTokens: 10, InjectPlace: 25})
			stop := start(t, e)
			defer stop()
			for _, c := range []struct {
				instance int
				tokens   uint32
				want     string
			}{
				{0, 11, "11 tokens in one request; expected at most 10"},
				{0, 4_000_000_000, "4000000000 tokens in one request; expected at most 10"},
				{0, 10, ""},
				{0, 10, ""},
				{0, 6, `place "p1" would hold 26 tokens; expected at most 25`},
				{0, 5, ""},
				{0, 1, `place "p1" would hold 26 tokens; expected at most 25`},
				{0, 0, ""},
				{1, 10, ""},
			} {
				err := e.Inject(t.Context(), "line", c.instance, "p1", c.tokens)
				if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrTooManyTokens) || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%d tokens into instance %d: got %v; want %q", c.tokens, c.instance, err, c.want)
				}
			}
			if m, err := e.Marking(t.Context(), "line", 0); err != nil || m[1] != 25 {
				t.Errorf("marking: got %v, %v; want 25 tokens in p1", m, err)
			}
			want := []string{"pnagent_engine_requests_refused_total reason=place full 2", "pnagent_engine_requests_refused_total reason=too many tokens 2"}
			got := slices.DeleteFunc(selfmetricstest.Series(t, e.Metrics()), func(s string) bool { return !strings.Contains(s, "requests") })
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// A worker returns to its firings although calls never cease.
func TestCallsDoNotKeepAWorkerFromFiring(t *testing.T) {
	w := &worker{calls: make(chan func(int64), 10*maxCalls)}
	executed := 0
	for range cap(w.calls) {
		w.calls <- func(int64) { executed++ }
	}
	w.answer(0)
	if executed != maxCalls {
		t.Errorf("between two batches: got %d calls; want %d", executed, maxCalls)
	}
}

// While one kind of request is flooded, requests of other kinds are answered, and
// what finds no room is refused with a reason and counted.
func TestAFloodOfRequestsIsRefused(t *testing.T) { natstest.Bubble(t, aFloodOfRequestsIsRefused) }

func aFloodOfRequestsIsRefused(t *testing.T) {
	nc := natstest.Client(t)
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{manualLine(t, false)}, Instances: 1, Workers: 1})
	end, err := Serve(e, nc, telemetry.Subjects{}, time.Hour, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	answers, err := nc.SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	const flood = 3 * maxQueued
	for range flood { // the engine does not run yet, so all wait
		if err := nc.PublishRequest("petrinet.v1.inject.line.s", answers.Subject, []byte(`{"place":"p1"}`)); err != nil {
			t.Fatal(err)
		}
	}
	first, err := answers.NextMsg(patience)
	if err != nil || !strings.Contains(string(first.Data), "expected at most 256 of one kind and net") {
		t.Fatalf("the first answer: got %s, %v; want that it is refused", first.Data, err)
	}
	stop := start(t, e)
	defer stop()
	if got := ask(t, nc, "petrinet.v1.fire.line.s", `{"transition":"t0"}`); !strings.Contains(got, `"ok"`) {
		t.Errorf("fire beside a flood: got %s", got)
	}
	done, refused := 0, 1
	for range flood - 1 {
		m, err := answers.NextMsg(patience)
		switch {
		case err != nil:
			t.Fatal(err)
		case string(m.Data) == `{"ok":true}`:
			done++
		default:
			refused++
		}
	}
	if counted := e.refusals.of(0)[stats.RefusedQueue]; done < maxQueued || int(counted) != refused {
		t.Errorf("got %d done, %d refused, %d counted; want at least %d done, each refusal counted", done, refused, counted, maxQueued)
	}
	if err := end(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Requests that wait are bounded in bytes too, and so is each of them.
func TestRequestsAreBoundedInBytes(t *testing.T) {
	nc := natstest.Client(t)
	stall, size := make(chan struct{}), new(atomic.Int64)
	size.Store(maxQueuedBytes - 3*maxRequest) // of other nets
	var refused stats.RefusedRequests
	l, err := newRequestQueue(nc, "requests", size, func(reason int) { refused[reason]++ }, func(*nats.Msg) { <-stall })
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		l.put(&nats.Msg{Data: make([]byte, maxRequest)})
	}
	l.put(&nats.Msg{Data: make([]byte, maxRequest+1)})
	if want := (stats.RefusedRequests{stats.RefusedQueue: 2, stats.RefusedSize: 1}); refused != want {
		t.Errorf("got %v refused; want %v", refused, want)
	}
	close(stall)
	if err := l.close(t.Context()); err != nil || l.size.Load() != maxQueuedBytes-3*maxRequest {
		t.Errorf("closed: %v, %d bytes wait; want none of this queue", err, l.size.Load())
	}
}

// Refused requests are counted with their net, and published with its snapshots.
func TestRefusedRequestsArePublishedWithTheirNet(t *testing.T) {
	natstest.Bubble(t, refusedRequestsArePublishedWithTheirNet)
}

func refusedRequestsArePublishedWithTheirNet(t *testing.T) {
	nc := natstest.Client(t)
	first, second := manualLine(t, false), manualLine(t, false)
	renamed := *second.Tables.Net
	renamed.ID = "other"
	var err error
	if second.Tables, err = petri.Compile(&renamed); err != nil {
		t.Fatal(err)
	}
	snapshots, err := nc.SubscribeSync("petrinet.v1.snapshot.*.s")
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, Config{Source: "s", Nets: []NetConfig{first, second}, Instances: 1, Workers: 1, InjectTokens: 10, InjectPlace: 25})
	end, err := Serve(e, nc, telemetry.Subjects{}, 10*time.Millisecond, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	stop := start(t, e)
	defer stop()
	for _, body := range []string{`{"place":"p1","tokens":11}`, `{"place":"p1","tokens":11}`, `{"place":"p1","tokens":10}`, `{"place":"p1","tokens":10}`, `{"place":"p1","tokens":6}`, strings.Repeat("x", maxRequest+1)} {
		ask(t, nc, "petrinet.v1.inject.other.s", body)
	}
	want := stats.RefusedRequests{stats.RefusedTokens: 2, stats.RefusedPlace: 1, stats.RefusedSize: 1}
	for published := (map[string]stats.RefusedRequests{}); published["other"] != want; {
		m, err := snapshots.NextMsg(patience)
		if err != nil {
			t.Fatalf("%v; published %v, want %v", err, published, want)
		}
		var dec telemetry.Decoder
		var s telemetry.Snapshot
		if err := dec.DecodeMsg(telemetry.Subjects{}, m, &s); err != nil || s.Refused == nil {
			t.Fatalf("got %v, refused %v", err, s.Refused)
		}
		published[s.Net] = *s.Refused
		if s.Net == "line" && published["line"] != (stats.RefusedRequests{}) {
			t.Fatalf("got %v for a net without requests; want none", published["line"])
		}
	}
	if err := end(t.Context()); err != nil {
		t.Fatal(err)
	}
}
