// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/stats"
)

// fieldStuck is the field of the oldest tokens of places.
const fieldStuck = 12

func (e *Encoder) appendStuck(b []byte, s *Snapshot) []byte {
	for i := range s.Rows.Places {
		var stuck []stats.Token
		var groups []stats.Group
		if s.Rows.Columns.Has(stats.ColStuck) {
			stuck = s.Rows.Places[i].Stuck
		}
		if s.Rows.Columns.Has(stats.ColGroups) {
			groups = s.Rows.Places[i].Groups
		}
		if len(stuck)+len(groups) == 0 {
			continue
		}
		var start int
		b, start = beginField(b, fieldStuck)
		b = appendNumber(b, 1, rowAt(s.PlaceIndex, i))
		for j := range stuck {
			b = e.appendToken(b, 2, &stats.FoundToken{Token: stuck[j]})
		}
		for j := range groups {
			b = e.appendGroup(b, &groups[j], stuck)
		}
		b = endField(b, start)
	}
	return b
}

// appendGroup appends a group. Its oldest token is written once if it is stuck too.
func (e *Encoder) appendGroup(b []byte, g *stats.Group, stuck []stats.Token) []byte {
	b, start := beginField(b, 5)
	b = appendNumber(b, 1, g.Reason)
	b = appendNumber(b, 2, g.Tokens)
	at := slices.IndexFunc(stuck, func(t stats.Token) bool { return t.Compare(&g.Oldest) == 0 })
	b = appendNumber(b, 3, uint32(at+1))
	if at < 0 {
		b = e.appendToken(b, 4, &stats.FoundToken{Token: g.Oldest})
	}
	if g.Due != g.Oldest.Due() {
		b = appendNumber(b, 5, g.Due)
	}
	return endField(b, start)
}

// appendFound appends the message of an answer about one place.
func (e *Encoder) appendFound(b []byte, place int, found *stats.Found) []byte {
	b = appendNumber(b, 1, uint32(place))
	for i := range found.Tokens {
		b = e.appendToken(b, 2, &found.Tokens[i])
	}
	b = appendTrue(b, 3, found.More)
	return appendNumber(b, 4, found.Matches)
}

func (e *Encoder) appendToken(b []byte, field protowire.Number, t *stats.FoundToken) []byte {
	b, start := beginField(b, field)
	b = e.text(b, 1, t.Instance)
	b = appendNumber(b, 2, t.Injected)
	for i := range t.Waits {
		b = e.appendWait(b, &t.Waits[i])
	}
	b = appendNumber(b, 4, t.N)
	return endField(e.text(b, 5, t.Data), start)
}

func (e *Encoder) appendWait(b []byte, w *stats.Wait) []byte {
	b, start := beginField(b, 3)
	b = appendNumber(b, 1, uint32(w.Transition))
	b = appendNumber(b, 2, w.Reason)
	b = appendNumber(b, 3, uint32(w.Place+1))
	b = appendNumber(b, 4, w.Count)
	b = appendNumber(b, 5, w.Until)
	if w.What != "" {
		b = e.text(b, 6, stats.Clip(w.What, stats.MaxWhat))
	}
	return endField(b, start)
}

// readStuck sets the oldest tokens and the groups of every row. The list names rows by their index in the
// net.
func (t *table) readStuck(rows []stats.Place) error {
	for i := range rows {
		rows[i].Stuck, rows[i].Groups = rows[i].Stuck[:0], rows[i].Groups[:0]
	}
	f, last := t.f[fieldStuck].fields, uint32(0)
	for i, b := range t.f[fieldStuck].parts {
		err := f.read(b, outer)
		if err != nil {
			return err
		}
		place := uint32(f[1].number)
		if i > 0 && place <= last {
			return fmt.Errorf("%w: place %d after place %d", BadIndex, place, last)
		}
		last = place
		row, ok := t.row(place)
		if !ok {
			return fmt.Errorf("%w: place %d has no row", BadIndex, place)
		}
		if err := readTokens(&f[2], &rows[row].Stuck); err != nil {
			return fmt.Errorf("place %d: %w", place, err)
		}
		if len(rows[row].Stuck) > 0 {
			*t.known |= stats.ColStuck
		}
		if err := t.readGroups(&f[5], &rows[row]); err != nil {
			return fmt.Errorf("place %d: groups: %w", place, err)
		}
		if len(rows[row].Groups) > 0 {
			*t.known |= stats.ColGroups
		}
	}
	return nil
}

// readGroups sets the groups of a row, whose oldest tokens are set. Those of a reason that a later
// version of the wire added are left out: why their tokens wait is not known.
func (t *table) readGroups(list *field, p *stats.Place) error {
	if len(list.parts) > maxGroups {
		return fmt.Errorf("%w: %d, of at most %d", TooMany, len(list.parts), maxGroups)
	}
	groups, last := resize(p.Groups, len(list.parts))[:0], uint64(0)
	for _, b := range list.parts {
		f := list.fields
		if err := f.read(b, outer); err != nil {
			return err
		}
		known, g := reason(f[1].number), &groups[:len(groups)+1][len(groups)]
		if f[1].number <= last {
			return fmt.Errorf("%w: reason %d after reason %d", BadIndex, f[1].number, last)
		}
		last = f[1].number
		if err := t.readGroup(f, p.Stuck, g); err != nil {
			return err
		}
		if known != stats.ReasonUnknown {
			g.Reason, groups = known, groups[:len(groups)+1]
		}
	}
	p.Groups = groups
	return nil
}

// maxGroups is more than the reasons of any version.
const maxGroups = 100

// readGroup sets all of a group but its reason.
func (t *table) readGroup(f fields, stuck []stats.Token, g *stats.Group) error {
	g.Tokens = f[2].number
	if g.Tokens == 0 || g.Tokens > t.d.most() {
		return fmt.Errorf("%w: %d tokens", BadValue, g.Tokens)
	}
	switch at := f[3].number; {
	case at > uint64(len(stuck)):
		return fmt.Errorf("%w: oldest token %d, of %d", BadIndex, at, len(stuck))
	case at > 0:
		t, waits := &stuck[at-1], g.Oldest.Waits[:0] // each in memory of its own, for the next message
		g.Oldest = stats.Token{Instance: t.Instance, Injected: t.Injected, Waits: append(waits, t.Waits...)}
		if err := checkParts(&f[4].fields[3]); err != nil { // of a token that is not read
			return err
		}
	default:
		if err := readToken(f[4].fields, &g.Oldest); err != nil {
			return err
		}
	}
	due := int64(f[5].number)
	if due < 0 || due > MaxTime {
		return fmt.Errorf("%w: due %d", BadValue, due)
	}
	g.Due = cmp.Or(due, g.Oldest.Due())
	return nil
}

// checkParts checks that the messages of a list are protobuf.
func checkParts(list *field) error {
	for _, b := range list.parts {
		err := list.fields.read(b, exact)
		if err != nil {
			return err
		}
	}
	return nil
}

func readTokens(list *field, into *[]stats.Token) error {
	if len(list.parts) > stats.MaxStuck {
		return fmt.Errorf("%w: %d tokens, of at most %d", TooMany, len(list.parts), stats.MaxStuck)
	}
	tokens := resize(*into, len(list.parts))
	*into = tokens
	for i, b := range list.parts {
		err := list.fields.read(b, outer)
		if err == nil {
			err = readToken(list.fields, &tokens[i])
		}
		if err != nil {
			return err
		}
	}
	older := func(a, b stats.Token) int { return a.Compare(&b) }
	if !slices.IsSortedFunc(tokens, older) {
		slices.SortFunc(tokens, older)
	}
	return nil
}

func readToken(f fields, t *stats.Token) error {
	t.Instance, t.Injected = string(f[1].bytes), int64(f[2].number)
	if err := checkText(t.Instance, MaxName); err != nil {
		return fmt.Errorf("instance: %w", err)
	}
	if t.Injected <= 0 || t.Injected > MaxTime {
		return fmt.Errorf("%w: injected %d", BadValue, t.Injected)
	}
	return readWaits(&f[3], &t.Waits)
}

func readWaits(list *field, into *[]stats.Wait) error {
	if len(list.parts) > MaxWaits {
		return fmt.Errorf("%w: %d waits, of at most %d", TooMany, len(list.parts), MaxWaits)
	}
	waits := resize(*into, len(list.parts))
	*into = waits
	for i, b := range list.parts {
		f := list.fields
		err := f.read(b, outer)
		if err != nil {
			return err
		}
		transition, place := uint32(f[1].number), uint32(f[3].number)
		if transition >= MaxRows || place > MaxRows {
			return fmt.Errorf("%w: wait for transition %d, place %d", BadIndex, transition, place)
		}
		until, what := int64(f[5].number), string(f[6].bytes)
		if until < 0 || until > MaxTime {
			return fmt.Errorf("%w: until %d", BadValue, until)
		}
		if err := checkText(what, stats.MaxWhat); err != nil {
			return fmt.Errorf("what: %w", err)
		}
		waits[i] = stats.Wait{Transition: int32(transition), Reason: reason(f[2].number), Place: int32(place) - 1,
			Count: uint32(f[4].number), Until: until, What: what}
	}
	return nil
}

// reason returns ReasonUnknown for a reason that a later version of the wire added.
func reason(v uint64) stats.Reason {
	if r := int32(v); r >= 0 && r <= int32(stats.LastReason) {
		return stats.Reason(r)
	}
	return stats.ReasonUnknown
}
