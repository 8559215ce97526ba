// SPDX-License-Identifier: Apache-2.0

// Package uplink speaks for a collector to one above it: each net of its View is
// a source in a higher subject space, so collectors stand in a tree and the root
// shows what it would if it heard every engine itself.
//
// # What a restart does
//
// To the root, a collector below is the owner of a region named after it, whose
// counters go on from process to process ([telemetry.Net].Since). For that to be
// true an Uplink keeps a file, its [State]: what was counted, and what each
// source had said last. It is written before anything of it is published, so
// what the root knows is never more than what the file knows. The next process
// goes on from there: running engines tell their counters since their own start,
// so what they did meanwhile is counted too, once.
//
// Without a state, or with one that another name or root wrote, counters begin
// anew, and the engines that run already count from where they are first heard:
// what they did before may have been counted by another collector, and nothing
// may count twice. [Config].FromZero says that there was none.
//
// A state of another share keeps the sources that are in both. Those that left
// the share keep their counters here; those that came count from where they are
// first heard.
//
// # How it is put together
//
// [Open] reads the state, before there is a collector; [Uplink.Collect] completes
// the configuration of a collector that goes on from it; [Uplink.Run] publishes.
// It has one goroutine, and one telemetry.Publisher for each net. The collector
// hands it every View through a slot of one: it is never made to wait, and only
// the newest counts.
package uplink
