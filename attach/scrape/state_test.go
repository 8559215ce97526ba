// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
)

const queues = `
nets:
  n:
    places:
      "{queue}": {tokens: depth, arrivals: in_total, departures: out_total, oldest: observed}
`

func TestEachLabelValueIsAPlaceAndSeriesOfOneNameAddUp(t *testing.T) {
	s := newState(mapping(t, queues))
	s.apply(scraped(t, `depth{queue="a",node="1"} 3
depth{queue="a",node="2"} 4
depth{queue="b",node="1"} 1
in_total{queue="a"} 10
in_total{queue="b"} 10
out_total{queue="a"} 10
out_total{queue="b"} 10
`), 10*second)
	r := s.rowsOf(t, "n")
	got := fmt.Sprint(s.byID["n"].rows[places][0].id, r.Places[0].Tokens, s.byID["n"].rows[places][1].id, r.Places[1].Tokens, r.Columns)
	if want := fmt.Sprint("a", 7, "b", 1, stats.ColTokens|stats.ColOldest|stats.ColArrivals|stats.ColDepartures); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A story is a series of scrapes, one every ten seconds, and the value of a
// counter after each of them.
//
//promise:counters stop messages
func TestACounterNeverFallsAndNeverCountsTwice(t *testing.T) {
	const one = "nets: {n: {transitions: {t: {firings: c_total}}}}"
	for _, c := range []struct {
		name    string
		scrapes []string
		want    []uint64
	}{
		{"the first scrape is where counting begins", []string{"c_total 100", "c_total 103"}, []uint64{0, 3}},
		{"a value that fell was reset", []string{"c_total 100", "c_total 110", "c_total 4", "c_total 5"}, []uint64{0, 10, 14, 15}},
		{"a later start of the process is a reset even if the value rose", []string{
			"process_start_time_seconds 1000\nc_total 5", "process_start_time_seconds 2000\nc_total 8"}, []uint64{0, 8}},
		{"a start time that is rounded is the same process", []string{
			"process_start_time_seconds 1000.2\nc_total 5", "process_start_time_seconds 1000.9\nc_total 8"}, []uint64{0, 3}},
		{"a series that comes later counts from zero", []string{`c_total{a="1"} 5`, "c_total{a=\"1\"} 5\nc_total{a=\"2\"} 7"}, []uint64{0, 7}},
		{"a series that vanishes changes nothing, and continues when it is back", []string{
			"c_total{a=\"1\"} 5\nc_total{a=\"2\"} 7", "c_total{a=\"1\"} 6", "c_total{a=\"1\"} 6\nc_total{a=\"2\"} 9"}, []uint64{0, 1, 3}},
		{"none at all is what it was", []string{"c_total 5", "c_total 6", "x 1", "c_total 8"}, []uint64{0, 1, 1, 3}},
		{"no number changes nothing", []string{"c_total 5", "c_total NaN", "c_total -3", "c_total +Inf", "c_total 6"}, []uint64{0, 0, 0, 0, 1}},
		{"parts of whole numbers add up to whole numbers", []string{"c_total 0.6", "c_total 1.2", "c_total 2.9"}, []uint64{0, 1, 2}},
		{"another type is no number", []string{"c_total 5",
			"# TYPE c_total histogram\nc_total_bucket{le=\"+Inf\"} 9\nc_total_sum 1\nc_total_count 9", "c_total 7"}, []uint64{0, 0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newState(mapping(t, one))
			for i, text := range c.scrapes {
				s.apply(scraped(t, text+"\n"), int64(i+1)*10*second)
				r := s.rowsOf(t, "n")
				if got := r.Transitions[0].Firings; got != c.want[i] || !r.Columns.Has(stats.ColFirings) {
					t.Fatalf("after scrape %d: %d firings of columns %b, want %d", i+1, got, r.Columns, c.want[i])
				}
			}
		})
	}
}

//promise:unknown messages
func TestWhatHasNoMetricIsAbsentNotZero(t *testing.T) {
	const text = "nets: {n: {places: {p: {tokens: 'a{x=\"1\"}'}, q: {tokens: %s}}}}"
	for _, c := range []struct {
		name, q, scrape string
		want            stats.Columns
	}{
		{"both there", "b", "a{x=\"1\"} 0\nb 0", stats.ColTokens},
		{"one is missing", "b", "a{x=\"1\"} 1", 0},
		{"the label is another", "b", "a{x=\"2\"} 1\nb 1", 0},
		{"the mapping says that missing is zero", "{metric: b, missing: zero}", "a{x=\"1\"} 1", stats.ColTokens},
		{"no number", "b", "a{x=\"1\"} 1\nb NaN", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newState(mapping(t, fmt.Sprintf(text, c.q)))
			s.apply(scraped(t, c.scrape+"\n"), second)
			if got := s.rowsOf(t, "n").Columns; got != c.want {
				t.Errorf("columns %b, want %b", got, c.want)
			}
		})
	}
}

func TestAQueueThatIsGoneIsEmptyAsLongAsOthersAreThere(t *testing.T) {
	s := newState(mapping(t, "nets: {n: {places: {'{queue}': {tokens: depth}}}}"))
	s.apply(scraped(t, "depth{queue=\"a\"} 3\ndepth{queue=\"b\"} 4\n"), second)
	s.apply(scraped(t, "depth{queue=\"b\"} 5\n"), 2*second)
	r := s.rowsOf(t, "n")
	if r.Columns != stats.ColTokens || r.Places[0].Tokens != 0 || r.Places[1].Tokens != 5 {
		t.Errorf("%+v", r)
	}
	s.apply(scraped(t, "other 1\n"), 3*second)
	if r := s.rowsOf(t, "n"); r.Columns != 0 {
		t.Errorf("without any queue, tokens are known: %+v", r)
	}
}

func TestAgesHaveUnitsAndAreNeverInTheFuture(t *testing.T) {
	for _, c := range []struct {
		spec, scrape string
		want         int64
		known        bool
	}{
		{"{metric: age}", "age 30", 70 * second, true},
		{"{metric: age, unit: ms}", "age 2500", 97_500_000, true},
		{"{metric: age, unit: m}", "age 1", 40 * second, true},
		{"{metric: age, is: timestamp}", "age 12.5", 12_500_000, true},
		{"{metric: age, is: timestamp, unit: ms}", "age 12500", 12_500_000, true},
		{"{metric: age, is: timestamp}", "age 500", 100 * second, true},
		{"{metric: age}", "age -5", 100 * second, true},
		{"{metric: age}", "age{p=\"1\"} 3\nage{p=\"2\"} 60\nage{p=\"3\"} 9", 40 * second, true},
		{"{metric: age}", "age NaN", 0, false},
		{"{metric: age}", "other 1", 0, false},
		{"{metric: age, is: timestamp}", "age 0", 0, false},
		{"{metric: age}", "age 1e300", 0, false},
	} {
		s := newState(mapping(t, "nets: {n: {places: {p: {tokens: depth, oldest: "+c.spec+"}}}}"))
		s.apply(scraped(t, "depth 2\n"+c.scrape+"\n"), 100*second)
		r := s.rowsOf(t, "n")
		if known := r.Columns.Has(stats.ColOldest); known != c.known || known && r.Places[0].Oldest != c.want {
			t.Errorf("%s of %s: %d, known %v; want %d, %v", c.spec, c.scrape, r.Places[0].Oldest, known, c.want, c.known)
		}
	}
}

//promise:dropped load
func TestNetsAndPlacesAreBoundedAndWhatIsLeftOutIsCounted(t *testing.T) {
	var text strings.Builder
	for i := range MaxRows + 5 {
		fmt.Fprintf(&text, "depth{queue=\"q%d\"} 1\n", i)
	}
	text.WriteString("depth 1\ndepth{queue=\"a\\nb\"} 1\n")
	s := newState(mapping(t, "nets: {n: {places: {'{queue}': {tokens: depth}}}}"))
	s.apply(scraped(t, text.String()), second)
	want := [numReasons]uint64{tooMany: 6, unlabelled: 1}
	if d := cmp.Diff(want, s.dropped); d != "" || len(s.byID["n"].rows[places]) != MaxRows {
		t.Error(d)
	}
}

func TestANetForEachLabelValueHasItsFixedPlacesToo(t *testing.T) {
	var text strings.Builder
	for i := range MaxNets + 1 {
		fmt.Fprintf(&text, "a{site=\"s%03d\"} %d\nb{site=\"s%03d\",queue=\"q\"} 2\n", i, i, i)
	}
	s := newState(mapping(t, "nets: {'office {site}': {places: {lobby: {tokens: a}, '{queue}': {tokens: b}, 'desk of {site}': {tokens: {metric: c, missing: zero}}}}}"))
	s.apply(scraped(t, text.String()), second)
	r := s.rowsOf(t, "office s042")
	if len(s.nets) != MaxNets || s.dropped[tooMany] != 2 || len(r.Places) != 3 || r.Places[0].Tokens != 42 || r.Columns != stats.ColTokens {
		t.Errorf("%d nets, dropped %v, %+v", len(s.nets), s.dropped, r)
	}
	if id := s.byID["office s042"].rows[places][1].id; id != "desk of s042" {
		t.Errorf("a place is %s", id)
	}
}

func TestAnIdIsOfOneThing(t *testing.T) {
	s := newState(mapping(t, "nets: {n: {places: {'{x}': {tokens: a}}, transitions: {'{y}': {firings: b}}}}"))
	s.apply(scraped(t, "a{x=\"1\"} 1\nb{y=\"1\"} 1\nb{y=\"2\"} 1\na{x=\"\x01\"} 1\n"), second)
	if n := s.byID["n"]; len(n.rows[places]) != 1 || len(n.rows[transitions]) != 1 || s.dropped[badName] != 2 {
		t.Errorf("%d places, %d transitions, dropped %v", len(n.rows[places]), len(n.rows[transitions]), s.dropped)
	}
	if _, err := s.byID["n"].definition(); err != nil {
		t.Error(err)
	}
}

func TestNativeHistogramsAreOursAndClassicOnesAreNot(t *testing.T) {
	const text = "nets: {n: {places: {p: {dwell: h}}}}"
	s := newState(mapping(t, text))
	s.apply(scraped(t, "# TYPE h histogram\nh_bucket{le=\"1\"} 3\nh_bucket{le=\"+Inf\"} 4\nh_sum 5\nh_count 4\n"), second)
	if s.rowsOf(t, "n").Columns != 0 || s.dropped[wrongType] != 1 {
		t.Error("a classic histogram was accepted")
	}
	var want stats.Histogram
	s = newState(mapping(t, text))
	for i, durations := range [][]int64{{5}, {7, 900_000, 60e6}, {1, 3e12}} {
		var all stats.Histogram
		if i > 0 {
			for _, d := range durations {
				want.Observe(d)
			}
		}
		all.Merge(&want)
		all.Observe(5)
		s.apply(families{"h": nativeFamily(&all, 0)}, int64(i+1)*second)
		if d := cmp.Diff(want, s.rowsOf(t, "n").Places[0].Dwell); d != "" {
			t.Fatalf("after scrape %d: -want +got\n%s", i+1, d)
		}
	}
	// The target restarted with a coarser schema: all of its counts are new.
	var fresh stats.Histogram
	fresh.Observe(2e6)
	want.Merge(&fresh)
	s.apply(families{"h": nativeFamily(&fresh, 0)}, 5*second)
	if d := cmp.Diff(want, s.rowsOf(t, "n").Places[0].Dwell); d != "" {
		t.Error(d)
	}
}

// nativeFamily returns a histogram as a client library would send it, in schema
// 3 + finer.
func nativeFamily(h *stats.Histogram, finer int32) *dto.MetricFamily {
	schema, zero, threshold := int32(h.Schema)+finer, h.Zero, stats.ZeroThreshold
	if len(h.Buckets) == 0 {
		schema = stats.MaxSchema
	}
	count, sum := h.Count(), float64(h.Sum)/1e6
	out := &dto.Histogram{Schema: &schema, ZeroCount: &zero, ZeroThreshold: &threshold, SampleCount: &count, SampleSum: &sum}
	next, before := int32(0), int64(0)
	for _, b := range h.Buckets {
		index := (b.Index-1)<<finer + 1
		offset, length := index-next, uint32(1)
		out.PositiveSpan = append(out.PositiveSpan, &dto.BucketSpan{Offset: &offset, Length: &length})
		out.PositiveDelta = append(out.PositiveDelta, int64(b.N)-before)
		next, before = index+1, int64(b.N)
	}
	return &dto.MetricFamily{Name: new(string), Type: dto.MetricType_HISTOGRAM.Enum(), Metric: []*dto.Metric{{Histogram: out}}}
}

func TestAFinerNativeHistogramIsMadeCoarserExactly(t *testing.T) {
	var h stats.Histogram
	for _, d := range []int64{1, 50, 3000, 1e6, 1e6, 9e9} {
		h.Observe(d)
	}
	got, _, ok := native(nativeFamily(&h, 4).Metric[0].Histogram)
	if d := cmp.Diff(h, got); !ok || d != "" {
		t.Error(d)
	}
}

// A broker gives no time of the first message for some queues, and no series of
// departures before the first one.
func TestAPlaceThatNoTokenLeavesIsAsOldAsObservedWhereNoSeriesGivesItsAge(t *testing.T) {
	s := newState(mapping(t, `
nets:
  n:
    places:
      "{queue}":
        tokens: depth
        departures: {metric: out_total, missing: zero}
        oldest: {metric: head, is: timestamp, missing: observed}
`))
	const scrape = `depth{queue="a"} 3
depth{queue="b"} 3
depth{queue="c"} 3
depth{queue="d"} 0
head{queue="b"} NaN
head{queue="c"} 7
`
	for now := int64(100); now <= 700; now += 5 {
		s.apply(scraped(t, scrape), now*second)
	}
	for i, want := range []int64{100, 100, 7, 0} {
		if r := s.rowsOf(t, "n"); r.Places[i].Oldest != want*second || !r.Columns.Has(stats.ColOldest) {
			t.Errorf("place %d since %d, want %d; columns %v", i, r.Places[i].Oldest/second, want, r.Columns)
		}
	}
	s.apply(scraped(t, strings.Replace(scrape, "a\"} 3", "a\"} 0", 1)+"out_total{queue=\"a\"} 3\n"), 705*second)
	if r := s.rowsOf(t, "n"); r.Places[0].Oldest != 0 || r.Places[0].Departures != 3 || r.Places[1].Oldest != 100*second {
		t.Errorf("after a consumer came: %+v", r.Places)
	}
}

func TestAPlaceIsFinalOnlyWhereTheMappingHasAnEnd(t *testing.T) {
	s := newState(mapping(t, `
nets:
  n:
    places:
      "{desk}": {tokens: depth, end: archive}
      trash: {tokens: depth, end: true}
`))
	s.apply(scraped(t, "depth{desk=\"a\"} 3\ndepth{desk=\"b\"} 3\narchive{desk=\"b\"} 1\n"), second)
	text, err := s.byID["n"].definition()
	if err != nil {
		t.Fatal(err)
	}
	file, err := pnml.Read(bytes.NewReader(text), "n.pnml", pnml.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	final := map[string]bool{}
	for i, is := range file.Nets[0].FinalPlaces() {
		final[file.Nets[0].Places[i].ID] = is
	}
	if d := cmp.Diff(map[string]bool{"a": false, "b": true, "trash": true}, final); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
