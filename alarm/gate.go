// SPDX-License-Identifier: Apache-2.0

package alarm

// How much of what changes is kept while another process is to notify.
const (
	keepFor = 30e6 // microseconds: longer than it takes to find out that the other one is gone
	keepMax = 10_000
)

// Skipped are notifications that were due and not sent, because this process was
// not on duty, by reason. They are not held back: another process tells them.
type Skipped struct {
	StandBy  uint64 // the one on duty told them
	Overflow uint64 // more than can be kept until it is known whether it did
}

// gate lets changes through while this process is on duty. While it is not it
// keeps them, and lets those through that may not have been told when it is.
type gate struct {
	kept    []keptChange // by time
	skipped Skipped
}

type keptChange struct {
	Change
	at int64
}

// pass returns the changes that are to be told. from is from when on changes may
// not have been told by others, if on; those of now are told in any case.
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
			g.skipped.StandBy++
			continue
		}
		out = append(out, k.Change)
	}
	g.kept = nil
	return append(out, changes...)
}

// drop forgets what is kept: another process shares what it tells.
func (g *gate) drop() {
	g.skipped.StandBy += uint64(len(g.kept))
	g.kept = nil
}

// trim drops what is kept for too long, and what is too much. A clock that was
// set back drops nothing.
func (g *gate) trim(now int64) {
	old := 0
	for old < len(g.kept) && now-g.kept[old].at > keepFor {
		old++
	}
	g.skipped.StandBy += uint64(old)
	over := max(0, len(g.kept)-old-keepMax)
	g.skipped.Overflow += uint64(over)
	if g.kept = g.kept[old+over:]; len(g.kept) == 0 {
		g.kept = nil
	}
}
