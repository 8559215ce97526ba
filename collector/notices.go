// SPDX-License-Identifier: Apache-2.0

package collector

import "time"

const (
	// maxNotices is how many different notices are logged in noticePeriod.
	maxNotices   = 1000
	noticePeriod = int64(time.Hour / time.Microsecond)
)

// notices records what was logged, so that a source that repeats a fault every
// second does not fill the disk. Its memory is bounded.
type notices struct {
	seen  map[string]bool
	since int64
}

// notice is whether to log.
type notice uint8

const (
	noticeSeen  notice = iota // logged before, or maxNotices was reached
	noticeFirst               // not logged yet
	noticeLast                // not logged yet, and the last one of the period
)

func (n *notices) first(key string, now int64) notice {
	if n.seen == nil || now-n.since > noticePeriod {
		n.seen, n.since = make(map[string]bool), now
	}
	if n.seen[key] || len(n.seen) >= maxNotices {
		return noticeSeen
	}
	n.seen[key] = true
	if len(n.seen) == maxNotices {
		return noticeLast
	}
	return noticeFirst
}
