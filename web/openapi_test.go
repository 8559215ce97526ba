// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/web/api"
)

// described is the OpenAPI description, as far as answers are held against it.
type described struct {
	Paths map[string]map[string]struct {
		RequestBody struct {
			Content map[string]struct{ Schema schema }
		}
		Responses map[string]struct {
			Content map[string]struct{ Schema schema }
		}
	}
	Components struct{ Schemas map[string]*schema }
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Format               string
	Minimum              *float64
	MinItems             int
	Properties           map[string]*schema
	AdditionalProperties *schema
	Required             []string
	Items                *schema
}

func description(t *testing.T) *described {
	t.Helper()
	d := &described{}
	if err := json.Unmarshal(api.OpenAPI, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// check returns what of a value is not as a schema has it, and notes the
// properties that it has.
func (d *described) check(at string, v any, s *schema, seen map[string]bool) (faults []string) {
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
		return d.check(name, v, d.Components.Schemas[name], seen)
	}
	fault := func(format string, args ...any) { faults = append(faults, at+": "+fmt.Sprintf(format, args...)) }
	kind := map[bool]string{true: "integer", false: "number"}
	var is string
	switch v := v.(type) {
	case nil:
		is = "null"
	case bool:
		is = "boolean"
	case string:
		is = "string"
		if _, err := time.Parse(time.RFC3339, v); s.Format == "date-time" && err != nil {
			fault("%v", err)
		}
	case float64:
		is = kind[v == float64(int64(v))]
		if s.Minimum != nil && v < *s.Minimum {
			fault("%v is less than %v", v, *s.Minimum)
		}
	case []any:
		is = "array"
		if len(v) < s.MinItems {
			fault("%d items, want %d", len(v), s.MinItems)
		}
		for _, item := range v {
			faults = append(faults, d.check(at+"[]", item, s.Items, seen)...)
		}
	case map[string]any:
		is = "object"
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				fault("%s is required", name)
			}
		}
		for name, value := range v {
			seen[at+"."+name] = true
			switch of := s.Properties[name]; {
			case of != nil:
				faults = append(faults, d.check(at+"."+name, value, of, seen)...)
			case s.AdditionalProperties != nil:
				faults = append(faults, d.check(at+"{}", value, s.AdditionalProperties, seen)...)
			case s.Properties != nil:
				fault("%s is not described", name)
			}
		}
	}
	types, many := s.Type.([]any)
	if !many {
		types = []any{s.Type}
	}
	if !slices.Contains(types, any(is)) && (is != "integer" || !slices.Contains(types, any("number"))) {
		fault("%v is %s, want %v", v, is, types)
	}
	return faults
}

// everything is a stage that shows all that there is to show.
func everything(t *testing.T) *stage {
	st := newStage(t, func(c *Config) {
		c.Actions = &Actions{Alarms: &notebook{}, Who: ada, Act: obedient}
		c.Ask = answers{"host-1": func(context.Context) (*telemetry.Instance, error) {
			return &telemetry.Instance{At: 9e6, LeftOut: 1, Acts: "host-1", Tool: "a console", Tokens: []telemetry.InstanceToken{{Place: "p0", Tokens: 1, Injected: 1e6, Data: json.RawMessage(`{"order":7}`),
				Waits: []telemetry.InstanceWait{{Transition: "t0", Reason: "missing", Place: "p1", Count: 1, Until: 10e6}, {Transition: "t1", Reason: "manual"}}}}}, nil
		}}.ask
		c.Archive = &ledger{}
		c.Links = Links{Runbooks: "http://r", Grafana: "http://g"}
		c.Sidecar = func() api.Sidecar {
			return api.Sidecar{Connect: &api.Connect{Commands: []api.CommandLine{{Fill: []api.Blank{{}}}}}, Share: "1/2", Above: &api.Above{}, Duty: &api.Duty{}}
		}
		c.Oldest = func(_ context.Context, _, source, _, _ string, q *stats.Query) (act.Found, error) {
			if source != "host-1" {
				return act.Found{}, errors.New("silent")
			}
			return act.Found{More: true, Tokens: slices.Repeat([]act.Waiting{{Instance: "order 17", Injected: 1e6, Data: `{"order":7}`, Waits: []telemetry.InstanceWait{{Transition: "t0", Reason: "missing", Place: "p1", Count: 1, Until: 10e6}}}, {Instance: "order 18", Injected: 2e6}}, q.Limit/2)}, nil
		}
		c.Audit = func(string, string) []telemetry.Action {
			return []telemetry.Action{{At: time.UnixMicro(t0), Source: "host-1", Kind: "inject", Who: telemetry.Who{By: "kim", Comment: "by mail"}, Net: "order", Instance: "order 17",
				Place: "p0", Transition: "t0", Tokens: 1, Event: "paid", Error: "no such place"}}
		}
	})
	view := goldenView(t)
	for _, def := range []*petri.Net{netsOf(t, `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">`+helper+`</definitions>`, caller(""))[1], {ID: "long", Model: &petri.Model{Kind: petri.ModelBPMN, Missing: "it is long"}}} {
		def.Name = "A process"
		for i := range maxShown {
			def.Places = append(def.Places, petri.Place{ID: fmt.Sprint("c", i)})
		}
		rows := stats.NewRows(len(def.Places), len(def.Transitions))
		for i := range rows.Places { // p0 of order rests
			rows.Columns, rows.Places[i].Tokens, rows.Places[i].Oldest = stats.ColOldest|stats.ColTokens, 1, t0
		}
		drawn := (&merge.View{At: view.At, Nets: []*merge.NetView{{Name: def.ID, Def: def, Final: def.FinalPlaces(), Rows: rows}}}).Sum()
		view.Nets = append(view.Nets, drawn.Nets...)
	}
	view.Sources = append(view.Sources, orders().Sources...)
	for i := range view.Sources[:2] {
		s := &view.Sources[i]
		s.State, s.Reason, s.Refusal, s.Conflict = merge.Refused, "two processes", telemetry.Conflict, true
	}
	view.Sources = append(view.Sources, merge.Source{Name: "host-1", Net: "order", State: merge.Up, Region: "up/host-1", Skew: -time.Minute, Requests: &stats.RefusedRequests{1}})
	ack := &alarm.Ack{At: t0, By: "ada", Comment: "seen"}
	st.alarms.Active = []alarm.Alarm{{Index: 5001, Net: "caller", Subject: "c/active", Kind: alarm.TokenStuck}, {Index: 5000, Net: "order", Raised: t0, Since: t0, Text: "stuck", Ack: ack, SilencedUntil: t0}}
	for _, kind := range alarm.Kinds() {
		st.alarms.Cleared = append(st.alarms.Cleared, alarm.ClearedAlarm{Alarm: alarm.Alarm{Net: "order", Subject: "p0", Kind: kind, Ack: ack}, Cleared: t0})
	}
	for range maxSilences + 1 {
		st.alarms.Silences = append(st.alarms.Silences, alarm.Silence{ID: "a", By: "ada", Comment: "c", Selection: alarm.Selection{Kind: alarm.TokenStuck, Net: "n", Place: "p", Transition: "t", Source: "s"},
			From: t0, Until: t0 + 1, Recurs: alarm.Recurrence{Cron: "0 2 * * sat", Zone: "Europe/Berlin", For: time.Hour}, Pending: true, Ends: t0 + 2})
	}
	for i := range 1001 {
		st.alarms.Active = append(st.alarms.Active, alarm.Alarm{Index: uint32(i), Net: "order", Subject: "p0", Kind: alarm.Kinds()[i%len(alarm.Kinds())],
			After: time.Second, Above: 1, Window: time.Second, Measured: 1, LastFired: 1, Outdated: true, Unknown: "no source reports it any more", Follows: "s1",
			Selects: stats.ReasonIncident, Why: alarm.Why{Instance: "i", Words: "failed"}})
		view.Sources = append(view.Sources, merge.Source{Name: fmt.Sprint("s", i), Net: "order"})
	}
	st.alarms.LastChange, st.alarms.Resting = t0, map[string][]string{"order": {"p0"}}
	view.NATS = &natslink.ConnState{Since: t0, Server: "nats://x", Reason: "EOF"}
	view.AgentX = &merge.Master{ConnState: *view.NATS}
	view.Up = &natslink.ConnState{}
	view.Pace = 5 * time.Second
	st.now = time.UnixMicro(view.At)
	st.show(view.Sum())
	return st
}

// TestTheDescriptionIsOfWhatIsServed: every path that is served is described, and
// the reverse; every answer is as its schema; every property of every schema is in
// some answer.
func TestTheDescriptionIsOfWhatIsServed(t *testing.T) {
	d, st := description(t), everything(t)
	served := append(append(slices.Collect(maps.Keys(st.routes())), livePath), slices.Collect(maps.Keys(changes()))...)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(d.Paths)), slices.Sorted(slices.Values(served))); diff != "" {
		t.Errorf("paths (-described +served):\n%s", diff)
	}
	seen := map[string]bool{}
	hold := func(path, status string, v any, s *schema) {
		for _, fault := range slices.Compact(d.check(path, v, s, seen)) {
			t.Errorf("%s answers %s: %s", path, status, fault)
		}
	}
	parameters := map[string]string{"place": "?net=order&place=p0", "transition": "?net=order&transition=t1", "instance": "?net=order&instance=order+17", "stuck": "?net=order&place=p0&limit=1",
		"history": "?net=order&at=" + st.now.Add(time.Second).UTC().Format(time.RFC3339), "drawing": "?net=order", "drawing.svg": "?net=order", "places.csv": "?net=order", "transitions.csv": "?net=order", "stuck.csv": "?net=order", "model": "?net=caller", "search": "?q=c"}
	for path, methods := range d.Paths {
		responses := methods["get"].Responses
		if path == livePath {
			continue
		}
		if post, ok := methods["post"]; ok {
			body, w := changes()[path], httptest.NewRecorder()
			st.Handler().ServeHTTP(w, posted(path, body))
			request, answer := post.RequestBody.Content["application/json"].Schema, post.Responses[fmt.Sprint(w.Code)].Content["application/json"].Schema
			hold(path, "a request", any(object(t, []byte(body))), &request)
			hold(path, fmt.Sprint(w.Code), any(object(t, w.Body.Bytes())), &answer)
			continue
		}
		w := st.get(path + parameters[strings.TrimPrefix(path, "/api/v1/")])
		kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		content, ok := responses["200"].Content[kind]
		if w.Code != http.StatusOK || !ok {
			t.Errorf("%s answers %d with %s: %.200s", path, w.Code, w.Header().Get("Content-Type"), w.Body)
		} else if w.Header().Get("Content-Type") == "application/json" {
			hold(path, "200", any(object(t, w.Body.Bytes())), &content.Schema)
		}
		if _, described := responses["400"]; described {
			w := st.get(path)
			s := responses[fmt.Sprint(w.Code)].Content["application/json"].Schema
			hold(path, fmt.Sprint(w.Code), any(object(t, w.Body.Bytes())), &s)
		}
	}
	for kind, text := range map[string][]byte{"Frame": dataOf(t, st.board.Load().nets["order"].whole()), "Overview": dataOf(t, st.board.Load().overview())} {
		hold("event "+kind, "", any(object(t, text)), &schema{Ref: "#/components/schemas/" + kind})
	}
	now := st.board.Load().view.Nets[0]
	changed := newFrame(now, "", nil, 0, 0)
	changed.Places[0], changed.Transitions[0], changed.Transitions[1] = api.PlaceNow{}, api.TransitionNow{}, api.TransitionNow{}
	_, diff := changed.next(nil, now, 1, 1)
	hold("event Diff", "", any(object(t, encoded(diff))), &schema{Ref: "#/components/schemas/Diff"})
	for _, net := range []string{"caller", "long"} {
		hold("a drawing with a model", "200", any(st.document(t, "/api/v1/drawing?net="+net)), &schema{Ref: "#/components/schemas/Drawing"})
	}
	old := "at=2026-01-01T00:00:00Z"
	hold("an older overview", "200", any(st.document(t, "/api/v1/overview?"+old)), &schema{Ref: "#/components/schemas/Overview"})
	hold("an older frame", "200", any(st.document(t, "/api/v1/history?net=order&"+old)), &schema{Ref: "#/components/schemas/Frame"})
	hold("an older place", "200", any(st.document(t, "/api/v1/place?net=order&place=p0&"+old)), &schema{Ref: "#/components/schemas/PlaceDetail"})
	hold("an older transition", "200", any(st.document(t, "/api/v1/transition?net=order&transition=t0&"+old)), &schema{Ref: "#/components/schemas/TransitionDetail"})
	hold("another transition", "200", any(st.document(t, "/api/v1/transition?net=order&transition=t0")), &schema{Ref: "#/components/schemas/TransitionDetail"})
	hold("a view with --objects=all", "200", any(object(t, encoded(ViewDocument(st.board.Load().view, nil, 0)))), &schema{Ref: "#/components/schemas/View"})
	hold("a place that is not work", "200", any(st.document(t, "/api/v1/place?net=caller&place=c/active")), &schema{Ref: "#/components/schemas/PlaceDetail"})
	hold("a transition that is not work", "200", any(st.document(t, "/api/v1/transition?net=caller&transition=c/begin")), &schema{Ref: "#/components/schemas/TransitionDetail"})
	hold("an instance that no source has", "200", any(st.document(t, "/api/v1/instance?net=partly+known&instance=x")), &schema{Ref: "#/components/schemas/Instance"})
	hold("a request with indices", "", any(object(t, []byte(`{"indices":[7]}`))), &schema{Ref: "#/components/schemas/CloseAlarms"})
	hold("a request for a silence that recurs", "", any(object(t, []byte(recurring))), &schema{Ref: "#/components/schemas/NewSilence"})
	for name, s := range d.Components.Schemas {
		for property := range s.Properties {
			if !seen[name+"."+property] {
				t.Errorf("%s.%s is in no answer", name, property)
			}
		}
	}
}
