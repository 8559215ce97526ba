// SPDX-License-Identifier: Apache-2.0

// Package report makes one page with the pictures of a stretch of time, for the
// morning meeting: what is wrong now and since when, which alarms came and went,
// then each net, the worst first.
//
//	dashboards.All() ──► queries ──► Prometheus ──┐
//	                                              ├─► Report ──► one HTML file
//	nets, places, transitions ◄── sidecar's API ──┘
//
// [Prometheus.Report] draws every panel of every dashboard. [Sidecar.Report] is
// for where there is no Prometheus: it draws what the sidecar keeps of the last
// hour, and says what is missing. Both fill a [Report]; [Report.HTML] writes it.
//
// The file needs nothing else: no script, no request, no font. Pictures are SVG
// by report/plot, light or dark as the reader's screen. Everything in it is text
// to html/template or to report/plot, and both escape it.
//
// A query that fails or returns nothing is said where its picture would be, and
// the rest is drawn. What is left out because there is too much is counted.
//
//	prometheus.go  asking it
//	plan.go        which queries: dashboards, for which net and place
//	figure.go      answers to pictures: lines, numbers, heat
//	buckets.go     histograms to rows of cells
//	table.go       answers to tables
//	alarms.go      when alarms were active
//	sidecar.go     asking the sidecar; small.go makes pictures of it
//	simulation.go  the tables of a simulation, which needs no answers
//	page.go        the page
package report
