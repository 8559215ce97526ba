// SPDX-License-Identifier: Apache-2.0

package region

import (
	"log/slog"
	"time"
)

// repeatAfter is the shortest time between two logs of a lasting fault.
const repeatAfter = 10 * time.Second

// limiter logs a repeated warning at most once in repeatAfter.
type limiter struct {
	log  *slog.Logger
	last time.Time
	more int // warnings since then
}

func (q *limiter) warn(what string, err error, now time.Time) {
	if !q.last.IsZero() && now.Sub(q.last) < repeatAfter {
		q.more++
		return
	}
	q.log.Warn(what, "err", err, "suppressed", q.more)
	q.last, q.more = now, 0
}
