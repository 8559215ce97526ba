// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// tenThousand returns a scrape of 10,000 series: 2,500 queues with their tokens
// and three counters.
func tenThousand() string {
	var b strings.Builder
	for _, name := range []string{"depth", "in_total", "out_total", "ack_total"} {
		for i := range 2500 {
			fmt.Fprintf(&b, "%s{vhost=\"/\",queue=\"orders-%04d\",node=\"rabbit@host\"} %d\n", name, i, i*7)
		}
	}
	return b.String()
}

// BenchmarkParse10kSeries is the base: expfmt parses the scrape.
func BenchmarkParse10kSeries(b *testing.B) {
	text := tenThousand()
	b.ReportAllocs()
	for b.Loop() {
		p := expfmt.NewTextParser(model.UTF8Validation)
		if all, err := p.TextToMetricFamilies(strings.NewReader(text)); err != nil || len(all) != 4 {
			b.Fatal(len(all), err)
		}
	}
}

// BenchmarkScrape10kSeries measures everything that the adapter does with the
// scrape: parse, find places and transitions, count, observe.
func BenchmarkScrape10kSeries(b *testing.B) {
	text := []byte(tenThousand())
	m := mapping(b, `
nets:
  n:
    places: {"{vhost} {queue}": {tokens: depth, arrivals: in_total, departures: out_total, oldest: observed}}
    transitions: {"{vhost} {queue} ack": {firings: ack_total}}`)
	s, at := newState(m), int64(0)
	b.ReportAllocs()
	for b.Loop() {
		all, err := parse(text, "text/plain", MaxSeries)
		if err != nil {
			b.Fatal(err)
		}
		at += 5 * second
		s.apply(all, at)
	}
	if r := s.rowsOf(b, "n"); len(r.Places) != 2500 || len(r.Transitions) != 2500 {
		b.Fatal(len(r.Places), len(r.Transitions))
	}
}
