// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/web/api"
)

// ledger is an Archive with one moment, an hour before what is asked for.
type ledger struct{ err error }

const ledgerFrom = 1_600_000_000_000_000

func (*ledger) Extent() (int64, time.Duration) { return ledgerFrom, 15 * time.Second }

func (l *ledger) Frame(_ context.Context, def *petri.Net, at int64) (*api.Frame, error) {
	if l.err != nil {
		return nil, l.err
	}
	f := &api.Frame{Net: def.ID, At: api.Time(at - 3600*second), Archive: true, Places: make([]api.PlaceNow, len(def.Places)), Transitions: make([]api.TransitionNow, len(def.Transitions))}
	f.Places[0] = api.PlaceNow{Tokens: new(uint64(12)), OldestSince: f.At - 9*second}
	f.Transitions[0] = api.TransitionNow{Running: new(uint64(3)), EnabledSince: f.At - 4*second}
	return f, nil
}

func (l *ledger) Overview(_ context.Context, at int64) (*api.Overview, error) {
	if l.err != nil {
		return nil, l.err
	}
	return &api.Overview{At: api.Time(at - 3600*second), Archive: true, Nets: []api.NetOverview{{NetTotals: api.NetTotals{ID: "orders", Tokens: new(uint64(12))}, Alarms: 1}, {NetTotals: api.NetTotals{ID: "gone"}}},
		Sources: []api.SourceState{{Name: "host-1", Net: "orders", State: "up"}}, Silences: []api.Silence{},
		Alarms: []api.Alarm{{Alarm: "tokenStuck", Severity: "minor", Net: "orders", Place: "due", Raised: api.Time(noon.UnixMicro()) - 7200*second + 3, Acknowledged: &api.Ack{}},
			{Alarm: "tokenStuck", Severity: "minor", Net: "orders", Place: "due", Raised: 5}},
		NATS: &api.Connection{Connected: true}}, nil
}

func (l *ledger) PlaceSeries(_ context.Context, _, _ string, at int64) (*api.Series, error) {
	if l.err != nil {
		return nil, l.err
	}
	return &api.Series{Step: 15, Points: [][]*float64{{millis(at), new(1.0), nil}}}, nil
}

func (l *ledger) TransitionSeries(ctx context.Context, net, _ string, at int64) (*api.Series, error) {
	return l.PlaceSeries(ctx, net, "", at)
}

// What the history does not keep is that of the archive, with the names, drawings and alarms
// that the sidecar knows.
func TestOlderMomentsAreThoseOfTheArchive(t *testing.T) {
	st := newStage(t, func(c *Config) { c.Archive = &ledger{} })
	raised := noon.UnixMicro() - 7200*second
	st.alarms = &alarm.ActiveSet{Active: []alarm.Alarm{{Index: 9, Kind: alarm.TokenStuck, Net: "orders", Subject: "due", Raised: noon.UnixMicro()}},
		Cleared: []alarm.ClearedAlarm{{Alarm: alarm.Alarm{Index: 7, Kind: alarm.TokenStuck, Net: "orders", Subject: "due", Raised: raised, Ack: &alarm.Ack{At: raised + second, By: "ada", Comment: "seen"}}}}}
	st.show(orders())
	hash := st.board.Load().nets["orders"].drawing.hash
	const at = "at=2026-03-01T11:00:00Z"
	kept := `"history":{"from":"2026-03-01T12:00:00.000000Z","to":"2026-03-01T12:00:00.000000Z","step":1,"archive":{"from":"2020-09-13T12:26:40.000000Z","step":15}}`
	equal(t, st.document(t, "/api/v1/overview?"+at), `{"at":"2026-03-01T10:00:00.000000Z","generation":0,"archive":true,`+kept+`,
		"nets":[{"id":"orders","name":"Orders & more","tokens":12,"sources_up":0,"sources_stale":0,"alarms":1,"alarms_following":0,"alarms_unknown":0,"drawing":"`+hash+`"},{"id":"gone","sources_up":0,"sources_stale":0,"alarms":0,"alarms_following":0,"alarms_unknown":0}],
		"sources":[{"name":"host-1","net":"orders","state":"up","gaps":0}],"nats":{"connected":true,"disconnects":0},"deaf":false,"actions":false,"silences":[],
		"alarms":[{"index":7,"alarm":"tokenStuck","severity":"minor","net":"orders","place":"due","raised":"2026-03-01T10:00:00.000003Z","net_name":"Orders & more","name":"Payment due","acknowledged":{"by":"ada","at":"2026-03-01T10:00:01.000000Z","comment":"seen"}},
			{"alarm":"tokenStuck","severity":"minor","net":"orders","place":"due","raised":"1970-01-01T00:00:00.000005Z","net_name":"Orders & more","name":"Payment due"}]}`)
	equal(t, st.document(t, "/api/v1/history?net=orders&"+at), `{"net":"orders","drawing":"`+hash+`","generation":0,"at":"2026-03-01T10:00:00.000000Z","archive":true,
		"places":[{"tokens":12,"oldest_since":"2026-03-01T09:59:51.000000Z"},{}],"transitions":[{"running":3,"enabled_since":"2026-03-01T09:59:56.000000Z"}]}`)
	series := `"series":{"step":15,"points":[[1772362800000,1,null]]}`
	equal(t, st.document(t, "/api/v1/place?net=orders&place=due&"+at), `{"id":"due","name":"Payment due","final":false,"tokens":12,"oldest_since":"2026-03-01T09:59:51.000000Z","oldest_age_seconds":9,
		"at":"2026-03-01T10:00:00.000000Z","archive":true,`+series+`}`)
	equal(t, st.document(t, "/api/v1/transition?net=orders&transition=pay&"+at), `{"id":"pay","name":"Pay","running":3,"enabled_since":"2026-03-01T09:59:56.000000Z","enabled_age_seconds":4,
		"at":"2026-03-01T10:00:00.000000Z","archive":true,`+series+`}`)
	if now := st.document(t, "/api/v1/overview"); cmp.Diff(now["history"], object(t, []byte("{"+kept+"}"))["history"]) != "" {
		t.Errorf("the overview of now has the history %v", now["history"])
	}
}

func TestErrorsOfTheArchiveHaveTheirStatus(t *testing.T) {
	l := &ledger{}
	st := newStage(t, func(c *Config) { c.Archive = l })
	st.show(orders())
	for err, want := range map[error]int{api.ErrNothing: http.StatusNotFound, api.ErrBusy: http.StatusServiceUnavailable, errors.New("connection refused"): http.StatusBadGateway} {
		l.err = err
		for _, path := range []string{"overview?", "history?net=orders&", "place?net=orders&place=due&", "transition?net=orders&transition=pay&"} {
			w := st.get("/api/v1/" + path + "at=2026-03-01T11:00:00Z")
			if why, _ := object(t, w.Body.Bytes())["error"].(string); w.Code != want || why != err.Error() || (want == http.StatusServiceUnavailable) != (w.Header().Get("Retry-After") != "") {
				t.Errorf("%s answers %d %s, want %d", path, w.Code, w.Body, want)
			}
		}
	}
}

// The drawer of a moment has the row and the oldest tokens of then, and the series that ends there.
func TestDetailsOfThePast(t *testing.T) {
	st := newStage(t, nil)
	v := orders()
	for i := range 5 {
		st.show(v)
		v = later(v, time.Second, uint64(i))
	}
	at := "&at=2026-03-01T12:00:02.9Z"
	place := st.document(t, "/api/v1/place?net=orders&place=due"+at)
	frame := st.document(t, "/api/v1/history?net=orders"+at)
	row := frame["places"].([]any)[0].(map[string]any)
	for name, want := range row {
		if cmp.Diff(want, place[name]) != "" {
			t.Errorf("%s is %v; want %v", name, place[name], want)
		}
	}
	points := place["series"].(map[string]any)["points"].([]any)
	stuck := place["stuck"].([]any)
	if place["at"] != "2026-03-01T12:00:02.000000Z" || place["oldest_age_seconds"] != 122.0 || len(points) != 3 || len(stuck) != 2 ||
		stuck[0].(map[string]any)["instance"] != "host-1/07" || stuck[0].(map[string]any)["age_seconds"] != 122.0 || place["dwell"] != nil || place["arrivals"] != nil {
		t.Errorf("got %v; want the place two seconds after noon, and nothing of now", place)
	}
	transition := st.document(t, "/api/v1/transition?net=orders&transition=pay"+at)
	points = transition["series"].(map[string]any)["points"].([]any)
	if transition["at"] != "2026-03-01T12:00:02.000000Z" || transition["rate"] != 1.0 || len(points) != 3 || transition["firings"] != nil {
		t.Errorf("got %v; want the transition two seconds after noon", transition)
	}
	for path, want := range map[string]int{"place?net=orders&place=due&at=x": 400, "transition?net=orders&transition=pay&at=": 400,
		"place?net=orders&place=due&at=2026-03-01T11:00:00Z": 404, "transition?net=orders&transition=pay&at=2026-03-01T11:00:00Z": 404} {
		if w := st.get("/api/v1/" + path); w.Code != want {
			t.Errorf("%s answers %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}
