// SPDX-License-Identifier: Apache-2.0

package web

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// equal compares a document with JSON.
func equal(t *testing.T, got map[string]any, want string) {
	t.Helper()
	if d := cmp.Diff(object(t, []byte(want)), got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTheOverviewSumsNetsSourcesAndAlarms(t *testing.T) {
	st := newStage(t, nil)
	st.alarms = &alarm.ActiveSet{Active: []alarm.Alarm{{Index: 7, Kind: alarm.TokenStuck, Severity: alarm.Minor, Net: "orders", Subject: "due",
		Raised: noon.Add(-30 * time.Second).UnixMicro(), Since: noon.Add(-time.Minute).UnixMicro(), Affected: 3, Text: "stuck"},
		{Index: 8, Kind: alarm.SourceLost, Severity: alarm.Major, Subject: "host-3", Since: noon.UnixMicro()}}}
	st.show(orders())
	st.show(later(orders(), 2*time.Second, 5))
	hash := st.board.Load().nets["orders"].drawing.hash
	equal(t, st.document(t, "/api/v1/overview"), `{"at":"2026-03-01T12:00:02.000000Z","generation":42,
		"history":{"from":"2026-03-01T12:00:00.000000Z","to":"2026-03-01T12:00:02.000000Z","step":1},
		"nets":[{"id":"orders","name":"Orders & more","digests":[],"tokens":7,
			"instances":{"created":9,"finished":2,"failed":0,"active":7,"deadlocked":1},"oldest_age_seconds":122,"oldest_place":"due","oldest_name":"Payment due","firings":105,
			"rate":2.5,"rate_1m":0,"rate_5m":0,"rate_15m":0,"waiting":0,"sources_up":2,"sources_stale":0,"alarms":1,"alarms_following":0,"alarms_unknown":0,"drawing":"`+hash+`"}],
		"sources":[{"name":"host-1","net":"orders","state":"up","last_heard_age_seconds":3,"gaps":2,"region":"east","fence":3,"position":41,"standbys":1,"lag":0},
			{"name":"host-2","net":"orders","state":"up","last_heard_age_seconds":3,"gaps":0},
			{"name":"host-3","net":"orders","state":"gone","last_heard_age_seconds":3602,"gaps":0}],
		"deaf":false,"actions":false,"silences":[],"alarms":[{"index":7,"alarm":"tokenStuck","severity":"minor","net":"orders","place":"due","net_name":"Orders & more","name":"Payment due","raised":"2026-03-01T11:59:30.000000Z","since":"2026-03-01T11:59:00.000000Z",
				"age_seconds":62,"affected":3,"text":"stuck"},
			{"index":8,"alarm":"sourceLost","severity":"major","source":"host-3","since":"2026-03-01T12:00:00.000000Z","age_seconds":2,"affected":0}]}`)
}

func TestAnOverviewSaysThatTheSidecarIsCutOff(t *testing.T) {
	st, v := newStage(t, nil), orders()
	v.NATS, v.Interrupted = &natslink.ConnState{Since: noon.UnixMicro(), Reason: "EOF"}, true
	v.Up = &natslink.ConnState{Connected: true, Since: noon.Add(-time.Hour).UnixMicro()}
	st.show(v)
	doc := st.document(t, "/api/v1/overview")
	for path, sources := range map[string]any{"/api/v1/overview": doc["sources"], "/api/v1/view": st.document(t, "/api/v1/view")["sources"]} {
		var states []any
		for _, s := range sources.([]any) {
			states = append(states, s.(map[string]any)["state"])
		}
		if diff := cmp.Diff([]any{"unknown", "unknown", "gone"}, states); diff != "" {
			t.Errorf("%s: the states of the sources (-want +got): %s", path, diff)
		}
	}
	got, err := json.Marshal(map[string]any{"nats": doc["nats"], "up_nats": doc["up_nats"], "deaf": doc["deaf"]})
	if want := `{"deaf":true,"nats":{"connected":false,"disconnects":0,"reason":"EOF","since":"2026-03-01T12:00:00.000000Z"},` +
		`"up_nats":{"connected":true,"disconnects":0,"since":"2026-03-01T11:00:00.000000Z"}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestBeforeAViewTheOverviewIsEmpty(t *testing.T) {
	equal(t, newStage(t, nil).document(t, "/api/v1/overview"),
		`{"at":"1970-01-01T00:00:00.000000Z","generation":0,"nets":[],"sources":[],"alarms":[],"silences":[],"actions":false,"deaf":false}`)
}

func TestAnOverviewIsBoundedAndSaysWhatItLeavesOut(t *testing.T) {
	st, v := newStage(t, nil), orders()
	v.Sources = nil
	for i := range 3 * maxListed {
		s := merge.Source{Name: fmt.Sprint("s", i), Net: "orders", State: merge.Up}
		if i%100 == 99 {
			s.State = merge.Stale
		}
		v.Sources = append(v.Sources, s)
		st.alarms.Active = append(st.alarms.Active, alarm.Alarm{Index: uint32(i), Net: "orders"})
	}
	st.show(v.Sum())
	doc := st.document(t, "/api/v1/overview")
	stale := 0
	for _, s := range doc["sources"].([]any) {
		if s.(map[string]any)["state"] == "stale" {
			stale++
		}
	}
	if n := len(doc["sources"].([]any)); n != maxListed || doc["sources_left_out"] != 2.0*maxListed || stale != 30 {
		t.Errorf("%d sources, %d of them stale, %v left out", n, stale, doc["sources_left_out"])
	}
	if n := len(doc["alarms"].([]any)); n != maxListed || doc["alarms_left_out"] != 2.0*maxListed {
		t.Errorf("%d alarms, %v left out", n, doc["alarms_left_out"])
	}
	if n := doc["nets"].([]any)[0].(map[string]any)["alarms"]; n != 3.0*maxListed {
		t.Errorf("the net has %v alarms", n)
	}
}

func TestAPlaceShowsWhatItsOldestTokensWaitFor(t *testing.T) {
	st := newStage(t, nil)
	st.show(orders())
	doc := st.document(t, "/api/v1/place?net=orders&place=due")
	dwell := doc["dwell"].(map[string]any)
	if n := len(dwell["buckets"].([]any)); n != 2 || dwell["count"] != 2.0 || dwell["mean"] != 1.0 {
		t.Errorf("dwell %v", dwell)
	}
	delete(doc, "dwell")
	equal(t, doc, `{"id":"due","name":"Payment due","final":false,"tokens":2,"instances":2,"oldest_since":"2026-03-01T11:58:00.000000Z","oldest_age_seconds":120,"mean_age_seconds":60.5,
		"arrivals":102,"departures":100,"older_than":{"1s":1,"10s":1,"1m":1,"10m":0,"1h":0,"6h":0,"1d":0,"7d":0},
		"stuck":[{"instance":"host-1/07","injected":"2026-03-01T11:58:00.000000Z","age_seconds":120,"waits":[
				{"transition":"pay","place":"paid","reason":"missing","count":2,"text":"waits for 2 tokens in paid"}]},
			{"instance":"host-1/08","injected":"2026-03-01T11:59:59.000000Z","age_seconds":1,"waits":[
				{"transition":"pay","reason":"delayed","until":"2026-03-01T12:01:00.000000Z","text":"waits until its time has come"}]}],
		"reasons":[{"reason":"delayed","tokens":1,"due":"2026-03-01T12:01:00.000000Z","oldest":{"instance":"host-1/08","injected":"2026-03-01T11:59:59.000000Z","age_seconds":1,"waits":[
				{"transition":"pay","reason":"delayed","until":"2026-03-01T12:01:00.000000Z","text":"waits until its time has come"}]}},
			{"reason":"missing","tokens":1,"due":"2026-03-01T11:58:00.000000Z","oldest":{"instance":"host-1/07","injected":"2026-03-01T11:58:00.000000Z","age_seconds":120,"waits":[
				{"transition":"pay","place":"paid","reason":"missing","count":2,"text":"waits for 2 tokens in paid"}]}}],
		"series":{"step":1,"points":[[1772366400000,2,120]]}}`)
}

func TestATransitionShowsWhatHoldsItBack(t *testing.T) {
	st := newStage(t, nil)
	st.show(orders())
	st.show(later(orders(), 2*time.Second, 5))
	st.now = noon.Add(2 * time.Second)
	equal(t, st.document(t, "/api/v1/transition?net=orders&transition=pay"), `{"id":"pay","name":"Pay","firings":105,"rate":2.5,"rate_1m":0,"rate_5m":0,"rate_15m":0,
		"enabled":1,"enabled_since":"2026-03-01T11:59:59.000000Z","enabled_age_seconds":3,"blocked":5,"failures":3,"retries":2,"cancels":1,"timeouts":0,"late_answers":0,
		"last_firing":"2026-03-01T11:59:57.000000Z","next_due":"2026-03-01T12:01:00.000000Z","duration":{"count":0,"sum":0},
		"blocks":[{"transition":"pay","place":"paid","reason":"missing","instances":5,"text":"waits for a token in paid"},
			{"transition":"pay","reason":"guarded","instances":2,"text":"the guard is false"}],
		"series":{"step":1,"points":[[1772366400000,null,null],[1772366402000,2.5,null]]}}`)
}

func TestWhatNoSourceKnowsIsAbsent(t *testing.T) {
	st, v := newStage(t, nil), orders()
	v.Nets[0].Rows.Columns = stats.ColFirings
	st.show(v)
	equal(t, st.document(t, "/api/v1/place?net=orders&place=due"),
		`{"id":"due","name":"Payment due","final":false,"series":{"step":1,"points":[[1772366400000,null,null]]}}`)
	frame := st.board.Load().nets["orders"].frame()
	if got := string(encoded(&frame.Frame)); !strings.Contains(got, `"places":[{},{}],"transitions":[{}]`) {
		t.Errorf("frame %s", got)
	}
}

func TestADrawingHasItsHashAsETag(t *testing.T) {
	st := newStage(t, nil)
	st.show(orders())
	w := st.get("/api/v1/drawing?net=orders")
	doc := object(t, w.Body.Bytes())
	if etag := w.Header().Get("ETag"); w.Code != 200 || etag != `"`+doc["hash"].(string)+`"` || doc["positions"] != "given" {
		t.Errorf("got status %d, ETag %s, %v; want 200, the hash and given positions", w.Code, etag, doc)
	}
	nodes, arcs := doc["nodes"].([]any), doc["arcs"].([]any)
	if len(nodes) != 3 || len(arcs) != 2 || nodes[0].(map[string]any)["initial"] != 1.0 || nodes[2].(map[string]any)["kind"] != "transition" ||
		arcs[1].(map[string]any)["weight"] != 2.0 || arcs[0].(map[string]any)["kind"] != "normal" || len(arcs[0].(map[string]any)["points"].([]any)) < 2 {
		t.Errorf("got nodes %v and arcs %v; want those of the definition", nodes, arcs)
	}
	if again := st.get("/api/v1/drawing?net=orders", "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("again it answers %d", again.Code)
	}
	grown := orders()
	def := *grown.Nets[0].Def
	def.Places = append(def.Places[:1:1], def.Places[1], def.Places[0])
	def.Places[2].ID = "new"
	grown.Nets[0].Def, grown.Nets[0].Rows = &def, stats.NewRows(3, 1)
	st.show(grown.Sum())
	if again := st.get("/api/v1/drawing?net=orders", "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusOK {
		t.Errorf("when the net has grown it answers %d", again.Code)
	}
}

func TestAPictureIsSVG(t *testing.T) {
	st := newStage(t, nil)
	st.show(orders())
	w := st.get("/api/v1/drawing.svg?net=orders")
	if w.Code != 200 || w.Header().Get("Content-Type") != "image/svg+xml" || !strings.Contains(w.Body.String(), "<svg") ||
		!strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("got status %d, headers %v; want a picture with a policy of its own:\n%.300s", w.Code, w.Header(), w.Body)
	}
}

// TestThePastIsAsItWas also when the net has grown since.
func TestThePastIsAsItWas(t *testing.T) {
	st := newStage(t, nil)
	v := orders()
	st.show(v)
	v = later(v, 2*time.Second, 8)
	st.show(v)
	then := dataOf(t, st.board.Load().nets["orders"].whole())
	v = later(v, 2*time.Second, 0)
	def := *v.Nets[0].Def
	def.Places = append(def.Places[:2:2], def.Places[0])
	def.Places[2].ID = "new"
	rows := stats.NewRows(3, 1)
	rows.Merge(&stats.Rows{Places: append(append([]stats.Place{}, v.Nets[0].Rows.Places...), stats.Place{}), Transitions: v.Nets[0].Rows.Transitions})
	rows.Columns = v.Nets[0].Rows.Columns
	v.Nets[0].Def, v.Nets[0].Rows = &def, rows
	st.show(v.Sum())
	want, got := object(t, then), st.document(t, "/api/v1/history?net=orders&at=2026-03-01T12:00:03.5Z")
	want["generation"], want["drawing"] = 0.0, st.board.Load().nets["orders"].drawing.hash
	want["places"] = append(want["places"].([]any), map[string]any{})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if w := st.get("/api/v1/history?net=orders&at=2026-03-01T11:59:59Z"); w.Code != http.StatusNotFound {
		t.Errorf("before the first it answers %d", w.Code)
	}
}

func TestAnInstanceIsAskedForAndRemembered(t *testing.T) {
	at := int64(5_000_000) // the clock of the source is that of long ago
	found := &telemetry.Instance{Instance: "host-1/07", At: at, LeftOut: 3, Tokens: []telemetry.InstanceToken{
		{Place: "due", Tokens: 2, Injected: at - 30*second, Waits: []telemetry.InstanceWait{
			{Transition: "pay", Reason: "inhibited", Place: "due", Count: 1, Until: at + 10*second}}}}}
	st := newStage(t, func(c *Config) {
		c.Ask = answers{"host-1": func(context.Context) (*telemetry.Instance, error) { return found, nil }}.ask
	})
	st.show(orders())
	equal(t, st.document(t, "/api/v1/instance?net=orders&instance=host-1/07"), `{"instance":"host-1/07","source":"host-1","left_out":3,
		"now":[{"place":"due","tokens":2,"injected":"2026-03-01T11:59:30.000000Z","age_seconds":30,"waits":[{"transition":"pay","place":"due","reason":"inhibited",
			"count":1,"until":"2026-03-01T12:00:10.000000Z","text":"a token in Payment due must go first"}]}],
		"seen":[{"place":"due","injected":"2026-03-01T11:58:00.000000Z","first_seen":"2026-03-01T12:00:00.000000Z","last_seen":"2026-03-01T12:00:00.000000Z","gone":false,
			"waits":[{"transition":"pay","place":"paid","reason":"missing","count":2,"text":"waits for 2 tokens in paid"}]}]}`)
}

func TestAnInstanceWithoutAnAnswer(t *testing.T) {
	old := func(context.Context) (*telemetry.Instance, error) {
		return nil, errors.New("it answers: place 0, of 2")
	}
	silent := func(ctx context.Context) (*telemetry.Instance, error) { <-ctx.Done(); return nil, ctx.Err() }
	for name, c := range map[string]struct {
		ask  answers
		want string
	}{
		"is of none":               {answers{}, "none of the 2 engines that are up has this instance"},
		"is of an old engine":      {answers{"host-2": old}, "it answers: place 0, of 2"},
		"is of a silent one":       {answers{"host-2": silent}, context.DeadlineExceeded.Error()},
		"is of one that is gone":   {answers{"host-3": old}, "none of the 2 engines that are up has this instance"},
		"cannot be asked for":      {nil, "the sidecar cannot ask engines"},
		"no longer has an engine ": {answers{"": old}, "no engine of this net is up"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, v := newStage(t, func(cfg *Config) {
					if c.ask != nil {
						cfg.Ask = c.ask.ask
					}
				}), orders()
				if c.ask[""] != nil {
					v.Sources = nil
				}
				st.show(v)
				began := time.Now()
				doc := st.document(t, "/api/v1/instance?net=orders&instance=x")
				if doc["unanswered"] != c.want || doc["now"] != nil {
					t.Errorf("got %v; want unanswered %q without tokens", doc, c.want)
				}
				if took := time.Since(began); took > askTimeout {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// TestOneAnswerIsEnough although other sources do not answer and the number of
// concurrent requests is bounded.
func TestOneAnswerIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := orders()
		v.Sources = nil
		for i := range 100 {
			v.Sources = append(v.Sources, merge.Source{Name: fmt.Sprint("s", i), Net: "orders", State: merge.Up})
		}
		var asked atomic.Int32
		st := newStage(t, func(c *Config) {
			c.Ask = func(ctx context.Context, _, source, _ string) (*telemetry.Instance, error) {
				asked.Add(1)
				if source == "s3" {
					return &telemetry.Instance{}, nil
				}
				<-ctx.Done()
				return nil, ctx.Err()
			}
		})
		st.show(v)
		began := time.Now()
		if doc := st.document(t, "/api/v1/instance?net=orders&instance=x"); doc["source"] != "s3" || time.Since(began) != 0 {
			t.Errorf("after %v: %v", time.Since(began), doc)
		}
		synctest.Wait()
		if n := asked.Load(); n > askAtOnce+1 {
			t.Errorf("%d were asked", n)
		}
	})
}

func TestWrongRequestsGetTheReason(t *testing.T) {
	st := newStage(t, nil)
	st.show(orders())
	long := url.QueryEscape(strings.Repeat("x", maxName+1))
	for path, want := range map[string]int{
		"/api/v1/place?place=due": 400, "/api/v1/place?net=no&place=due": 404, "/api/v1/place?net=orders&place=no": 404,
		"/api/v1/transition?net=orders&transition=": 404, "/api/v1/drawing?net=no": 404, "/api/v1/drawing.svg": 400,
		"/api/v1/drawing?net=orders&place=due": 400, "/api/v1/drawing?net=orders&place=due&steps=6": 400, "/api/v1/drawing?net=orders&place=due&steps=0": 400,
		"/api/v1/drawing?net=orders&place=no&steps=2": 404, "/api/v1/drawing?net=orders&transition=due&steps=2": 404, "/api/v1/drawing?net=orders&place=&steps=2": 404,
		"/api/v1/history?net=orders": 400, "/api/v1/history?net=orders&at=yesterday": 400,
		"/api/v1/instance?net=orders": 400, "/api/v1/instance?net=orders&instance=" + long: 400,
		"/api/v1/nothing": 404, "/nothing": 404, "/../web/doc.go": 404, "/page/index.html": 404,
	} {
		w := st.get(path)
		if text, _ := object(t, w.Body.Bytes())["error"].(string); w.Code != want || text == "" {
			t.Errorf("%.60s answers %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		w := httptest.NewRecorder()
		st.Handler().ServeHTTP(w, httptest.NewRequest(method, "/api/v1/overview", nil))
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
			t.Errorf("%s answers %d", method, w.Code)
		}
	}
}

func TestTooManyRequestsAreRefused(t *testing.T) {
	enter, leave := make(chan struct{}), make(chan struct{})
	st := newStage(t, func(c *Config) {
		c.Requests = 1
		c.Ask = func(context.Context, string, string, string) (*telemetry.Instance, error) {
			enter <- struct{}{}
			<-leave
			return &telemetry.Instance{}, nil
		}
	})
	v := orders()
	v.Sources = v.Sources[:1]
	st.show(v)
	ended := make(chan int)
	go func() { ended <- st.get("/api/v1/instance?net=orders&instance=x").Code }()
	<-enter
	if w := st.get("/api/v1/overview"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a second answers %d", w.Code)
	}
	close(leave)
	if code := <-ended; code != http.StatusOK {
		t.Errorf("the first answers %d", code)
	}
	if w := st.get("/api/v1/overview"); w.Code != http.StatusOK || st.Counters().Refused != (Refused{Requests: 1}) {
		t.Errorf("a third answers %d; %+v", w.Code, st.Counters())
	}
}

func TestEveryAnswerSaysHowLongItMayBeKept(t *testing.T) {
	st := newStage(t, nil)
	st.show(orders())
	for _, path := range []string{"/", "/api/v1/view", "/api/v1/alarms", "/api/v1/overview", "/api/v1/drawing?net=orders", "/nothing", "/api/v1/place"} {
		if st.get(path).Header().Get("Cache-Control") == "" {
			t.Errorf("%s: got no Cache-Control; want one", path)
		}
	}
}

func TestFilesAreServedOnceAndPacked(t *testing.T) {
	st := newStage(t, nil)
	all := maps.Clone(st.site.files)
	for path, f := range st.site.files {
		all[assets+st.site.digest+path] = f
	}
	maps.Copy(all, st.site.documents)
	for path, f := range all {
		w := st.get(path)
		want, err := f.unpacked()
		if err != nil {
			t.Fatal(err)
		}
		if w.Code != 200 || w.Body.String() != string(want) || w.Header().Get("Content-Type") != f.contentType {
			t.Errorf("%s answers %d", path, w.Code)
		}
		if again := st.get(path, "If-None-Match", `"x", W/"`+st.site.digest+`"`); again.Code != http.StatusNotModified {
			t.Errorf("%s again answers %d", path, again.Code)
		}
		packed := st.get(path, "Accept-Encoding", "br, gzip")
		if packed.Header().Get("Content-Encoding") != "gzip" {
			if len(want) >= packFrom {
				t.Errorf("%s is not packed", path)
			}
			continue
		}
		if z, err := gzip.NewReader(packed.Body); err != nil {
			t.Error(err)
		} else if text, err := io.ReadAll(z); err != nil || string(text) != string(want) {
			t.Errorf("%s is packed wrongly: %v", path, err)
		}
	}
	if all["/"] == nil || all["/main.js"] == nil {
		t.Error("there is no page")
	}
}

func FuzzRequest(f *testing.F) {
	st := newStage(f, func(c *Config) { c.Ask = answers{}.ask })
	st.show(orders())
	for _, path := range []string{"/", "/api/v1/overview", "/api/v1/place", "/api/v1/transition", "/api/v1/instance", "/api/v1/history", "/api/v1/drawing.svg"} {
		f.Add(path, "net=orders&place=due&transition=pay&instance=a&at=2026-03-01T12:00:00Z", "gzip")
	}
	f.Fuzz(func(t *testing.T, path, query, encoding string) {
		if path == "/api/v1/live" {
			return // it does not end
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL = &url.URL{Path: path, RawQuery: query}
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		st.Handler().ServeHTTP(w, r)
		body := w.Body.Bytes()
		if w.Header().Get("Content-Encoding") == "gzip" { // long, and the client accepts it
			z, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if w.Code >= 400 && !json.Valid(body) || w.Code == http.StatusInternalServerError {
			t.Errorf("got status %d, %q; want JSON, and no fault of the server", w.Code, body)
		}
	})
}

// Tokens where a net ends are finished work: however old, they are not the
// oldest of their net, and have no heat.
func TestFinishedWorkIsNeitherOldestNorHot(t *testing.T) {
	st := newStage(t, nil)
	view := orders()
	paid := &view.Nets[0].Rows.Places[1] // no transition takes its tokens
	paid.Tokens, paid.Oldest = 5000, noon.AddDate(0, -1, 0).UnixMicro()
	st.show(view.Sum())
	net := st.document(t, "/api/v1/overview")["nets"].([]any)[0].(map[string]any)
	if net["oldest_age_seconds"] != 120.0 || net["oldest_place"] != "due" || net["tokens"] != 5002.0 {
		t.Errorf("the net is %v", net)
	}
	var final []any
	for _, n := range st.document(t, "/api/v1/drawing?net=orders")["nodes"].([]any) {
		final = append(final, n.(map[string]any)["final"])
	}
	if d := cmp.Diff([]any{nil, true, nil}, final); d != "" {
		t.Errorf("final nodes of the drawing (-want +got):\n%s", d)
	}
	for place, want := range map[string]any{"due": false, "paid": true} {
		if doc := st.document(t, "/api/v1/place?net=orders&place="+place); doc["final"] != want {
			t.Errorf("place %s is %v", place, doc)
		}
	}
	picture := st.get("/api/v1/drawing.svg?net=orders").Body.String()
	for class, want := range map[string]int{"place heat2": 1, "place heat0": 1, "place heat4": 0} {
		if got := strings.Count(picture, class); got != want {
			t.Errorf("%d places of the picture are %q, want %d", got, class, want)
		}
	}
}
