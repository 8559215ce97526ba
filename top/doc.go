// SPDX-License-Identifier: Apache-2.0

// Package top is the live table in a terminal, without the terminal: Views and
// keys go in, lines of text come out. It has no clock, no I/O and no goroutine;
// top/terminal is the thin shell with a screen, a keyboard and a sidecar.
//
// [Decode] and [DecodeAlarms] read what the sidecar serves at /api/v1/view and
// /api/v1/alarms. A [Model] hears them ([Model.Hear], [Model.Fail]), is told the
// time ([Model.Tick]), the size ([Model.Resize]) and the keys ([Model.Press]),
// and [Model.Frame] is what the screen shows. [Plain] is one table for scripts
// and screen readers.
//
//	view.go    what the sidecar serves, read with bounds
//	rates.go   firings and arrivals a second, from Views that follow one another
//	table.go   columns, rows, sorting, and what is left out on a narrow screen
//	tabs.go    the five tables: nets, places, transitions, sources, alarms
//	page.go    one place, transition, source or alarm, opened
//	model.go   what is shown, and what keys change
//	keys.go    the keys
//	frame.go   lines of exactly the screen's size
//	paint.go   styles, and the escape sequences for them
//	text.go    names that cannot harm a terminal; widths, ellipses
//	format.go  ages, counts, rates, what a token waits for
//
// What is not known is "–" and never 0; where there is nothing that could have
// an age there is "·". Ages grow between Views, and stop where the sidecar does
// not answer: whether a token is still there is not known then. Names come from
// definitions that anybody may have written, so everything that could move the
// cursor, colour the text or turn its direction is shown as an escape.
package top
