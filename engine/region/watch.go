// SPDX-License-Identifier: Apache-2.0

package region

import (
	"slices"
	"sync/atomic"
	"time"
)

// watch measures how long an owner has been silent. Only time in which this
// process checked counts, so a stopped process suspects no member. The caller
// chooses the clock: by roster.present, time in which this process was cut off
// does not count either.
type watch struct {
	commit  atomic.Bool // a commit has arrived since the last check
	beat    time.Time   // the last one that was received
	checked time.Time
	silent  time.Duration
}

func (w *watch) look(beat, now time.Time) time.Duration {
	if !w.checked.IsZero() {
		w.silent += min(now.Sub(w.checked), w.next()+checkEvery)
	}
	w.checked = now
	if w.commit.Swap(false) || beat.After(w.beat) {
		w.beat, w.silent = beat, 0
	}
	return w.silent
}

// next returns how long after a check the next one is due. Each beat that may change what is
// seen makes for a check, so others are needed only once one is late.
func (w *watch) next() time.Duration { return max(lateAfter-w.silent, checkEvery) }

// takesOver reports whether this member should take over a part because its
// owner is silent. The first in order does so after the roster's silenceLimit.
// Each next one waits a little longer, so that they do not race.
func (r *replica) takesOver(w *watch, now time.Time) bool {
	m := r.member
	beat := time.Time{}
	owner, owned := m.roster.owner(r.part.Name, now)
	if owned {
		beat = owner.LastBeat
	}
	silent := w.look(beat, m.roster.present(now))
	at := r.place()
	if before := slices.Index(*r.order.Load(), owner.Source); owned && before >= 0 && before < at {
		at-- // the silent owner does not count in the order
	}
	return at >= 0 && m.roster.informed(now) && silent > m.roster.silenceLimit(now)*time.Duration(2+at)/2
}
