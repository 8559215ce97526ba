// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"fmt"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// numbers checks the rows of a message: against the definition, against each
// other and against the rows before.
func (h *sourceState) numbers(s *telemetry.Snapshot, d *definition) {
	h.tables = tablesOf(s)
	h.fits(d)
	for i := range s.Rows.Places {
		row := &s.Rows.Places[i]
		at := indexOf(s.PlaceIndex, i)
		name := placeName(d, at)
		h.agrees(name, row, s)
		fell(h, stats.PlaceTable, " of "+name, h.places[at], row, s.Rows.Columns)
		h.places[at] = stats.PlaceTable.Counters(row)
	}
	for i := range s.Rows.Transitions {
		row := &s.Rows.Transitions[i]
		at := indexOf(s.TransitionIndex, i)
		fell(h, stats.TransitionTable, " of "+transitionName(d, at), h.transitions[at], row, s.Rows.Columns)
		h.transitions[at] = stats.TransitionTable.Counters(row)
	}
	if n := s.Rows.Net; s.Rows.Columns.Has(stats.ColInstances) {
		fell(h, stats.NetTable, " instances", h.net, &n, stats.ColInstances)
		h.net = n
	}
	h.requests(s)
}

// requests checks the refused requests, which each process counts for itself.
func (h *sourceState) requests(s *telemetry.Snapshot) {
	if s.Refused == nil {
		return
	}
	for reason, n := range s.Refused {
		if h.refused != nil && h.refusedEpoch == s.Epoch && n < h.refused[reason] {
			h.wrong("refused requests", "refused requests (%s) fell from %d to %d: they are cumulative since epoch", stats.RefusedReasons()[reason], h.refused[reason], n)
		}
	}
	h.refused, h.refusedEpoch = s.Refused, s.Epoch
}

func indexOf(index []uint32, i int) uint32 {
	if index == nil {
		return uint32(i)
	}
	return index[i]
}

// table is the number of rows of a table in a message, and its highest index plus 1.
type table struct {
	what       string
	full       bool
	rows, upTo int
}

func tablesOf(s *telemetry.Snapshot) [2]table {
	t := [2]table{tableOf("places", s.Full, len(s.Rows.Places), s.PlaceIndex), tableOf("transitions", s.Full, len(s.Rows.Transitions), s.TransitionIndex)}
	if s.Remnants == nil {
		return t
	}
	for i := range s.Remnants.Lost {
		l := &s.Remnants.Lost[i]
		t[0].reach(l.Places)
		t[1].reach(l.Enabled)
		t[1].reach(l.Fired)
	}
	return t
}

func tableOf(what string, full bool, rows int, index []uint32) table {
	t := table{what: what, full: full, rows: rows}
	t.reach(index)
	return t
}

// reach notes the highest of rising indices.
func (t *table) reach(index []uint32) {
	if len(index) > 0 {
		t.upTo = max(t.upTo, int(index[len(index)-1])+1)
	}
}

// fits checks the last tables against their definition.
func (h *sourceState) fits(d *definition) {
	if d == nil || d.net == nil {
		return
	}
	for i, defined := range [2]int{len(d.net.Places), len(d.net.Transitions)} {
		t := &h.tables[i]
		switch {
		case t.full && t.rows != 0 && t.rows != defined:
			h.wrong("size of "+t.what, "a full message has %d rows of %s, and the definition has %d: rows are all of them, in the order of the file", t.rows, t.what, defined)
		case t.upTo > defined:
			h.wrong("size of "+t.what, "a message has a row of %s with the index %d, and the definition has %d, from 0", t.what, t.upTo-1, defined)
		}
		*t = table{}
	}
}

// agrees checks the numbers of one place against each other.
func (h *sourceState) agrees(name string, row *stats.Place, s *telemetry.Snapshot) {
	given := s.Rows.Columns
	if given.Has(stats.ColTokens|stats.ColOldest) && (row.Tokens == 0) != (row.Oldest == 0) {
		h.wrong("oldest", "%s has %d tokens, and the oldest came at %d: the time is 0 where there are no tokens, and only there", name, row.Tokens, row.Oldest)
	}
	if given.Has(stats.ColTokens|stats.ColAges) && row.Ages.Tokens() != row.Tokens {
		h.wrong("ages", "%s has %d tokens, and its ladder of ages counts %d", name, row.Tokens, row.Ages.Tokens())
	}
	if given.Has(stats.ColOldest) && row.Oldest > s.SentAt+mostSkew {
		h.wrong("future", "%s has an oldest token that comes in %s: times are those when tokens were put, not ages", name, seconds(row.Oldest-s.SentAt))
	}
	if given.Has(stats.ColDepartures|stats.ColDwell) && row.Dwell.Count() != row.Departures {
		h.wrong("dwell", "%s lost %d tokens, and its dwell histogram counts %d", name, row.Departures, row.Dwell.Count())
	}
	if given.Has(stats.ColTokens|stats.ColArrivals|stats.ColDepartures) && row.Arrivals != row.Departures+row.Tokens {
		h.wrong("balance", "%s has %d tokens after %d arrivals and %d departures: arrivals are all tokens put since the counters began, those that were there at the start included",
			name, row.Tokens, row.Arrivals, row.Departures)
	}
}

// fell records each counter of a row that is lower than before.
func fell[R any](h *sourceState, t *stats.Table[R], of string, old R, row *R, given stats.Columns) {
	t.Fell(&old, row, given, func(counter string, from, to uint64) bool {
		h.wrong("fell", "%s%s fell from %d to %d: counters are cumulative since epoch, or since since, never differences", counter, of, from, to)
		return true
	})
}

func placeName(d *definition, i uint32) string {
	if d != nil && d.net != nil && int(i) < len(d.net.Places) {
		return "place " + d.net.Places[i].ID
	}
	return fmt.Sprintf("place %d", i)
}

func transitionName(d *definition, i uint32) string {
	if d != nil && d.net != nil && int(i) < len(d.net.Transitions) {
		return "transition " + d.net.Transitions[i].ID
	}
	return fmt.Sprintf("transition %d", i)
}
