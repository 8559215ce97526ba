// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/dashboards"
	"github.com/pnagent/pnagent/dashboards/report/plot"
)

var now = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// somePanels are one of each kind, with one query.
func somePanels() []dashboards.Panel {
	q := []dashboards.Query{{Expr: "x", Legend: "{{net}}"}}
	return []dashboards.Panel{
		{Title: "lines", Kind: dashboards.Lines, Unit: "s", Queries: q},
		{Title: "stacked", Kind: dashboards.Lines, Unit: "percentunit", Queries: q, Stacked: true},
		{Title: "stat", Kind: dashboards.Stat, Unit: "short", Queries: q, Steps: []dashboards.Step{{From: 0, Colour: "green"}, {From: 1, Colour: "red"}}},
		{Title: "ladder", Kind: dashboards.Heatmap, Queries: q},
		{Title: "buckets", Kind: dashboards.Heatmap, Queries: q, Buckets: true},
		{Title: "table", Kind: dashboards.Table, Queries: q, Columns: []dashboards.Column{{Label: "net", Title: "Net"}, {Value: "{{net}}", Title: "Value", Unit: "s"}}},
	}
}

// minutes is a series that ends at now.
func minutes(labels map[string]string, values ...float64) series {
	s := series{labels: labels}
	for i, v := range values {
		s.points = append(s.points, plot.Point{At: now.Add(time.Duration(i-len(values)+1) * time.Minute), Value: v})
	}
	return s
}

func drawn(p dashboards.Panel, answers ...*answer) *Figure {
	d := &drawing{o: Options{Now: now, Since: time.Hour}, from: now.Add(-time.Hour), scrape: time.Minute}
	f := &Figure{Size: size(&p)}
	d.figure(&job{panel: p, into: f}, answers)
	return f
}

func TestTheLargestSeriesAreDrawnAndTheRestIsCounted(t *testing.T) {
	a := &answer{}
	for i := range 25 {
		a.series = append(a.series, minutes(map[string]string{"net": fmt.Sprint("n", i)}, float64(i), 1))
	}
	a.series = append(a.series, minutes(map[string]string{"net": "none"}, math.NaN()), minutes(map[string]string{"net": "inf"}, 1, math.Inf(1)))
	f := drawn(somePanels()[0], a)
	if len(f.Legend) != maxLines || f.Legend[0] != (Entry{"c0", "n24", "1 s", "24 s"}) || f.Legend[9].Name != "n15" {
		t.Errorf("%v", f.Legend)
	}
	want := []string{"10 of 26 series, those with the largest values.", "1 series without a value in this span.", "1 value is infinite, or too large, and not drawn."}
	if d := cmp.Diff(want, f.Notes); d != "" {
		t.Error(d)
	}
}

func TestASeriesThatEndedSaysWhen(t *testing.T) {
	ended := minutes(map[string]string{"net": "gone"}, 5, 5, 5, 5, 5, 5)
	ended.points = ended.points[:2]
	if f := drawn(somePanels()[0], &answer{series: []series{ended}}); f.Legend[0].Last != "– since 08:56:00" {
		t.Errorf("%+v", f.Legend)
	}
	if f := drawn(somePanels()[2], &answer{series: []series{ended}}); f.Numbers[0].Of != "as of 08:56:00" {
		t.Errorf("%+v", f.Numbers)
	}
}

func TestNothingIsSaidAndNotDrawn(t *testing.T) {
	for _, p := range somePanels() {
		if f := drawn(p, &answer{}); f.Empty != noData || f.Picture != "" || f.drawn() {
			t.Errorf("%s: %+v", p.Title, f)
		}
	}
}

func TestZeroThroughoutNeedsNoLegend(t *testing.T) {
	f := drawn(somePanels()[0], &answer{series: []series{minutes(map[string]string{"net": "a"}, 0, 0), minutes(map[string]string{"net": "b"}, 0)}})
	if f.Legend != nil || f.Notes[0] != "All 2 series are 0 throughout." || f.Picture == "" {
		t.Errorf("%+v", f)
	}
}

func TestANumberHasTheColourOfItsStep(t *testing.T) {
	for v, want := range map[float64]string{0: "calm", 0.9: "calm", 1: "burnt", 50: "burnt", -1: ""} {
		if f := drawn(somePanels()[2], &answer{series: []series{minutes(nil, v)}}); f.Numbers[0].Class != want {
			t.Errorf("%v is %q, want %q", v, f.Numbers[0].Class, want)
		}
	}
}

func TestATableJoinsItsQueriesByTheLabelsItShows(t *testing.T) {
	p := dashboards.Panel{Kind: dashboards.Table, Unit: "short", Queries: []dashboards.Query{{Legend: "oldest"}, {Legend: "tokens"}},
		Columns: []dashboards.Column{{Label: "place", Title: "Place"}, {Value: "oldest", Title: "Oldest", Unit: "s", Steps: []dashboards.Step{{From: 60, Colour: "red"}}}, {Value: "tokens", Title: "Tokens"}}}
	of := func(place string, v float64) series {
		return minutes(map[string]string{"place": place, "job": fmt.Sprint(v)}, v)
	}
	f := drawn(p, &answer{series: []series{of("a", 5), of("b", 90)}}, &answer{series: []series{of("b", 2), of("c", 1)}})
	want := [][]Cell{
		{{Text: "b"}, {Text: "1 min 30 s", Class: "num burnt"}, {Text: "2", Class: "num"}},
		{{Text: "a"}, {Text: "5 s", Class: "num"}, {Text: "–", Class: "num"}},
		{{Text: "c"}, {Text: "–", Class: "num"}, {Text: "1", Class: "num"}},
	}
	if d := cmp.Diff(want, f.Table.Rows); d != "" {
		t.Error(d)
	}
}

func TestBucketsBecomeRows(t *testing.T) {
	names := func(all []plot.Series) (out []string) {
		for _, s := range all {
			out = append(out, fmt.Sprint(s.Name, " ", s.Points[0].Value))
		}
		return out
	}
	le := func(bound string, n float64) series { return minutes(map[string]string{"le": bound}, n) }
	classic := &answer{series: []series{le("+Inf", 7), le("1", 2), le("16", 2), le("60", 6), {labels: map[string]string{"le": "?"}}}}
	if d := cmp.Diff([]string{"≤ 1 s 2", "≤ 1 min 4", "> 1 min 1"}, names(bucketRows([]*answer{classic}))); d != "" {
		t.Error(d)
	}
	native := series{histograms: []model.SampleHistogramPair{{Timestamp: model.TimeFromUnix(now.Unix()), Histogram: &model.SampleHistogram{Buckets: model.HistogramBuckets{
		{Lower: 0.9, Upper: 0.97, Count: 1}, {Lower: 0.97, Upper: 1, Count: 2}, {Lower: 1, Upper: 1.09, Count: 5},
		{Lower: 1 << 24, Upper: 1 << 25, Count: 1}, {Lower: -1, Upper: 0, Count: 3}, nil}}}}}
	both := &answer{series: append(classic.series, native)}
	if d := cmp.Diff([]string{"≤ 977 µs 3", "≤ 1 s 3", "≤ 2 s 5", "> 2 s 1"}, names(bucketRows([]*answer{both}))); d != "" {
		t.Error(d)
	}
}

func TestAHistogramOfNothingIsNotMissing(t *testing.T) {
	f := drawn(somePanels()[4], &answer{series: []series{minutes(map[string]string{"le": "1"}, 0, 0)}})
	if !strings.HasPrefix(f.Empty, "Nothing: ") || f.Picture != "" {
		t.Errorf("%+v", f)
	}
}

func TestLegendsTakeLabels(t *testing.T) {
	labels := map[string]string{"net": "n", "place": "{{net}}"}
	for text, want := range map[string]string{"p {{place}}": "p {{net}}", "{{ net }}/{{none}}": "n/", "": "all", "{{none}}": "(no name)"} {
		if got := legend(text, labels); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestAlarmsAreStretchesOfTheSpan(t *testing.T) {
	at := func(minutes ...int) (points []plot.Point) {
		for _, m := range minutes {
			points = append(points, plot.Point{At: now.Add(time.Duration(m-60) * time.Minute), Value: 1})
		}
		return points
	}
	begin := now.Add(-time.Hour)
	alarms := []alarm{
		{labels: map[string]string{"alarm": "early", "severity": "minor"}, when: stretches(at(0, 1, 2, 10), begin, time.Minute)},
		{labels: map[string]string{"alarm": "still", "severity": "critical"}, when: stretches(at(30, 58, 59, 60), begin, time.Minute), active: true},
		{labels: map[string]string{"alarm": "all", "severity": "major"}, when: stretches(at(0, 1, 2, 3, 4), begin, 20*time.Minute), active: true},
	}
	raised, cleared, active := tally(alarms)
	if raised != 3 || cleared != 3 || active != 2 {
		t.Errorf("raised %d, cleared %d, active %d", raised, cleared, active)
	}
	sortAlarms(alarms)
	f := alarmFigure(alarms, begin, now)
	var got []string
	for _, row := range f.Table.Rows {
		var texts []string
		for _, c := range row {
			texts = append(texts, c.Text)
		}
		got = append(got, strings.Join(texts, "|"))
	}
	want := []string{
		"all|major|the whole net||before 08:00:00|active|1|> 4 min|4 min",
		"still|critical|the whole net||08:29:00|active|2|4 min|3 min",
		"early|minor|the whole net||before 08:00:00|08:10:00|2|> 3 min|2 min",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNetsAreOrderedByHowWrongTheyAre(t *testing.T) {
	if worse(netState{alarms: 1}, netState{deadlocked: 9, oldest: 9}) >= 0 || worse(netState{deadlocked: 1}, netState{oldest: 9}) >= 0 ||
		worse(netState{oldest: 9}, netState{oldest: 1}) >= 0 || worse(netState{oldest: 1}, netState{oldest: math.NaN()}) >= 0 || worse(netState{id: "a"}, netState{id: "b"}) >= 0 {
		t.Error("not by alarms, deadlocks, age, name")
	}
}
