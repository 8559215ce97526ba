// SPDX-License-Identifier: Apache-2.0

// Package engine runs nets: many instances of each, spread over workers,
// published as one telemetry source.
//
// The token games are in packages plain, for nets whose tokens alone decide
// what happens, and coloured, for nets with guards, actions or inclusive
// gateways. Both are pure. In this package a [worker] is a goroutine that owns
// some instances of every net. It reads the clock once a batch, plays what is
// ready, and otherwise sleeps until something is due or a call arrives.
// Injections, firings by hand, outcomes of actions and readings of rows are all
// sent to the worker that owns the instance. So nothing is shared or locked
// while tokens move.
//
//   - [New] returns an [Engine]. [Engine.Run] plays until its context ends or
//     its firings are used up. [Engine.Inject], [Engine.Fire], [Engine.Rows]
//     and [Engine.Report] work at any time, also after Run.
//   - A [Transition] specifies when a transition fires, with which guard, and
//     which action it performs. [Declared] derives it from the net itself, and
//     [Bindings.Bind] from YAML that [ReadBindings] has read. Everything is
//     checked before the first token moves.
//   - An action runs in a goroutine of its own while its tokens are in flight.
//     An action that panics, fails, takes too long or outlives its run is
//     counted at its transition and affects nothing else. Tokens move exactly
//     once; actions take effect at least once.
//   - A transition may throw or catch an event (petri.Event). The worker delivers
//     it right after the firing, to all instances of all nets, in the same
//     commit; so an engine of such nets has one worker. [Engine.Message] and
//     [Engine.Signal] deliver events from outside.
//   - [Dispatch] specifies which ready instance a worker plays next.
//   - [Config.Journal] records what is done, so that the next engine can
//     continue from it.
//   - [Serve] connects an engine to NATS: it publishes snapshots, accepts
//     injections, firings and events as requests, and sends signals to other
//     engines.
package engine
