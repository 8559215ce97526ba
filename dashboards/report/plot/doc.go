// SPDX-License-Identifier: Apache-2.0

// Package plot draws series over time as SVG: lines, areas, a heatmap, lanes
// and a sparkline. Points go in, bytes come out; there is no clock and no I/O.
//
//	f := plot.Frame{Width: 560, Height: 220, From: from, To: to, Step: step, Unit: "s"}
//	svg := f.Lines(series, plot.Look{})
//
// Colours are classes of CSS that the page gives: c0 to c7 for series, h0 to h8
// for heat, so a picture is light or dark with its page, and prints. Where two
// points are further apart than one and a half steps there is a gap; a value
// that is not finite is no point.
//
//	frame.go   where on the picture a time and a value are; axes
//	ticks.go   which times and values an axis names
//	unit.go    values in words: Grafana's units s, ops, percentunit, bytes ...
//	lines.go   lines, stacked areas, sparklines
//	heat.go    heatmaps and lanes
package plot
