// SPDX-License-Identifier: Apache-2.0

// Package top is the live table in a terminal, without the terminal: Views and
// keys go in, lines of text come out. It has no clock, no I/O and no goroutine;
// top/terminal is the thin shell with a screen, a keyboard and a sidecar.
//
// A View and alarms are those of package web/api. A [Model] receives them
// ([Model.Update], [Model.Fail]), the time ([Model.Tick]), the size
// ([Model.Resize]) and the keys ([Model.Press]), and [Model.Frame] returns the
// screen. [Model.Plain] returns one table for scripts and screen readers.
//
//	table.go   columns, rows, sorting, and the columns of a narrow screen
//	tabs.go    the five tables: nets, places, transitions, sources, alarms
//	page.go    one place, transition, source or alarm, opened
//	model.go   the state of the screen
//	keys.go    the keys
//	frame.go   lines of exactly the screen's size
//	paint.go   styles, and the escape sequences for them
//	text.go    names made safe for a terminal; widths, ellipses
//	format.go  ages, counts, rates, what a token waits for
//
// An unknown figure is "–" and never 0; "·" means that nothing exists that could
// have the figure. Ages grow between Views, and stop while the sidecar does not
// answer, because the tokens may have left. Names come from untrusted definitions,
// so everything that could move the cursor, colour the text or change its
// direction is shown as an escape.
package top
