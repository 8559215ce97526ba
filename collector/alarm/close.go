// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/collector/merge"
)

// ErrHolds is wrapped by the error of Close about an alarm that is known to hold.
var ErrHolds = errors.New("the alarm is known to hold, so it cannot be closed; mend its cause, or acknowledge or silence it")

// Closed is what Close did.
type Closed struct {
	Indices []uint32 // of the alarms that a person closed
	Holding []uint32 // selected, and known to hold: they stay
}

// Close ends alarms of which it is not known whether they hold, by their indices or else by a
// selection, of which Source also selects what a source held or what follows from it. With a
// sourceLost alarm it ends what follows from that. The error is ErrNoAlarm or ErrHolds for an
// index, and then nothing changes; ErrNote is for an invalid selection, name or comment. Turn
// returns the changes to notify.
func (d *Coordinator) Close(indices []uint32, of Selection, by, comment string, now int64) (done Closed, err error) {
	if err := checkWords(by, comment); err != nil {
		return done, err
	}
	if len(indices) == 0 && of == (Selection{}) {
		return done, fmt.Errorf("%w: alarms without an index; expected indices, or a kind, reason, net, place, transition or source; the net * is all alarms", ErrNote)
	}
	why := "closed by " + by
	if comment != "" {
		why += ": " + comment
	}
	if len(indices) == 0 {
		indices, done.Holding = d.machine.closable(&of)
	}
	closed, changes, err := d.machine.Close(indices, why, now)
	done.Indices = closed
	d.closed = append(d.closed, changes...)
	return done, err
}

// closable returns the alarms of a selection that can be closed, and those that cannot.
func (m *Machine) closable(of *Selection) (closing, holding []uint32) {
	for _, h := range m.active {
		switch {
		case h.Index == 0 || !of.reaches(&h.Alarm):
		case h.says == unknown:
			closing = append(closing, h.Index)
		default:
			holding = append(holding, h.Index)
		}
	}
	return closing, holding
}

// reaches is selects, with the sources of an alarm that is not about a source.
func (s *Selection) reaches(a *Alarm) bool {
	if s.selects(a) {
		return true
	}
	rest := *s
	rest.Source = ""
	if s.Source == "" || !rest.selects(a) {
		return false
	}
	of := func(o Origin) bool { // the source, or a sidecar below that leads to it
		return o.Source != "" && slices.ContainsFunc(merge.PathOf(o.Source), func(name string) bool { return Match(s.Source, name) })
	}
	return a.Follows != "" && Match(s.Source, a.Follows) || len(a.Lost.All()) > 0 && !slices.ContainsFunc(a.Lost.All(), func(o Origin) bool { return !of(o) })
}

// Close ends alarms of which it is not known whether they hold, and what follows from them.
// why names the person. It returns their indices, and the changes to notify. The error wraps
// ErrNoAlarm or ErrHolds.
func (m *Machine) Close(indices []uint32, why string, now int64) (closed []uint32, changes []Change, err error) {
	var closing []*held
	for _, index := range indices {
		h := m.heldBy(index)
		switch {
		case h == nil:
			return nil, nil, fmt.Errorf("%w has the index %d", ErrNoAlarm, index)
		case h.says != unknown:
			return nil, nil, fmt.Errorf("%w: %d", ErrHolds, index)
		}
		closing = append(closing, h)
	}
	m.moved()
	m.now, m.changes = now, nil
	for _, h := range closing {
		closed = m.close(h, why, closed)
	}
	if len(closed) > 0 {
		m.lastChange = now
	}
	if m.follows {
		m.changes = nil // the process that leads sends them
	}
	m.compact()
	return closed, m.changes, nil
}

func (m *Machine) close(h *held, why string, closed []uint32) []uint32 {
	if h.cleared {
		return closed
	}
	closed = append(closed, h.Index)
	m.clear(h, why)
	if h.Kind != SourceLost {
		return closed
	}
	for _, f := range m.active {
		if f.Follows == h.Subject && f.says == unknown && f.Index != 0 {
			closed = m.close(f, why, closed)
		}
	}
	return closed
}
