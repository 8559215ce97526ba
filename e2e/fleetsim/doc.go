// SPDX-License-Identifier: Apache-2.0

// Package fleetsim measures sidecars from outside, under a simulated fleet of
// engines: up to a hundred thousand sources of a net of 50 places and 50 transitions,
// each of which publishes once a second, or at the interval that the size or a sidecar has.
//
//	go test -run TestScale -scale --                           all sizes, and a tree
//	go test -run TestScale -scale '--sources 1000 --tree=0'    one size, one sidecar
//	go test -run TestScale -scale '--sources 100000@30s'       one size with its interval
//	go test -run TestScale -scale --markdown                   the tables of docs/scale.md
//
// A [source] is a cheap token game: tokens move along a line of places, and some
// get stuck. Its dwell histograms start as full as those of an engine that has
// run for hours. [telemetry.Encoder] encodes its snapshots, sparse or full as
// those of a telemetry.Publisher, and NATS carries them. Some sources restart,
// others are silent for a while. The [fleet] counts what it does in a [truth],
// apart from the rows that it publishes.
//
// A [stage] is a fleet of one size and its sidecars: one (flat), a root and
// several below it (tree), or both at once. A [sidecar] is a process of its own,
// "pnagent serve" with one thread for Go code; the flat one is pinned to one
// processor if taskset is installed. CPU time and memory come from /proc, the
// time of the garbage collector from gctrace, losses from the sidecar's metrics.
// A [probe] measures the age of a View: it is a source with one counter, which
// rises with each message, and the stage polls that counter over SNMP.
//
// Invariant: at the end of each stage the fleet stops changing, and each flat or
// root sidecar then shows the truth, exactly except for ages. Otherwise fleetsim
// prints what it measured and exits with an error.
package fleetsim
