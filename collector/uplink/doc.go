// SPDX-License-Identifier: Apache-2.0

// Package uplink publishes a collector to one above it: each net of its View is a source in
// a higher subject space. So collectors form a tree, and the root shows the same as a
// collector that receives the messages of every engine.
//
// [Uplink.Run] receives Views and publishes them, with one telemetry.Publisher for each
// net. The collector never waits for it.
//
// To the root, a collector below is the owner of a region named after it, whose counters
// continue from process to process ([telemetry.SourceNet].Since). Package collector/counts
// ensures that: a View is published only once its counters are kept, so the root never has
// more than the next process. Engines publish counters since their own start, so the next
// process counts their work in between once.
package uplink
