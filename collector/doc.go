// SPDX-License-Identifier: Apache-2.0

// Package collector receives the snapshots of every source of a subject space
// and adds them up: one immutable [merge.View] a second, which all faces read. While nothing
// is received and nothing changes there is one in four seconds.
//
// [Collector] is the shell around a [merge.Merger], which says what counts: it subscribes, decodes,
// sends requests, and swaps the View through an atomic pointer. A collector with too much
// work asks sources for rarer messages: [telemetry.Pace]. Until they follow, messages wait in
// an inbox, in which full messages replace earlier ones.
//
// A collector can take a [merge.Share] of the sources, and can publish its View as one
// source of another subject space: [Collector.Oldest] and [Collector.Instance] serve package uplink.
//
// Config.Keep receives, before each View is shown, what changed of that from which the next
// process continues (Config.State). Package collector/counts keeps it in a file. How two sidecars agree on which one sends notifications is in
// docs/design/pairs.md.
package collector
