// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	paper "github.com/pnagent/pnagent/dashboards/report"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/top"
	"github.com/pnagent/pnagent/web/api"
)

// calmNet is a net whose oldest tokens are in a final place and in one for which an override
// turns tokenStuck off. That of the place waits is minutes old.
func calmNet(now time.Time) *merge.NetView {
	def := &petri.Net{ID: "calm", Places: []petri.Place{{ID: "begun"}, {ID: "parked"}, {ID: "waits"}, {ID: "done"}}, Transitions: []petri.Transition{{ID: "t"}, {ID: "u"}},
		Arcs: []petri.Arc{{Source: "begun", Target: "t", Weight: 1}, {Source: "parked", Target: "t", Weight: 1}, {Source: "t", Target: "waits", Weight: 1}, {Source: "waits", Target: "u", Weight: 1}, {Source: "u", Target: "done", Weight: 1}}}
	rows := stats.NewRows(len(def.Places), len(def.Transitions))
	rows.Columns = stats.AllColumns
	for i, minutes := range []int{0, 90, 20, 400} {
		if minutes > 0 {
			p := &rows.Places[i]
			p.Tokens, p.Oldest = 1, now.Add(-time.Duration(minutes)*time.Minute).UnixMicro()
			p.Injected.Add(p.Oldest)
		}
	}
	return (&merge.NetView{Name: def.ID, Def: def, Final: def.FinalPlaces(), Rows: rows, Up: 1, Since: now.Add(-time.Hour).UnixMicro()}).Sum()
}

// The oldest token of a net is the same one on every face: final places, and those for which the
// rules turn tokenStuck off, are left out.
//
//promise:faces none
func TestEveryFaceAgreesOnTheOldestTokenOfANet(t *testing.T) {
	now := time.Now()
	rules, err := alarm.ReadRules(strings.NewReader("overrides: [{net: calm, place: parked, stuck: off}]"), "alarms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	view := &merge.View{At: now.UnixMicro(), Generation: 1, Nets: []*merge.NetView{calmNet(now)}}
	f := facesOf(t, view, rules, now)
	type oldest struct {
		Place   string
		Minutes int
	}
	minutes := func(seconds float64) int { return int(seconds) / 60 }
	got := map[string]oldest{}

	document, err := api.Decode[api.View](strings.NewReader(f.get(t, "/api/v1/view")))
	if err != nil {
		t.Fatal(err)
	}
	got["the dump"] = oldest{document.Nets[0].OldestPlace, minutes(*document.Nets[0].OldestAge)}
	over, err := api.Decode[api.Overview](strings.NewReader(f.get(t, "/api/v1/overview")))
	if err != nil {
		t.Fatal(err)
	}
	got["the overview"] = oldest{over.Nets[0].OldestPlace, minutes(*over.Nets[0].OldestAge)}
	then, err := api.Decode[api.Overview](strings.NewReader(f.get(t, "/api/v1/overview?at="+over.At.Time().Format(time.RFC3339Nano))))
	if err != nil {
		t.Fatal(err)
	}
	got["the overview of the past"] = oldest{then.Nets[0].OldestPlace, minutes(*then.Nets[0].OldestAge)}

	drawing, err := api.Decode[api.Drawing](strings.NewReader(f.get(t, "/api/v1/drawing?net=calm")))
	if err != nil {
		t.Fatal(err)
	}
	frame, err := api.Decode[api.Frame](strings.NewReader(f.get(t, "/api/v1/history?net=calm&at="+over.At.Time().Format(time.RFC3339Nano))))
	if err != nil {
		t.Fatal(err)
	}
	first := oldest{}
	for i, p := range frame.Places { // as the page's Frame.byAge and Scene.rest do
		if age := now.Sub(p.OldestSince.Time()); p.OldestSince != 0 && !drawing.Nodes[i].Final && !slices.Contains(frame.Resting, i) && minutes(age.Seconds()) > first.Minutes {
			first = oldest{drawing.Nodes[i].ID, minutes(age.Seconds())}
		}
	}
	got["the page"] = first

	m := top.New(top.Options{Tab: top.Places})
	m.Resize(120, 20)
	m.Update(document, nil, now)
	got["top, places"] = oldest{strings.Fields(strings.Split(m.Plain(), "\n")[1])[0], 20}
	m = top.New(top.Options{Tab: top.Nets})
	m.Resize(120, 20)
	m.Update(document, nil, now)
	if line := strings.Split(m.Plain(), "\n")[1]; !strings.Contains(line, "20m") {
		t.Errorf("top, nets: %s", line)
	}

	for i := range f.table.Len() {
		if v := f.table.At(i); strings.HasPrefix(v.Name.String(), "1.3.6.1.4.1.32473.7.1.1.2.1.14.") {
			got["pnNetOldestAge"] = oldest{"waits", minutes(float64(v.Value.Num))}
		}
	}

	// What dashboards.Waiting asks for.
	text, exposed, left := f.get(t, "/metrics"), oldest{}, []string{}
	for _, line := range regexp.MustCompile(`(?m)^petrinet_place_(?:final|resting)\{net="calm",place="([^"]*)"\} 1$`).FindAllStringSubmatch(text, -1) {
		left = append(left, line[1])
	}
	for _, line := range regexp.MustCompile(`(?m)^petrinet_place_oldest_token_age_seconds\{net="calm",place="([^"]*)"\} (\S+)$`).FindAllStringSubmatch(text, -1) {
		if age, err := strconv.ParseFloat(line[2], 64); err == nil && !slices.Contains(left, line[1]) && minutes(age) > exposed.Minutes {
			exposed = oldest{line[1], minutes(age)}
		}
	}
	got["the metrics"] = exposed

	server := httptest.NewServer(f.http)
	defer server.Close()
	r, err := paper.Sidecar{Client: api.Client{URL: server.URL, HTTP: server.Client()}, Name: server.URL}.Report(t.Context(), paper.Options{Now: now, Since: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	nets, summary := r.Sections[0].Parts[0].Figures[0].Table.Rows, r.Summary[0].Figures[1].Table.Rows
	got["the report, nets"] = oldest{nets[0][4].Text, 20}
	if len(summary) != 1 {
		t.Errorf("the report lists %v; want one place", summary)
	}
	got["the report, oldest tokens"] = oldest{summary[0][0].Text, 20}

	want := map[string]oldest{}
	for face := range got {
		want[face] = oldest{"waits", 20}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 9 {
		t.Errorf("%d faces, -want +got: %s", len(got), diff)
	}
	if len(f.alarms.Active) == 0 || slices.ContainsFunc(f.alarms.Active, func(a alarm.Alarm) bool { return a.Subject == "parked" }) {
		t.Error(fmt.Sprint("the alarms are ", f.alarms.Active))
	}
}
