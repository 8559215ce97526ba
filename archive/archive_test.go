// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/internal/promquery"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/web/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sampled is when the fake's newest sample is.
const sampled = 1_772_366_400

// fake answers expressions that hold a text with series, and others with none.
type fake struct {
	has   map[string][]string // samples by a part of the expression, each {labels} value
	count atomic.Int64
	wait  chan struct{} // nil waits for nothing
}

// RoundTrip implements http.RoundTripper.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	f.count.Add(1)
	if f.wait != nil {
		select {
		case <-f.wait:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	_ = r.ParseForm()
	query := r.Form.Get("query")
	var series []string
	for part, samples := range f.has {
		if !strings.Contains(query, part) {
			continue
		}
		for _, s := range samples {
			labels, value, _ := strings.Cut(s, "} ")
			series = append(series, fmt.Sprintf(`{"metric":%s},"value":[%d,"%s"]}`, labels, sampled, value))
		}
	}
	text := `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(series, ",") + `]}}`
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Body: body{strings.NewReader(text)}, Request: r}, nil
}

func open(t *testing.T, transport http.RoundTripper) *Archive {
	t.Helper()
	a, err := New(Config{URL: "http://ada:secret@prometheus", HTTP: &http.Client{Transport: transport}, Matchers: `job="pnagent"`})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func someNet() *petri.Net {
	return &petri.Net{ID: "n", Places: []petri.Place{{ID: "p"}, {ID: "quiet"}}, Transitions: []petri.Transition{{ID: "t"}}}
}

// now is the moment of the fake's samples.
func now() map[string][]string {
	return map[string][]string{"timestamp": {fmt.Sprintf("{} %d.5", sampled)},
		"petrinet_place_tokens|": {`{"__name__":"petrinet_place_tokens","place":"p"} 7`, `{"__name__":"petrinet_place_tokens","place":"gone"} 8`,
			`{"__name__":"petrinet_place_oldest_token_age_seconds","place":"p"} 2.5`, `{"__name__":"petrinet_place_oldest_token_age_seconds","place":"quiet"} 0`, `{"__name__":"petrinet_place_instances","place":"p"} NaN`},
		"petrinet_transition_enabled_instances|": {`{"__name__":"petrinet_transition_running","transition":"t"} 3`, `{"__name__":"petrinet_transition_failures_total","transition":"t"} -1`},
		"rate(petrinet_place_arrivals":           {`{"place":"p"} 0.25`, `{"transition":"t"} +Inf`}}
}

// A value without a sample is absent, as is one that cannot be; rows that the net no longer
// has are left out.
func TestAFrameHasTheRowsOfTheDefinition(t *testing.T) {
	f := &fake{has: now()}
	got, err := open(t, f).Frame(t.Context(), someNet(), sampled*1e6+9e6)
	at := api.Time(sampled*1e6 + 500_000)
	want := &api.Frame{Net: "n", At: at, Archive: true, Transitions: []api.TransitionNow{{Running: new(uint64(3))}},
		Places: []api.PlaceNow{{Tokens: new(uint64(7)), OldestSince: at - 2_500_000, ArrivalRate: new(0.25)}, {}}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func TestAnOverviewOfSamples(t *testing.T) {
	f := &fake{has: map[string][]string{"timestamp": {fmt.Sprintf("{} %d", sampled)},
		"petrinet_instances|":            {`{"__name__":"petrinet_instances","net":"n","state":"active"} 5`, `{"__name__":"petrinet_queue_waiting","net":"n"} 2`},
		"petrinet_place_tokens{":         {`{"net":"n"} 12`},
		"topk":                           {`{"net":"n","place":"p"} 90.5`},
		"(petrinet_transition_firings_t": {`{"net":"n"} 100`},
		"petrinet_source_up|": {`{"__name__":"petrinet_source_up","net":"n","source":"a"} 1`, `{"__name__":"petrinet_source_up","net":"n","source":"b"} 0`, `{"__name__":"petrinet_source_up","net":"n","source":"c"} 0`,
			`{"__name__":"petrinet_source_refused","net":"n","source":"c"} 1`, `{"__name__":"petrinet_source_last_snapshot_age_seconds","net":"n","source":"b"} 40`, `{"__name__":"petrinet_region_standbys","net":"n","source":"a","region":"east"} 2`},
		"petrinet_alarm_active|": {`{"__name__":"petrinet_alarm_active","net":"n","place":"p","alarm":"tokenStuck","severity":"minor"} 1`, `{"__name__":"petrinet_alarm_raised_timestamp_seconds","net":"n","place":"p","alarm":"tokenStuck"} 1772366000.25`,
			`{"__name__":"petrinet_alarm_acknowledged","net":"n","place":"p","alarm":"tokenStuck"} 1`, `{"__name__":"petrinet_alarm_raised_timestamp_seconds","net":"n","alarm":"unknown"} 1`,
			`{"__name__":"petrinet_alarm_active","net":"n","place":"q","alarm":"tokenStuck","severity":"minor"} 1`, `{"__name__":"petrinet_alarm_unknown","net":"n","place":"q","alarm":"tokenStuck"} 1`,
			`{"__name__":"petrinet_alarm_active","net":"n","place":"r","alarm":"tokenStuck","severity":"minor"} 1`, `{"__name__":"petrinet_alarm_follows","net":"n","place":"r","alarm":"tokenStuck","follows":"b"} 1`},
		"pnagent_nats_connected|": {`{"__name__":"pnagent_nats_connected"} 0`, `{"__name__":"pnagent_nats_disconnects_total"} 3`, `{"__name__":"pnagent_sources","state":"stale"} 1`, `{"__name__":"pnagent_sources","state":"gone"} 0`}}}
	got, err := open(t, f).Overview(t.Context(), sampled*1e6)
	want := &api.Overview{At: sampled * 1e6, Archive: true, Silences: []api.Silence{}, NATS: &api.Connection{Disconnects: 3},
		Nets:    []api.NetOverview{{NetTotals: api.NetTotals{ID: "n", Up: 1, Stale: 1, Instances: &api.Instances{Active: 5}, Waiting: new(uint64(2)), Tokens: new(uint64(12)), OldestAge: new(90.5), OldestPlace: "p", Firings: new(uint64(100)), Rate: new(100.0)}, Alarms: 3, Follow: 1, Unknown: 1}},
		Sources: []api.SourceState{{Name: "a", Net: "n", State: "up", Region: "east", Standbys: new(uint64(2))}, {Name: "b", Net: "n", State: "stale", LastMessageAge: new(40.0)}, {Name: "c", Net: "n", State: "refused"}},
		Alarms: []api.Alarm{{Alarm: "tokenStuck", Severity: "minor", Net: "n", Place: "q", Unknown: "the reason is not known any more"}, {Alarm: "tokenStuck", Severity: "minor", Net: "n", Place: "r", Follows: "b"},
			{Alarm: "tokenStuck", Severity: "minor", Net: "n", Place: "p", Raised: 1772366000250000, Acknowledged: &api.Ack{}}}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// A source that may be stale or gone has no state.
//
//promise:unknown stop
func TestAStateThatIsNotKnownIsAbsent(t *testing.T) {
	f := &fake{has: map[string][]string{"timestamp": {fmt.Sprintf("{} %d", sampled)}, "petrinet_source_up|": {`{"__name__":"petrinet_source_up","net":"n","source":"b"} 0`},
		"pnagent_nats_connected|": {`{"__name__":"pnagent_sources","state":"stale"} 1`, `{"__name__":"pnagent_sources","state":"gone"} 1`}}}
	got, err := open(t, f).Overview(t.Context(), sampled*1e6)
	if err != nil || got.NATS != nil || len(got.Sources) != 1 || got.Sources[0].State != "" || len(got.Nets) != 1 || got.Nets[0].Stale != 0 {
		t.Errorf("got %+v, %v; want a source without a state, and no connection", got, err)
	}
}

func TestErrorsAreForPeople(t *testing.T) {
	def := someNet()
	for name, c := range map[string]struct {
		transport http.RoundTripper
		is        error
		says      string
	}{
		"no sample":      {transport(`{"status":"success","data":{"resultType":"vector","result":[]}}`), api.ErrNothing, "no samples of the sidecar in Prometheus at 2026-03-01T12:00:00Z"},
		"a bad matcher":  {transport(`{"status":"error","errorType":"bad_data","error":"parse error"}`), nil, "parse error"},
		"another server": {transport(`<html>`), nil, "not Prometheus"},
		"a matrix":       {transport(`{"status":"success","data":{"resultType":"matrix","result":[]}}`), nil, "matrix"},
		"a scalar":       {transport(`{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`), nil, "scalar"},
		"a bomb":         {transport(strings.Repeat("[", promquery.MaxLists+1)), nil, "too large"},
		"many bytes":     {transport(strings.Repeat(" ", promquery.MaxBytes+1)), nil, "too large"},
		"a long error":   {transport(`{"status":"error","error":"` + strings.Repeat("x", 5000) + `"}`), nil, "x…"},
	} {
		_, err := open(t, c.transport).Frame(t.Context(), def, sampled*1e6)
		if err == nil || !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) || len(err.Error()) > 400 {
			t.Errorf("%s: got %v; want %q", name, err, c.says)
		}
	}
	server := httptest.NewServer(http.NotFoundHandler())
	a, err := New(Config{URL: strings.Replace(server.URL, "http://", "http://ada:secret@", 1), HTTP: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"404 Not Found", "connection refused"} {
		if _, err := a.Frame(t.Context(), def, sampled*1e6); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v; want %q", err, want)
		}
		server.Client().CloseIdleConnections()
		server.Close()
	}
	if _, err := New(Config{Matchers: `job="a"} or up{`}); err == nil {
		t.Error("matchers that end the selector are accepted")
	}
}

// Many viewers of one moment are one request, and viewers of many moments wait or are sent
// away. A Prometheus that hangs costs ten seconds.
func TestManyViewersAreFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{has: now(), wait: make(chan struct{})}
		a, def := open(t, f), someNet()
		ask := func(at int64) <-chan error {
			done := make(chan error, 1)
			go func() {
				_, err := a.Frame(t.Context(), def, at*1e6)
				done <- err
			}()
			return done
		}
		var same []<-chan error
		for range 200 {
			same = append(same, ask(sampled))
		}
		synctest.Wait()
		if n := f.count.Load(); n != 1 {
			t.Errorf("200 viewers of one moment send %d requests at once", n)
		}
		var others []<-chan error
		for i := range int64(40) {
			others = append(others, ask(sampled+1+i))
			synctest.Wait()
		}
		if n := f.count.Load(); n != atOnce {
			t.Errorf("%d requests are under way; want %d", n, atOnce)
		}
		busy := 0
		for _, done := range others {
			select {
			case err := <-done:
				busy++
				if !errors.Is(err, api.ErrBusy) {
					t.Error(err)
				}
			default:
			}
		}
		if busy != 1+len(others)-admitted {
			t.Errorf("%d viewers are sent away; want all but %d", busy, admitted)
		}
		close(f.wait)
		for _, done := range same {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		n := f.count.Load()
		if err := <-ask(sampled); err != nil || f.count.Load() != n {
			t.Errorf("%v, and %d requests for what is kept", err, f.count.Load()-n)
		}
		time.Sleep(keepFor)
		if err := <-ask(sampled); err != nil || f.count.Load() == n {
			t.Errorf("%v, and no request for what is old", err)
		}
		f.wait = make(chan struct{})
		began := time.Now()
		if err := <-ask(sampled + 99); err == nil || time.Since(began) != askTimeout || !strings.Contains(err.Error(), "no answer within 10s") {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		synctest.Wait()
	})
}

func TestOfTooManySourcesThoseThatAreUpAreLeftOut(t *testing.T) {
	all := make([]api.SourceState, 3*maxListed)
	for i := range all {
		all[i].State = "up"
		if i%4 == 0 {
			all[i].State = "stale"
		}
	}
	listed, stale := fewest(all, func(s api.SourceState) bool { return s.State == "up" }), 0
	for _, s := range listed {
		if s.State == "stale" {
			stale++
		}
	}
	if len(listed) != maxListed || stale != 3*maxListed/4 {
		t.Errorf("%d are listed, of which %d are stale", len(listed), stale)
	}
}

// What is kept is bounded in rows.
//
//promise:bounds load
func TestWhatIsKeptIsBounded(t *testing.T) {
	a := open(t, &fake{})
	for i := range 50 {
		a.keep(document{key: request{at: int64(i)}, made: time.Now(), doc: i, rows: 10_000})
	}
	if n := len(a.kept); n < 5 || n > 10 || a.recall(request{at: 49}) != 49 || a.recall(request{at: 0}) != nil {
		t.Errorf("%d documents of 10,000 rows are kept", n)
	}
}

// Run looks for the oldest sample, and again soon if that fails.
func TestTheExtentIsLookedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{has: map[string][]string{}}
		a := open(t, f)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { _ = a.Run(ctx); close(ended) }()
		synctest.Wait()
		if from, _ := a.Extent(); from != 0 {
			t.Errorf("it begins at %d without samples", from)
		}
		first := f.count.Load()
		time.Sleep(retryEvery - time.Second)
		if f.count.Load() != first {
			t.Error("Prometheus is asked more than once a minute")
		}
		time.Sleep(2 * time.Second)
		if f.count.Load() == first {
			t.Error("it is not asked again")
		}
		cancel()
		<-ended
	})
}
