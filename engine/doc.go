// SPDX-License-Identifier: Apache-2.0

// Package engine runs nets: many instances of each, spread over workers,
// published as one telemetry source.
//
// The token games themselves are packages game, for nets in which tokens alone
// decide what happens, and colour, for those with guards, actions and inclusive
// gateways; both are pure. This package is the thin shell around them: a
// [worker] is a goroutine that owns some instances of every net, reads the clock
// once a batch, plays what is ready, and otherwise sleeps until something is due
// or somebody calls. Everything that comes from outside (an injection, a firing
// by hand, the outcome of an action, a look at the rows) goes to the worker that
// owns the instance; nothing is shared and nothing is locked while tokens move.
//
//   - [Engine] is made by [New], plays in [Engine.Run] until its context ends
//     or its firings are used up, and answers [Engine.Inject], [Engine.Fire],
//     [Engine.Rows] and [Engine.Report] at any time, also after it has stopped.
//   - [Transition] says how a transition fires: when, with which guard, and what
//     is performed. [Declared] takes that from the net itself, and
//     [Bindings.Bind] from YAML, which [ReadBindings] has read. All is checked
//     before the first token moves.
//   - An action is performed in a goroutine of its own while its tokens are in
//     flight. If it panics, fails, lasts too long or outlives its run, that is a
//     row of its transition and touches nothing else. Tokens move exactly once;
//     what an action does outside is done at least once.
//   - [Dispatch] says which ready instance a worker plays next.
//   - [Config.Journal] keeps what is done, for the next engine to go on from.
//   - [Serve] connects an engine to NATS: it publishes snapshots and takes
//     injections and firings as requests.
package engine
