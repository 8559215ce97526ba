// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/web/api"
)

// serve runs a server for a test.
func serve(t *testing.T, h http.HandlerFunc) (string, *http.Client) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	t.Cleanup(s.Client().CloseIdleConnections)
	return s.URL, s.Client()
}

// prom answers every query with a series of each net, unless answer has another
// text for it.
func prom(t *testing.T, nets []string, answer func(query string) string) Prometheus {
	t.Helper()
	url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		query := r.FormValue("query")
		if r.Method != http.MethodPost || r.FormValue("limit") == "" {
			t.Errorf("%s with limit %q", r.Method, r.FormValue("limit"))
		}
		if text := answer(query); text != "" {
			if strings.Contains(text, `"error"`) {
				w.WriteHeader(http.StatusUnprocessableEntity)
			}
			fmt.Fprint(w, text)
			return
		}
		var all []any
		for _, net := range nets {
			if strings.Contains(query, "petrinet_alarm_unknown") || strings.Contains(query, "petrinet_alarm_follows") {
				break // alarms are known to hold
			}
			labels := map[string]string{"net": net, "place": "p of " + net, "alarm": "tokenStuck", "severity": "minor"}
			if strings.HasSuffix(r.URL.Path, "query_range") {
				all = append(all, map[string]any{"metric": labels, "values": []any{[]any{now.Add(-time.Minute).Unix(), "1"}, []any{now.Unix(), "2"}}})
			} else {
				all = append(all, map[string]any{"metric": labels, "value": []any{now.Unix(), "2"}})
			}
		}
		kind := "vector"
		if strings.HasSuffix(r.URL.Path, "query_range") {
			kind = "matrix"
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": kind, "result": all}})
	})
	return Prometheus{URL: url + "/", Name: "http://prometheus", HTTP: client}
}

const failed = `{"status":"error","errorType":"execution","error":"query timed out"}`

func ours(string) string { return "" }

func TestEveryPanelOfEveryDashboardIsDrawn(t *testing.T) {
	last, what := 0, ""
	r, err := prom(t, []string{"a", "b", `"<b>`}, ours).Report(t.Context(), Options{Now: now, Since: time.Hour, Progress: func(done, total int, w string) {
		last, what = total-done, w
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last != 0 || what == "" {
		t.Errorf("%d panels are not said to be done, last %q", last, what)
	}
	for _, s := range r.Sections {
		for _, p := range s.Parts {
			for _, f := range p.Figures {
				if f.Fault != "" {
					t.Errorf("%s, %s: %s", s.Title, f.Title, f.Fault)
				}
			}
		}
	}
	if len(r.Sections) != 6 || r.Headline[0] != "3 nets: 3 have something wrong now." {
		t.Errorf("%d sections, %q", len(r.Sections), r.Headline)
	}
	checkPage(t, r)
}

func TestAQueryThatFailsIsSaidInItsPlace(t *testing.T) {
	r, err := prom(t, []string{"a"}, func(query string) string {
		if strings.Contains(query, "dwell") {
			return failed
		}
		return ""
	}).Report(t.Context(), Options{Now: now, Since: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	page := checkPage(t, r)
	if n := strings.Count(page, "Not drawn: query"); n != 4 || !strings.Contains(page, "422 Unprocessable Entity: query timed out") || !strings.Contains(page, "<path class=\"line") {
		t.Errorf("%d pictures are not drawn", n)
	}
}

func TestOnlyOneNetIsAskedForWhereOneIsNamed(t *testing.T) {
	p := prom(t, []string{"a.b", "axb"}, ours)
	r, err := p.Report(t.Context(), Options{Now: now, Since: time.Hour, Net: "a.b"})
	if err != nil || len(r.Sections) != 4 || r.Sections[1].Title != "Net a.b" {
		t.Errorf("%v, %+v", err, r)
	}
	if _, err := p.Report(t.Context(), Options{Now: now, Since: time.Hour, Net: "c"}); !errors.Is(err, ErrNoNet) || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("%v", err)
	}
}

// An alarm that was raised hours ago is active now: what the dashboards ask to
// mark when alarms were raised has no series of it any more.
func TestAnAlarmOfHoursAgoIsActiveNow(t *testing.T) {
	r, err := prom(t, []string{"a"}, func(query string) string {
		if strings.Contains(query, "petrinet_alarm_active") && strings.Contains(query, " unless ") {
			return `{"status":"success","data":{"resultType":"vector","result":[]}}`
		}
		return ""
	}).Report(t.Context(), Options{Now: now, Since: time.Hour})
	if page := checkPage(t, r); !strings.Contains(page, "<td>acknowledged, silenced</td>") {
		t.Error("the notes of the alarm are missing")
	}
	if err != nil || !slices.Contains(r.Headline, "1 net: 1 has something wrong now.") || !strings.Contains(strings.Join(r.Headline, "\n"), "1 active now") {
		t.Errorf("%v, %q", err, r.Headline)
	}
}

func TestManyNetsAreCounted(t *testing.T) {
	var nets []string
	for i := range maxNets + 3 {
		nets = append(nets, fmt.Sprintf("n%02d", i))
	}
	r, err := prom(t, nets, ours).Report(t.Context(), Options{Now: now, Since: 7 * 24 * time.Hour})
	if err != nil || len(r.Sections) != maxNets+3 || !strings.Contains(strings.Join(r.Notes, "\n"), "20 worst of 23 nets") {
		t.Errorf("%v, %d sections, %q", err, len(r.Sections), r.Notes)
	}
	checkPage(t, r)
}

func TestNothingToReportIsAnError(t *testing.T) {
	if _, err := prom(t, nil, ours).Report(t.Context(), Options{Now: now, Since: time.Hour}); !errors.Is(err, ErrNothing) {
		t.Errorf("an empty Prometheus: %v", err)
	}
	if _, err := prom(t, nil, func(string) string { return failed }).Report(t.Context(), Options{Now: now, Since: time.Hour}); err == nil || !strings.Contains(err.Error(), "query timed out") {
		t.Errorf("one that always fails: %v", err)
	}
	url, client := serve(t, http.NotFound)
	if _, err := (Prometheus{URL: url, HTTP: client}).Report(t.Context(), Options{Now: now, Since: time.Hour}); err == nil || !strings.Contains(err.Error(), "404 Not Found") {
		t.Errorf("another server: got %v; want 404 Not Found", err)
	}
	if _, err := (Sidecar{Client: api.Client{URL: url, HTTP: client}}).Report(t.Context(), Options{Now: now, Since: time.Hour}); err == nil || !strings.Contains(err.Error(), "404 Not Found") {
		t.Errorf("no sidecar: got %v; want 404 Not Found", err)
	}
	gone := Prometheus{URL: "http://ada:secret@127.0.0.1:1", HTTP: http.DefaultClient}
	if _, err := gone.Report(t.Context(), Options{Now: now, Since: time.Hour}); err == nil || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "secret") {
		t.Errorf("no listener: got %v; want refused, without the password", err)
	}
}

func TestWhoDoesNotAnswerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: silent{}}
		if _, err := (Prometheus{URL: "http://p", HTTP: client}).Report(t.Context(), Options{Now: now, Since: time.Hour}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if _, err := (Sidecar{Client: api.Client{URL: "http://s", HTTP: client}}).Report(t.Context(), Options{Now: now, Since: time.Hour}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// silent never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestAnInterruptEndsAReport(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	p := prom(t, []string{"a"}, ours)
	if _, err := p.Report(ctx, Options{Now: now, Since: time.Hour, Progress: func(done, _ int, _ string) {
		if done == 3 {
			stop()
		}
	}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// side is a sidecar with two nets, one of which has a stuck place.
func side(t *testing.T, pages map[string]string) Sidecar {
	t.Helper()
	url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, ok := pages[strings.TrimPrefix(r.URL.Path, "/api/v1/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		for _, name := range []string{"place", "transition"} {
			text = strings.ReplaceAll(text, "$"+name, r.URL.Query().Get(name))
		}
		fmt.Fprint(w, text)
	})
	return Sidecar{Client: api.Client{URL: url, HTTP: client}, Name: "http://sidecar"}
}

func pages() map[string]string {
	return map[string]string{
		"overview": `{"at":"2026-03-02T09:00:00Z","history":{"from":"2026-03-02T08:50:00Z"},"nets":[{"id":"well","sources_up":1},{"id":"ill","alarms":1,"tokens":3,"oldest_age_seconds":600,"oldest_place":"q","rate":0,"sources_up":1,"sources_stale":1}],
			"sources":[{"name":"berlin","net":"ill","state":"up","region":"north","fence":7,"standbys":0},{"name":"rome","net":"ill","state":"up","region":"south","fence":8,"standbys":2,"lag":5},{"name":"osaka","net":"ill","state":"stale","last_heard_age_seconds":30}],"alarms":[{"alarm":"tokenStuck","severity":"minor","net":"ill","place":"q","since":"2026-03-02T07:00:00Z","text":"x","acknowledged":{"by":"ada","at":"2026-03-02T08:00:00Z","comment":"<seen>"},"silenced_until":"2026-03-02T10:00:00Z"}]}`,
		"drawing": `{"nodes":[{"id":"p","kind":"place"},{"id":"t","kind":"transition"},{"id":"q","kind":"place"}]}`,
		"history": `{"places":[{"tokens":0},{"tokens":3,"oldest_since":"2026-03-02T08:50:00Z","instances":1}],"transitions":[{"rate":0.5,"blocked":1}]}`,
		"place": `{"id":"$place","tokens":3,"oldest_age_seconds":600,"stuck":[{"instance":"berlin/1","waits":[{"transition":"t","text":"waits for a token in R"}]}],
			"series":{"step":1,"points":[[1772441400000,1,null],[1772441460000,2,60],[1772441520000,3,120],[1772442000000,3,600]]}}`,
		"transition": `{"id":"$transition","rate":0.5,"blocks":[{"place":"r","reason":"missing","instances":3,"text":"waits for a token in R"}],"series":{"points":[[1772441400000,1,null]]}}`,
	}
}

func TestASidecarAloneIsASmallerReport(t *testing.T) {
	r, err := side(t, pages()).Report(t.Context(), Options{Now: now, Since: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	page := checkPage(t, r)
	for _, want := range []string{"the sidecar at http://sidecar", "its data starts at 08:50:00", "Without --prometheus the report omits", "2 nets: 1 has something wrong now.",
		"1 alarm active now. The sidecar does not list the alarms that were cleared in this span.", "Cannot read the cleared alarms: ", "<td>minor</td>", "<td>acknowledged by ada: &lt;seen&gt;, silenced until 2026-03-02 10:00:00</td>", "berlin/1: t waits for a token in R", "<td class=\"burnt\">stale</td>",
		"<td class=\"num\">7</td><td class=\"num burnt\">0</td>", "<td class=\"num\">8</td><td class=\"num\">2</td><td class=\"num\">5</td>", "07:00:00", "2 h</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if titles := r.Sections[0].Title + r.Sections[1].Title + r.Sections[2].Title + r.Sections[3].Title; titles != "OverviewNet illNet wellSources" {
		t.Errorf("sections %s", titles)
	}
	if first := r.Sections[1].Parts[0].Figures[2].Table.Rows[0][0].Text; first != "q" {
		t.Errorf("the oldest place is %q", first)
	}
}

// Thousands of tokens lie for a month where the net ends: the place is listed
// last, and neither in the list of the oldest tokens nor in the picture of ages.
//
//promise:work none
func TestFinishedWorkIsNoOldToken(t *testing.T) {
	some := pages()
	some["drawing"] = `{"nodes":[{"id":"q","kind":"place"},{"id":"closed","kind":"place","final":true},{"id":"t","kind":"transition"}]}`
	some["history"] = `{"places":[{"tokens":3,"oldest_since":"2026-03-02T08:50:00Z"},{"tokens":4711,"oldest_since":"2026-01-30T08:50:00Z"}],"transitions":[{"rate":0.5}]}`
	url, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		name, place := strings.TrimPrefix(r.URL.Path, "/api/v1/"), r.URL.Query().Get("place")
		text := strings.ReplaceAll(some[name], "$place", place)
		if place == "closed" {
			text = strings.ReplaceAll(text, `"oldest_age_seconds":600`, `"final":true,"oldest_age_seconds":2678400`)
		}
		fmt.Fprint(w, text)
	})
	r, err := Sidecar{Client: api.Client{URL: url, HTTP: client}, Name: "http://sidecar"}.Report(t.Context(), Options{Now: now, Since: time.Hour, Net: "ill"})
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, r)
	var listed []string
	for _, row := range r.Summary[0].Figures[1].Table.Rows {
		listed = append(listed, row[0].Text+" "+row[1].Text)
	}
	if d := cmp.Diff([]string{"q ill"}, listed); d != "" {
		t.Errorf("oldest tokens now (-want +got):\n%s", d)
	}
	figures := r.Sections[1].Parts[0].Figures
	var places []string
	for _, row := range figures[2].Table.Rows {
		places = append(places, row[0].Text+" "+row[1].Text)
	}
	if d := cmp.Diff([]string{"q 10 min", "closed finished"}, places); d != "" {
		t.Errorf("places (-want +got):\n%s", d)
	}
	if picture := string(figures[0].Picture); strings.Contains(picture, "closed") || !strings.Contains(picture, "q") {
		t.Error("the picture of ages has finished work in it")
	}
}

func TestWhatASidecarDoesNotSayIsSaid(t *testing.T) {
	some := pages()
	delete(some, "place")
	some["transition"] = `[`
	r, err := side(t, some).Report(t.Context(), Options{Now: now, Since: time.Hour, Net: "ill"})
	if err != nil || len(r.Sections) != 3 {
		t.Fatalf("%v, %d sections", err, len(r.Sections))
	}
	if fault := r.Sections[1].Parts[0].Figures[0].Fault; !strings.Contains(fault, "place q: 404 Not Found") || !strings.Contains(fault, "transition t: reading") {
		t.Errorf("%q", fault)
	}
	checkPage(t, r)
	delete(some, "history")
	if r, err = side(t, some).Report(t.Context(), Options{Now: now, Since: time.Hour}); err != nil || !strings.Contains(checkPage(t, r), "cannot read its current state: 404") {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]error{`{"at":"2026-03-02T09:00:00Z","nets":[]}`: ErrNothing, pages()["overview"]: ErrNoNet} {
		some["overview"] = text
		if _, err := side(t, some).Report(t.Context(), Options{Now: now, Since: time.Hour, Net: "none"}); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// Whatever a sidecar says is drawn or refused.
func FuzzSidecars(f *testing.F) {
	p := pages()
	f.Add(p["overview"], p["drawing"], p["history"], p["place"], p["transition"], p["alarms/cleared"])
	f.Add(`{"at":"9999-12-31T23:59:59Z","nets":[{"id":"a"}]}`, `{"nodes":[]}`, `{"places":[{}],"transitions":[null]}`, `{}`, `{}`, `{"cleared":[{}]}`)
	f.Fuzz(func(t *testing.T, all, drawing, history, place, transition, cleared string) {
		var over overview
		var d netDocs
		var pl api.PlaceDetail
		var tr api.TransitionDetail
		var dr api.Drawing
		var fr api.Frame
		var cl api.ClearedAlarms
		for text, into := range map[string]any{all: &over, drawing: &dr, history: &fr, place: &pl, transition: &tr, cleared: &cl} {
			if json.Unmarshal([]byte(text), into) != nil {
				return
			}
		}
		if over.At <= 0 || over.At.Time().Year() > 9999 {
			return
		}
		_, _ = largest(&dr, "place", fr.Places, func(int, api.PlaceNow) float64 { return 0 })
		d.places, d.transitions = []api.PlaceDetail{pl}, []api.TransitionDetail{tr}
		nets := over.ranked()
		docs := make([]netDocs, min(len(nets), maxNets))
		for i := range docs {
			docs[i] = d
		}
		checkPage(t, Sidecar{Name: "s"}.lay(&over, &cl, nets, docs, Options{Now: now, Since: time.Hour}))
	})
}

// A sidecar alone lists the alarms that were cleared in the span, and the report has the names of
// nets, places and transitions, as the page.
func TestASidecarAloneListsClearedAlarmsByName(t *testing.T) {
	p := pages()
	p["overview"] = strings.NewReplacer(`{"id":"ill",`, `{"id":"ill","name":"Ill net",`, `"place":"q","since"`, `"place":"q","name":"The queue","net_name":"Ill net","since"`).Replace(p["overview"])
	p["drawing"] = strings.NewReplacer(`"q","kind":"place"`, `"q","kind":"place","name":"The queue"`, `"t","kind":"transition"`, `"t","kind":"transition","name":"Take"`).Replace(p["drawing"])
	p["place"] = strings.Replace(p["place"], `{"id":"$place",`, `{"id":"$place","name":"The queue",`, 1)
	p["transition"] = strings.Replace(p["transition"], `{"id":"$transition",`, `{"id":"$transition","name":"Take",`, 1)
	p["alarms/cleared"] = `{"cleared":[
		{"alarm":"transitionStarved","severity":"warning","net":"ill","transition":"t","since":"2026-03-02T08:52:00Z","cleared":"2026-03-02T08:53:00Z"},
		{"alarm":"tokenStuck","severity":"minor","net":"ill","place":"q","since":"2026-03-02T05:00:00Z","cleared":"2026-03-02T08:51:00Z"},
		{"alarm":"sourceLost","severity":"major","source":"oslo","since":"2026-03-02T04:00:00Z","cleared":"2026-03-02T04:10:00Z"}]}`
	r, err := side(t, p).Report(t.Context(), Options{Now: now, Since: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	page := checkPage(t, r)
	for _, want := range []string{"1 alarm raised and 2 cleared in this span; 1 active now.", "<td>transitionStarved</td><td>warning</td><td>Take</td><td>Ill net</td>", "Net Ill net", "The oldest token has been in The queue for", "berlin/1: Take waits for a token in R"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no %q", want)
		}
	}
	for _, other := range []string{"not known", "oslo", "<td>q</td>", "<td>t</td>"} {
		if strings.Contains(page, other) {
			t.Errorf("there is %q", other)
		}
	}
	figure := r.Summary[1].Figures[0].Table.Rows
	if len(figure) != 2 || figure[0][2].Text != "The queue" || figure[0][6].Text != "2" {
		t.Errorf("the alarms of the span are %v", figure)
	}
}
