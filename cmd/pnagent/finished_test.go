// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/collector/merge"
	paper "github.com/pnagent/pnagent/dashboards/report"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/metrics"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/top"
	"github.com/pnagent/pnagent/web"
	"github.com/pnagent/pnagent/web/api"
)

// endNet is a net whose work ends with a token in last, to which one arc of a kind
// leads from there: of a transition that waits for a request that never comes.
func endNet(id string, kind petri.ArcKind) *petri.Net {
	return &petri.Net{ID: id, Places: []petri.Place{{ID: "begun", Initial: 1}, {ID: "last"}, {ID: "request"}},
		Transitions: []petri.Transition{{ID: "work"}, {ID: "look"}},
		Arcs: []petri.Arc{{Source: "begun", Target: "work", Weight: 1}, {Source: "work", Target: "last", Weight: 1},
			{Source: "request", Target: "look", Weight: 1}, {Source: "last", Target: "look", Kind: kind, Weight: 1}}}
}

// played returns what a sidecar knows of three instances of a net that came to
// rest some time ago.
func played(t *testing.T, def *petri.Net, now time.Time, age time.Duration) *merge.NetView {
	t.Helper()
	tables, err := petri.Compile(def)
	if err != nil {
		t.Fatal(err)
	}
	then := now.Add(-age).UnixMicro()
	s, err := plain.New(plain.Config{Tables: tables, Stride: 1, Count: 3}, then)
	if err != nil {
		t.Fatal(err)
	}
	s.Step(100, then)
	rows := stats.NewRows(tables.Places(), tables.Transitions())
	s.Look(now.UnixMicro(), func(i int) string { return fmt.Sprintf("%s-%d", def.ID, i) }, rows)
	return (&merge.NetView{Name: def.ID, Def: def, Final: def.FinalPlaces(), Rows: rows, Up: 1, Since: then}).Sum()
}

// faces are what shows one View.
type allFaces struct {
	http   http.Handler
	table  *smi.Table
	alarms *alarm.ActiveSet
}

func (f allFaces) get(t *testing.T, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	f.http.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s answers %d: %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

func facesOf(t *testing.T, view *merge.View, rules *alarm.Rules, now time.Time) (f allFaces) {
	t.Helper()
	machine := alarm.NewMachine(rules, alarm.Saved{}, time.Hour)
	machine.Step(view, now.Add(-2*time.Minute).UnixMicro()) // some alarms are raised after a time
	machine.Step(view, now.UnixMicro())
	f.alarms = machine.State(0)
	builder, err := mib.NewBuilder(smi.OID{1, 3, 6, 1, 4, 1, 32473, 7}, filepath.Join(t.TempDir(), mib.LockFile), mib.Agent{})
	if err != nil {
		t.Fatal(err)
	}
	if f.table, err = builder.Build(view, f.alarms, now.UnixMicro()); err != nil {
		t.Fatal(err)
	}
	views, alarms := func() *merge.View { return view }, func() *alarm.ActiveSet { return f.alarms }
	newest, states := make(chan *merge.View, 1), make(chan *alarm.ActiveSet, 1)
	newest <- view
	states <- f.alarms
	live, err := web.New(web.Config{Views: newest, Alarms: states, History: history.New(history.Config{Budget: 1 << 20})})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { defer close(over); live.Run(ctx) }()
	t.Cleanup(func() { stop(); <-over })
	exporter, err := metrics.New(metrics.Config{View: views, Alarms: alarms, Mounts: []metrics.Mount{
		{Pattern: "/", Handler: live.Handler(), Link: "index.html"}}})
	if err != nil {
		t.Fatal(err)
	}
	f.http = exporter.Handler()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(f.get(t, "/api/v1/overview"), `"tokens":3`); {
		if time.Now().After(deadline) {
			t.Fatal("the page does not show the View")
		}
		time.Sleep(time.Millisecond)
	}
	return f
}

// instances are those of a net that a text names.
func instances(net, text string) (named []string) {
	for i := range 3 {
		if name := fmt.Sprintf("%s-%d", net, i); strings.Contains(text, name) {
			named = append(named, name)
		}
	}
	return named
}

// A token that a transition only reads is finished work on every face; one that a
// transition resets is not, although nothing waits for it.
//
//promise:faces none
//promise:work none
func TestEveryFaceAgreesOnFinishedWork(t *testing.T) {
	now := time.Now()
	const age = 20 * time.Minute
	read, reset := endNet("reading", petri.Read), endNet("emptying", petri.Reset)
	view := &merge.View{At: now.UnixMicro(), Generation: 1, Nets: []*merge.NetView{played(t, reset, now, age), played(t, read, now, age)}}
	f := facesOf(t, view, alarm.DefaultRules(), now)
	for net, finished := range map[string]bool{"reading": true, "emptying": false} {
		n := view.Nets[slices.IndexFunc(view.Nets, func(n *merge.NetView) bool { return n.Name == net })]
		all := []string{net + "-0", net + "-1", net + "-2"}
		if finished {
			all = nil
		}
		named := func(face, text string) {
			t.Helper()
			if d := cmp.Diff(all, instances(net, text)); d != "" {
				t.Errorf("net %s: %s names (-want +got):\n%s", net, face, d)
			}
		}
		if n.Final[1] != finished || (n.Rows.Net.Finished == 3) != finished || (n.Rows.Net.Deadlocked == 0) != finished || (n.OldestSince == 0) != finished {
			t.Errorf("net %s: final %v, %+v, oldest %d", net, n.Final, n.Rows.Net, n.OldestSince)
		}
		tables, err := petri.Compile(n.Def)
		if err != nil {
			t.Fatal(err)
		}
		if found := explore.Visit(tables, 10); found.Deadlocks+found.Ends != 1 || (found.Ends == 1) != finished {
			t.Errorf("net %s: explored: %+v", net, found)
		}
		named("the page of the place", f.get(t, "/api/v1/place?net="+net+"&place=last"))
		for i := range 3 {
			seen := strings.Contains(f.get(t, fmt.Sprintf("/api/v1/instance?net=%s&instance=%s-%d", net, net, i)), `"first_seen"`)
			if seen == finished {
				t.Errorf("net %s: the history has instance %d: %v", net, i, seen)
			}
		}
		var walked strings.Builder
		for i := range f.table.Len() {
			fmt.Fprintln(&walked, f.table.At(i))
		}
		named("SNMP", walked.String())
		document := f.get(t, "/api/v1/view")
		named("the dump", document)
		f.top(t, document, net, finished)
		f.exposed(t, net, finished)
		kinds := map[alarm.Kind]bool{}
		for _, a := range f.alarms.Active {
			kinds[a.Kind] = kinds[a.Kind] || a.Net == net
		}
		if kinds[alarm.TokenStuck] == finished || kinds[alarm.NetDeadlocked] == finished {
			t.Errorf("net %s has the alarms %v", net, kinds)
		}
		f.report(t, net, finished)
	}
}

// top checks the lists of pnagent top.
func (f allFaces) top(t *testing.T, document, net string, finished bool) {
	t.Helper()
	view, err := api.Decode[api.View](strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	m := top.New(top.Options{Tab: top.Places})
	m.Resize(120, 20)
	m.Update(view, nil, time.Now())
	for _, line := range strings.Split(m.Plain(), "\n") {
		if words := strings.Fields(line); len(words) > 3 && words[0] == "last" && words[1] == net && (words[3] == "end") != finished {
			t.Errorf("net %s: top has %q", net, line)
		}
	}
}

// exposed checks the metrics.
func (f allFaces) exposed(t *testing.T, net string, finished bool) {
	t.Helper()
	text := f.get(t, "/metrics")
	for _, c := range []struct {
		series string
		there  bool
	}{
		{fmt.Sprintf("petrinet_place_final{net=%q,place=\"last\"} 1", net), finished},
		{fmt.Sprintf("petrinet_instances{net=%q,state=\"deadlocked\"} 3", net), !finished},
		{fmt.Sprintf("petrinet_transition_blocked_instances{net=%q,", net), false},
		{fmt.Sprintf("petrinet_place_tokens{net=%q,place=\"last\"} 3", net), true},
	} {
		if strings.Contains(text, c.series) != c.there {
			t.Errorf("/metrics has %s: %v", c.series, !c.there)
		}
	}
}

// report checks the list of the oldest tokens in the report of a net.
func (f allFaces) report(t *testing.T, net string, finished bool) {
	t.Helper()
	server := httptest.NewServer(f.http)
	defer server.Close()
	r, err := paper.Sidecar{Client: api.Client{URL: server.URL, HTTP: server.Client()}, Name: server.URL}.Report(t.Context(), paper.Options{Now: time.Now(), Since: time.Hour, Net: net})
	if err != nil {
		t.Fatal(err)
	}
	listed := false
	if oldest := r.Summary[0].Figures[1].Table; oldest != nil {
		listed = slices.ContainsFunc(oldest.Rows, func(row []paper.Cell) bool { return row[0].Text == "last" })
	}
	if listed == finished {
		t.Errorf("the report of net %s lists the place: %v", net, listed)
	}
}
