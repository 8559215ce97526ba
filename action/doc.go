// SPDX-License-Identifier: Apache-2.0

// Package action is what a transition performs: a [Func] in Go, or one of three
// performers for people who do not write Go.
//
//   - [NATS] sends a request and takes the reply as the outcome.
//   - [HTTP] sends a request and takes the response as the outcome.
//   - [Command] runs a program, without a shell, and takes its output.
//
// All three say the same JSON, a [Request], and understand the same answers:
//
//	(nothing) or {}                       it fired, the tokens' data passes on
//	{"data": …}                           it fired, the tokens it puts carry this
//	{"put": [{"place": "id", "data": …}]} it fired and puts these tokens, no others
//	{"put": [{"place": "id", "token": 7}]}  … where token 7 goes on as it is
//	{"error": "why"}                      it failed, and is tried again with backoff
//	{"delay": "5s"}                       not now, try again after this
//	{"wait": true}                        not now, somebody will fire it from outside
//
// Anything else is a failure too: another form, more than [MaxAnswer] bytes, no
// answer in time, nobody there. A performer gives up as soon as its context
// ends, and does not try again by itself: that is the retry of the transition.
// A try may therefore be done twice; "key" is the same for each delivery of one
// try and never comes again, so who performs it can know.
//
// [At] is a timer for a time of day, for transitions that fire every night.
//
// A performer touches one connection, one socket or one process. Secrets in
// headers come from the environment or from files, and are never part of an
// error.
package action
