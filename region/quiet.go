// SPDX-License-Identifier: Apache-2.0

package region

import (
	"log/slog"
	"time"
)

// againAfter is how long one fault that lasts is not told of again.
const againAfter = 10 * time.Second

// quiet tells of what may go wrong again and again: the first time, and then at
// most once in againAfter.
type quiet struct {
	log  *slog.Logger
	last time.Time
	more int // since then
}

func (q *quiet) warn(what string, reason error, now time.Time) {
	if !q.last.IsZero() && now.Sub(q.last) < againAfter {
		q.more++
		return
	}
	q.log.Warn(what, "reason", reason, "untold", q.more)
	q.last, q.more = now, 0
}
