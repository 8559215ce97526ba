// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/stats"
)

const attended = `
nets:
  n:
    places:
      "{queue}": {tokens: depth, oldest: {metric: came, is: timestamp}, consumers: consumers}
    transitions:
      "{queue} take": {from: "{queue}", firings: {metric: taken_total, missing: zero}}
  m:
    places:
      failed: {tokens: dead, oldest: {metric: came, is: timestamp}, reason: incident}
    transitions:
      requeue: {from: failed, firings: {metric: requeued_total, missing: zero}}
`

// A story is a series of scrapes, one every ten seconds, of one queue, and why its messages wait after each.
func TestTokensWithoutAConsumerHaveTheReasonNoWorker(t *testing.T) {
	for _, c := range []struct{ name, scrapes, want string }{
		{"a consumer is there", "1", "enabled "},
		{"the first scrape has no consumer", "0 0", "noWorker no consumer, at least since 1970-01-01T00:00:10Z"},
		{"the consumer leaves", "1 0 0", "noWorker no consumer since 1970-01-01T00:00:20Z"},
		{"it comes back", "1 0 1", "enabled "},
		{"it leaves again", "0 1 0", "noWorker no consumer since 1970-01-01T00:00:30Z"},
		{"the number is missing", "0 -", "none"},
	} {
		s := newState(mapping(t, attended))
		for i, n := range strings.Fields(c.scrapes) {
			text := "depth{queue=\"a\"} 3\ncame{queue=\"a\"} 5\nconsumers{queue=\"a\"} " + n + "\n"
			s.apply(scraped(t, strings.ReplaceAll(text, "consumers{queue=\"a\"} -\n", "")), int64(i+1)*10*second)
		}
		r := s.rowsOf(t, "n")
		got := "none"
		if p := &r.Places[0]; len(p.Groups) > 0 && r.Columns.Has(stats.ColGroups|stats.ColStuck) {
			w := p.Groups[0].Oldest.Waits[0]
			got = fmt.Sprint(w.Reason, " ", w.What)
			if id := s.byID["n"].rows[transitions][w.Transition].id; id != "a take" || p.Groups[0].Tokens != 3 || p.Stuck[0].Injected != 5*second {
				t.Errorf("%s: %+v waits for %s", c.name, p.Groups, id)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q; expected %q", c.name, got, c.want)
		}
	}
}

func TestAPlaceMayHaveOneReason(t *testing.T) {
	s := newState(mapping(t, attended))
	s.apply(scraped(t, "dead 2\ncame 5\n"), 10*second)
	p := s.rowsOf(t, "m").Places[0]
	if len(p.Groups) != 1 || p.Groups[0].Reason != stats.ReasonIncident || p.Groups[0].Tokens != 2 || s.byID["m"].rows[transitions][p.Groups[0].Oldest.Waits[0].Transition].id != "requeue" {
		t.Errorf("%+v", p)
	}
}
