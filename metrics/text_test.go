// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// byExpfmt is what package expfmt makes of the families of a target.
func byExpfmt(tb testing.TB, e *Exporter, format expfmt.Format, t target) string {
	tb.Helper()
	var out bytes.Buffer
	var options []expfmt.EncoderOption
	if e.cfg.CreatedSamples {
		options = append(options, expfmt.WithCreatedLines())
	}
	families, done, err := gatherer{e, t}.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	defer done()
	encoder := expfmt.NewEncoder(&out, format, options...)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			tb.Fatal(err)
		}
	}
	if err := encoder.(expfmt.Closer).Close(); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// agreeWithExpfmt compares what is written with what expfmt writes in all text formats.
func agreeWithExpfmt(t *testing.T, what string, e *Exporter, targets ...target) {
	t.Helper()
	for _, to := range targets {
		for _, format := range []expfmt.Format{expfmt.FmtText, expfmt.FmtOpenMetrics_0_0_1, expfmt.FmtOpenMetrics_1_0_0} {
			for _, escaping := range []string{"allow-utf-8", "underscores", "dots", "values"} {
				to.openMetrics = format.FormatType() == expfmt.TypeOpenMetrics
				format := format + "; escaping=" + expfmt.Format(escaping)
				if !isOwnText(format) {
					t.Fatalf("%s is left to the library", format)
				}
				w := &recorder{header: make(http.Header), body: e.newBody()}
				e.writeText(w, format, to)
				want := byExpfmt(t, e, format, to)
				if got := string(w.body.octets); got != want {
					t.Fatalf("%s, %+v as %s (-expfmt +own):\n%s", what, to, format, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
				}
			}
		}
	}
}

// odd is a name with what has to be escaped in labels, or that is not UTF-8.
func odd(rng *rand.Rand) string {
	parts := []string{"a", "place 1", `"`, `\`, "\n", "ü", "\xff", "{}=,", " ", "\u2028", "_total"}
	var name strings.Builder
	for range rng.IntN(4) {
		name.WriteString(parts[rng.IntN(len(parts))])
	}
	return name.String()
}

// any64 is a number of any size, small ones most often.
func any64(rng *rand.Rand) uint64 { return rng.Uint64() >> rng.IntN(64) }

// moment is a time around noon, or none.
func moment(rng *rand.Rand) int64 {
	return []int64{0, before(time.Duration(rng.Int64N(1e15))), noon.UnixMicro() + rng.Int64N(1e9), before(time.Duration(rng.Int64N(1e4)))}[rng.IntN(4)]
}

func durations(rng *rand.Rand) (h stats.Histogram) {
	for range rng.IntN(60) * rng.IntN(2) {
		h.Observe(rng.Int64N(1 << (1 + rng.IntN(45))))
	}
	return h
}

func slowest(rng *rand.Rand) stats.Slowest {
	if rng.IntN(2) == 0 {
		return stats.Slowest{}
	}
	return stats.Slowest{Instance: odd(rng) + strings.Repeat("ü", rng.IntN(2)*rng.IntN(200)), Micros: rng.Int64N(1 << (1 + rng.IntN(45))), At: before(time.Duration(rng.Int64N(1e15)))}
}

// randomRows fills some columns of a definition with anything.
func randomRows(rng *rand.Rand, def *petri.Net) *stats.Rows {
	rows := stats.NewRows(len(def.Places), len(def.Transitions))
	rows.Columns = stats.AllColumns
	for rng.IntN(3) == 0 {
		rows.Columns &^= 1 << rng.IntN(20)
	}
	rows.Net = stats.NetRow{Created: any64(rng), Finished: any64(rng), Failed: any64(rng), Active: any64(rng), Deadlocked: any64(rng)}
	rows.Waiting = any64(rng)
	for i := range rows.Places {
		p := &rows.Places[i]
		*p = stats.Place{Tokens: any64(rng), Arrivals: any64(rng), Departures: any64(rng), Instances: any64(rng), Oldest: moment(rng),
			Dwell: durations(rng), Slowest: slowest(rng)}
		for range rng.IntN(4) {
			p.Ages.Add(before(time.Duration(rng.Int64N(1e15))), noon.UnixMicro(), 1+any64(rng)>>8)
		}
	}
	for i := range rows.Transitions {
		rows.Transitions[i] = stats.Transition{Firings: any64(rng), Failures: any64(rng), Retries: any64(rng), Cancels: any64(rng), Enabled: any64(rng),
			EnabledSince: moment(rng), Running: any64(rng), RunningSince: moment(rng), LastFiring: moment(rng), Duration: durations(rng), Slowest: slowest(rng)}
	}
	for range rng.IntN(4) * min(len(rows.Places), len(rows.Transitions)) {
		rows.Blocks = append(rows.Blocks, stats.Block{Transition: int32(rng.IntN(len(rows.Transitions))), Place: int32(rng.IntN(len(rows.Places)+1)) - 1,
			Reason: stats.Reason(rng.IntN(12)), Instances: any64(rng)})
	}
	for range rng.IntN(3) {
		rows.Queues = append(rows.Queues, stats.Queue{Priority: uint8(rng.IntN(stats.Priorities)), Ready: any64(rng), OldestSince: moment(rng), UnservedSince: moment(rng),
			Served: any64(rng), QuoteSwitches: any64(rng)})
	}
	return rows
}

// follower is a View that follows another one: some nets are the same, some have other rows or
// another definition, some come and some go.
func follower(rng *rand.Rand, view *merge.View) *merge.View {
	next := &merge.View{At: noon.UnixMicro(), Generation: view.Generation + 1,
		Traffic: merge.Traffic{Messages: any64(rng), Bytes: any64(rng), Lost: any64(rng), Rejected: map[string]uint64{odd(rng): any64(rng)}}}
	for _, name := range []string{"", "a", `b"\`, "c\n\xff", "d"} {
		var net *merge.NetView
		for _, n := range view.Nets {
			if n.Name == name {
				net = n
			}
		}
		switch change := rng.IntN(8); {
		case change == 0:
			continue
		case net == nil || change == 1:
			def := &petri.Net{ID: name}
			for range rng.IntN(5) {
				def.Places = append(def.Places, petri.Place{ID: odd(rng)})
			}
			for range rng.IntN(5) {
				def.Transitions = append(def.Transitions, petri.Transition{ID: odd(rng)})
			}
			net = &merge.NetView{Name: name, Def: def, Final: def.FinalPlaces(), Rows: randomRows(rng, def), Since: before(time.Duration(rng.Int64N(1e15)))}
		case change < 5:
			fresh := *net
			fresh.Rows = randomRows(rng, net.Def)
			net = &fresh
		case change < 6:
			fresh := *net
			fresh.Since += rng.Int64N(5)
			net = &fresh
		}
		next.Nets = append(next.Nets, net)
	}
	for range rng.IntN(6) {
		next.Sources = append(next.Sources, merge.Source{Name: odd(rng), Net: []string{"", "a", "d", "only"}[rng.IntN(4)], State: merge.SourceState(rng.IntN(5)),
			LastMessage: moment(rng), Gaps: any64(rng), Region: odd(rng), Fence: any64(rng), Position: new(any64(rng)), Refusal: odd(rng), Requests: &stats.RefusedRequests{any64(rng)}})
	}
	return next.Sum()
}

func TestTextIsWhatExpfmtWrites(t *testing.T) {
	for seed := range seeds.Of(8, 1000) {
		rng := rand.New(rand.NewPCG(seed, 32))
		view, now, budget := &merge.View{}, noon, []int{0, 60}[rng.IntN(2)]
		var active *alarm.ActiveSet
		values := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "other_values", Help: "A \"help\" \\ of\nlines."}, []string{"label"})
		e := newExporter(t, nil, func(c *Config) {
			c.View = func() *merge.View { return view }
			c.Now = func() time.Time { return now }
			c.Alarms, c.AlarmCounters = func() *alarm.ActiveSet { return active }, alarmCounters
			c.CreatedSamples = rng.IntN(2) == 0
			c.SeriesBudget = budget
			c.Collectors = []prometheus.Collector{values, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "other.näme", Help: "UTF-8."}, func() float64 { return 1 })}
		})
		e.registry = prometheus.NewRegistry() // without those of the process, which change meanwhile
		for _, c := range e.cfg.Collectors {
			e.registry.MustRegister(c)
		}
		for round := range 8 {
			switch rng.IntN(4) {
			case 0:
				now = now.Add(time.Duration(rng.Int64N(1e12)))
			case 1:
				active = alarms()
			default:
				view = follower(rng, view)
			}
			values.WithLabelValues(valid(odd(rng))).Set([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e300, rng.Float64()}[rng.IntN(6)])
			targets := []target{{allNets: true}, {net: "a"}, {net: `b"\`}}
			if budget == 0 { // otherwise each reading counts what it drops
				targets = append(targets, target{allNets: true, sidecar: true}, target{sidecar: true})
			}
			agreeWithExpfmt(t, fmt.Sprintf("seed %d, round %d", seed, round), e, targets...)
		}
	}
}

func TestNumbersAreThoseOfStrconv(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	check := func(f float64) {
		t.Helper()
		want := strconv.FormatFloat(f, 'g', -1, 64)
		if f == 0 {
			want = "0"
		}
		if got := string(appendFloat(nil, f)); got != want {
			t.Fatalf("%v is written as %s, want %s", f, got, want)
		}
		if !strings.ContainsAny(want, "e.N") && !math.IsInf(f, 0) {
			want += ".0"
		}
		if got := string(appendOpen([]byte("1.5e3 "), f)); got != "1.5e3 "+want {
			t.Fatalf("%v is written as %s in OpenMetrics, want %s", f, got, want)
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-7, 1e-6, 1e-5, 0.0001, 0.00012, 999999, 1e6, 1000001, 1e14, 1e15 - 1, 1e15, 1e15 + 1,
		1 << 53, math.MaxUint64, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, 0.3, 1e9 + 1e-6, 999999999.999999, 1e9 - 1e-6, 123456.5} {
		check(f)
		check(math.Nextafter(f, 0))
		check(math.Nextafter(f, math.Inf(1)))
	}
	for range 50_000 {
		check(math.Float64frombits(rng.Uint64()))
		check(float64(any64(rng)))
		check(float64(any64(rng)) / 1e6)
		check(float64(any64(rng)) / math.Pow10(rng.IntN(12)))
		check(math.Exp(rng.Float64()*60 - 20))
	}
}

func TestAFilterIsAnsweredAndNotKept(t *testing.T) {
	h := newExporter(t, rich(), nil).Handler()
	some := get(h, "/metrics?name[]="+PlaceTokens, "").Body.String()
	if !strings.Contains(some, PlaceTokens+"{") || strings.Contains(some, PlaceInstances+"{") {
		t.Errorf("the filter gives\n%s", some)
	}
	if all := get(h, "/metrics", "").Body.String(); !strings.Contains(all, PlaceInstances+"{") {
		t.Errorf("after an answer with a filter the others are gone:\n%s", all)
	}
	if again := get(h, "/metrics?name[]="+PlaceTokens, "").Body.String(); again != some {
		t.Errorf("after an answer with everything the filter gives\n%s", again)
	}
}

// A body is not given to another answer while it is sent.
func TestABodyIsNotUsedAgainWhileItIsSent(t *testing.T) {
	view := plain(1, 50)
	e := newExporter(t, nil, func(c *Config) { c.View = func() *merge.View { return view } })
	h := e.serve(target{allNets: true})
	want := get(h, "/metrics", "").Body.String()
	slow := &pausing{recorder: httptest.NewRecorder(), meanwhile: func() {
		for range 3 {
			view = plain(1, 50)
			for i := range view.Nets[0].Rows.Places {
				view.Nets[0].Rows.Places[i].Tokens = 77
			}
			get(h, "/metrics", "")
		}
	}}
	h.ServeHTTP(slow, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if got := slow.recorder.Body.String(); got != want {
		t.Errorf("it became\n%.300s", got)
	}
}

// pausing is a client that takes its answer after something else has happened.
type pausing struct {
	recorder  *httptest.ResponseRecorder
	meanwhile func()
}

func (p *pausing) Header() http.Header    { return p.recorder.Header() }
func (p *pausing) WriteHeader(status int) { p.recorder.WriteHeader(status) }
func (p *pausing) Write(text []byte) (int, error) {
	p.meanwhile()
	return p.recorder.Write(text)
}
