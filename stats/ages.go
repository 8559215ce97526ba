// SPDX-License-Identifier: Apache-2.0

package stats

// AgeStep is an age for which every face shows how many tokens are older.
type AgeStep struct {
	Label string // as Prometheus writes durations
	Text  string // for people
	Age   int64  // microseconds
}

// AgeSteps returns the steps, youngest first. Their number and order are part
// of PETRINET-MIB: append only.
func AgeSteps() []AgeStep {
	const second, minute, hour, day = 1e6, 60e6, 3600e6, 24 * 3600e6
	return []AgeStep{
		{"1s", "one second", second},
		{"10s", "10 seconds", 10 * second},
		{"1m", "one minute", minute},
		{"10m", "10 minutes", 10 * minute},
		{"1h", "one hour", hour},
		{"6h", "6 hours", 6 * hour},
		{"1d", "one day", day},
		{"7d", "7 days", 7 * day},
	}
}
