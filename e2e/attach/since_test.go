// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"fmt"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// shownSince waits until all faces of a sidecar show one view, checks that they agree
// on since when the oldest tokens are there, and returns that of a place.
func shownSince(t *testing.T, w kit.Web, agent snmptest.Client, place kit.Key) kit.Dated {
	t.Helper()
	var since map[kit.Key]kit.Dated
	kit.Until(t, "all faces show one view", func() error {
		p, generation := w.Pages(t, agent)
		if p.SNMP == nil {
			return fmt.Errorf("no two pages and a walk of one view; last %d", generation)
		}
		since = p.CompareSince(t)
		return nil
	})
	if _, ok := since[place]; !ok {
		t.Fatalf("there is no token in %v", place)
	}
	return since[place]
}

// scrapedSince is since when the oldest token of a place is there by the newest
// scrape: its age is as of when the sidecar made the page, at most a second
// before it was asked, and not after it had answered. It waits for a scrape.
func scrapedSince(t *testing.T, p kit.Prometheus, place kit.Key) kit.Dated {
	t.Helper()
	selector := fmt.Sprintf("petrinet_place_oldest_token_age_seconds{net=%q,place=%q}", place.Net, place.ID)
	since := fmt.Sprintf("timestamp(%s) - %s", selector, selector)
	const edge = `label_replace(round(1000 * (%s)), "edge", %q, "", "")`
	both := fmt.Sprintf(edge+" or "+edge, since+" - 1", "earliest", since+" + on(instance) group_left() scrape_duration_seconds", "latest")
	var found map[kit.Key]uint64
	kit.Until(t, "Prometheus has scraped the age", func() error {
		found = p.Query(t, both, "edge")
		if len(found) != 2 {
			return fmt.Errorf("%v", found)
		}
		return nil
	})
	at := func(edge string) time.Time { return time.UnixMilli(int64(found[kit.Key{Net: place.Net, ID: edge}])) }
	return kit.Dated{Earliest: at("earliest").Add(-time.Millisecond), Latest: at("latest").Add(time.Millisecond)} // which are rounded
}
