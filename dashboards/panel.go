// SPDX-License-Identifier: Apache-2.0

package dashboards

// each is the unit of what is counted by the second.
const each = "suffix:/s"

// number is a panel of one number, a sixth as wide as the page.
func number(title, description, unit, expr string, steps []Step) Panel {
	return Panel{Title: title, Description: description, Kind: Stat, Unit: unit, Width: 4, Height: 4, Steps: steps,
		Queries: []Query{{Expr: expr, Legend: title}}}
}

// side is a panel of lines, half as wide as the page.
func side(title, description, unit string, queries ...Query) Panel {
	return Panel{Title: title, Description: description, Kind: Lines, Unit: unit, Width: 12, Height: 8, Queries: queries}
}

// rare is side for what seldom happens.
func rare(title, description, unit string, queries ...Query) Panel {
	p := side(title, description, unit, queries...)
	p.Rare = true
	return p
}

// quarter makes a panel a quarter as wide as the page.
func quarter(p Panel) Panel { p.Width = 6; return p }

// full makes a panel as wide as the page.
func full(p Panel) Panel { p.Width = 24; return p }
