// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

const (
	acceptProtobuf    = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
	acceptOpenMetrics = "application/openmetrics-text;version=1.0.0"
)

func TestProtobufHasNativeBucketsAndCreatedTimestamps(t *testing.T) {
	w := get(newExporter(t, rich(), nil).Handler(), "/metrics", acceptProtobuf)
	format := expfmt.ResponseFormat(w.Header())
	if format.FormatType() != expfmt.TypeProtoDelim {
		t.Fatalf("format %v", format)
	}
	decoder := expfmt.NewDecoder(w.Body, format)
	families := make(map[string]*dto.MetricFamily)
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		families[f.GetName()] = &f
	}
	dwell := families["petrinet_place_dwell_seconds"].GetMetric()
	if len(dwell) != 3 {
		t.Fatalf("%d dwell histograms", len(dwell))
	}
	h := dwell[0].GetHistogram()
	if h.GetSampleCount() != 7 || len(h.GetBucket()) != numBounds || h.GetSchema() != 3 || nativeCount(h, math.Inf(1)) != 7 {
		t.Errorf("dwell %v", h)
	}
	since := rich().Nets[1].Since
	for name, created := range map[string]interface{ GetSeconds() int64 }{
		"histogram": h.GetCreatedTimestamp(),
		"counter":   families["petrinet_transition_firings_total"].Metric[1].GetCounter().GetCreatedTimestamp(),
	} {
		if created.GetSeconds() != since/1e6 {
			t.Errorf("the %s was created at %v, want %d", name, created, since/1e6)
		}
	}
	if nanos := h.GetCreatedTimestamp().GetNanos(); nanos != 500_000_000 {
		t.Errorf("and %d ns", nanos)
	}
}

func TestOpenMetricsHasCreatedLinesIfConfiguredAndAnEnd(t *testing.T) {
	plain := get(newExporter(t, rich(), nil).Handler(), "/metrics", acceptOpenMetrics).Body.String()
	if strings.Contains(plain, "_created{") || !strings.HasSuffix(plain, "\n# EOF\n") {
		t.Error("by default there are _created lines, or there is no end")
	}
	w := get(newExporter(t, rich(), func(c *Config) { c.CreatedSamples = true }).Handler(), "/metrics", acceptOpenMetrics)
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text; version=1.0.0") {
		t.Fatalf("content type %s", got)
	}
	body := w.Body.String()
	for _, want := range []string{
		"# TYPE petrinet_transition_firings counter\n",
		"petrinet_transition_firings_total{net=\"orders\",transition=\"pay\"} 90.0\n",
		"petrinet_transition_firings_created{net=\"orders\",transition=\"pay\"} 1.7723592005e+09\n",
		"petrinet_place_dwell_seconds_bucket{net=\"orders\",place=\"awaiting payment\",le=\"1.0\"} 5\n",
		"petrinet_place_dwell_seconds_created{net=\"orders\",place=\"awaiting payment\"} 1.7723592005e+09\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if !strings.HasSuffix(body, "\n# EOF\n") {
		t.Error("there is no end")
	}
}

func TestCompression(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	newExporter(t, rich(), nil).Handler().ServeHTTP(w, r)
	if got := w.Header().Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("encoding %q", got)
	}
	unpacked, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(unpacked); err != nil || !bytes.Contains(body, []byte("petrinet_place_tokens{")) {
		t.Errorf("%v: %s", err, body)
	}
}

func TestEachPathShowsItsPart(t *testing.T) {
	e := newExporter(t, rich(), nil)
	for path, want := range map[string]struct {
		nets    []string
		sidecar bool
	}{
		"/metrics":             {[]string{"few", "new", "orders"}, true},
		"/metrics/self":        {nil, true},
		"/metrics/nets/orders": {[]string{"orders"}, false},
		"/metrics/nets/new":    {[]string{"new"}, false},
	} {
		families := scraped(t, e, path)
		var nets []string
		for name, family := range families {
			if !strings.HasPrefix(name, "petrinet_") {
				continue
			}
			for _, m := range family.Metric {
				nets = append(nets, m.Label[0].GetValue())
			}
		}
		slices.Sort(nets)
		if nets = slices.Compact(nets); !slices.Equal(nets, want.nets) {
			t.Errorf("%s shows the nets %v, want %v", path, nets, want.nets)
		}
		if (families["pnagent_build_info"] != nil) != want.sidecar || (families["go_goroutines"] != nil) != want.sidecar {
			t.Errorf("%s shows the sidecar: %v", path, !want.sidecar)
		}
	}
	// After a scrape of one net, the next one shows all of them again.
	if n := len(scraped(t, e, "/metrics")["petrinet_source_up"].Metric); n != 5 {
		t.Errorf("%d sources are shown", n)
	}
	if w := get(e.Handler(), "/metrics/nets/unknown", ""); w.Code != http.StatusNotFound {
		t.Errorf("a net that is not there answers %d", w.Code)
	}
	if w := get(newExporter(t, nil, nil).Handler(), "/metrics/nets/orders", ""); w.Code != http.StatusNotFound {
		t.Errorf("without a View a net answers %d", w.Code)
	}
}

func TestAnyNetHasItsPathAndItsLink(t *testing.T) {
	for name, path := range map[string]string{
		"a/b":        "metrics/nets/a%2Fb",
		"a b?#%":     "metrics/nets/a%20b%3F%23%25",
		`<b>&"ü`:     "metrics/nets/%3Cb%3E&amp;%22%C3%BC",
		"a//../c/./": "metrics/nets/a%2F%2F..%2Fc%2F.%2F",
	} {
		view := rich()
		view.Nets[1].Name = name
		h := newExporter(t, view, nil).Handler()
		landing := get(h, "/endpoints", "").Body.String()
		if !strings.Contains(landing, `<a href="/`+path+`">`) || strings.Contains(landing, "<b>") {
			t.Errorf("net %q is not linked as %s:\n%s", name, path, landing)
		}
		w := get(h, "/"+strings.ReplaceAll(path, "&amp;", "&"), "")
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "petrinet_place_tokens{") {
			t.Errorf("net %q at %s answers %d: %s", name, path, w.Code, w.Body)
		}
	}
}

func TestHealthAndReadiness(t *testing.T) {
	var view *merge.View
	var connection error
	var notes []string
	h := newExporter(t, nil, func(c *Config) {
		c.View = func() *merge.View { return view }
		c.Ready = func() error { return connection }
		c.Notes = func() []string { return notes }
	}).Handler()
	expect := func(path string, code int, text string) {
		t.Helper()
		if w := get(h, path, ""); w.Code != code || !strings.Contains(w.Body.String(), text) {
			t.Errorf("%s answers %d %s", path, w.Code, w.Body)
		}
	}
	expect("/-/healthy", 200, "healthy")
	expect("/-/ready", 503, "no View yet")
	view, connection = rich(), errors.New("NATS is not connected")
	expect("/-/ready", 503, "NATS is not connected")
	connection = nil
	expect("/-/ready", 200, "pnagent is ready.\n")
	notes = []string{"SNMP has no rows yet"}
	expect("/-/ready", 200, "pnagent is ready.\nSNMP has no rows yet.\n")
	expect("/nowhere", 404, "")
	if w := httptest.NewRecorder(); true {
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/metrics", nil))
		if w.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST answers %d", w.Code)
		}
	}
}

func TestOthersCollectorsAndPages(t *testing.T) {
	requests := prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "pnagent_snmp_packets_total", Help: "Packets."},
		func() float64 { return 5 })
	e := newExporter(t, rich(), func(c *Config) {
		c.Collectors = []prometheus.Collector{requests}
		c.Mounts = []Mount{{Pattern: "GET /api/v1/view", Link: "api/v1/view", Text: "View", Description: "as JSON",
			Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })}}
	})
	for path, want := range map[string]bool{"/metrics": true, "/metrics/self": true, "/metrics/nets/orders": false} {
		if got, shown := value(scraped(t, e, path), "pnagent_snmp_packets_total", ""); shown != want || shown && got != 5 {
			t.Errorf("%s shows %v, %v", path, got, shown)
		}
	}
	if body := get(e.Handler(), "/api/v1/view", "").Body.String(); body != "{}" {
		t.Errorf("got %q as the page of another", body)
	}
	if page := get(e.Handler(), "/endpoints", "").Body.String(); !strings.Contains(page, `<a href="/api/v1/view">View</a>: as JSON`) {
		t.Errorf("it is not linked:\n%s", page)
	}
	if _, err := New(Config{View: e.cfg.View, Collectors: []prometheus.Collector{requests, requests}}); err == nil {
		t.Error("a collector was taken twice")
	}
	if _, err := New(Config{}); err == nil {
		t.Error("an exporter without a View was made")
	}
}

func TestOverItsBudgetANetLosesWholeFamilies(t *testing.T) {
	// orders has 4 series of instances, 10 of sources, 11 of regions, 11 of queues, 16 of places
	// and 22 of transitions, 24 of the ladder, 2 of reasons, 2 of blocks, 4 of refused requests, 5 histograms and 2 of what is called; few has 5.
	// Each net has the number of its alarms, once they are known.
	now := noon
	e := newExporter(t, rich(), func(c *Config) { c.SeriesBudget, c.Now = 83, func() time.Time { return now } })
	families := scraped(t, e, "/metrics")
	for name, want := range map[string]int{
		"petrinet_place_tokens":                             4,
		"petrinet_transition_last_firing_timestamp_seconds": 1,
		"petrinet_place_tokens_older_than":                  0,
		"petrinet_place_reason_tokens":                      2,
		"petrinet_transition_blocked_instances":             2,
		"petrinet_source_requests_refused_total":            4,
		"petrinet_place_dwell_seconds":                      0,
		"petrinet_transition_duration_seconds":              0,
	} {
		if got := len(families[name].GetMetric()); got != want {
			t.Errorf("%s has %d series, want %d", name, got, want)
		}
	}
	dropped := float64(24 + 3*classicSeries + 2*classicSeries + 2)
	for scrape := 1.0; scrape < 3; scrape++ {
		if got, _ := value(families, "pnagent_series_dropped_total", "net=orders"); got != scrape*dropped {
			t.Errorf("after %v scrapes %v series were dropped, want %v", scrape, got, scrape*dropped)
		}
		if got, ok := value(families, "pnagent_series_dropped_total", "net=few"); got != 0 || !ok {
			t.Errorf("a small net lost %v, %v", got, ok)
		}
		now = now.Add(answerFor)
		families = scraped(t, e, "/metrics")
	}
}

func TestCreatedSamplesCountInTheBudget(t *testing.T) {
	dropped := func(created bool) float64 {
		e := newExporter(t, rich(), func(c *Config) { c.SeriesBudget, c.CreatedSamples = 130, created })
		scraped(t, e, "/metrics")
		e.cfg.Now = func() time.Time { return noon.Add(answerFor) }
		n, _ := value(scraped(t, e, "/metrics"), PnagentSeriesDroppedTotal, "net=orders")
		return n
	}
	if without, with := dropped(false), dropped(true); with <= without {
		t.Errorf("%v series are dropped with _created lines and %v without; want more", with, without)
	}
}

// blocking is a collector that waits inside a scrape.
type blocking struct {
	entered, leave chan struct{}
}

func (blocking) Describe(ch chan<- *prometheus.Desc) {
	ch <- prometheus.NewDesc("pnagent_blocking", "Waits.", nil, nil)
}

func (b blocking) Collect(ch chan<- prometheus.Metric) {
	b.entered <- struct{}{}
	<-b.leave
	ch <- prometheus.MustNewConstMetric(prometheus.NewDesc("pnagent_blocking", "Waits.", nil, nil), prometheus.GaugeValue, 1)
}

func TestTooManyScrapesAreRefused(t *testing.T) {
	b := blocking{make(chan struct{}), make(chan struct{})}
	var late atomic.Int64
	e := newExporter(t, rich(), func(c *Config) {
		c.MaxScrapes, c.Collectors = 2, []prometheus.Collector{b}
		c.Now = func() time.Time { return noon.Add(time.Duration(late.Load())) }
	})
	h := e.Handler()
	var scrapes sync.WaitGroup
	for _, path := range []string{"/metrics", "/metrics/self"} {
		scrapes.Go(func() {
			if w := get(h, path, ""); w.Code != http.StatusOK {
				t.Errorf("a scrape answers %d", w.Code)
			}
		})
		<-b.entered
	}
	if w := get(h, "/metrics/nets/orders", ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a third scrape answers %d", w.Code)
	}
	if w := get(h, "/-/healthy", ""); w.Code != http.StatusOK {
		t.Errorf("/-/healthy answers %d", w.Code)
	}
	close(b.leave)
	scrapes.Wait()
	late.Store(int64(answerFor))
	go func() { <-b.entered }()
	if got, _ := value(scraped(t, e, "/metrics"), "pnagent_scrapes_refused_total", ""); got != 1 {
		t.Errorf("%v scrapes were refused", got)
	}
}

func TestAScrapeThatTakesTooLongIsGivenUp(t *testing.T) {
	b := blocking{make(chan struct{}, 1), make(chan struct{})}
	e := newExporter(t, rich(), func(c *Config) { c.ScrapeTimeout, c.Collectors = 1, []prometheus.Collector{b} })
	if w := get(e.Handler(), "/metrics/self", ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("it answers %d", w.Code)
	}
	close(b.leave)
}

func TestAPanicDoesNotLockOutLaterScrapes(t *testing.T) {
	view := rich()
	rows := view.Nets[1].Rows
	view.Nets[1].Rows = nil // against the contract of View
	e := newExporter(t, view, nil)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, done, _ := gatherer{e, target{allNets: true}}.Gather()
		done()
	}()
	view.Nets[1].Rows = rows
	scraped(t, e, "/metrics")
}

func TestScrapesAtOnceShowTheSame(t *testing.T) {
	e := newExporter(t, rich(), nil)
	want := get(e.Handler(), "/metrics/nets/orders", "").Body.String()
	h := e.Handler()
	var scrapes sync.WaitGroup
	for range 8 {
		scrapes.Go(func() {
			for range 5 {
				if got := get(h, "/metrics/nets/orders", "").Body.String(); got != want {
					t.Errorf("a scrape shows\n%s", got)
				}
				get(h, "/metrics", acceptProtobuf)
			}
		})
	}
	scrapes.Wait()
}

// many is a View of nets with the given places and as many transitions, every
// place with a few tokens, dwell and ladder.
func many(nets, places int) *merge.View {
	view := &merge.View{At: noon.UnixMicro(), Generation: 1}
	for n := range nets {
		def := &petri.Net{ID: fmt.Sprintf("net-%d", n)}
		rows := stats.NewRows(places, places)
		rows.Columns = stats.AllColumns
		for i := range places {
			def.Places = append(def.Places, petri.Place{ID: fmt.Sprintf("place %d", i)})
			def.Transitions = append(def.Transitions, petri.Transition{ID: fmt.Sprintf("transition %d", i)})
			p := &rows.Places[i]
			p.Tokens = 3
			p.Arrivals = 1000
			p.Departures = 997
			p.Instances = 3
			p.Oldest = before(5000e9)
			for k := range int64(3) {
				p.Ages.Add(before(5000e9)+k*1e9, noon.UnixMicro(), 1)
			}
			for k := range int64(40) {
				p.Dwell.Observe(1000 << (k / 2) * (2 + k%2) / 2)
			}
			rows.Transitions[i] = stats.Transition{Firings: 997, LastFiring: before(1e9)}
			rows.Transitions[i].Duration.Observe(1000)
		}
		view.Nets = append(view.Nets, &merge.NetView{Name: def.ID, Def: def, Final: def.FinalPlaces(), Rows: rows, Since: before(1e12)})
	}
	return view
}
