// SPDX-License-Identifier: Apache-2.0

package alarm

// Limits of the changes kept while another process has the duty.
const (
	keepFor = 30e6 // microseconds: longer than the detection of a process that is gone
	keepMax = 10_000
)

// Skipped counts notifications that were due and not sent because this process was not
// on duty. Another process sends them.
type Skipped struct {
	Standby  uint64 // sent by the process on duty
	Overflow uint64 // dropped because more than keepMax changes were kept
	Silenced uint64 // held back by a silence
	Follows  uint64 // held back because the alarm follows from another one
}

// gate passes changes while this process is on duty. Otherwise it keeps them. When the
// process takes the duty, the gate passes those that may not have been notified.
type gate struct {
	kept    []keptChange // by time
	skipped Skipped
}

type keptChange struct {
	Change
	at int64
}

// pass returns the changes to notify. If on, kept changes since from may not have been
// notified by others; the changes of now are always notified.
func (g *gate) pass(changes []Change, now int64, on bool, from int64) []Change {
	if on && len(g.kept) == 0 {
		return changes
	}
	if !on {
		for _, c := range changes {
			g.kept = append(g.kept, keptChange{c, now})
		}
		g.trim(now)
		return nil
	}
	var out []Change
	for _, k := range g.kept {
		if k.at < from || now-k.at > keepFor {
			g.skipped.Standby++
			continue
		}
		out = append(out, k.Change)
	}
	g.kept = nil
	return append(out, changes...)
}

// drop drops the kept changes: another process shares its notifications.
func (g *gate) drop() {
	g.skipped.Standby += uint64(len(g.kept))
	g.kept = nil
}

// trim drops changes older than keepFor or beyond keepMax. A clock that was set back
// drops nothing.
func (g *gate) trim(now int64) {
	old := 0
	for old < len(g.kept) && now-g.kept[old].at > keepFor {
		old++
	}
	g.skipped.Standby += uint64(old)
	over := max(0, len(g.kept)-old-keepMax)
	g.skipped.Overflow += uint64(over)
	if g.kept = g.kept[old+over:]; len(g.kept) == 0 {
		g.kept = nil
	}
}
