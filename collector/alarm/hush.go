// SPDX-License-Identifier: Apache-2.0

package alarm

// hush holds back the raises of silenced alarms. Until such a raise is sent the book has
// its alarm as raising. So the next process that notifies gets it from Machine.Step, and
// holds it back by its own copy of the silences.
type hush struct {
	held    map[uint32]bool // alarms whose raise was held back
	version uint64          // of the notes, when held was last checked
	skipped uint64          // notifications held back
}

// pass returns the changes to notify. quiet are those of alarms that were raised and
// cleared during a silence: nothing is ever sent about them. The clear of an alarm whose
// raise was sent is due also during a silence.
func (h *hush) pass(changes []Change, silenced func(*Alarm) bool) (due, quiet []Change) {
	for _, c := range changes {
		switch {
		case c.Raise && silenced(&c.Alarm):
			if h.held == nil {
				h.held = map[uint32]bool{}
			}
			h.held[c.Alarm.Index] = true
			h.skipped++
		case !c.Raise && h.held[c.Alarm.Index]:
			delete(h.held, c.Alarm.Index)
			h.skipped++
			quiet = append(quiet, c)
		default:
			due = append(due, c)
		}
	}
	return due, quiet
}

// release returns the raises that are due because their silence is over. alarm returns an
// active alarm, or nil.
func (h *hush) release(n *notes, alarm func(index uint32) *Alarm) (due []Change) {
	if len(h.held) == 0 || h.version == n.version {
		return nil
	}
	h.version = n.version
	for _, index := range sortedKeys(h.held) {
		switch a := alarm(index); {
		case a == nil:
			delete(h.held, index)
		case n.silencedUntil(a) == 0:
			delete(h.held, index)
			due = append(due, Change{*a, true})
		}
	}
	return due
}
