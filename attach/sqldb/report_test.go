// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// agree compares the tokens of both, ages to the second, and returns the difference.
func agree(want, got []held) string {
	if len(want) == 0 {
		return "the engine has no token"
	}
	name := func(h held) string { return fmt.Sprint(h.net, " ", h.instance, " ", h.node) }
	order := func(a, b held) int {
		return strings.Compare(fmt.Sprint(name(a), " ", a.since), fmt.Sprint(name(b), " ", b.since))
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	for i := range min(len(want), len(got)) {
		if d := want[i].since - got[i].since; name(want[i]) == name(got[i]) && d < 1000 && d > -1000 {
			got[i].since = want[i].since
		}
	}
	return cmp.Diff(want, got, cmp.AllowUnexported(held{}))
}

// report is what the engine's own API says.
type report struct {
	held      []held
	due       map[string]int64 // by node, milliseconds
	incidents []string         // nodes
	workers   []string         // nodes with an external task, and the worker that has it
	counts    map[string]map[string]count
}

func (e *engine) report() report {
	e.T.Helper()
	r := report{due: map[string]int64{}, counts: map[string]map[string]count{}}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			e.T.Fatal(err)
		}
		return n
	}
	for _, line := range e.Do("report") {
		switch f := strings.Fields(line); f[0] {
		case "at":
			r.held = append(r.held, held{f[1], f[2], f[3], number(f[4])})
		case "job":
			r.due[f[3]] = number(f[5])
		case "incident":
			r.incidents = append(r.incidents, f[3])
		case "worker":
			r.workers = append(r.workers, f[3]+" "+f[4])
			r.due[f[3]+"-locked"] = number(f[5])
		case "count":
			if r.counts[f[1]] == nil {
				r.counts[f[1]] = map[string]count{}
			}
			r.counts[f[1]][f[2]] = count{uint64(number(f[3])), uint64(number(f[4])), uint64(number(f[5]))}
		}
	}
	return r
}

// shown are the tokens as faces show them.
func (r report) shown() (out []enginetest.Held) {
	for _, h := range r.held {
		out = append(out, enginetest.Held{Net: h.net, Instance: h.instance, Node: h.node, Since: h.since})
	}
	return out
}

// same waits until the adapter shows what the engine's API reports.
func (w *watch) same(e *engine) report {
	w.t.Helper()
	r := e.report()
	w.until(func() string {
		if d := agree(slices.Clone(r.held), w.held()); d != "" {
			return "tokens, - engine, + adapter:\n" + d
		}
		for net, counts := range r.counts {
			if d := cmp.Diff(w.expected(net, counts), w.counts(net)); d != "" {
				return "counts of " + net + ", - engine, + adapter:\n" + d
			}
		}
		return ""
	})
	return r
}

// expected returns the counts of the engine that the adapter can have: what has no place
// of its own has no arrivals and departures, nor has a sub-process, whose tokens are at the
// nodes inside. An event gateway does not fire, but the event that comes first. Callers
// hold mu.
func (w *watch) expected(net string, counts map[string]count) map[string]count {
	out, n := map[string]count{}, w.net(net)
	for id, c := range counts {
		if id == "sub" || id != "instances" && n != nil && !slices.ContainsFunc(n.Places, func(p petri.Place) bool { return p.ID == id+"/in" }) {
			c.Started, c.Ended = 0, 0
		}
		if id == "first" {
			c.Fired = 0
		}
		if c != (count{}) {
			out[id] = c
		}
	}
	return out
}

// instance returns the instance of a net that has tokens in only one.
func (r report) instance(net string) string {
	for _, h := range r.held {
		if h.net == net {
			return h.instance
		}
	}
	return ""
}

// why is what SNMP and the page show of a token that waits for one thing: the
// transition's name, what it waits for, and the words of the reason.
func why(name, what string, reason stats.Reason) enginetest.Why {
	words := map[stats.Reason][2]string{
		stats.ReasonManual:   {"waits to be fired from outside", "waits to be fired from outside"},
		stats.ReasonEnabled:  {"enabled, waits for its turn", "can fire and waits for its turn"},
		stats.ReasonRunning:  {"running", "the action is running"},
		stats.ReasonNoWorker: {"no worker takes it", "no worker that is alive takes it"},
		stats.ReasonIncident: {"failed permanently, needs an operator", "failed permanently: an operator must act"},
	}[reason]
	if reason == stats.ReasonUnknown {
		return enginetest.Why{SNMP: name + ": " + what, Page: what}
	}
	return enginetest.Why{SNMP: name + ": " + what + " (" + words[0] + ")", Page: what + " (" + words[1] + ")"}
}

// awaits is the same for an element of BPMN that a person completes, or a message.
func awaits(name, what, words string) enginetest.Why {
	return enginetest.Why{SNMP: name + ": " + what + " (" + words + ")", Page: what + " (" + words + ")"}
}

// delayed is the same for a time in milliseconds.
func delayed(name, what string, until int64) enginetest.Why {
	return enginetest.Why{SNMP: name + ": " + what + " (delayed until " + time.UnixMilli(until).UTC().Format(time.RFC3339) + ")", Page: what + " (waits until its time has come)"}
}

// both is what is shown of a token that waits for either.
func both(a, b enginetest.Why) []enginetest.Why {
	return []enginetest.Why{{SNMP: a.SNMP + "; " + b.SNMP, Page: a.Page + "; " + b.Page}}
}

// agrees waits until the adapter shows all that the engine reports. Every task has a
// place and a transition.
func (w *watch) agrees(e *engine) report {
	w.t.Helper()
	var r report
	w.until(func() string {
		r = e.report() // what was canceled may end a moment later
		if d := agree(slices.Clone(r.held), w.held()); d != "" {
			return "tokens, - engine, + adapter:\n" + d
		}
		for net, want := range r.counts {
			if d := cmp.Diff(known(want), w.counts(net)); d != "" {
				return "counts of " + net + ", - engine, + adapter:\n" + d
			}
		}
		return ""
	})
	return r
}

// known returns the counts that are not zero.
func known(counts map[string]count) map[string]count {
	out := maps.Clone(counts)
	maps.DeleteFunc(out, func(_ string, c count) bool { return c == count{} })
	return out
}

// due compares the times until which tasks are delayed with the engine's.
func (w *watch) due(r report, tasks int) string {
	n, found := w.net("stuck"), 0
	for i, p := range w.last["stuck"].Rows.Places {
		for _, s := range p.Stuck {
			for _, x := range s.Waits {
				node := strings.TrimSuffix(n.Places[i].ID, "/in")
				if want := r.due[node]; x.Reason == stats.ReasonDelayed {
					found++
					if x.Until/1000-want > 1000 || want-x.Until/1000 > 1000 {
						return fmt.Sprintf("%s is delayed until %d; expected %d", node, x.Until/1000, want)
					}
				}
			}
		}
	}
	if found != tasks {
		return fmt.Sprintf("%d delayed tasks; expected %d", found, tasks)
	}
	return ""
}

// newConfig returns the configuration of an adapter that reads a database.
func newConfig(t *testing.T, address, mapping string) Config {
	t.Helper()
	m, err := Mappings.Load(mapping)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(address, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return Config{Database: d, Mapping: m}
}

// waitsAt waits until the tokens and counts are those of the engine, and each token, by its net and instance,
// waits for what is wanted at the node: the reason and the text. A trap has come of each reason.
func (w *watch) waitsAt(e *engine, node string, want map[string]string) {
	w.t.Helper()
	w.agrees(e)
	w.until(func() string {
		r, got := e.report(), map[string]string{}
		for _, h := range r.held {
			for key, text := range w.waits(h.net, h.instance) {
				got[h.net+" "+h.instance] = strings.TrimPrefix(key, node+" "+node+" ") + ": " + text
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			return "what tokens wait for, - want, + adapter:\n" + d
		}
		return ""
	})
	w.traps()
}
