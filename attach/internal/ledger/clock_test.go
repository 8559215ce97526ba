// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"net/http"
	"testing"
	"time"
)

func TestTheClockMovesIntoTheIntervalOfTheDate(t *testing.T) {
	at := func(millis int64) time.Time { return time.UnixMilli(1_700_000_000_000 + millis) }
	answer := func(date string) http.Header { return http.Header{"Date": {date}} }
	var c Clock
	for _, step := range []struct {
		rule           string
		date           int64 // seconds
		sent, received int64
		want           int64 // milliseconds
	}{
		{"equal clocks", 10, 10_100, 10_200, 0},
		{"a whole second ahead", 12, 10_100, 10_600, 1400},
		{"within the interval it stays", 12, 10_200, 10_900, 1400},
		{"a later sample narrows it", 11, 10_000, 10_010, 1400},
		{"behind", 9, 10_700, 10_710, -700},
		{"the interval has the time of the request", 9, 10_000, 12_000, -700},
	} {
		c.See(answer(at(step.date*1000).UTC().Format(http.TimeFormat)), at(step.sent), at(step.received))
		if got := c.Ahead() / 1000; got != step.want {
			t.Errorf("%s: %d ms; expected %d", step.rule, got, step.want)
		}
	}
	before := c.Ahead()
	c.See(answer("yesterday"), at(0), at(0))
	if c.Ahead() != before {
		t.Error("an invalid Date changes the estimate")
	}
}
