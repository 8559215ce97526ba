// SPDX-License-Identifier: Apache-2.0

// Command fleetsim is a fleet of engines in one process: ten thousand sources of
// a net of 50 places and 50 transitions that speak once a second each, and the
// sidecars that hear them, measured from outside.
//
//	go run ./internal/fleetsim                           the curve, and the tree
//	go run ./internal/fleetsim --sources 1000 --tree=0   one size, one sidecar
//	go run ./internal/fleetsim --markdown                the tables of docs/scale.md
//
// # What it does
//
// A source is a token game that is cheap enough to be played ten thousand
// times: tokens move along a line of places, some get stuck and say why, dwell
// histograms begin filled as those of an engine that has run for hours. What it
// says is made by telemetry.Encoder, sparse or full as a telemetry.Publisher
// would, and goes over NATS. Some sources begin anew, some fall silent for a
// while. The fleet counts for itself what it does, so it knows what a View has
// to show: its truth.
//
// A stage is a fleet of some size heard by one sidecar (flat), by a tree of one
// and some below, or by both at once. Sidecars are processes of their own,
// "pnagent serve" with one thread for Go code each; the flat one is pinned to
// one processor where taskset is there. CPU and memory are read from /proc, what
// the garbage collector took from gctrace, losses from the sidecars' metrics.
// How old a View is is told by a probe: a source of its own whose only counter
// rises with each message; it is asked for over SNMP, and the time from a
// message to the first answer that has it is counted.
//
// At the end of each stage the fleet rests, and what the sidecars show is
// compared with the truth; where flat and tree are there, also with each other.
//
// # How it is put together
//
// source.go and net.go are the token game and its messages, pure; fleet.go gives
// each source its turn; truth.go compares. sidecar.go starts processes and reads
// /proc; probe.go, faces.go and stage.go measure; report.go, units.go and
// stages.go print.
package main
