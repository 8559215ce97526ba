// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/internal/samehost"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const patience = time.Minute // enough for events that take milliseconds on an idle machine

// target is an endpoint whose answers a test changes. Its client reaches it without
// sockets, so that both can be in a bubble.
type target struct {
	*httptest.Server
	mu     sync.Mutex
	answer http.HandlerFunc
	hung   chan struct{} // closed at the end, for answers that hang
}

func startTarget(t *testing.T, body string) *target {
	e := &target{hung: make(chan struct{})}
	e.says(body)
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		answer := e.answer
		e.mu.Unlock()
		answer(w, r)
	}))
	l := pipes{addr: e.Listener.Addr(), conns: make(chan net.Conn), closed: make(chan struct{})}
	if err := e.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	e.Listener = &l
	e.Start()
	e.Client().Transport.(*http.Transport).DialContext = l.dial
	t.Cleanup(func() { close(e.hung); e.Close() })
	return e
}

// pipes is a listener within the process.
type pipes struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Addr() net.Addr { return l.addr }

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (e *target) does(answer http.HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
}

func (e *target) says(body string) { e.does(plain(body)) }

// plain answers in the text format.
func plain(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, body)
	}
}

// house is a NATS server and a collector that receives what the adapter
// publishes.
type house struct {
	nc        *nats.Conn
	collector *collector.Collector
	registry  *prometheus.Registry
	log       *logtest.Buffer
}

// attached runs a collector, and the adapter on the given targets.
func attached(t *testing.T, rules string, targets map[string]*target) *house {
	t.Helper()
	s := natstest.Run(t)
	h := &house{nc: natstest.Connect(t, s), registry: prometheus.NewRegistry(), log: &logtest.Buffer{}}
	log := slog.New(slog.NewTextHandler(h.log, nil))
	var err error
	h.collector, err = collector.New(collector.Config{Conn: natstest.Connect(t, s), Interval: 20 * time.Millisecond, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Conn: h.nc, Mapping: mapping(t, rules), Interval: 100 * time.Millisecond, Timeout: 100 * time.Millisecond, Log: log, Registry: h.registry}
	for name, e := range targets {
		cfg.Targets = append(cfg.Targets, Target{URL: e.URL, Source: name, Client: e.Client()})
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if err := h.collector.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	all.Go(func() {
		if err := Run(ctx, cfg); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); all.Wait() })
	return h
}

// until waits until the View meets a condition.
func (h *house) until(t *testing.T, what string, so func(v *merge.View) bool) *merge.View {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		view := h.collector.View()
		if view != nil && so(view) {
			return view
		}
		if time.Now().After(end) {
			var out bytes.Buffer
			_ = json.NewEncoder(&out).Encode(view)
			t.Fatalf("never: %s\n%s\n%s", what, out.String(), h.log)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// said returns a metric of the adapter: the series of source s with the label.
func (h *house) said(t *testing.T, family, name, value string) float64 {
	t.Helper()
	all, err := h.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		for _, m := range f.Metric {
			if f.GetName() == family && label(m.Label, "source") == "s" && label(m.Label, name) == value {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no %s with %s=%s", family, name, value)
	return 0
}

func stateOf(v *merge.View, source string) merge.SourceState {
	for _, s := range v.Sources {
		if s.Name == source {
			return s.State
		}
	}
	return merge.Undefined
}

// n returns the rows of net n, or nil.
func n(v *merge.View) *stats.Rows {
	if net := v.Net("n"); net != nil && net.Rows != nil && len(net.Rows.Places) > 0 {
		return net.Rows
	}
	return nil
}

const shop = `
nets:
  n:
    places: {"{queue}": {tokens: depth, departures: out_total, oldest: observed}}
    transitions: {"{queue} serve": {from: "{queue}", firings: out_total}}
`

func shopSays(depth, out int) string {
	return fmt.Sprintf("depth{queue=\"a\"} %d\nout_total{queue=\"a\"} %d\n", depth, out)
}

// If a target fails in any way, its source becomes stale with its last rows.
// When the target is back, none of its counts is lost.
func TestATargetThatFailsIsStaleAndLosesNoCounts(t *testing.T) {
	for _, c := range []struct {
		name, result string
		fails        func(e *target) http.HandlerFunc
	}{
		{"it answers garbage", "garbage", func(*target) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "depth{queue=\"a\"} 0\n\x00\xff{{{")
			}
		}},
		{"it answers 500", "status", func(*target) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "depth 1", http.StatusInternalServerError) }
		}},
		{"it hangs", "timeout", func(e *target) http.HandlerFunc {
			return func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-e.hung:
				case <-r.Context().Done():
				}
			}
		}},
		{"it is cut in the middle", "cut", func(*target) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				_, _ = io.WriteString(w, shopSays(0, 0))
			}
		}},
		{"it answers with nothing", "unmapped", func(*target) http.HandlerFunc { return plain("") }},
		{"it answers with another page", "unmapped", func(*target) http.HandlerFunc { return plain("go_goroutines 7\nup 1\n") }},
		{"it answers with a page of text", "garbage", func(*target) http.HandlerFunc { return plain("Please log in\n") }},
		{"it answers with a page to log in", "garbage", func(*target) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(w, "<!DOCTYPE html>\n<title>Log in</title>\n")
			}
		}},
		{"it lacks the tokens", "incomplete", func(*target) http.HandlerFunc { return plain("out_total{queue=\"a\"} 100\n") }},
		{"a number of tokens is none", "incomplete", func(*target) http.HandlerFunc {
			return plain("depth{queue=\"a\"} NaN\nout_total{queue=\"a\"} 100\n")
		}},
		{"one number of tokens of two is none", "incomplete", func(*target) http.HandlerFunc {
			return plain("depth{queue=\"a\"} NaN\ndepth{queue=\"b\"} 1\nout_total{queue=\"a\"} 100\nout_total{queue=\"b\"} 1\n")
		}},
		{"the tokens have another type", "incomplete", func(*target) http.HandlerFunc {
			return plain("# TYPE depth histogram\ndepth_bucket{queue=\"a\",le=\"+Inf\"} 1\ndepth_sum{queue=\"a\"} 1\ndepth_count{queue=\"a\"} 1\nout_total{queue=\"a\"} 101\n")
		}},
		{"it redirects to another host", "redirected", func(*target) http.HandlerFunc {
			return http.RedirectHandler("http://127.0.0.2:1/metrics", http.StatusFound).ServeHTTP
		}},
		{"it vanishes", "connection", func(*target) http.HandlerFunc {
			return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T) {
				e := startTarget(t, shopSays(3, 100))
				e.Client().CheckRedirect = samehost.Redirect
				h := attached(t, shop, map[string]*target{"s": e})
				before := h.until(t, "three tokens", func(v *merge.View) bool { return n(v) != nil && n(v).Places[0].Tokens == 3 })
				oldest := n(before).Places[0].Oldest
				e.does(c.fails(e))
				stale := h.until(t, "stale", func(v *merge.View) bool { return stateOf(v, "s") == merge.Stale })
				if p := n(stale).Places[0]; p.Tokens != 3 || p.Oldest > oldest+second {
					t.Errorf("stale rows are %+v", p)
				}
				if got := h.said(t, "pnagent_scrape_attempts_total", "result", c.result); got == 0 {
					t.Errorf("no scrape has the result %s", c.result)
				}
				e.says(shopSays(2, 107))
				back := h.until(t, "up with what was counted meanwhile", func(v *merge.View) bool {
					return stateOf(v, "s") == merge.Up && n(v).Transitions[0].Firings == 7
				})
				if p := n(back).Places[0]; p.Tokens != 2 || p.Departures != 7 {
					t.Errorf("%+v of columns %b", p, n(back).Columns)
				}
				if got := h.said(t, "pnagent_scrape_rows_missing", "column", "places.tokens"); got != 0 {
					t.Errorf("%v rows are reported as missing", got)
				}
			})
		})
	}
}

func TestCountersContinueAfterARestartOfTheTarget(t *testing.T) {
	natstest.Bubble(t, countersContinueAfterARestartOfTheTarget)
}

func countersContinueAfterARestartOfTheTarget(t *testing.T) {
	e := startTarget(t, shopSays(3, 100))
	h := attached(t, shop, map[string]*target{"s": e})
	h.until(t, "three tokens", func(v *merge.View) bool { return n(v) != nil && n(v).Places[0].Tokens == 3 })
	e.says(shopSays(3, 105))
	h.until(t, "5 firings", func(v *merge.View) bool { return n(v).Transitions[0].Firings == 5 })
	e.says(shopSays(0, 2))
	h.until(t, "7 firings", func(v *merge.View) bool { return n(v).Transitions[0].Firings == 7 && n(v).Places[0].Tokens == 0 })
}

// What is unknown for a while is observed again as if nothing had been: fewer tokens left than
// there are, so the oldest is as old as it was.
func TestTokensThatAreNotKnownForAWhileGetNoYounger(t *testing.T) {
	s := newState(mapping(t, shop))
	for i, text := range []string{shopSays(3, 100), shopSays(3, 100), "depth{queue=\"a\"} NaN\nout_total{queue=\"a\"} 100\n", "", shopSays(2, 101)} {
		all := scraped(t, text)
		s.apply(all, int64(i+1)*10*second)
		if err := s.whole(all); (err != nil) != (i == 2 || i == 3) {
			t.Errorf("scrape %d: %v", i+1, err)
		}
	}
	if p := s.rowsOf(t, "n").Places[0]; p.Oldest != 10*second || p.Tokens != 2 {
		t.Errorf("%+v", p)
	}
}

// An answer that declares a metric and has no series of it says that there are none. One
// that has another metric says nothing.
func TestADeclaredMetricWithoutSeriesIsNoQueueAtAll(t *testing.T) {
	declared := "# TYPE depth gauge\n# HELP depth Messages.\n"
	for _, c := range []struct {
		name, first, then string
		want              error
	}{
		{"all queues are gone", shopSays(3, 100), declared, nil},
		{"there never was one", declared, declared, nil},
		{"in protobuf's manner", "# TYPE depth gauge\ndepth{queue=\"a\"} 3\n", "# TYPE depth gauge\n", nil},
		{"nothing is declared", shopSays(3, 100), "# TYPE other gauge\nother 1\n", errUnmapped},
		{"only a count is declared", shopSays(3, 100), "# TYPE out_total counter\n", errIncomplete},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newState(mapping(t, shop))
			for i, text := range []string{c.first, c.then} {
				all := scraped(t, text)
				s.apply(all, int64(i+1)*second)
				if err := s.whole(all); i == 1 && !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			}
			if c.want != nil || s.byID["n"] == nil || len(s.byID["n"].rows[places]) == 0 {
				return
			}
			if r := s.rowsOf(t, "n"); r.Places[0].Tokens != 0 || !r.Columns.Has(stats.ColTokens) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// What missing means zero for is zero while the target answers with something of the mapping.
//
//promise:evidence messages
//promise:unknown messages
func TestAnEmptyPageIsNotZeroEvenIfMissingIsZero(t *testing.T) {
	s := newState(mapping(t, "nets: {n: {places: {p: {tokens: {metric: a, missing: zero}}, q: {tokens: {metric: b, missing: zero}}}}}"))
	for i, c := range []struct {
		text string
		want error
	}{{"a 3\nb 1\n", nil}, {"a 3\n", nil}, {"", errUnmapped}, {"a NaN\nb 1\n", errIncomplete}, {"# TYPE a gauge\nb 0\n", nil}} {
		all := scraped(t, c.text)
		s.apply(all, int64(i+1)*second)
		if err := s.whole(all); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.text, err, c.want)
		}
	}
}

// A queue that is found while the adapter runs becomes a new place of the same
// net. The rows of the others stay, and their counters continue.
func TestAQueueThatIsNewIsAPlaceMore(t *testing.T) { natstest.Bubble(t, aQueueThatIsNewIsAPlaceMore) }

func aQueueThatIsNewIsAPlaceMore(t *testing.T) {
	e := startTarget(t, shopSays(3, 100))
	h := attached(t, shop, map[string]*target{"s": e})
	h.until(t, "three tokens", func(v *merge.View) bool { return n(v) != nil && n(v).Places[0].Tokens == 3 })
	e.says(shopSays(3, 104))
	h.until(t, "four firings", func(v *merge.View) bool { return n(v).Transitions[0].Firings == 4 })
	e.says(shopSays(3, 105) + strings.ReplaceAll(shopSays(8, 9), `"a"`, `"b"`))
	for {
		v := h.until(t, "a View", func(*merge.View) bool { return true })
		if p := n(v).Places[0]; p.Tokens != 3 || n(v).Transitions[0].Firings < 4 {
			t.Fatalf("while the net grows: %+v", p)
		}
		if len(n(v).Places) == 2 && n(v).Places[1].Tokens == 8 {
			if got := n(v).Transitions; got[0].Firings != 5 || got[1].Firings != 9 {
				t.Errorf("%+v", got)
			}
			if def := v.Net("n").Def; def.Places[1].ID != "b" || len(def.Arcs) != 2 {
				t.Errorf("%+v", def)
			}
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the new place did not appear")
		}
		<-time.After(2 * time.Millisecond)
	}
}

func TestTargetsAddUpAndAnUnreachableOneDelaysNoOther(t *testing.T) {
	natstest.Bubble(t, targetsAddUpAndAnUnreachableOneDelaysNoOther)
}

func targetsAddUpAndAnUnreachableOneDelaysNoOther(t *testing.T) {
	a, b := startTarget(t, shopSays(3, 100)), startTarget(t, shopSays(4, 50))
	h := attached(t, shop, map[string]*target{"a": a, "b": b})
	h.until(t, "seven tokens", func(v *merge.View) bool { return n(v) != nil && n(v).Places[0].Tokens == 7 })
	a.does(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	b.says(shopSays(10, 50))
	h.until(t, "a stale, b up, 13 tokens", func(v *merge.View) bool {
		return stateOf(v, "a") == merge.Stale && stateOf(v, "b") == merge.Up && n(v).Places[0].Tokens == 13
	})
}

func TestAnInvalidConfigurationIsRejected(t *testing.T) {
	good := Config{Mapping: mapping(t, shop), Targets: []Target{{URL: "http://x", Source: "x"}}, Interval: time.Second, Timeout: time.Second,
		Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry()}
	for name, spoil := range map[string]func(c *Config){
		"no target":                   func(c *Config) { c.Targets = nil },
		"a name twice":                func(c *Config) { c.Targets = append(c.Targets, c.Targets[0]) },
		"a name of nothing":           func(c *Config) { c.Targets = []Target{{}} },
		"an interval of nothing":      func(c *Config) { c.Interval = 0 },
		"an interval beyond a day":    func(c *Config) { c.Interval = 2 * telemetry.MaxInterval },
		"longer than the interval":    func(c *Config) { c.Timeout = 2 * time.Second },
		"a timeout of nothing at all": func(c *Config) { c.Timeout = 0 },
	} {
		c := good
		spoil(&c)
		if err := Run(t.Context(), c); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
