// SPDX-License-Identifier: Apache-2.0

//go:build peers

package camunda8

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
)

// count is the flow of one node.
type count struct{ Started, Ended, Fired uint64 }

// truth is what the engine's records say, without the API: the tokens, and the flow
// of nodes by net.
func (e *engine) truth() (tokens []enginetest.Held, flow map[string]map[string]count) {
	e.T.Helper()
	open, bodies, incidents := map[string]enginetest.Held{}, map[string]enginetest.Held{}, map[string]string{}
	flow = map[string]map[string]count{}
	for _, line := range e.records {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			e.T.Fatal(err)
		}
		v, key := &r.Value, r.Key.String()
		switch {
		case r.ValueType == "INCIDENT" && r.Intent == "CREATED":
			incidents[key] = v.ElementInstanceKey.String()
		case r.ValueType == "INCIDENT":
			delete(incidents, key)
		case r.ValueType != "PROCESS_INSTANCE" || v.BpmnElementType == "PROCESS" || v.BpmnElementType == "SEQUENCE_FLOW":
		default:
			c := flow[v.BpmnProcessID][v.ElementID]
			body := v.BpmnElementType == "SUB_PROCESS" || v.BpmnElementType == "MULTI_INSTANCE_BODY"
			switch r.Intent {
			case "ELEMENT_ACTIVATING":
				c.Started++
				open[key] = enginetest.Held{Net: v.BpmnProcessID, Instance: v.ProcessInstanceKey.String(), Node: v.ElementID, Since: r.Timestamp}
				if body {
					bodies[key] = open[key]
				}
			case "ELEMENT_COMPLETED":
				c.Ended++
				c.Fired++
				delete(open, key)
			case "ELEMENT_TERMINATED":
				c.Ended++
				delete(open, key)
			}
			if v.BpmnElementType != "MULTI_INSTANCE_BODY" {
				if flow[v.BpmnProcessID] == nil {
					flow[v.BpmnProcessID] = map[string]count{}
				}
				flow[v.BpmnProcessID][v.ElementID] = c
			}
		}
	}
	for key := range bodies {
		if !slices.Contains(slices.Collect(maps.Values(incidents)), key) {
			delete(open, key)
		}
	}
	return slices.Collect(maps.Values(open)), flow
}

// shows compares a view with the engine's records: every token, its age to the
// second, and every count.
func shows(v *merge.View, e *engine) string {
	want, flow := e.truth()
	var got []enginetest.Held
	counts := map[string]map[string]count{}
	for _, n := range v.Nets {
		counts[n.Name] = map[string]count{}
		for i := range n.Rows.Places {
			p, node := &n.Rows.Places[i], strings.TrimSuffix(n.Def.Places[i].ID, "/in")
			for _, t := range p.Stuck {
				got = append(got, enginetest.Held{Net: n.Name, Instance: t.Instance, Node: node, Since: t.Injected / 1000})
			}
			counts[n.Name][node] = count{Started: p.Arrivals, Ended: p.Departures}
		}
		for i := range n.Rows.Transitions {
			c := counts[n.Name][n.Def.Transitions[i].ID]
			c.Fired = n.Rows.Transitions[i].Firings
			counts[n.Name][n.Def.Transitions[i].ID] = c
		}
	}
	order := func(a, b enginetest.Held) int {
		return cmp.Or(cmp.Compare(a.Net, b.Net), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Since, b.Since))
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	for i := range min(len(want), len(got)) {
		if d := want[i].Since - got[i].Since; d < 1000 && d > -1000 {
			got[i].Since = want[i].Since
		}
	}
	if d := gocmp.Diff(want, got); d != "" {
		return "tokens, - engine, + adapter:\n" + d
	}
	for net, nodes := range flow {
		for node, c := range nodes {
			g := counts[net][node]
			if g.Started == 0 && g.Ended == 0 { // what has no place of its own has no arrivals and departures
				c.Started, c.Ended = 0, 0
			}
			if node == "first" { // the event fires that comes first
				c.Fired = 0
			}
			if g != c {
				return fmt.Sprintf("%s %s: %+v; the engine has %+v", net, node, g, c)
			}
		}
	}
	return ""
}

// waits returns what the tokens of a net wait for, by "node transition reason".
func waits(v *merge.View, net string) map[string]string {
	out := map[string]string{}
	n := v.Net(net)
	for i := range n.Rows.Places {
		for _, t := range n.Rows.Places[i].Stuck {
			for _, w := range t.Waits {
				out[strings.TrimSuffix(n.Def.Places[i].ID, "/in")+" "+n.Def.Transitions[w.Transition].ID+" "+w.Reason.String()] = w.What
			}
		}
	}
	return out
}

// stuck is what tokens wait for in the process stuck, by the API of 8.8.
func stuck() map[string]string {
	return map[string]string{
		"approve approve manual": "user task: kermit",
		"approve remind unknown": "timer",
		"wait wait unknown":      "timer",
		"payment payment manual": "message paid: order-1",
		"charge charge incident": "incident JOB_NO_RETRIES: card declined; job charge, failed at worker cashier, out of retries: card declined",
		"review review manual":   "user task",
		"call call running":      "in called process child",
		"ship ship enabled":      "job ship, failed at worker cashier, 2 retries: card declined",
		"first late unknown":     "timer",
		"first arrived manual":   "message shipped: order-1",
		"pack pack enabled":      "job pack, 3 retries",
		"route route incident":   "incident CONDITION_ERROR: Expected at least one condition to evaluate to true, or to have a default flow",
		"opened opened manual":   "signal",
		"empty empty incident":   "incident EXTRACT_VALUE_ERROR: Expected result of the expression 'missing' to be 'ARRAY', but was 'NULL'.",
	}
}

// reasons compares what tokens wait for with what they should.
func reasons(v *merge.View, want map[string]string) string {
	if v.Net("stuck") == nil {
		return "no net"
	}
	got := waits(v, "stuck")
	for key, text := range want { // keys, and what the engine adds to a message, are left out
		if strings.HasPrefix(got[key], text) && (key == "call call running" || key == "empty empty incident") {
			got[key] = text
		}
	}
	if d := gocmp.Diff(want, got); d != "" {
		return "waits, - expected, + adapter:\n" + d
	}
	return ""
}

// shown has parts of what SNMP and the page say of the tokens, by the API
// of 8.10; stuck has more, with the data of persons.
func shown() map[string][]enginetest.Why {
	whys := map[string][]enginetest.Why{}
	for node, parts := range map[string][]string{
		"stuck approve": {"user task (", "timer"},
		"stuck wait":    {"timer ("},
		"stuck payment": {"message paid ("},
		"stuck charge":  {"incident JOB_NO_RETRIES; job charge, failed at worker cashier, out of retries ("},
		"stuck review":  {"user task ("},
		"stuck call":    {"in called process child "},
		"stuck ship":    {"job ship, failed at worker cashier, 2 retries ("},
		"stuck first":   {"message shipped (", "timer ("},
		"stuck pack":    {"job pack, 3 retries ("},
		"stuck route":   {"incident CONDITION_ERROR ("},
		"stuck opened":  {"signal opened ("},
		"stuck empty":   {"incident EXTRACT_VALUE_ERROR ("},
		"child decide":  {"job decide, 3 retries ("},
	} {
		whys[node] = []enginetest.Why{{Parts: parts}}
	}
	return whys
}

// TestZeebe plays a process on a real engine, and compares after each step what the
// adapter shows with the engine's records. A second adapter is that of
// docs/attach/camunda8.md; SNMP, Prometheus and the page show what the API answers.
func TestZeebe(t *testing.T) {
	e := newEngine(t)
	api, ten := newEmulation(t, false), newEmulation(t, true)
	w, watched := newWatch(t), newWatch(t)
	same := func() {
		t.Helper()
		e.export(api, ten)
		w.until(func(v *merge.View) string { return shows(v, e) })
	}
	state := filepath.Join(t.TempDir(), "state")
	e.Do("deploy child.bpmn stuck.bpmn")
	e.export(api, ten)
	_, end := w.adapter(api, state)
	page := enginetest.Follow(t, "../../docs/attach/camunda8.md", "", watched.url, "http://127.0.0.1:8080", ten.URL,
		"--state camunda8.state", "--state camunda8.state --interval 500ms")
	for _, w := range []*watch{w, watched} {
		w.until(func(v *merge.View) string {
			if v.Net("stuck") == nil || v.Net("child") == nil {
				return "no net is published"
			}
			return ""
		})
	}
	faces := func() {
		t.Helper()
		watched.until(func(*merge.View) string { return page.Faces(ten.active(), shown()) })
	}
	instance := e.Do("start stuck order-1")[0]
	e.Do("fail charge 0")
	e.Do("fail ship 2")
	same()
	w.until(func(v *merge.View) string { return reasons(v, stuck()) })
	since810(t, e)
	faces()
	watched.until(func(*merge.View) string { return page.Printed(instance) })

	// The adapters restart while the engine works, that of the page after a kill; then
	// the gateway is away, and the one that the page's adapter asks is killed.
	end()
	again := page.Kill()
	e.Do("complete pack")
	e.Do("message paid order-1")
	e.export(api, ten)
	a, _ := w.adapter(api, state)
	again()
	same()
	watched.until(func(v *merge.View) string { return shows(v, e) })
	faces()
	api.refuse(http.StatusServiceUnavailable)
	restart := ten.kill()
	e.Do("message shipped order-1")
	w.until(func(*merge.View) string {
		if a.Status().Connected {
			return "the adapter does not notice that the gateway is away"
		}
		return ""
	})
	watched.until(func(*merge.View) string { return page.Disconnected("pnagent_camunda8_connected") })
	api.refuse(0)
	restart()
	same()
	watched.until(func(v *merge.View) string { return shows(v, e) })
	faces()

	// A version migrated is neither an arrival nor a departure.
	_, before := e.truth()
	e.Do("deploy child2.bpmn")
	e.export(api, ten)
	var child, version string
	for key, x := range api.items[instancesPath] {
		if x["processDefinitionId"] == "child" {
			child = key
		}
	}
	for key, x := range api.items[definitionsPath] {
		if x["processDefinitionId"] == "child" {
			version = max(version, key)
		}
	}
	e.Do("migrate " + child + " " + version + " decide")
	same()
	if _, after := e.truth(); gocmp.Diff(before["child"], after["child"]) != "" {
		t.Errorf("a migration changes counts: %v, %v", before["child"], after["child"])
	}
	watched.until(func(v *merge.View) string { return shows(v, e) })
	faces()
	page.End()
	e.Do("complete decide")
	same()
	e.Do("cancel " + instance)
	same()
	if left, _ := e.truth(); len(left) > 0 {
		t.Errorf("the engine has tokens after a cancel: %v", left)
	}
}

// since810 expects the times and names that the API has since 8.10, of the same
// records.
func since810(t *testing.T, e *engine) {
	t.Helper()
	api, w := newEmulation(t, true), newWatch(t)
	for _, line := range e.records {
		api.take(line)
	}
	w.adapter(api, "")
	want := stuck()
	delete(want, "wait wait unknown")
	delete(want, "first late unknown")
	want["wait wait delayed"], want["first late delayed"], want["opened opened manual"] = "timer", "timer", "signal opened"
	w.until(func(v *merge.View) string { return reasons(v, want) })
	dues := map[string]int64{}
	for _, line := range e.records {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if due, ok := r.Value.DueDate.(float64); ok && r.ValueType == "TIMER" {
			dues[r.Value.TargetElementID] = int64(due)
		}
	}
	n := w.View().Net("stuck")
	for i := range n.Rows.Places {
		for _, token := range n.Rows.Places[i].Stuck {
			for _, x := range token.Waits {
				node := n.Def.Transitions[x.Transition].ID
				if d := x.Until/1000 - dues[node]; x.Reason == stats.ReasonDelayed && (d > 1000 || d < -1000) {
					t.Errorf("%s is due at %d; the engine has %d", node, x.Until/1000, dues[node])
				}
			}
		}
	}
}
