// SPDX-License-Identifier: Apache-2.0

package lograte

import (
	"testing"
	"time"
)

func TestALimitAllowsABurstAndThenOneASecond(t *testing.T) {
	var l Limit
	now, allowed, most := time.Unix(1e9, 0), 0, uint64(0)
	for range 100 { // ten seconds, a hundred lines in each
		for range 10 {
			if suppressed, ok := l.Take(now); ok {
				allowed++
				most = max(most, suppressed)
			}
		}
		now = now.Add(100 * time.Millisecond)
	}
	if allowed < Burst+9 || allowed > Burst+10 || most < 90 || most > 100 {
		t.Errorf("%d lines of 1,000 in ten seconds, at most %d were suppressed between two; expected %d and one a second", allowed, most, Burst)
	}
	now = now.Add(time.Hour)
	if suppressed, ok := l.Take(now); !ok || suppressed == 0 {
		t.Errorf("after an hour: %d suppressed, %v", suppressed, ok)
	}
}
