// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"slices"
	"time"
)

// leastIntervals is how many intervals between firings must be known to call them regular.
const leastIntervals = 10

// Learned is a rule by which the past firings of a transition would have been expected, and none of
// them missed.
type Learned struct {
	Every, Grace      time.Duration
	Shortest, Longest time.Duration // interval
	Firings           int
}

// Learn returns the rule of firings at times in microseconds, ascending. It returns false unless they are
// regular: the intervals differ by half of the usual one at most.
func Learn(times []int64) (l Learned, regular bool) {
	if len(times) <= leastIntervals {
		return l, false
	}
	intervals := make([]time.Duration, len(times)-1)
	for i := range intervals {
		intervals[i] = time.Duration(times[i+1]-times[i]) * time.Microsecond
	}
	slices.Sort(intervals)
	usual := intervals[len(intervals)/2]
	l.Shortest, l.Longest, l.Firings = intervals[0], intervals[len(intervals)-1], len(times)
	l.Every = rounded(usual)
	if l.Every < time.Second || l.Longest-l.Shortest > usual/2 {
		return Learned{}, false
	}
	l.Grace = upTo(max(2*(l.Longest-l.Every), l.Every/10, time.Second))
	return l, true
}

// rounded returns the roundest duration that is within a hundredth of another one.
func rounded(d time.Duration) time.Duration {
	for _, unit := range []time.Duration{24 * time.Hour, 12 * time.Hour, time.Hour, 30 * time.Minute, 5 * time.Minute, time.Minute, 30 * time.Second, 5 * time.Second} {
		if r := d.Round(unit); r > 0 && (r-d).Abs() <= d/100 {
			return r
		}
	}
	return d.Round(time.Second)
}

// upTo rounds up, to seconds or to minutes.
func upTo(d time.Duration) time.Duration {
	unit := time.Second
	if d > time.Minute {
		unit = time.Minute
	}
	return (d + unit - 1).Truncate(unit)
}

// Override returns the line of a file of rules for a transition.
func (l *Learned) Override(net, transition string) string {
	return fmt.Sprintf("  - {net: %q, transition: %q, expect: {every: %s, grace: %s}} # %d firings, %s to %s apart", net, transition, span(l.Every), span(l.Grace), l.Firings, span(l.Shortest), span(l.Longest))
}
