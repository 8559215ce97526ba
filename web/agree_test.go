// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/history"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web"
)

// view is of one net, whose places have other numbers each.
func view() *collector.View {
	rows := stats.NewRows(3, 2)
	rows.Columns = stats.AllColumns
	def := &petri.Net{ID: "net"}
	now := time.Now().UnixMicro()
	for i := range rows.Places {
		def.Places = append(def.Places, petri.Place{ID: fmt.Sprint("p", i)})
		rows.Places[i] = stats.Place{Tokens: uint64(10 + i), Arrivals: uint64(100 + i), Departures: 90, Instances: uint64(3 + i), Oldest: now - int64(1+i)*60e6}
	}
	for i := range rows.Transitions {
		def.Transitions = append(def.Transitions, petri.Transition{ID: fmt.Sprint("t", i)})
		rows.Transitions[i] = stats.Transition{Firings: uint64(50 + i), Enabled: uint64(1 + i), EnabledSince: now, Failures: uint64(i)}
	}
	return &collector.View{At: now, Generation: 1, Nets: []*collector.Net{{Name: "net", Def: def, Final: def.FinalPlaces(), Rows: rows, Up: 1}}}
}

// faces are the live page, mounted as the sidecar does, and its Run.
func faces(t *testing.T, v *collector.View) (http.Handler, *web.Server) {
	t.Helper()
	shown := func() *collector.View { return v }
	live, err := web.New(web.Config{View: shown, History: history.New(history.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	exporter, err := metrics.New(metrics.Config{View: shown, Mounts: []metrics.Mount{{Pattern: "/", Handler: live.Handler(), Link: "index.html", Text: "Live"}}})
	if err != nil {
		t.Fatal(err)
	}
	return exporter.Handler(), live
}

func get(h http.Handler, path string) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Body.String()
}

// TestPageMetricsAndSNMPShowTheSame of one View: tokens of places and firings
// of transitions.
func TestPageMetricsAndSNMPShowTheSame(t *testing.T) {
	v := view()
	h, live := faces(t, v)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Run looks once before it ends
	if err := live.Run(ctx); err != nil {
		t.Fatal(err)
	}
	root, err := mib.ParseRoot(mib.DefaultRoot)
	if err != nil {
		t.Fatal(err)
	}
	builder, err := mib.NewBuilder(root, "", mib.Agent{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := builder.Build(v, nil, v.At)
	if err != nil {
		t.Fatal(err)
	}
	exposed := get(h, "/metrics")
	for i := range v.Nets[0].Rows.Places {
		var page struct{ Tokens, Arrivals uint64 }
		if err := json.Unmarshal([]byte(get(h, fmt.Sprint("/api/v1/place?net=net&place=p", i))), &page); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("petrinet_place_tokens{net=\"net\",place=\"p%d\"} %d\n", i, page.Tokens)
		placeTokens := root.Append(1, 1, 3, 1, 4, 1, uint32(i+1))
		if want := v.Nets[0].Rows.Places[i].Tokens; page.Tokens != want || !strings.Contains(exposed, line) || table.Get(placeTokens).Num != want {
			t.Errorf("place %d: the page shows %d, SNMP %v, want %d; metrics have it: %v", i, page.Tokens, table.Get(placeTokens), want, strings.Contains(exposed, line))
		}
	}
	for i := range v.Nets[0].Rows.Transitions {
		var page struct{ Firings uint64 }
		if err := json.Unmarshal([]byte(get(h, fmt.Sprint("/api/v1/transition?net=net&transition=t", i))), &page); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("petrinet_transition_firings_total{net=\"net\",transition=\"t%d\"} %d\n", i, page.Firings)
		if page.Firings != v.Nets[0].Rows.Transitions[i].Firings || !strings.Contains(exposed, line) {
			t.Errorf("transition %d: the page shows %d", i, page.Firings)
		}
	}
}

func TestWhatIsMountedBesideThePageIsServed(t *testing.T) {
	h, _ := faces(t, view())
	for path, want := range map[string]string{"/endpoints": `<a href="/index.html">Live</a>`, "/-/healthy": "healthy", "/": "<!doctype html>", "/nothing": `{"error":`} {
		if got := get(h, path); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s answers %.200s", path, got)
		}
	}
}

// TestTheWebConfigurationCoversThePage: without a password there is neither
// page nor stream; with one the stream lives until the server is stopped, and
// then ends at once.
func TestTheWebConfigurationCoversThePage(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(config, []byte("basic_auth_users:\n  ada: "+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, live := faces(t, view())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- live.Run(ctx) }()
	go func() { ended <- metrics.Serve(ctx, l, config, h, slog.New(slog.DiscardHandler)) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(path, password string) (code int, body io.Reader) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			r.SetBasicAuth("ada", password)
		}
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Body.Close() })
		return w.StatusCode, w.Body
	}
	for _, path := range []string{"/", "/api/v1/live", "/api/v1/overview", "/api/v1/place?net=net&place=p0"} {
		if code, _ := ask(path, ""); code != http.StatusUnauthorized {
			t.Errorf("%s answers %d without a password", path, code)
		}
	}
	_, stream := ask("/api/v1/live?net=net", "secret")
	if line, err := bufio.NewReader(stream).ReadString('\n'); err != nil || line != "event: overview\n" {
		t.Errorf("%q, %v", line, err)
	}
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if _, err := io.Copy(io.Discard, stream); err != nil {
		t.Errorf("the stream was broken off: %v", err)
	}
}
