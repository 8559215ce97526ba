// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/attach/lines"
	"github.com/pnagent/pnagent/petri"
)

// pm4pyLogs are logs among the tests of pm4py, with the net of each.
func pm4pyLogs(dir string) map[string]string {
	dir = filepath.Join(dir, "pm4py-core", "tests", "input_data")
	logs := map[string]string{
		filepath.Join(dir, "running-example.xes"):      filepath.Join(dir, "running-example.pnml"),
		filepath.Join(dir, "roadtraffic50traces.xes"):  filepath.Join(dir, "roadtraffic.pnml"),
		filepath.Join(dir, "roadtraffic100traces.xes"): filepath.Join(dir, "roadtraffic.pnml"),
		receiptLog(dir): receiptNet(dir),
	}
	found, _ := filepath.Glob(filepath.Join(dir, "synthetic_logs", "*", "*.xes.gz"))
	for _, log := range found {
		folder := filepath.Dir(log)
		logs[log] = filepath.Join(folder, filepath.Base(folder)+".pnml")
	}
	return logs
}

// shortSight is how much fitness may be lost where events do not fit and silent
// transitions explain them in several ways: a replay looks four events ahead, the
// slow program at all of a trace.
const shortSight = 0.004

// The fitness of pm4py's logs is that of a slow program, which looks at all ways to
// replay a trace.
func TestLogs(t *testing.T) {
	dir := suitesDir(t)
	rs := results{}
	for log, net := range pm4pyLogs(dir) {
		tables, err := readNet(net)
		if err != nil {
			t.Skip("no checkout of pm4py-core: ", err)
		}
		traces, err := readXES(log)
		if err != nil {
			t.Fatal(err)
		}
		want, known := slowFitness(tables.Net, traces)
		if !known {
			continue
		}
		a, err := lines.New(lines.Config{Nets: []*petri.Tables{tables}, EndsByEvent: true, Held: 1000, Instances: 1_000_000, Search: 10_000,
			Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.TakeXES(t.Context(), log); err != nil {
			t.Fatal(err)
		}
		got, least := *a.Nets()[0].Fitness, want
		if want < 1 && slices.ContainsFunc(tables.Net.Transitions, func(t petri.Transition) bool { return t.Silent }) {
			least -= shortSight
		}
		err = nil
		if got > want+1e-9 || got < least-1e-9 {
			err = fmt.Errorf("fitness %.6f, want %.6f", got, want)
			t.Errorf("%s: %s", log, err)
		}
		t.Logf("%s: fitness %.6f, the best is %.6f", filepath.Base(log), got, want)
		rs.count("pm4py-core", err)
	}
	rs.print(os.Stdout, "logs", dir)
}

// readXES returns the names of the complete events of each trace.
func readXES(path string) ([][]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if unpacked, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		if text, err = io.ReadAll(unpacked); err != nil {
			return nil, err
		}
	}
	var log struct {
		Traces []struct {
			Events []struct {
				Strings []struct {
					Key   string `xml:"key,attr"`
					Value string `xml:"value,attr"`
				} `xml:"string"`
			} `xml:"event"`
		} `xml:"trace"`
	}
	if err := xml.Unmarshal(text, &log); err != nil {
		return nil, err
	}
	var out [][]string
	for _, trace := range log.Traces {
		var names []string
		for _, e := range trace.Events {
			of := map[string]string{}
			for _, s := range e.Strings {
				of[s.Key] = s.Value
			}
			if life := of["lifecycle:transition"]; of["concept:name"] != "" && (life == "" || life == "complete" || life == "COMPLETE") {
				names = append(names, of["concept:name"])
			}
		}
		out = append(out, names)
	}
	return out, nil
}

// way is one way to replay the events of a trace until now.
type way struct {
	at                                             marking
	produced, consumed, missing, remaining, silent int
}

func (w way) better(o way) bool {
	if a, b := w.missing+w.remaining, o.missing+o.remaining; a != b {
		return a < b
	}
	return w.silent < o.silent
}

// slowFitness computes the fitness of token-based replay (Rozinat and van der
// Aalst). Of the ways to replay a trace it takes that with the fewest missing and
// remaining tokens, and of those the one with the fewest silent transitions. known
// is false if there are too many ways.
func slowFitness(net *petri.Net, traces [][]string) (fitness float64, known bool) {
	s := slowNet{net}
	final := marking{}
	for p, n := range net.FinalMarkings[0] {
		if n > 0 {
			final[p] = int(n)
		}
	}
	done := map[string]way{} // by the events of a trace
	var all way
	for _, trace := range traces {
		key := fmt.Sprintf("%q", trace)
		w, ok := done[key]
		if !ok {
			if w, ok = s.replay(trace, final); !ok {
				return 0, false
			}
			done[key] = w
		}
		all.produced += w.produced
		all.consumed += w.consumed
		all.missing += w.missing
		all.remaining += w.remaining
	}
	share := func(a, b int) float64 { return float64(a) / float64(b) }
	return 0.5*(1-share(all.missing, all.consumed)) + 0.5*(1-share(all.remaining, all.produced)), true
}

// slowWays bounds the ways to replay the events of a trace until now.
const slowWays = 300

func (s slowNet) replay(trace []string, final marking) (w way, known bool) {
	first := way{at: s.initial()}
	for _, n := range first.at {
		first.produced += n
	}
	ways := []way{first}
	for _, event := range trace {
		next := map[string]way{}
		for _, w := range s.silently(ways) {
			for _, t := range s.net.Transitions {
				if !t.Silent && t.Name == event {
					keep(next, s.after(w, t.ID))
				}
			}
		}
		if len(next) > slowWays {
			return way{}, false
		}
		if len(next) > 0 { // the net knows the event
			ways = fewest(next)
		}
	}
	end := map[string]way{}
	for _, w := range s.silently(ways) {
		for p, n := range final {
			w.missing += max(0, n-w.at[p])
			w.consumed += n
		}
		for p, n := range w.at {
			w.remaining += max(0, n-final[p])
		}
		w.at = nil
		keep(end, w)
	}
	return end[""], true
}

// keep keeps the best way to each marking.
func keep(ways map[string]way, w way) {
	key := w.at.key()
	if old, ok := ways[key]; !ok || w.better(old) {
		ways[key] = w
	}
}

// fewest leaves out ways that lack many more tokens than the best.
func fewest(ways map[string]way) []way {
	best := math.MaxInt
	for _, w := range ways {
		best = min(best, w.missing)
	}
	var out []way
	for w := range maps.Values(ways) {
		if w.missing <= best+1 {
			out = append(out, w)
		}
	}
	return out
}

// silently returns the ways that silent transitions lead to, and the ways
// themselves.
func (s slowNet) silently(ways []way) []way {
	best := map[string]way{}
	for todo := ways; len(todo) > 0; todo = todo[1:] {
		w := todo[0]
		if old, ok := best[w.at.key()]; ok && !w.better(old) {
			continue
		}
		keep(best, w)
		if len(best) > slowWays {
			break
		}
		for _, t := range s.net.Transitions {
			if t.Silent && s.enabled(w.at, t.ID) {
				next := s.after(w, t.ID)
				next.silent++
				todo = append(todo, next)
			}
		}
	}
	var out []way
	for w := range maps.Values(best) {
		out = append(out, w)
	}
	return out
}

// after returns the way after a transition, whose lacking tokens are missing.
func (s slowNet) after(w way, transition string) way {
	at := maps.Clone(w.at)
	for _, a := range s.net.Arcs {
		n := int(a.Weight)
		switch {
		case a.Target == transition && a.Kind == petri.Normal:
			lacks := max(0, n-at[a.Source])
			at[a.Source] += lacks
			w.missing += lacks
			w.consumed += n
		case a.Source == transition:
			w.produced += n
		}
	}
	w.at = s.fire(at, transition)
	return w
}
