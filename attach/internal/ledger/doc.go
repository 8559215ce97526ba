// SPDX-License-Identifier: Apache-2.0

// Package ledger is what adapters share that poll an engine: they ask again and
// again where its instances are, and publish that as telemetry.
//
//	engine ──► Config.Poll ──► Ledger ──► rows ──► telemetry.Publisher
//	           the adapter     one for each net     one for each net
//
// An adapter makes a [Source] with NewSource, and runs it. Source.Run calls
// Config.Poll once an interval, and later and later after errors. Poll reads the
// engine and changes ledgers:
//
//	n := ledger.NewDefinition("orders", "")    // when it finds a net
//	l := ledger.New(n, ledger.Presence)
//	source.Add(l)
//	place := n.Place("pay/in", "Pay")          // whenever it finds a place or a transition
//	pay := n.Transition("pay", "Pay")
//	n.Arc("pay/in", "pay")
//	source.SetClock(ahead, within)             // if the engine's clock is known
//	l.Present(tokens)                          // all tokens that are open now
//	l.Arrive(place, at); l.Depart(place, micros); l.Fire(pay, at)
//	l.Create(); l.Finish(false)                // instances, with the columns Instances
//
// Nets only grow, and rows keep their indices. If Poll returns nil, all changes
// since the last success are published together with the state, so a reader never
// sees half of a poll. If it returns an error, the ledgers keep what was changed,
// and the rows of the last success are published until they are older than two
// intervals and a time-out; then the source is silent.
//
// Ledgers, and the methods of Source except Status, belong to the goroutine that
// calls Poll; an adapter needs no lock for them. All times are microseconds since
// the Unix epoch by the engine's clock; Source converts them.
//
// With Config.File, Config.State is written as JSON when the rows of a poll are
// first published, and read by NewSource. So a restart repeats and loses no count, except
// those of the last snapshot if the process is killed between the two.
package ledger
