// SPDX-License-Identifier: Apache-2.0

// Package action performs the work of a transition outside of the net: a [Func]
// in Go, or one of three performers that are configured.
//
//   - [NATS] sends a request; the reply is the outcome.
//   - [HTTP] sends a request; the response is the outcome.
//   - [Command] runs a program, without a shell; its output is the outcome.
//
// All three send the same JSON, a [Request], and accept the same answers:
//
//	(nothing) or {}                       it fired, and the tokens' data passes on
//	{"data": …}                           it fired, and the tokens that it puts carry this
//	{"put": [{"place": "id", "data": …}]} it fired and puts these tokens, no others
//	{"put": [{"place": "id", "token": 7}]}  … where token 7 keeps its identity and data
//	{"error": "why"}                      it failed, and is tried again with backoff
//	{"delay": "5s"}                       not now, try again after this
//	{"wait": true}                        not now, a call from outside will fire it
//
// Anything else is a failure too: another form, more than [MaxAnswer] bytes, no
// answer in time, no receiver. A performer returns as soon as its context ends.
// It does not retry; the transition does. An attempt may be delivered twice.
// Its "key" is the same for each delivery and never used for another attempt,
// so that a receiver can detect this.
//
// [At] is a timer for a time of day, for transitions that fire every night.
//
// A performer uses one connection, one socket or one process. Secrets in
// headers come from the environment or from files, and are never part of an
// error.
package action
