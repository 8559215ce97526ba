// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when the test's View was made.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// before is a time of rows, that long before noon.
func before(d time.Duration) int64 { return noon.Add(-d).UnixMicro() }

// orders is a definition with ids of every kind.
func orders() *petri.Net {
	return &petri.Net{ID: "orders", Places: []petri.Place{{ID: "awaiting payment", Called: petri.Called{Kind: "user task", Name: `Pay "now"`}}, {ID: `odd "id" \ ü` + "\n"}, {ID: "p\xff"}},
		Transitions: []petri.Transition{{ID: "pay", Called: petri.Called{Kind: "user task", Name: `Pay "now"`}}, {ID: "ship"}},
		Arcs:        []petri.Arc{{Source: "awaiting payment", Target: "pay", Weight: 1}, {Source: `odd "id" \ ü` + "\n", Target: "ship", Weight: 1}}}
}

// ordersRows fills in every column.
func ordersRows() *stats.Rows {
	r := stats.NewRows(3, 2)
	r.Columns = stats.AllColumns
	r.Net = stats.NetRow{Created: 120, Finished: 80, Failed: 3, Active: 37, Deadlocked: 2}
	p := &r.Places[0]
	*p = stats.Place{Tokens: 4, Arrivals: 104, Departures: 100, Instances: 3, Oldest: before(2 * time.Hour)}
	for _, age := range []time.Duration{2 * time.Hour, 20 * time.Minute, 90 * time.Second, 2 * time.Second} {
		p.Ages.Add(before(age), noon.UnixMicro(), 1)
	}
	for _, d := range []time.Duration{0, time.Millisecond, 300 * time.Millisecond, time.Second, time.Second, 5 * time.Second, 40 * 24 * time.Hour} {
		p.Dwell.Observe(d.Microseconds())
	}
	p.Stuck = []stats.Token{{Instance: "host-1/7", Injected: before(2 * time.Hour), Waits: []stats.Wait{
		{Transition: 0, Reason: stats.ReasonEnabled, Place: stats.NoPlace}, {Transition: 1, Reason: stats.ReasonMissing, Place: 2, Count: 1}}}}
	p.Groups = []stats.Group{{Reason: stats.ReasonIncident, Tokens: 1, Oldest: p.Stuck[0]}, {Reason: stats.ReasonNoWorker, Tokens: 3, Oldest: p.Stuck[0]}}
	r.Places[1] = stats.Place{Arrivals: 9, Departures: 9}
	r.Transitions[0] = stats.Transition{Firings: 90, Failures: 4, Retries: 3, Cancels: 1, Timeouts: 1, Late: 6, Enabled: 2, EnabledSince: before(time.Minute),
		Running: 1, RunningSince: before(1500 * time.Millisecond), LastFiring: before(3 * time.Second), NextDue: before(-time.Minute)}
	r.Transitions[0].Duration.Observe(250_000)
	r.Blocks = []stats.Block{{Transition: 1, Place: 0, Reason: stats.ReasonMissing, Instances: 5},
		{Transition: 1, Place: stats.NoPlace, Reason: stats.ReasonGuarded, Instances: 2}}
	r.Queues = []stats.Queue{{Priority: 0, Served: 50, QuoteSwitches: 8},
		{Priority: 7, Ready: 2, OldestSince: before(4 * time.Second), UnservedSince: before(3 * time.Second), Served: 40}}
	r.Waiting = 13
	return r
}

// rich is a View with everything in it: a net that knows every column, one
// that knows two, one of which only a source is known, sources in every state.
func rich() *merge.View {
	few := stats.NewRows(1, 1)
	few.Columns = stats.ColTokens | stats.ColFirings
	few.Places[0].Tokens, few.Transitions[0].Firings = 1, 7
	const hour = 3600e6
	return (&merge.View{
		At: noon.UnixMicro(), Generation: 42,
		Nets: []*merge.NetView{
			{Name: "few", Def: &petri.Net{ID: "few", Places: []petri.Place{{ID: "p"}}, Transitions: []petri.Transition{{ID: "t"}}},
				Rows: few, Since: noon.UnixMicro() - hour},
			{Name: "orders", Def: orders(), Final: orders().FinalPlaces(), Rows: ordersRows(), Up: 1, Stale: 1, Since: noon.UnixMicro() - 2*hour + 500_000},
		},
		Sources: []merge.Source{
			{Name: "host-1", Net: "few", State: merge.Gone, LastMessage: before(20 * time.Minute), Region: "north", Fence: 2},
			{Name: "host-1", Net: "orders", State: merge.Up, LastMessage: before(500 * time.Millisecond), Gaps: 2, Requests: &stats.RefusedRequests{7, 0, 9},
				Region: "east", Fence: 3, Position: new(uint64(41)), Standbys: new(uint64(1)), Lag: new(uint64(0)), RegionStopped: "a log has lost commits"},
			{Name: "host-2", Net: "orders", State: merge.Stale, LastMessage: before(time.Minute),
				Region: "west", Fence: 7, Position: new(uint64(5)), Standbys: new(uint64(0)), Setbacks: 1},
			{Name: "host-4", Net: "orders", State: merge.Refused, Conflict: true, Refusal: "conflict", Reason: "two processes", LastMessage: before(time.Second)},
			{Name: "host-3", Net: "new", State: merge.Undefined, LastMessage: before(time.Second)},
		},
		Traffic: merge.Traffic{Messages: 1000, Bytes: 123456, Lost: 2, Rejected: map[string]uint64{"decode": 3, "columns": 0}},
	}).Sum()
}

// alarms are one about each kind of thing.
func alarms() *alarm.ActiveSet {
	return &alarm.ActiveSet{Resting: map[string][]string{"orders": {"p\xff"}}, Active: []alarm.Alarm{
		{Index: 1, Kind: alarm.TokenStuck, Severity: alarm.Minor, Raised: 1772359201000000, Net: "orders", Subject: "awaiting payment", Ack: &alarm.Ack{By: "ada"},
			Why: alarm.Why{Transition: "ship", Place: "p\xff", Wait: stats.Wait{Reason: stats.ReasonMissing}}},
		{Index: 3, Kind: alarm.TransitionStarved, Severity: alarm.Warning, Raised: 1772359203000000, Net: "orders", Subject: "pay", Follows: "host-2",
			Why: alarm.Why{Transition: "pay", Wait: stats.Wait{Reason: stats.ReasonEnabled}}},
		{Index: 4, Kind: alarm.SourceLost, Severity: alarm.Major, Raised: 1772359204000000, Subject: "host-2", SilencedUntil: noon.UnixMicro()},
		{Index: 7, Kind: alarm.NetDeadlocked, Severity: alarm.Critical, Raised: 1772359207000000, Net: "orders", Unknown: "no source reports it any more"},
		{Index: 9, Kind: alarm.TransitionLoop, Severity: alarm.Warning, Raised: 1772359209000000, Net: "left", Subject: "p\xff"},
	}}
}

func alarmCounters() alarm.Counters {
	c := alarm.Counters{Figures: alarm.Figures{Suppressed: 5, Skipped: alarm.Skipped{Standby: 10, Overflow: 11, Silenced: 12, Follows: 13}}, SaveFailures: 6, Sinks: []alarm.SinkCounters{{Name: "agentx", Sent: 7, Failed: alarm.Failures{alarm.Refused: 8}}, {Name: "snmp", Sent: 9}, {Name: "oncall", Sent: 14, HandedOver: 1, Queued: &alarm.Queued{Waiting: 2, Oldest: 1, Retries: 3}}}}
	c.Raised[alarm.TokenStuck], c.Cleared[alarm.TokenStuck], c.Dropped = 3, 2, 4
	return c
}

// withAlarms shows alarms too.
func withAlarms(c *Config) { c.Alarms, c.AlarmCounters = alarms, alarmCounters }

// newExporter shows view at noon.
func newExporter(tb testing.TB, view *merge.View, change func(*Config)) *Exporter {
	tb.Helper()
	cfg := Config{View: func() *merge.View { return view }, Now: func() time.Time { return noon }, Version: "1.2.3", Revision: "abcdef"}
	if change != nil {
		change(&cfg)
	}
	e, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// get asks a handler for a path; accept may be "".
func get(h http.Handler, path, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// scraped are the families at a path, as the text format shows them.
func scraped(tb testing.TB, e *Exporter, path string) map[string]*dto.MetricFamily {
	tb.Helper()
	w := get(e.Handler(), path, "")
	if w.Code != http.StatusOK {
		tb.Fatalf("%s answers %d: %s", path, w.Code, w.Body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(w.Body)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return families
}

// value is that of the series of a family with the given labels, as
// "net=orders,place=p"; false if there is none.
func value(families map[string]*dto.MetricFamily, family, labels string) (float64, bool) {
	for _, m := range families[family].GetMetric() {
		if seriesLabels(m) == labels {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue(), true
		}
	}
	return 0, false
}

func seriesLabels(m *dto.Metric) string {
	var out []string
	for _, l := range m.GetLabel() {
		out = append(out, l.GetName()+"="+l.GetValue())
	}
	return strings.Join(out, ",")
}
