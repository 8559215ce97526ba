// SPDX-License-Identifier: Apache-2.0

package alarm

// hush holds back the raises of silenced alarms, and of those that follow from another one. Until such a raise is sent the book has
// its alarm as raising. So the next process that notifies gets it from Machine.Step, and
// holds it back by its own copy of the silences.
type hush struct {
	held    map[uint32]heldBack // by index
	version uint64              // of the notes, when held was last checked
	follows uint64              // Machine.followed, then
	skipped uint64              // notifications held back by a silence
	caused  uint64              // notifications of alarms that follow from another one
}

// heldBack is a raise that was held back.
type heldBack struct {
	raise Change
	sent  bool // another process may have sent it, before the silence or while this one was cut off
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
			h.count(c)
			continue
		case !c.Raise && is && held.sent:
			due = append(due, held.raise, c)
		case !c.Raise && is:
			h.count(held.raise)
			quiet = append(quiet, c)
		default:
			due = append(due, c)
		}
		delete(h.held, c.Alarm.Index)
	}
	return due, quiet
}

// doubt notes that another process may have sent what is held back here.
func (h *hush) doubt() {
	for index, held := range h.held {
		held.sent = true
		h.held[index] = held
	}
}

// count counts a notification about an alarm that was held back.
func (h *hush) count(raise Change) {
	if raise.Alarm.Follows != "" {
		h.caused++
	} else {
		h.skipped++
	}
}

// release returns the raises that are due because their silence is over, or because they
// follow from no other alarm any more. A Machine without
// NATS cannot know whether an alarm is still active, and another process may have noted its
// end; its raise then waits.
func (h *hush) release(n *notes, m *Machine) (due []Change) {
	if len(h.held) == 0 || h.version == n.version && h.follows == m.followed {
		return nil
	}
	waits := false
	for _, index := range sortedKeys(h.held) {
		switch a := m.alarm(index); {
		case a == nil && m.book.active(index): // the alarm has another index, and this one is cleared in the next step
		case a == nil:
			delete(h.held, index)
		case n.silencedUntil(a) != 0 || a.Follows != "":
		case m.interrupted && !a.Kind.own():
			waits = true
		default:
			delete(h.held, index)
			due = append(due, Change{*a, true})
		}
	}
	if !waits {
		h.version, h.follows = n.version, m.followed
	}
	return due
}
