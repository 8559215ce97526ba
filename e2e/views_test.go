// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// pages are what the faces show of one view.
type pages struct {
	view   view
	scrape scrape
	snmp   walked // nil where there was no chance to see the same
}

// pages walks once, and gives what HTTP shows of the same view, which is
// collected until the walk is over.
func (w web) pages(t *testing.T, agent snmptest.Client) (pages, uint64) {
	t.Helper()
	stop, seen := make(chan struct{}), make(chan map[uint64]pages)
	go func() { seen <- w.collect(stop) }()
	walked := walk(t, agent)
	close(stop)
	g := walked.scalar(agentViews).Num
	both, ok := (<-seen)[g]
	if !ok || g == 0 {
		return pages{}, g
	}
	both.snmp = walked
	return both, g
}

// collect gives, by generation, the views of which it saw both pages.
func (w web) collect(stop <-chan struct{}) map[uint64]pages {
	all := map[uint64]pages{}
	for {
		_, text, err := w.get("/api/v1/view")
		v, viewErr := parseView(text)
		s, scrapeErr := w.readMetrics()
		g, ok := s.value("pnagent_view_generation")
		if errors.Join(err, viewErr, scrapeErr) == nil && ok && uint64(g) == v.Generation {
			all[v.Generation] = pages{view: v, scrape: s}
		}
		select {
		case <-stop:
			return all
		default:
		}
	}
}

// sinceWhen waits until all faces show one view, checks that they agree on
// since when the oldest tokens are there, and returns that of a place.
func (w web) sinceWhen(t *testing.T, agent snmptest.Client, place key) dated {
	t.Helper()
	var p pages
	until(t, "all faces show one view", func() error {
		var generation uint64
		if p, generation = w.pages(t, agent); p.snmp == nil {
			return fmt.Errorf("no two pages and a walk of one view; last %d", generation)
		}
		return nil
	})
	since, ok := p.compareSince(t)[place]
	if !ok {
		t.Fatalf("there is no token in %v", place)
	}
	return since
}

// sinceWhen is since when the oldest token of a place is there by the newest
// scrape: its age is as of when the sidecar made the page, at most a second
// before it was asked, and not after it had answered. It waits for a scrape.
func (p prometheus) sinceWhen(t *testing.T, place key) dated {
	t.Helper()
	selector := fmt.Sprintf("petrinet_place_oldest_token_age_seconds{net=%q,place=%q}", place.Net, place.ID)
	since := fmt.Sprintf("timestamp(%s) - %s", selector, selector)
	const edge = `label_replace(round(1000 * (%s)), "edge", %q, "", "")`
	both := fmt.Sprintf(edge+" or "+edge, since+" - 1", "earliest", since+" + on(instance) group_left() scrape_duration_seconds", "latest")
	var found map[key]uint64
	until(t, "Prometheus has scraped the age", func() error {
		if found = p.query(t, both, "edge"); len(found) != 2 {
			return fmt.Errorf("%v", found)
		}
		return nil
	})
	at := func(edge string) time.Time { return time.UnixMilli(int64(found[key{place.Net, edge}])) }
	return dated{at("earliest").Add(-time.Millisecond), at("latest").Add(time.Millisecond)} // which are rounded
}

// dated is a moment between two.
type dated struct{ earliest, latest time.Time }

// within checks that it is not before one moment and not after another.
func (d dated) within(t *testing.T, what string, from, to time.Time) {
	t.Helper()
	if d.latest.Before(from) || d.earliest.After(to) {
		t.Errorf("%s: since %v to %v, want %v to %v", what, d.earliest, d.latest, from, to)
	}
}

// sinceWhen is since when the oldest token is in each place that has one.
func (s scrape) sinceWhen() map[key]dated {
	since := map[key]dated{}
	for place, seconds := range ages(s) {
		if age := time.Duration(seconds * float64(time.Second)); age > 0 {
			since[place] = dated{s.begun.Truncate(time.Microsecond).Add(-age), s.got.Add(-age)}
		}
	}
	return since
}

// compareSince compares since when the oldest token is in each place: what
// /metrics gives as an age when it is asked, SNMP gives as a date in tenths of a
// second, and as an age in seconds when its table is made. It returns the dates.
func (p pages) compareSince(t *testing.T) map[key]dated {
	t.Helper()
	dates, seconds := p.snmp.rows(placeTable, oldestSince), p.snmp.rows(placeTable, placeOldestAge)
	viewed := dateAndTime(t, p.snmp.scalar(agentViewTime))
	viewAge := time.Duration(p.snmp.scalar(agentViewAge).Num) * time.Second // rounded up, as of the table
	made := dated{viewed.earliest.Add(viewAge - time.Second), viewed.latest.Add(viewAge)}
	since := map[key]dated{}
	for place, shown := range p.scrape.sinceWhen() {
		since[place] = dateAndTime(t, dates[place])
		since[place].within(t, fmt.Sprint("pnPlaceOldestSince and /metrics of ", place), shown.earliest, shown.latest)
		age := time.Duration(seconds[place].Num) * time.Second
		since[place].within(t, fmt.Sprint("pnPlaceOldestSince and pnPlaceOldestAge of ", place), made.earliest.Add(-age), made.latest.Add(time.Second-age))
	}
	return since
}

// dateAndTime reads a DateAndTime of RFC 2579 with a time zone, which has tenths of a
// second.
func dateAndTime(t *testing.T, v smi.Value) dated {
	t.Helper()
	if b := v.Str; len(b) == 11 && b[8] == '+' && b[9] == 0 && b[10] == 0 {
		at := time.Date(int(b[0])<<8|int(b[1]), time.Month(b[2]), int(b[3]), int(b[4]), int(b[5]), int(b[6]), int(b[7])*1e8, time.UTC)
		return dated{at, at.Add(100 * time.Millisecond)}
	}
	t.Fatalf("%v is no DateAndTime in UTC", v)
	return dated{}
}
