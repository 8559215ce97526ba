// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"cmp"
	"slices"
)

// Loose is the longest time without a request before a mark, in microseconds,
// with which the time of the mark is reliable. It is a little more than twice
// the time between two requests.
const Loose = 2_500_000

// coalesce is the least time between two marks, in microseconds.
const coalesce = 250_000

// Mark is a revision that was the newest one at a moment, and the last moment
// at which it did not exist yet.
type Mark struct {
	Revision int64
	At       int64 // microseconds since the Unix epoch
	Since    int64 // 0 without an earlier request
}

// Times returns the times of revisions. The zero Times has none.
type Times struct {
	marks []Mark // by revision and time, both rising
	last  int64  // start of the last request; 0 before the first
	held  Mark   // the last mark that Saw did not add; without Since
}

// Look records a request for the newest revision, with its times of asking and
// answering. It returns the added marks.
func (t *Times) Look(revision, asked, answered int64) []Mark {
	added := t.mark(revision, answered)
	t.last = max(t.last, asked)
	return added
}

// Saw records that a change of a revision arrived at now; newer revisions may
// exist. Of the changes within a quarter of a second it keeps the first and the
// last. It adds the last when the next one comes.
func (t *Times) Saw(revision, now int64) []Mark {
	if n := len(t.marks); n > 0 && now-t.marks[n-1].At < coalesce {
		t.held = Mark{Revision: revision, At: now}
		return nil
	}
	return t.mark(revision, now)
}

// End adds the last held mark, at the end of a process, so that the next
// process does not date its revision later.
func (t *Times) End() []Mark { return t.mark(t.held.Revision, t.held.At) }

// mark adds the held mark, and one more.
func (t *Times) mark(revision, now int64) []Mark {
	n := len(t.marks)
	t.add(t.held.Revision, t.held.At)
	t.held = Mark{}
	t.add(revision, now)
	return t.marks[n:]
}

func (t *Times) add(revision, now int64) {
	m := Mark{Revision: revision, At: now, Since: t.last}
	if n := len(t.marks); n > 0 {
		last := t.marks[n-1]
		if revision <= last.Revision {
			return
		}
		m.At = max(now, last.At)
	} else if revision <= 0 {
		return
	}
	m.Since = min(m.Since, m.At)
	t.marks = append(t.marks, m)
}

// Restore adds a mark of an earlier process. It returns false for a mark that
// is invalid or out of order.
func (t *Times) Restore(m Mark) bool {
	if n := len(t.marks); m.Revision <= 0 || m.At <= 0 || m.Since < 0 || m.Since > m.At ||
		n > 0 && (m.Revision <= t.marks[n-1].Revision || m.At < t.marks[n-1].At) {
		return false
	}
	t.marks = append(t.marks, m)
	t.last = max(t.last, m.Since)
	return true
}

// At returns the latest possible time of a revision, and whether it may be much
// older. A revision after the last mark was made by now.
func (t *Times) At(revision, now int64) (at int64, loose bool) {
	i, _ := slices.BinarySearchFunc(t.marks, revision, func(m Mark, r int64) int { return cmp.Compare(m.Revision, r) })
	if i < len(t.marks) {
		m := t.marks[i]
		return m.At, m.At-m.Since > Loose
	}
	if n := len(t.marks); n > 0 {
		now = max(now, t.marks[n-1].At)
	}
	return now, now-t.last > Loose
}

// Marks returns the marks. They must not be changed.
func (t *Times) Marks() []Mark { return t.marks }

// Keep drops all marks that the revisions do not need, except the first and the last.
func (t *Times) Keep(revisions []int64) {
	if len(t.marks) < 3 {
		return
	}
	needed := make([]bool, len(t.marks))
	needed[0], needed[len(t.marks)-1] = true, true
	for _, r := range revisions {
		i, _ := slices.BinarySearchFunc(t.marks, r, func(m Mark, r int64) int { return cmp.Compare(m.Revision, r) })
		if i < len(t.marks) {
			needed[i] = true
		}
	}
	kept := t.marks[:0]
	for i, m := range t.marks {
		if needed[i] {
			kept = append(kept, m)
		}
	}
	t.marks = kept
}
