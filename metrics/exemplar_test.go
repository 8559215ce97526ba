// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// named returns rich with a slowest instance in one place and in one transition.
func named() *merge.View {
	view := rich()
	rows := view.Nets[1].Rows
	rows.Places[0].Slowest = stats.Slowest{Instance: "order-17", Micros: 5e6, At: before(90 * time.Second)}
	rows.Transitions[0].Slowest = stats.Slowest{Instance: "order-18", Micros: 250_000, At: before(1500 * time.Millisecond)}
	return view
}

// histogramLines are those of the histograms in OpenMetrics text.
func histogramLines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, PlaceDwellSeconds) || strings.Contains(line, TransitionDurationSeconds) {
			out.WriteString(line)
		}
	}
	return out.String()
}

func TestExemplarsInOpenMetrics(t *testing.T) {
	got := histogramLines(get(newExporter(t, named(), nil).Handler(), "/metrics/nets/orders", acceptOpenMetrics).Body.String())
	golden := filepath.Join("testdata", "exemplars.openmetrics")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// The classic text format has no room for exemplars: it stays as it was.
func TestTheClassicTextFormatHasNoExemplars(t *testing.T) {
	with := get(newExporter(t, named(), nil).Handler(), "/metrics/nets/orders", "").Body.String()
	without := get(newExporter(t, rich(), nil).Handler(), "/metrics/nets/orders", "").Body.String()
	if d := cmp.Diff(without, with); d != "" {
		t.Error(d)
	}
}

// one is an exemplar as the formats carry it.
type one struct {
	Case    string
	Seconds float64
	At      time.Time
}

func oneOf(x *dto.Exemplar) one {
	if len(x.GetLabel()) != 1 || x.GetLabel()[0].GetName() != "case" {
		return one{}
	}
	return one{x.GetLabel()[0].GetValue(), x.GetValue(), x.GetTimestamp().AsTime()}
}

func TestExemplarsInProtobuf(t *testing.T) {
	body := get(newExporter(t, named(), nil).Handler(), "/metrics/nets/orders", acceptProtobuf).Body
	decoder := expfmt.NewDecoder(body, expfmt.NewFormat(expfmt.TypeProtoDelim))
	native, classic := map[string]one{}, map[float64]one{}
	for {
		var family dto.MetricFamily
		if err := decoder.Decode(&family); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, m := range family.Metric {
			for _, x := range m.GetHistogram().GetExemplars() {
				native[family.GetName()+" "+seriesLabels(m)] = oneOf(x)
			}
			for _, b := range m.GetHistogram().GetBucket() {
				if b.Exemplar != nil {
					classic[b.GetUpperBound()] = oneOf(b.Exemplar)
				}
			}
		}
	}
	dwell, duration := one{"order-17", 5, noon.Add(-90 * time.Second)}, one{"order-18", 0.25, noon.Add(-1500 * time.Millisecond)}
	if d := cmp.Diff(map[string]one{PlaceDwellSeconds + " net=orders,place=awaiting payment": dwell,
		TransitionDurationSeconds + " net=orders,transition=pay": duration}, native); d != "" {
		t.Errorf("of native histograms (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[float64]one{16: dwell, 0.25: duration}, classic); d != "" {
		t.Errorf("by classic bucket (-want +got):\n%s", d)
	}
}

// at is the upper bound of the bucket that has an exemplar; -1 if none has.
func at(t *testing.T, h *dto.Histogram) float64 {
	t.Helper()
	found := -1.0
	for _, b := range h.Bucket {
		if b.Exemplar != nil {
			if found >= 0 {
				t.Errorf("exemplars at %v and %v", found, b.GetUpperBound())
			}
			found = b.GetUpperBound()
		}
	}
	return found
}

// The same structures are filled again and again, and nothing of one reading
// shows in the next.
func TestAnExemplarIsAtTheBucketThatItsDurationFallsInto(t *testing.T) {
	h, x := newHistogram(), newExemplar()
	for _, c := range []struct {
		took time.Duration
		want float64
	}{
		{time.Microsecond, math.Ldexp(1, firstBound)}, {976 * time.Microsecond, math.Ldexp(1, firstBound)}, {977 * time.Microsecond, math.Ldexp(1, firstBound+2)},
		{time.Second, 1}, {time.Second + time.Microsecond, 4}, {4 * time.Second, 4}, {40 * 24 * time.Hour, math.Inf(1)},
		{1 << lastBound * time.Second, 1 << lastBound}, {1<<lastBound*time.Second + time.Microsecond, math.Inf(1)}, {5 * time.Second, 16},
	} {
		fillHistogram(h, observed(c.took))
		if got := at(t, h); got != -1 || len(h.Exemplars) != 0 || len(h.Bucket) != numBounds {
			t.Errorf("%v: got an exemplar at %v; want none, as no instance was slowest", c.took, got)
		}
		x.fill(&stats.Slowest{Instance: "a", Micros: c.took.Microseconds(), At: 1})
		exemplify(h, x)
		if got := at(t, h); got != c.want || len(h.Exemplars) != 1 {
			t.Errorf("%v: at %v, want %v", c.took, got, c.want)
		}
		if last := h.Bucket[len(h.Bucket)-1]; math.IsInf(*last.UpperBound, 1) && *last.CumulativeCount != 1 {
			t.Errorf("%v: %d of 1 in all buckets", c.took, *last.CumulativeCount)
		}
	}
}

func TestExemplarNamesFitOpenMetrics(t *testing.T) {
	for _, c := range []struct{ instance, want string }{
		{"order-17", "order-17"},
		{"", ""},
		{"p\xff", `p\xff`},
		{strings.Repeat("ü", 124), strings.Repeat("ü", 124)},
		{strings.Repeat("ü", 125), strings.Repeat("ü", 123) + "…"},
		{strings.Repeat("\xff", 100), strings.Repeat(`\xff`, 30) + `\xf…`},
	} {
		got := exemplarName(c.instance)
		if got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.instance, got, c.want)
		}
		if n := utf8.RuneCountInString(ExemplarLabel + got); n > 128 {
			t.Errorf("%q takes %d characters", got, n)
		}
	}
}

// View after View, exemplars cost no memory once they are there.
func TestExemplarsAreFilledInPlace(t *testing.T) {
	measure := func(views ...*merge.View) float64 {
		tick := 0
		for _, v := range views {
			v.Nets[0].Def, v.Nets[1].Def = views[0].Nets[0].Def, views[0].Nets[1].Def
		}
		g := gatherer{newExporter(t, nil, func(c *Config) { c.View = func() *merge.View { return views[tick%len(views)] } }), target{allNets: true}}
		return testing.AllocsPerRun(50, func() {
			tick++
			_, done, err := g.Gather()
			if err != nil {
				t.Fatal(err)
			}
			done()
		})
	}
	other := named()
	other.Nets[1].Rows.Places[0].Slowest.Instance = "order-99"
	if without, with := measure(rich(), rich()), measure(named(), other); with > without {
		t.Errorf("%v allocations a scrape, without exemplars %v", with, without)
	}
}

func TestAnExemplarThatIsForgottenIsNotShownAnyMore(t *testing.T) {
	view := named()
	e := newExporter(t, nil, func(c *Config) { c.View = func() *merge.View { return view } })
	if text := get(e.Handler(), "/metrics", acceptOpenMetrics).Body.Bytes(); !bytes.Contains(text, []byte(`{case="order-18"}`)) {
		t.Error("no exemplar at first")
	}
	view = rich()
	if text := get(e.Handler(), "/metrics", acceptOpenMetrics).Body.Bytes(); bytes.Contains(text, []byte("case=")) {
		t.Error("an exemplar is left")
	}
}
