// SPDX-License-Identifier: Apache-2.0

package dashboards

// The colours of values from good to bad.
const (
	calm   = "green"
	warm   = "yellow"
	hot    = "orange"
	burnt  = "red"
	silent = "transparent"
)

// onCell returns a colour as the background of text. A good value has none. Grafana writes in
// white on its orange and red, with too little contrast; it writes in black on this orange.
func onCell(colour string) string {
	switch colour {
	case calm:
		return silent
	case hot:
		return "#FFAC33"
	case burnt:
		return "#D9263C"
	}
	return colour
}

// heat colours ages: a warning from ten minutes on, critical from an hour on.
func heat() []Step {
	return []Step{{0, calm}, {60, warm}, {600, hot}, {3600, burnt}}
}

// anyIsBad colours counts of which any is critical.
func anyIsBad() []Step { return []Step{{0, calm}, {1, burnt}} }

// anyIsWarm colours rates of which any is a warning.
func anyIsWarm() []Step { return []Step{{0, calm}, {1e-9, hot}} }

// glow colours the number of tokens that are as old as a step of the ladder: the older,
// the hotter.
func glow(step int) []Step {
	colour := [...]string{silent, silent, warm, hot, burnt, burnt, "dark-red", "dark-red"}
	return []Step{{0, silent}, {1, colour[min(step, len(colour)-1)]}}
}

// noneIsBad colours counts that should not be 0.
func noneIsBad() []Step { return []Step{{0, burnt}, {1, calm}} }
