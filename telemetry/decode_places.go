// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

func (d *Decoder) readPlaces(w *wire.Places, into *Snapshot) error {
	if w == nil {
		w = &wire.Places{}
	}
	longest := max(len(w.Tokens), len(w.Arrivals), len(w.Departures), len(w.Instances), len(w.Oldest),
		len(w.GetAges().GetLen()), len(w.GetDwell().GetLen()))
	n, err := readIndex(w.Index, into.Full, longest, &into.PlaceIndex)
	if err != nil {
		return err
	}
	places := resize(into.Rows.Places, n)
	into.Rows.Places = places
	c := columns{d: d, n: n, index: into.PlaceIndex, known: &into.Rows.Columns}
	if err := c.places(w, places); err != nil {
		return err
	}
	if err := readAges(w.GetAges(), into.SentAt/stats.SlotWidth, &into.Rows); err != nil {
		return fmt.Errorf("ages: %w", err)
	}
	if err := c.durations(stats.ColDwell, "dwell", w.GetDwell(), w.Slowest, func(i int) (*stats.Histogram, *stats.Slowest) {
		return &places[i].Dwell, &places[i].Slowest
	}); err != nil {
		return err
	}
	return within("stuck", c.stuck(w.Stuck, places))
}

// places sets the numbers of every row, 0 where a column is absent.
func (c *columns) places(w *wire.Places, rows []stats.Place) error {
	tokens := c.counts(stats.ColTokens, "tokens", w.Tokens)
	arrivals := c.counts(stats.ColArrivals, "arrivals", w.Arrivals)
	departures := c.counts(stats.ColDepartures, "departures", w.Departures)
	instances := c.counts(stats.ColPlaceInstances, "instances", w.Instances)
	oldest := c.moments(stats.ColOldest, "oldest", w.Oldest)
	last := c.moments(stats.ColOldest, "last_injection", w.LastInjection)
	sec := c.below(stats.ColOldest, "injected_s", w.InjectedS, MaxSum)
	micro := c.below(stats.ColOldest, "injected_us", w.InjectedUs, 1e6-1)
	c.together("oldest, last_injection, injected_s and injected_us",
		len(w.Oldest), len(w.LastInjection), len(w.InjectedS), len(w.InjectedUs))
	if c.err != nil {
		return c.err
	}
	for i := range rows {
		p := &rows[i]
		p.Tokens, p.Arrivals, p.Departures, p.Instances = tokens[i], arrivals[i], departures[i], instances[i]
		p.Oldest, p.LastInjection = oldest[i], last[i]
		p.Injected = stats.TimeSum{Sec: sec[i], Micro: micro[i]}
	}
	return nil
}

func readAges(w *wire.Ladder, at int64, rows *stats.Rows) error {
	length, start, count := w.GetLen(), w.GetStart(), w.GetCount()
	if len(length) == 0 {
		if len(start)+len(count) > 0 {
			return fmt.Errorf("%w: start and count without len", BadColumns)
		}
		for i := range rows.Places {
			rows.Places[i].Ages = stats.Ladder{Slots: rows.Places[i].Ages.Slots[:0]}
		}
		return nil
	}
	if err := checkLens(len(rows.Places), length, len(start), len(count)); err != nil {
		return err
	}
	at0 := 0
	for i := range rows.Places {
		l := &rows.Places[i].Ages
		l.At = at
		l.Slots = resize(l.Slots, int(length[i]))
		begin := int64(0)
		for j := range l.Slots {
			begin += start[at0+j]
			l.Slots[j] = stats.Slot{Start: begin, N: count[at0+j]}
			if count[at0+j] > MaxCount {
				return fmt.Errorf("%w: count of row %d beyond %d", BadValue, i, uint64(MaxCount))
			}
		}
		if !l.Valid() {
			return fmt.Errorf("%w: slots of row %d: filled, rising and as cut for sent_at", BadValue, i)
		}
		at0 += int(length[i])
	}
	rows.Columns |= stats.ColAges
	return nil
}

// stuck sets the oldest tokens of every row. The list names rows by their index
// in the net.
func (c *columns) stuck(list []*wire.OldestTokens, rows []stats.Place) error {
	for i := range rows {
		rows[i].Stuck = rows[i].Stuck[:0]
	}
	for i, o := range list {
		if i > 0 && o.GetPlace() <= list[i-1].GetPlace() {
			return fmt.Errorf("%w: place %d after place %d", BadIndex, o.GetPlace(), list[i-1].GetPlace())
		}
		row, ok := c.row(o.GetPlace())
		if !ok {
			return fmt.Errorf("%w: place %d has no row", BadIndex, o.GetPlace())
		}
		if err := readTokens(o.GetTokens(), &rows[row].Stuck); err != nil {
			return fmt.Errorf("place %d: %w", o.GetPlace(), err)
		}
		if len(rows[row].Stuck) > 0 {
			*c.known |= stats.ColStuck
		}
	}
	return nil
}

func readTokens(list []*wire.Token, into *[]stats.Token) error {
	if len(list) > stats.MaxStuck {
		return fmt.Errorf("%w: %d tokens, of at most %d", TooMany, len(list), stats.MaxStuck)
	}
	tokens := resize(*into, len(list))
	*into = tokens
	for i, w := range list {
		t := &tokens[i]
		if err := checkText(w.GetInstance(), MaxName); err != nil {
			return fmt.Errorf("instance: %w", err)
		}
		if w.GetInjected() <= 0 || w.GetInjected() > MaxTime {
			return fmt.Errorf("%w: injected %d", BadValue, w.GetInjected())
		}
		t.Instance, t.Injected = w.GetInstance(), w.GetInjected()
		if err := readWaits(w.GetWaits(), &t.Waits); err != nil {
			return err
		}
	}
	older := func(a, b stats.Token) int { return a.Compare(&b) }
	if !slices.IsSortedFunc(tokens, older) {
		slices.SortFunc(tokens, older)
	}
	return nil
}

func readWaits(list []*wire.Wait, into *[]stats.Wait) error {
	if len(list) > MaxWaits {
		return fmt.Errorf("%w: %d waits, of at most %d", TooMany, len(list), MaxWaits)
	}
	waits := resize(*into, len(list))
	*into = waits
	for i, w := range list {
		if w.GetTransition() >= MaxRows || w.GetPlace() > MaxRows {
			return fmt.Errorf("%w: wait for transition %d, place %d", BadIndex, w.GetTransition(), w.GetPlace())
		}
		if w.GetUntil() < 0 || w.GetUntil() > MaxTime {
			return fmt.Errorf("%w: until %d", BadValue, w.GetUntil())
		}
		if err := checkText(w.GetWhat(), stats.MaxWhat); err != nil {
			return fmt.Errorf("what: %w", err)
		}
		waits[i] = stats.Wait{Transition: int32(w.GetTransition()), Reason: reason(w.GetReason()),
			Place: int32(w.GetPlace()) - 1, Count: w.GetCount(), Until: w.GetUntil(), What: w.GetWhat()}
	}
	return nil
}

// reason returns ReasonUnknown for a reason that a later version of the wire added.
func reason(r wire.Reason) stats.Reason {
	if r < 0 || r > wire.Reason(stats.LastReason) {
		return stats.ReasonUnknown
	}
	return stats.Reason(r)
}
