// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"math"
	"time"

	"github.com/pnagent/pnagent/stats"
)

const (
	// clockWindow is the number of messages over which the least delay is taken.
	clockWindow = 8
	// clockSlack is how far a clock may be off before its times are shifted. It
	// exceeds the delay of a network, so the times of synchronised sources are
	// not changed, and those of other sources do not vary.
	clockSlack = 2 * stats.SlotWidth
	// clockInStep is the most that an estimate may be off for a shift to end. It is less
	// than clockSlack, so that an offset close to either does not vary the times, and a
	// clock in step whose messages were all late for a while is not shifted forever.
	clockInStep = stats.SlotWidth
	// skewBelieved is the most that a clock may be off without being reported.
	// After an offset that jumps by more, the earlier offsets are discarded.
	skewBelieved = int64(time.Minute / time.Microsecond)
)

// clock estimates the shift from a source's clock to the collector's. A message's
// offset is received - sent_at: the difference of the clocks plus the delay of the
// message. The delay is never negative, so the least offset of the last few
// messages is the best estimate, and a delayed message changes nothing.
type clock struct {
	offsets [clockWindow]int64
	n       int   // offsets seen since the last jump
	shift   int64 // to add
}

// observe adds one message, which may change the shift. It reports whether the source's
// clock jumped.
func (c *clock) observe(sentAt, received int64) (jumped bool) {
	offset := received - sentAt
	if c.n > 0 && abs(offset-c.offsets[(c.n-1)%clockWindow]) > skewBelieved {
		c.n, jumped = 0, true
	}
	c.offsets[c.n%clockWindow] = offset
	c.n++
	switch least := c.least(); {
	case abs(least) <= clockInStep:
		c.shift = 0
	case abs(least-c.shift) <= clockSlack: // as it was
	case abs(least) <= clockSlack:
		c.shift = 0
	default:
		c.shift = least
	}
	return jumped
}

// least returns the least offset of the window; 0 before the first.
func (c *clock) least() int64 {
	if c.n == 0 {
		return 0
	}
	least := c.offsets[0]
	for _, o := range c.offsets[:min(c.n, clockWindow)] {
		least = min(least, o)
	}
	return least
}

// skew returns the source's clock minus the collector's, and whether that is
// more than a minute.
func (c *clock) skew() (time.Duration, bool) {
	us := -c.least()
	longest := int64(math.MaxInt64 / time.Microsecond) // 292 years
	return time.Duration(min(us, longest)) * time.Microsecond, abs(us) > skewBelieved
}

func abs(d int64) int64 {
	if d < 0 {
		return -d
	}
	return d
}
