// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

const protobufType = `application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited`

// exposed returns the metrics of one registry in a format.
func exposed(t testing.TB, format expfmt.Format) []byte {
	t.Helper()
	r := prometheus.NewRegistry()
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "c_total", Help: "x \\ y"}, []string{"l"})
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "g"}, []string{"l"})
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h"})
	r.MustRegister(c, g, h)
	c.WithLabelValues("a } \" # {b").(prometheus.ExemplarAdder).AddWithExemplar(5, prometheus.Labels{"trace": "x } y"})
	g.WithLabelValues("z").Set(2.5)
	h.(prometheus.ExemplarObserver).ObserveWithExemplar(0.3, prometheus.Labels{"trace": "1"})
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	enc := expfmt.NewEncoder(&out, format, expfmt.WithCreatedLines())
	for _, f := range all {
		if err := enc.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	if closer, is := enc.(expfmt.Closer); is {
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func TestAllFormatsAreEqual(t *testing.T) {
	m := mapping(t, `nets: {n: {places: {p: {tokens: 'g{l="z"}'}}, transitions: {"{l}": {firings: c_total}}}, o: {transitions: {t: {firings: h_count}}}}`)
	for _, f := range []struct {
		name string
		typ  string
		body []byte
	}{
		{"text", "text/plain; version=0.0.4", exposed(t, expfmt.NewFormat(expfmt.TypeTextPlain))},
		{"OpenMetrics", "application/openmetrics-text; version=1.0.0", exposed(t, expfmt.FmtOpenMetrics_1_0_0)},
		{"OpenMetrics that says nothing of itself", "", exposed(t, expfmt.FmtOpenMetrics_1_0_0)},
		{"protobuf", protobufType, exposed(t, expfmt.NewFormat(expfmt.TypeProtoDelim))},
	} {
		t.Run(f.name, func(t *testing.T) {
			all, err := parse(f.body, f.typ, MaxSeries)
			if err != nil {
				t.Fatalf("%v\n%s", err, f.body)
			}
			s := newState(m)
			s.scrapes = 1
			s.apply(all, second)
			n, o := s.rowsOf(t, "n"), s.rowsOf(t, "o")
			got := fmt.Sprintln(n.Places[0].Tokens, s.byID["n"].rows[transitions][0].id, n.Transitions[0].Firings, o.Transitions[0].Firings, s.dropped)
			if d := cmp.Diff(`2 a } " # {b 5 1 [0 0 0 0 0]`+"\n", got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestGarbageIsRejectedAsAWhole(t *testing.T) {
	text, open, proto := exposed(t, expfmt.NewFormat(expfmt.TypeTextPlain)), exposed(t, expfmt.FmtOpenMetrics_1_0_0), exposed(t, expfmt.NewFormat(expfmt.TypeProtoDelim))
	for _, c := range []struct {
		name, typ string
		body      []byte
		want      error
	}{
		{"a page", "text/html", []byte("<html>"), errGarbage},
		{"a page that says it is text", "text/plain", []byte("<html>"), errGarbage},
		{"text cut in a line", "text/plain", text[:len(text)-3], errGarbage},
		{"OpenMetrics cut between lines", "application/openmetrics-text", open[:bytes.LastIndexByte(open[:len(open)-4], '\n')+1], errCut},
		{"protobuf cut", protobufType, proto[:len(proto)-1], errCut},
		{"a length of nonsense", protobufType, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, errGarbage},
		{"a message of nonsense", protobufType, []byte{3, 0xff, 0xff, 0xff}, errGarbage},
		{"too many series", "text/plain", []byte(strings.Repeat("a 1\n", 5)), errTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			if all, err := parse(c.body, c.typ, 4); !errors.Is(err, c.want) || all != nil {
				t.Errorf("%v, %v; want %v", all, err, c.want)
			}
		})
	}
}

func FuzzScrape(f *testing.F) {
	m, err := Mappings.Load("pnagent")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("petrinet_place_tokens{net=\"n\",place=\"p\"} 3\npetrinet_transition_firings_total{net=\"n\",transition=\"t\"} 1\n"), uint8(0))
	f.Add([]byte("# TYPE petrinet_place_tokens gauge\npetrinet_place_tokens{net=\"n\",place=\"p\"} 3 1 # {a=\"b\"} 1 1\n# EOF\n"), uint8(1))
	var proto bytes.Buffer
	for _, fam := range []string{"petrinet_place_dwell_seconds"} {
		h := nativeFamily(observed(5, 700, 1e6), 2)
		h.Name = &fam
		h.Metric[0].Label = labelPairs("net", "n", "place", "p")
		if err := expfmt.NewEncoder(&proto, expfmt.NewFormat(expfmt.TypeProtoDelim)).Encode(h); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(proto.Bytes(), uint8(2))
	types := []string{"text/plain", "application/openmetrics-text", protobufType}
	f.Fuzz(func(t *testing.T, body []byte, typ uint8) {
		all, err := parse(body, types[int(typ)%len(types)], 1000)
		if err != nil {
			return
		}
		s := newState(m)
		for i := range int64(3) {
			s.apply(all, (100+i)*second)
		}
		for _, n := range s.nets {
			if _, err := n.definition(); err != nil {
				t.Fatal(err)
			}
			r := s.rowsOf(t, n.id)
			for i := range r.Places {
				if p := &r.Places[i]; p.Tokens > maxValue || p.Oldest < 0 || p.Oldest > 102*second || !p.Dwell.Valid() || p.Arrivals != 0 {
					t.Fatalf("%+v", p)
				}
			}
			for i := range r.Transitions {
				if x := &r.Transitions[i]; x.Firings != 0 || x.LastFiring > 102*second || !x.Duration.Valid() {
					t.Fatalf("%+v", x)
				}
			}
		}
	})
}
