// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// constMetrics shows the gauges and counters of a View the way that
// client_golang suggests: a new metric for each series of each scrape.
type constMetrics struct{ families []constFamily }

type constFamily struct {
	desc   *prometheus.Desc
	typ    prometheus.ValueType
	series []constSeries
}

type constSeries struct {
	value  float64
	labels []string
}

func (c constMetrics) Describe(chan<- *prometheus.Desc) {}

func (c constMetrics) Collect(ch chan<- prometheus.Metric) {
	for _, f := range c.families {
		for _, s := range f.series {
			ch <- prometheus.MustNewConstMetric(f.desc, f.typ, s.value, s.labels...)
		}
	}
}

// newConstMetrics receives the values once, so that only the work of client_golang
// is measured.
func newConstMetrics(families []*dto.MetricFamily) prometheus.Gatherer {
	var c constMetrics
	for _, f := range families {
		out := constFamily{typ: prometheus.GaugeValue}
		if f.GetType() == dto.MetricType_COUNTER {
			out.typ = prometheus.CounterValue
		}
		var names []string
		for _, l := range f.Metric[0].Label {
			names = append(names, l.GetName())
		}
		out.desc = prometheus.NewDesc(f.GetName(), f.GetHelp(), names, nil)
		for _, m := range f.Metric {
			s := constSeries{value: m.GetGauge().GetValue() + m.GetCounter().GetValue()}
			for _, l := range m.Label {
				s.labels = append(s.labels, l.GetValue())
			}
			out.series = append(out.series, s)
		}
		c.families = append(c.families, out)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	return registry
}

const histogramColumns = stats.ColDwell | stats.ColDuration

// plain is a View of nets x places without histograms, which const metrics
// cannot show in both forms.
func plain(nets, places int) *merge.View {
	view := many(nets, places)
	for _, n := range view.Nets {
		n.Rows.Columns &^= histogramColumns
	}
	return view
}

func countSeries(families []*dto.MetricFamily) int {
	n := 0
	for _, f := range families {
		n += len(f.Metric)
	}
	return n
}

// BenchmarkGather brings 100 nets of 50 places and 50 transitions, 110,000
// series, up to a new View and gives them to the encoder. The base is a
// registry of const metrics with the same series and values.
func BenchmarkGather(b *testing.B) {
	views := []*merge.View{plain(100, 50), plain(100, 50)}
	for i, n := range views[0].Nets { // the definition stays the same from View to View
		views[1].Nets[i].Def = n.Def
	}
	tick := 0
	e := newExporter(b, nil, func(c *Config) { c.View = func() *merge.View { return views[tick%2] } })
	g := gatherer{e, target{allNets: true}}
	families, done, err := g.Gather()
	if err != nil {
		b.Fatal(err)
	}
	n := countSeries(families)
	base := newConstMetrics(families)
	done()
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/series")
		b.ReportMetric(float64(n), "series")
	}
	run := func(name string, nextView bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if nextView {
					tick++
				}
				_, done, _ := g.Gather()
				done()
			}
			report(b)
		})
	}
	run("kept/view=new", true)
	run("kept/view=same", false)
	b.Run("base=const", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := base.Gather(); err != nil {
				b.Fatal(err)
			}
		}
		report(b)
	})
}

// BenchmarkScrape is a whole scrape, encoded and, where it says so, packed.
func BenchmarkScrape(b *testing.B) {
	view := plain(100, 50)
	e := newExporter(b, view, nil)
	families, done, err := gatherer{e, target{allNets: true}}.Gather()
	if err != nil {
		b.Fatal(err)
	}
	n := countSeries(families)
	base := promhttp.HandlerFor(newConstMetrics(families), promhttp.HandlerOpts{EnableOpenMetrics: true})
	done()
	own := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.answers.forget() // as with a new View
		for _, n := range e.nets {
			n.version++
		}
		e.serve(target{allNets: true}).ServeHTTP(w, r)
	})
	for _, c := range []struct {
		name, accept, encoding string
		handler                http.Handler
	}{
		{"kept/text+gzip", "", "gzip", own},
		{"kept/openmetrics", acceptOpenMetrics, "", own},
		{"kept/protobuf", acceptProtobuf, "", own},
		{"base=const/text+gzip", "", "gzip", base},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.Header.Set("Accept", c.accept)
			r.Header.Set("Accept-Encoding", c.encoding)
			w := &discarding{header: make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				c.handler.ServeHTTP(w, r)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/series")
			b.ReportMetric(float64(w.n)/float64(b.N)/float64(n), "B/series")
		})
	}
}

// BenchmarkThousandNets is a whole scrape of 1,000 nets of 100 places and 100
// transitions that all changed, encoded and packed, within a budget of 300
// series a net: tokens, instances and ages of places, and the counters of
// places, fit, and what does not is counted. The base is one net of a thousandth
// of that, a thousand times.
func BenchmarkThousandNets(b *testing.B) {
	for _, c := range []struct {
		name   string
		nets   int
		rounds int
	}{{"nets=1000", 1000, 1}, {"base=1x1000", 1, 1000}} {
		b.Run(c.name, func(b *testing.B) {
			view := plain(c.nets, 100)
			e := newExporter(b, view, func(cfg *Config) { cfg.SeriesBudget = 300 })
			h := e.serve(target{allNets: true})
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.Header.Set("Accept-Encoding", "gzip")
			w := &discarding{header: make(http.Header)}
			series := c.rounds * len(newCachedPrefixes(b, get(h, "/metrics", "").Body.Bytes()).values) // makes what is kept, too
			dropped := e.nets[0].dropped
			for b.Loop() {
				for range c.rounds {
					for _, n := range e.nets {
						n.version++ // as if the View were new
					}
					e.answers.forget()
					h.ServeHTTP(w, r)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/scrape")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(series), "ns/series")
			b.ReportMetric(float64(series), "series")
			b.ReportMetric(float64(dropped), "dropped/net")
			b.ReportMetric(float64(w.n)/float64(b.N)/float64(series), "B/series")
		})
	}
}

// BenchmarkHistograms brings 10,000 histograms of 40 buckets up to a new View.
func BenchmarkHistograms(b *testing.B) {
	view := many(100, 50)
	for _, n := range view.Nets {
		n.Rows.Columns = histogramColumns
	}
	e := newExporter(b, view, nil)
	g := gatherer{e, target{allNets: true}}
	_, done, _ := g.Gather() // makes what is kept
	done()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, net := range e.nets {
			net.version++
		}
		families, done, _ := g.Gather()
		n = countSeries(families)
		done()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/histogram")
}

// TestAScrapeOfKeptSeriesAllocatesNothingForThem holds what the kept families
// are for.
func TestAScrapeOfKeptSeriesAllocatesNothingForThem(t *testing.T) {
	allocations := func(places int) float64 {
		now := noon
		e := newExporter(t, many(1, places), func(c *Config) { c.Now = func() time.Time { return now } })
		g := gatherer{e, target{allNets: true}}
		return testing.AllocsPerRun(20, func() {
			now = now.Add(time.Second)
			for _, n := range e.nets {
				n.version++ // as if the View were new
			}
			_, done, _ := g.Gather()
			done()
		})
	}
	if few, many := allocations(1), allocations(300); few != many {
		t.Errorf("%v allocations with 1 place, %v with 300", few, many)
	}
}

// discarding is a ResponseWriter that counts.
type discarding struct {
	header http.Header
	n      int64
}

func (d *discarding) Header() http.Header { return d.header }
func (d *discarding) WriteHeader(int)     {}
func (d *discarding) Write(p []byte) (int, error) {
	n, err := io.Discard.Write(p)
	d.n += int64(n)
	return n, err
}
