// SPDX-License-Identifier: Apache-2.0

// Package natstest runs a NATS server and its clients in one process without
// sockets, so that a test of timeouts, beats and lost connections can run in a
// synctest bubble and takes no real time:
//
//	func TestMain(m *testing.M) { natstest.Main(m) }
//
//	func TestX(t *testing.T) {
//		natstest.Bubble(t, func(t *testing.T) {
//			s := natstest.Run(t)
//			nc := natstest.Connect(t, s)
//			time.Sleep(time.Hour) // of the bubble's clock
//		})
//	}
//
// A [Way] is a connection on which a test can hold, drop and cut bytes.
//
// The functions also work outside of a bubble, in real time. A server with
// JetStream needs [Main] for a bubble, and bubbles must not run in parallel:
// nats.go keeps timers in a pool that all connections of the process share.
package natstest
