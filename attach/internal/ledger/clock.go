// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"net/http"
	"sync"
	"time"
)

// Clock estimates by how much the clock of an HTTP server is ahead of the host's, for
// Source.SetClock. The Date of an answer has whole seconds. It allows an interval of differences, and
// the estimate moves into it by as little as possible, from no difference on. Any goroutine may use it.
type Clock struct {
	mu    sync.Mutex
	ahead int64 // microseconds
}

// See takes the header of the answer to a request.
func (c *Clock) See(answer http.Header, sent, received time.Time) {
	t, err := http.ParseTime(answer.Get("Date"))
	if err != nil {
		return
	}
	low := t.Sub(received).Microseconds()
	high := t.Add(time.Second).Sub(sent).Microseconds()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = min(max(c.ahead, low), high)
}

// Ahead returns the estimate, in microseconds.
func (c *Clock) Ahead() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead
}
