// SPDX-License-Identifier: Apache-2.0

package kit

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
	View   View
	Scrape Scrape
	SNMP   Walked // nil where there was no chance to see the same
}

// Pages walks once, and gives what HTTP shows of the same view, which is
// collected until the walk is over.
func (w Web) Pages(t *testing.T, agent snmptest.Client) (pages, uint64) {
	t.Helper()
	stop, seen := make(chan struct{}), make(chan map[uint64]pages)
	go func() { seen <- w.collect(stop) }()
	walked := Walk(t, agent)
	close(stop)
	g := walked.scalar(agentViews).Num
	both, ok := (<-seen)[g]
	if !ok || g == 0 {
		return pages{}, g
	}
	both.SNMP = walked
	return both, g
}

// collect gives, by generation, the views of which it saw both pages.
func (w Web) collect(stop <-chan struct{}) map[uint64]pages {
	all := map[uint64]pages{}
	for {
		_, text, err := w.Get("/api/v1/view")
		v, viewErr := ParseView(text)
		s, scrapeErr := w.ReadMetrics()
		g, ok := s.Value("pnagent_view_generation")
		if errors.Join(err, viewErr, scrapeErr) == nil && ok && uint64(g) == v.Generation {
			all[v.Generation] = pages{View: v, Scrape: s}
		}
		select {
		case <-stop:
			return all
		default:
		}
	}
}

// Dated is a moment between two.
type Dated struct{ Earliest, Latest time.Time }

// Within checks that it is not before one moment and not after another.
func (d Dated) Within(t *testing.T, what string, from, to time.Time) {
	t.Helper()
	if d.Latest.Before(from) || d.Earliest.After(to) {
		t.Errorf("%s: since %v to %v, want %v to %v", what, d.Earliest, d.Latest, from, to)
	}
}

// SinceWhen is since when the oldest token is in each place that has one.
func (s Scrape) SinceWhen() map[Key]Dated {
	since := map[Key]Dated{}
	for place, seconds := range Ages(s) {
		if age := time.Duration(seconds * float64(time.Second)); age > 0 {
			since[place] = Dated{s.Begun.Truncate(time.Microsecond).Add(-age), s.Got.Add(-age)}
		}
	}
	return since
}

// CompareSince compares since when the oldest token is in each place: what
// /metrics gives as an age when it is asked, SNMP gives as a date in tenths of a
// second, and as an age in seconds when its table is made. It returns the dates.
func (p pages) CompareSince(t *testing.T) map[Key]Dated {
	t.Helper()
	dates, seconds := p.SNMP.Rows(PlaceTable, oldestSince), p.SNMP.Rows(PlaceTable, PlaceOldestAge)
	viewed := dateAndTime(t, p.SNMP.scalar(agentViewTime))
	viewAge := time.Duration(p.SNMP.scalar(agentViewAge).Num) * time.Second // rounded up, as of the table
	made := Dated{viewed.Earliest.Add(viewAge - time.Second), viewed.Latest.Add(viewAge)}
	since := map[Key]Dated{}
	for place, shown := range p.Scrape.SinceWhen() {
		since[place] = dateAndTime(t, dates[place])
		since[place].Within(t, fmt.Sprint("pnPlaceOldestSince and /metrics of ", place), shown.Earliest, shown.Latest)
		age := time.Duration(seconds[place].Num) * time.Second
		since[place].Within(t, fmt.Sprint("pnPlaceOldestSince and pnPlaceOldestAge of ", place), made.Earliest.Add(-age), made.Latest.Add(time.Second-age))
	}
	return since
}

// dateAndTime reads a DateAndTime of RFC 2579 with a time zone, which has tenths of a
// second.
func dateAndTime(t *testing.T, v smi.Value) Dated {
	t.Helper()
	if b := v.Str; len(b) == 11 && b[8] == '+' && b[9] == 0 && b[10] == 0 {
		at := time.Date(int(b[0])<<8|int(b[1]), time.Month(b[2]), int(b[3]), int(b[4]), int(b[5]), int(b[6]), int(b[7])*1e8, time.UTC)
		return Dated{at, at.Add(100 * time.Millisecond)}
	}
	t.Fatalf("%v is no DateAndTime in UTC", v)
	return Dated{}
}
