// SPDX-License-Identifier: Apache-2.0

// Package uplink speaks for a collector to one above it: each net of its View is
// a source in a higher subject space, so collectors stand in a tree and the root
// shows what it would if it heard every engine itself.
//
// # What a restart does
//
// To the root, a collector below is the owner of a region named after it, whose
// counters go on from process to process ([telemetry.Net].Since). Package
// collector/counts makes that true: a View is published only once what it shows
// is kept, so what the root knows is never more than what the next process knows.
// That one goes on from there: running engines publish their counters since their
// own start, so what they did meanwhile is counted too, once.
//
// # How it is put together
//
// [Uplink.Run] looks for a new View and publishes it. It has one goroutine, and
// one telemetry.Publisher for each net. The collector never waits for it.
package uplink
