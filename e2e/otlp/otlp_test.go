// SPDX-License-Identifier: Apache-2.0

//go:build peers

package otlp

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/pnagent/pnagent/e2e/kit"
)

// slowOnceBindings perform a check that takes no time but for one instance.
const slowOnceBindings = `nets:
  checks:
    transitions:
      check: {command: [sh, -c, 'test $PNAGENT_INSTANCE != 4 || sleep 3'], timeout: 1m}
`

const checksNet = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="checks" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
  <place id="open"><initialMarking><text>1</text></initialMarking></place><place id="checked"/><transition id="check"><name><text>Check the claim</text></name></transition>
  <arc id="a" source="open" target="check"/><arc id="b" source="check" target="checked"/>
</page></net></pnml>
`

// All numbers of a scrape arrive at a collector, by HTTP as by gRPC, once the net is at rest.
func TestACollectorHasTheNumbersOfAScrape(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	collector := startCollector(t)
	side := kit.Serve(t, natsURL, "--mib-dir", "", "--otlp.endpoint", collector.http, "--otlp.interval", "500ms")
	kit.RunEngine(t, natsURL, "desk", "--instances", "10", "--bindings", kit.Write(t, "b.yaml", slowOnceBindings), kit.Write(t, "checks.pnml", checksNet))
	kit.Until(t, "the collector has what a scrape has", func() error {
		scrape := scrapedWithExemplars(t, side.URL)
		collector.got.mu.Lock()
		defer collector.got.mu.Unlock()
		if n, _ := scrape.Value("petrinet_instances_finished_total", "net", "checks"); n != 10 {
			return fmt.Errorf("%v instances have finished", n)
		}
		return compare(scrape, collector.got)
	})
	collector.got.mu.Lock()
	defer collector.got.mu.Unlock()
	for key, want := range map[string]string{"service.name": "pnagent", "service.instance.id": side.URL[len("http://"):]} {
		if got := collector.got.resource[key]; got != want {
			t.Errorf("resource: %s is %q; expected %q", key, got, want)
		}
	}
	if m := collector.got.metrics["petrinet_place_dwell_seconds"]; m.Unit != "s" || m.Description == "" {
		t.Errorf("dwell has the unit %q and the description %q", m.Unit, m.Description)
	}
}

// scrapedWithExemplars is a scrape in the form that has exemplars.
func scrapedWithExemplars(t *testing.T, url string) kit.Scrape {
	t.Helper()
	format := expfmt.NewFormat(expfmt.TypeProtoDelim)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", string(format))
	req.Header.Set("Cache-Control", "no-cache") // what is so now
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	s := kit.Scrape{Families: map[string]*dto.MetricFamily{}}
	for from := expfmt.NewDecoder(resp.Body, format); ; {
		f := new(dto.MetricFamily)
		if err := from.Decode(f); errors.Is(err, io.EOF) {
			return s
		} else if err != nil {
			t.Fatal(err)
		}
		s.Families[f.GetName()] = f
	}
}

// compare compares the families of nets that do not change while a net rests.
func compare(scrape kit.Scrape, got *collected) error {
	compared, exemplars := 0, 0
	for _, name := range []string{"petrinet_instances_finished_total", "petrinet_place_tokens", "petrinet_transition_firings_total", "petrinet_place_dwell_seconds", "petrinet_transition_duration_seconds"} {
		m, has := got.metrics[name]
		if !has {
			return fmt.Errorf("no %s", name)
		}
		for _, of := range scrape.Families[name].GetMetric() {
			labels := map[string]string{}
			for _, l := range of.Label {
				labels[l.GetName()] = l.GetValue()
			}
			p, err := m.point(labels)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			want := of.GetGauge().GetValue() + of.GetCounter().GetValue()
			if h := of.GetHistogram(); h != nil {
				if number(p.Count) != h.GetSampleCount() || p.buckets() != h.GetSampleCount() {
					return fmt.Errorf("%s%v: count %s, %d in buckets; expected %d", name, labels, p.Count, p.buckets(), h.GetSampleCount())
				}
				p.AsDouble, want = p.Sum, h.GetSampleSum()
				for i, x := range h.GetExemplars() {
					slowest := map[string]string{x.Label[0].GetName(): x.Label[0].GetValue()}
					if len(p.Exemplars) <= i || p.Exemplars[i].AsDouble != x.GetValue() || fmt.Sprint(values(p.Exemplars[i].FilteredAttributes)) != fmt.Sprint(slowest) {
						return fmt.Errorf("%s%v: exemplars %+v; expected %v of %v", name, labels, p.Exemplars, x.GetValue(), slowest)
					}
					exemplars++
				}
			}
			if math.Abs(p.AsDouble-want) > 1e-9 {
				return fmt.Errorf("%s%v: %v; expected %v", name, labels, p.AsDouble, want)
			}
			compared++
		}
	}
	if compared < 7 || exemplars == 0 {
		return fmt.Errorf("%d numbers and %d exemplars compared", compared, exemplars)
	}
	return nil
}

// point returns the data point with these attributes and no others.
func (m metric) point(labels map[string]string) (point, error) {
	for _, points := range [][]point{m.Gauge.DataPoints, m.Sum.DataPoints, m.ExponentialHistogram.DataPoints} {
		for _, p := range points {
			if fmt.Sprint(values(p.Attributes)) == fmt.Sprint(labels) {
				return p, nil
			}
		}
	}
	return point{}, fmt.Errorf("no point with %v", labels)
}

// buckets returns the sum of the buckets.
func (p point) buckets() (n uint64) {
	for _, c := range append(p.Positive.BucketCounts, p.ZeroCount) {
		n += number(c)
	}
	return n
}

// number reads a number of 64 bits, which is a text in OTLP's JSON and absent if it is 0.
func number(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}

// Each instance is a trace, by gRPC: a span for the whole, and in it one for each wait and each work.
func TestAnInstanceIsATrace(t *testing.T) {
	t.Parallel()
	collector := startCollector(t)
	kit.RunEngine(t, kit.StartNATS(t), "desk", "--instances", "10", "--otlp.endpoint", collector.grpc, "--otlp.protocol", "grpc",
		"--bindings", kit.Write(t, "b.yaml", slowOnceBindings), kit.Write(t, "checks.pnml", checksNet))
	kit.Until(t, "ten traces", func() error {
		collector.got.mu.Lock()
		defer collector.got.mu.Unlock()
		return traced(collector.got.spans)
	})
}

// traced compares spans with what ten instances did.
func traced(spans []span) error {
	roots := map[string]span{}
	for _, s := range spans {
		if s.ParentSpanID == "" {
			roots[s.TraceID] = s
		}
	}
	if len(roots) != 10 {
		return fmt.Errorf("%d roots of %d spans", len(roots), len(spans))
	}
	works := 0
	for _, s := range spans {
		root, has := roots[s.TraceID]
		if !has {
			return fmt.Errorf("a span of no trace: %+v", s)
		}
		if root.Name != "checks" || values(root.Attributes)["petrinet.net"] != "checks" {
			return fmt.Errorf("root %+v", root)
		}
		if s.ParentSpanID == "" {
			continue
		}
		if s.ParentSpanID != root.SpanID || values(s.Attributes)["petrinet.instance"] != values(root.Attributes)["petrinet.instance"] {
			return fmt.Errorf("span %+v in root %+v", s, root)
		}
		if s.StartTimeUnixNano < root.StartTimeUnixNano || s.EndTimeUnixNano > root.EndTimeUnixNano {
			return fmt.Errorf("span %+v is longer than its root %+v", s, root)
		}
		if s.Name == "work: Check the claim" {
			works++
		}
		if slow := values(s.Attributes)["petrinet.instance"] == "desk/4"; slow && s.Name == "work: Check the claim" && !lasts(s, 3) {
			return fmt.Errorf("the slow one: %+v", s)
		}
	}
	if works != 10 {
		return fmt.Errorf("%d spans of work; expected 10", works)
	}
	return nil
}

// lasts reports whether a span takes that many seconds or more.
func lasts(s span, seconds float64) bool {
	return float64(number(s.EndTimeUnixNano)-number(s.StartTimeUnixNano)) >= seconds*1e9
}

// The alarm of a stuck token arrives as a log record.
func TestAnAlarmIsALogRecord(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	collector := startCollector(t)
	rules := "settle: 0s\ndefaults:\n  stuck: {after: 1s}\nsinks:\n  otel: {webhook: \"" + collector.http + "/v1/logs\", format: otlp}\n"
	kit.Serve(t, natsURL, "--mib-dir", "", "--alarms", kit.Write(t, "alarms.yaml", rules))
	kit.RunEngine(t, natsURL, "desk", "--bindings", kit.Write(t, "b.yaml", "nets:\n  checks:\n    transitions:\n      check: manual\n"), kit.Write(t, "checks.pnml", checksNet))
	kit.Until(t, "the collector has the alarm", func() error {
		collector.got.mu.Lock()
		defer collector.got.mu.Unlock()
		for _, r := range collector.got.records {
			about := values(r.Attributes)
			if r.EventName == "pnagent.alarm.raised" && about["pnagent.alarm"] == "tokenStuck" && about["petrinet.place"] == "open" && r.SeverityNumber > 10 && r.Body.StringValue != "" {
				return nil
			}
		}
		return fmt.Errorf("%d records", len(collector.got.records))
	})
}
