// SPDX-License-Identifier: Apache-2.0

package dashboards

// Colours of what is good, worth a look, and bad.
const (
	calm   = "green"
	warm   = "yellow"
	hot    = "orange"
	burnt  = "red"
	silent = "transparent"
)

// heat colours ages: from ten minutes on somebody should look, from an hour on
// somebody must.
func heat() []Step {
	return []Step{{0, calm}, {60, warm}, {600, hot}, {3600, burnt}}
}

// anyIsBad colours counts that should be 0.
func anyIsBad() []Step { return []Step{{0, calm}, {1, burnt}} }

// anyIsWarm colours rates that should be 0.
func anyIsWarm() []Step { return []Step{{0, calm}, {1e-9, hot}} }

// glow colours the number of tokens that are as old as the step of the ladder
// with this index: the older, the hotter.
func glow(step int) []Step {
	colour := [...]string{calm, calm, warm, hot, burnt, burnt, "dark-red", "dark-red"}
	return []Step{{0, silent}, {1, colour[min(step, len(colour)-1)]}}
}

// noneIsBad colours counts of what should be there.
func noneIsBad() []Step { return []Step{{0, burnt}, {1, calm}} }
