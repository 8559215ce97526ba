// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

func TestMain(m *testing.M) {
	if os.Getenv(crowdEnv) != "" {
		serveCrowd()
		return
	}
	goleak.VerifyTestMain(m)
}

const second = 1_000_000

// noon is when the tests' Views begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// stage is a Server whose Views a test makes.
type stage struct {
	*Server
	alarms *alarm.ActiveSet
	now    time.Time
}

func newStage(tb testing.TB, change func(*Config)) *stage {
	tb.Helper()
	st := &stage{now: noon, alarms: &alarm.ActiveSet{}}
	cfg := Config{Views: make(chan *merge.View),
		Now: func() time.Time { return st.now }, History: history.New(history.Config{})}
	if change != nil {
		change(&cfg)
	}
	var err error
	if st.Server, err = New(cfg); err != nil {
		tb.Fatal(err)
	}
	return st
}

// show has the Server show a View.
func (st *stage) show(v *merge.View) {
	st.Server.alarms.Store(st.alarms)
	st.Server.show(v)
}

// get asks for a path.
func (st *stage) get(path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	st.Handler().ServeHTTP(w, r)
	return w
}

// document is the JSON of an answer with status 200.
func (st *stage) document(tb testing.TB, path string) map[string]any {
	tb.Helper()
	w := st.get(path)
	if w.Code != http.StatusOK {
		tb.Fatalf("%s answers %d %s", path, w.Code, w.Body)
	}
	return object(tb, w.Body.Bytes())
}

func object(tb testing.TB, text []byte) map[string]any {
	tb.Helper()
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		tb.Fatalf("%v:\n%s", err, text)
	}
	return doc
}

// orders is a small net with everything in it, as of noon.
func orders() *merge.View {
	def := &petri.Net{ID: "orders", Name: "Orders & more", Doc: "what is ordered",
		Places:      []petri.Place{{ID: "due", Name: "Payment due", Initial: 1, At: &petri.Point{X: 10, Y: 10}}, {ID: "paid", At: &petri.Point{X: 300, Y: 10}}},
		Transitions: []petri.Transition{{ID: "pay", Name: "Pay", At: &petri.Point{X: 150, Y: 10}}},
		Arcs:        []petri.Arc{{Source: "due", Target: "pay", Weight: 1}, {Source: "pay", Target: "paid", Weight: 2}}}
	before := func(d time.Duration) int64 { return noon.Add(-d).UnixMicro() }
	rows := stats.NewRows(2, 1)
	rows.Columns = stats.AllColumns &^ stats.ColRunning
	rows.Net = stats.NetRow{Created: 9, Finished: 2, Active: 7, Deadlocked: 1}
	p := &rows.Places[0]
	*p = stats.Place{Tokens: 2, Arrivals: 102, Departures: 100, Instances: 2, Oldest: before(2 * time.Minute), Stuck: []stats.Token{
		{Instance: "host-1/07", Injected: before(2 * time.Minute), Waits: []stats.Wait{{Place: 1, Reason: stats.ReasonMissing, Count: 2}}},
		{Instance: "host-1/08", Injected: before(time.Second), Waits: []stats.Wait{{Place: stats.NoPlace, Reason: stats.ReasonDelayed, Until: before(-time.Minute)}}}}}
	p.Groups = []stats.Group{{Reason: stats.ReasonDelayed, Tokens: 1, Due: before(-time.Minute), Oldest: p.Stuck[1]}, {Reason: stats.ReasonMissing, Tokens: 1, Due: p.Oldest, Oldest: p.Stuck[0]}}
	for _, age := range []time.Duration{2 * time.Minute, time.Second} {
		p.Injected.Add(before(age))
		p.Ages.Add(before(age), noon.UnixMicro(), 1)
	}
	p.Dwell.Observe(0)
	p.Dwell.Observe(2 * second)
	rows.Transitions[0] = stats.Transition{Firings: 100, Failures: 3, Retries: 2, Cancels: 1, Enabled: 1, EnabledSince: before(time.Second),
		LastFiring: before(3 * time.Second), NextDue: before(-time.Minute)}
	rows.Blocks = []stats.Block{{Transition: 0, Place: 1, Reason: stats.ReasonMissing, Instances: 5}, {Place: stats.NoPlace, Reason: stats.ReasonGuarded, Instances: 2}}
	return (&merge.View{At: noon.UnixMicro(), Generation: 41, Nets: []*merge.NetView{{Name: "orders", Def: def, Final: def.FinalPlaces(), Rows: rows, Up: 2}},
		Sources: []merge.Source{
			{Name: "host-1", Net: "orders", State: merge.Up, LastMessage: before(time.Second), Interval: time.Second, Gaps: 2, Region: "east",
				Fence: 3, Position: new(uint64(41)), Standbys: new(uint64(1)), Lag: new(uint64(0))},
			{Name: "host-2", Net: "orders", State: merge.Up, LastMessage: before(time.Second), Interval: time.Second},
			{Name: "host-3", Net: "orders", State: merge.Gone, LastMessage: before(time.Hour)}}}).Sum()
}

// later is a View some time after, in which a place got tokens and a transition
// fired.
func later(v *merge.View, d time.Duration, n uint64) *merge.View {
	next, net := *v, *v.Nets[0]
	next.At, next.Generation = v.At+d.Microseconds(), v.Generation+1
	rows := *net.Rows
	rows.Places, rows.Transitions = slices.Clone(rows.Places), slices.Clone(rows.Transitions)
	rows.Places[0].Arrivals += n
	rows.Places[0].Tokens += n
	rows.Transitions[0].Firings += n
	net.Rows, net.Rates = &rows, nil
	net.Sum()
	perSecond := float64(n) / d.Seconds()
	net.Rates.Arrivals, net.Rates.Departures, net.Rates.Transitions[0].Now, net.Rates.Firings.Now = []float64{perSecond, 0}, []float64{0, 0}, perSecond, perSecond
	next.Nets = []*merge.NetView{&net}
	return &next
}

// world makes Views of a net that changes by chance.
type world struct {
	random *rand.Rand
	view   *merge.View
}

func newWorld(seed uint64, places, transitions int) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 2))}
	rows := stats.NewRows(0, 0)
	rows.Columns = stats.AllColumns
	w.view = &merge.View{At: noon.UnixMicro(), Nets: []*merge.NetView{{Name: "net", Rows: rows}}}
	w.grow(places, transitions)
	return w
}

func (w *world) grow(places, transitions int) {
	net := *w.view.Nets[0]
	rows := stats.NewRows(len(net.Rows.Places)+places, len(net.Rows.Transitions)+transitions)
	copy(rows.Places, net.Rows.Places)
	copy(rows.Transitions, net.Rows.Transitions)
	rows.Columns = net.Rows.Columns
	net.Rows, net.Def = rows, &petri.Net{ID: "net"}
	for i := range rows.Places {
		net.Def.Places = append(net.Def.Places, petri.Place{ID: fmt.Sprint("p", i)})
	}
	for i := range rows.Transitions {
		net.Def.Transitions = append(net.Def.Transitions, petri.Transition{ID: fmt.Sprint("t", i)})
	}
	w.view = &merge.View{At: w.view.At, Generation: w.view.Generation, Nets: []*merge.NetView{net.Sum()}}
}

// tick changes a share of the rows and returns the next View.
func (w *world) tick(busy float64) *merge.View {
	net := *w.view.Nets[0]
	rows := *net.Rows
	rows.Places, rows.Transitions, rows.Blocks = slices.Clone(rows.Places), slices.Clone(rows.Transitions), nil
	at := w.view.At + second
	for i := range rows.Places {
		if p := &rows.Places[i]; w.random.Float64() < busy {
			p.Tokens, p.Instances = w.random.Uint64N(2000), w.random.Uint64N(500)
			p.Oldest, p.Arrivals = at-w.random.Int64N(100*second), p.Arrivals+w.random.Uint64N(1000)
		}
	}
	for i := range rows.Transitions {
		if t := &rows.Transitions[i]; w.random.Float64() < busy {
			t.Firings += w.random.Uint64N(1000)
			t.Enabled, t.EnabledSince, t.Running = w.random.Uint64N(100), at-w.random.Int64N(9*second), w.random.Uint64N(8)
			rows.Blocks = append(rows.Blocks, stats.Block{Transition: int32(i), Reason: stats.ReasonMissing, Instances: 1 + w.random.Uint64N(9)})
		}
	}
	net.Rows, net.Rates = &rows, nil
	net.Sum()
	for i := range net.Rates.Arrivals {
		net.Rates.Arrivals[i] = float64(w.random.IntN(4)) - 1 // now and then not known
	}
	for i := range net.Rates.Transitions {
		net.Rates.Transitions[i].Now = float64(w.random.IntN(4)) - 1
	}
	w.view = &merge.View{At: at, Generation: w.view.Generation + 1 + w.random.Uint64N(2), Nets: []*merge.NetView{net.Sum()}}
	return w.view
}

// answers is an Ask that knows what each source answers.
type answers map[string]func(ctx context.Context) (*telemetry.Instance, error)

func (a answers) ask(ctx context.Context, _, source, _ string) (*telemetry.Instance, error) {
	if answer := a[source]; answer != nil {
		return answer(ctx)
	}
	return nil, telemetry.ErrNoInstance
}
