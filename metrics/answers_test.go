// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
)

// counting counts the times that it is collected.
type counting struct{ n *atomic.Int64 }

func (counting) Describe(ch chan<- *prometheus.Desc) {
	ch <- prometheus.NewDesc("pnagent_counting", "Counts.", nil, nil)
}

func (c counting) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("pnagent_counting", "Counts.", nil, nil), prometheus.GaugeValue, float64(c.n.Add(1)))
}

func TestAnAnswerIsMadeOnceForAView(t *testing.T) {
	now, view, alarms := noon, rich(), &alarm.ActiveSet{}
	var made atomic.Int64
	e := newExporter(t, nil, func(c *Config) {
		c.Now = func() time.Time { return now }
		c.View = func() *merge.View { return view }
		c.Alarms = func() *alarm.ActiveSet { return alarms }
		c.Collectors = []prometheus.Collector{counting{&made}}
	})
	h := e.Handler()
	ask := func(path, accept, encoding string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept", accept)
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Fatalf("%s: %d with %d bytes", path, w.Code, w.Body.Len())
		}
	}
	fresh := func() {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		r.Header.Set("Cache-Control", "max-age=0, no-cache")
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	for _, step := range []struct {
		what string
		do   func()
		made int64
	}{
		{"the first scrape", func() { ask("/metrics", "", "gzip") }, 1},
		{"the same again", func() { ask("/metrics", "", "gzip") }, 1},
		{"not packed", func() { ask("/metrics", "", "") }, 2},
		{"in another format", func() { ask("/metrics", acceptOpenMetrics, "gzip") }, 3},
		{"in protobuf", func() { ask("/metrics", acceptProtobuf, "gzip") }, 4},
		{"another page", func() { ask("/metrics/self", "", "gzip") }, 5},
		{"all of them again", func() {
			ask("/metrics", "", "gzip")
			ask("/metrics", "", "")
			ask("/metrics", acceptOpenMetrics, "gzip")
			ask("/metrics", acceptProtobuf, "gzip")
			ask("/metrics/self", "", "gzip")
		}, 5},
		{"when ages are older", func() { now = now.Add(answerFor); ask("/metrics", "", "gzip") }, 6},
		{"when the clock was set back", func() { now = now.Add(-time.Hour); ask("/metrics", "", "gzip") }, 7},
		{"of another View", func() { view = rich(); ask("/metrics", "", "gzip") }, 8},
		{"for who wants none that was given before", fresh, 9},
		{"which is then given to others", func() { ask("/metrics", "", "gzip") }, 9},
		{"of other alarms", func() { alarms = &alarm.ActiveSet{}; ask("/metrics", "", "gzip") }, 10},
		{"as long as ages are right", func() { now = now.Add(answerFor - 1); ask("/metrics", "", "gzip") }, 10},
		{"counted from when it was made", func() { now = now.Add(1); ask("/metrics", "", "gzip") }, 11},
	} {
		step.do()
		if made.Load() != step.made {
			t.Fatalf("%s: %d answers were made, want %d", step.what, made.Load(), step.made)
		}
	}
}

// failing answers with an error, and says so in its header.
func failing(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Error", "all families")
	http.Error(w, "no family can be read", http.StatusInternalServerError)
}

func TestAnAnswerThatFailedIsSentAsSuch(t *testing.T) {
	e := newExporter(t, rich(), nil)
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	e.kept(target{allNets: true}, func(w *recorder, r *http.Request) { failing(w, r) }).ServeHTTP(w, r)
	if w.Code != http.StatusInternalServerError || w.Body.String() != "no family can be read\n" || w.Header().Get("Content-Encoding") != "" ||
		w.Header().Get("X-Error") == "" || w.Header().Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
		t.Errorf("%d %v: %q", w.Code, w.Header(), w.Body)
	}
}

func TestHeadHasNoBody(t *testing.T) {
	h := newExporter(t, rich(), nil).Handler()
	full, head := get(h, "/metrics/self", ""), httptest.NewRecorder()
	h.ServeHTTP(head, httptest.NewRequest(http.MethodHead, "/metrics/self", nil))
	if head.Code != http.StatusOK || head.Body.Len() != 0 || full.Body.Len() == 0 {
		t.Errorf("%d with %d bytes, %d without HEAD", head.Code, head.Body.Len(), full.Body.Len())
	}
	for name, want := range full.Header() {
		if got := head.Header()[name]; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := full.Header().Values("Vary"); !slices.Contains(got, "Accept-Encoding") || !slices.Contains(got, "Accept") {
		t.Errorf("it varies by %q", got)
	}
}

// broken returns two values for one series.
type broken struct{ counting }

func (b broken) Collect(ch chan<- prometheus.Metric) {
	b.counting.Collect(ch)
	b.counting.Collect(ch)
}

func TestACollectorThatFailsIsLoggedAndTheRestIsShown(t *testing.T) {
	var logged bytes.Buffer
	e := newExporter(t, rich(), func(c *Config) {
		c.Collectors = []prometheus.Collector{broken{counting{new(atomic.Int64)}}}
		c.Log = slog.New(slog.NewTextHandler(&logged, nil))
	})
	if body := get(e.Handler(), "/metrics", "").Body.String(); !strings.Contains(body, "petrinet_place_tokens{") {
		t.Errorf("the nets are not shown: %.300s", body)
	}
	if !strings.Contains(logged.String(), "pnagent_counting") || !strings.Contains(logged.String(), "level=ERROR") {
		t.Errorf("logged %q", logged.String())
	}
}

func TestAllWhoAskAtOnceGetTheSameAnswer(t *testing.T) {
	var made atomic.Int64
	e := newExporter(t, rich(), func(c *Config) { c.Collectors = []prometheus.Collector{counting{&made}} })
	h := e.Handler()
	var all sync.WaitGroup
	bodies := make([]string, DefaultMaxScrapes)
	for i := range bodies {
		all.Go(func() { bodies[i] = get(h, "/metrics", "").Body.String() })
	}
	all.Wait()
	for _, body := range bodies {
		if body != bodies[0] || !strings.Contains(body, "pnagent_counting 1\n") {
			t.Fatal("answers differ")
		}
	}
}

func TestWhatIsPackedIsWhatWouldBeSent(t *testing.T) {
	h := newExporter(t, rich(), nil).Handler()
	for _, path := range []string{"/metrics/nets/orders", "/metrics/nets/few"} {
		plain := get(h, path, "").Body.String()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept-Encoding", "deflate, gzip;q=0.5")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Header().Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s is not packed", path)
		}
		zip, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(zip); err != nil || string(got) != plain {
			t.Errorf("%s packed is something else: %v", path, err)
		}
	}
}

// forget drops the kept answers.
func (a *answers) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view = nil // of the answers
}
