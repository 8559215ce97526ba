// SPDX-License-Identifier: Apache-2.0

// Package engine runs nets: many instances of each, spread over workers,
// published as one telemetry source.
//
// The token game itself is package game, which is pure. This package is the
// thin shell around it: a [worker] is a goroutine that owns one game.Shard of
// every net, reads the clock once a batch, steps its shards while they have
// something to do, and otherwise sleeps until a delay is over or somebody
// calls. Everything that comes from outside (an injection, a firing by hand, a
// look at the rows) is a call into the worker that owns the instance; nothing
// is shared and nothing is locked while tokens move.
//
//   - [Engine] is made by [New], plays in [Engine.Run] until its context ends
//     or its firings are used up, and answers [Engine.Inject], [Engine.Fire],
//     [Engine.Rows] and [Engine.Report] at any time, also after it has stopped.
//   - [Bindings] say how transitions fire; [ReadBindings] reads them from YAML.
//   - [Serve] connects an engine to NATS: it publishes snapshots and takes
//     injections and firings as requests.
package engine
