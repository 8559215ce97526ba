// SPDX-License-Identifier: Apache-2.0

// Package natslink makes connections to NATS that come back by themselves, and
// reports of each whether it is there, since when, and if it is not, why.
//
// A [Link] is one connection. [Open] returns it whether or not a server is
// reachable, and it is never given up: an unreachable server, a refused login
// and a certificate that does not fit are all tried again. [Link.State] is an
// immutable [State] that any goroutine may read without waiting, also while the
// client of NATS holds its own locks because a server does not answer.
//
// The numbers of this package bound how long a server that goes dark (packets
// are dropped, and nothing is closed) is taken for a server that is there: a
// ping every [PingEvery], of which [PingsOut] may be unanswered, and a write
// that takes at most [WriteWithin]. So a connection is given up after at most 8
// seconds, and made again at most [BackWithin] after a server of the list can
// be reached.
//
// What a server refuses (a login, a certificate, one more connection, a
// subject) is logged at WARN with the server's own words, the same words once a
// minute at most. No text of this package holds a password or a token.
package natslink
