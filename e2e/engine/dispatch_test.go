// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

// rankedBindings give ten of thirty instances of the claims p7, and ten p3.
const rankedBindings = `nets:
  claims:
    instances: {0-9: 7, 10-19: 3}
    transitions: {answer: manual, archive: manual}
`

// A dispatcher changes the order, not what is done: whichever it is, and however
// many workers play, all claims come as far, and every visit to an instance is
// counted once, at the instance's priority.
func TestEveryDispatcherPlaysAllAndCountsItByPriority(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--mib-dir", "")
	dispatchers := []struct{ flags, queues string }{
		{"turn", ""}, {"fifo", "0"}, {"strict", "0 3 7"}, {"quoted --dispatch.quotes 2", "0 3 7"}, {"dedicated", "0 3 7"},
	}
	name := func(flags string, workers int) string { return fmt.Sprint(strings.Fields(flags)[0], " ", workers) }
	for _, c := range dispatchers {
		for workers := range 3 {
			id := name(c.flags, workers+1)
			net := kit.Write(t, "claims.pnml", strings.Replace(kit.StuckNet, `net id="claims"`, `net id="`+id+`"`, 1))
			bindings := kit.Write(t, "bindings.yaml", strings.Replace(rankedBindings, "claims", id, 1))
			args := append([]string{"--dispatch"}, strings.Fields(c.flags)...)
			kit.RunEngine(t, natsURL, id, append(args, "--instances", "30", "--workers", fmt.Sprint(workers+1), "--bindings", bindings, net)...)
		}
	}
	for _, c := range dispatchers {
		visits := map[float64]bool{}
		for workers := range 3 {
			id := name(c.flags, workers+1)
			var s kit.Scrape
			kit.Until(t, id+" is shown, and at rest", func() error {
				s = side.Scrape(t)
				ready := float64(0)
				for _, one := range s.All("petrinet_queue_ready") {
					if one.Labels["net"] == id {
						ready += one.Value
					}
				}
				if got := s.Numbers().Tokens[kit.Key{Net: id, ID: "awaiting answer"}]; got != 30*40 || ready != 0 {
					return fmt.Errorf("%d claims await an answer, %v instances are ready", got, ready)
				}
				return nil
			})
			queues, each := visited(s, id)
			if queues != c.queues {
				t.Errorf("%s: priorities %q, want %q", id, queues, c.queues)
			}
			maps.Copy(visits, each)
		}
		if want := min(len(c.queues), 1); len(visits) != want || visits[0] {
			t.Errorf("%s: instances were visited %v times; expected the same for each priority and any number of workers", c.flags, visits)
		}
	}
	if n, ok := side.Scrape(t).Value("petrinet_queue_quote_switches_total", "net", "quoted 1", "priority", "7"); !ok || n < 5 {
		t.Errorf("%v turns of p7 ended with a quote of 2; expected 5 or more", n)
	}
}

// visited returns the priorities in use, and how often one of their instances
// was visited, of which there are ten.
func visited(s kit.Scrape, net string) (priorities string, each map[float64]bool) {
	var names []string
	each = map[float64]bool{}
	for _, one := range s.All("petrinet_queue_served_total") {
		if one.Labels["net"] == net {
			names = append(names, one.Labels["priority"])
			each[one.Value/10] = true
		}
	}
	slices.Sort(names)
	return strings.Join(names, " "), each
}

func TestBadDispatchIsAUsageError(t *testing.T) {
	t.Parallel()
	net := kit.Write(t, "claims.pnml", kit.StuckNet)
	for pattern, args := range map[string][]string{
		`--dispatch must be one of`:        {"--dispatch", "best"},
		`2 numbers; expected one for all`:  {"--dispatch", "quoted", "--dispatch.quotes", "1,2"},
		`--dispatch.quotes: .*quote`:       {"--dispatch", "quoted", "--dispatch.quotes", "0"},
		`--dispatch.quotes: .*quote of p3`: {"--dispatch", "quoted", "--dispatch.quotes", "1,1,1,0,1,1,1,1"},
	} {
		r := kit.Pnagent(t, append(append([]string{"engine", "--firings", "1"}, args...), net)...)
		if r.Code != 2 || kit.Submatch(r.Err, pattern) == nil {
			t.Errorf("%v: got exit code %d, %s; want 2 and %s", args, r.Code, r.Err, pattern)
		}
	}
}
