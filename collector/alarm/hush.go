// SPDX-License-Identifier: Apache-2.0

package alarm

// hush holds back the raises of silenced alarms. Until such a raise is sent the book has
// its alarm as raising. So the next process that notifies gets it from Machine.Step, and
// holds it back by its own copy of the silences.
type hush struct {
	held    map[uint32]heldBack // by index
	version uint64              // of the notes, when held was last checked
	skipped uint64              // notifications held back
}

// heldBack is a raise that was held back.
type heldBack struct {
	raise Change
	sent  bool // another process may have sent it before the silence
}

// pass returns the changes to notify. quiet are the clears of alarms that were raised and
// cleared during a silence: nothing is ever sent about them. The clear of an alarm whose
// raise was sent is due also during a silence; if the raise may have been sent, both are.
func (h *hush) pass(changes []Change, silenced, sent func(*Alarm) bool) (due, quiet []Change) {
	for _, c := range changes {
		held, is := h.held[c.Alarm.Index]
		switch {
		case c.Raise && silenced(&c.Alarm):
			if h.held == nil {
				h.held = map[uint32]heldBack{}
			}
			h.held[c.Alarm.Index] = heldBack{c, sent(&c.Alarm)}
			h.skipped++
			continue
		case !c.Raise && is && held.sent:
			due = append(due, held.raise, c)
		case !c.Raise && is:
			h.skipped++
			quiet = append(quiet, c)
		default:
			due = append(due, c)
		}
		delete(h.held, c.Alarm.Index)
	}
	return due, quiet
}

// release returns the raises that are due because their silence is over. A Machine without
// NATS cannot know whether an alarm is still active, and another process may have noted its
// end; its raise then waits.
func (h *hush) release(n *notes, m *Machine) (due []Change) {
	if len(h.held) == 0 || h.version == n.version {
		return nil
	}
	waits := false
	for _, index := range sortedKeys(h.held) {
		switch a := m.alarm(index); {
		case a == nil:
			delete(h.held, index)
		case n.silencedUntil(a) != 0:
		case m.interrupted && a.Kind != NATSDisconnected:
			waits = true
		default:
			delete(h.held, index)
			due = append(due, Change{*a, true})
		}
	}
	if !waits {
		h.version = n.version
	}
	return due
}
