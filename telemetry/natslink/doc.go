// SPDX-License-Identifier: Apache-2.0

// Package natslink makes connections to NATS that reconnect by themselves, and
// reports the state of each: connected or not, since when, and why not.
//
// A [Link] is one connection. [Open] returns it even if no server is reachable.
// It retries without end: after an unreachable server, a rejected login and an
// invalid certificate alike. [Link.State] is an immutable [ConnState] that any
// goroutine may read without waiting, even while the NATS client holds its
// locks because a server does not answer.
//
// A server may go dark: packets are dropped, and no connection is closed. The
// constants of this package bound the time to notice that: a ping after
// [PingAfter] without a byte, and again after [PingAgain], [PingsOut] pings that
// may be unanswered, and a write of at most [WriteWithin]. So the client abandons a connection after at most 8 seconds,
// and has a new one at most [BackWithin] after a server of the list is
// reachable.
//
// A server may announce a message of any size, and the client makes room for it. A
// connection without TLS ends at one of more than [MaxMessage].
//
// A rejection by a server (of a login, a certificate, one more connection, a
// subject) is logged at WARN with the server's text, the same text once a
// minute at most. No text of this package holds a password or a token.
package natslink
