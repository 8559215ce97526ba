// SPDX-License-Identifier: Apache-2.0

// Command regionbench measures nets that several processes play in regions over
// JetStream, and prints one Markdown table:
//
//	go run ./internal/regionbench
//
// It builds pnagent and the nats-server of go.mod, and starts both as processes:
// one server with JetStream on one disk, and one `pnagent engine --region` for
// each region. It looks at them from outside only:
//
//   - rate.go: firings are those that the engines' snapshots tell, between two
//     moments after the engines have warmed up;
//   - takeover.go: how long a region stands still when its owner leaves, is
//     killed or is stopped is what the region's log says: when which commit was
//     stored. Two processes of the same names own it in turns, so that what one
//     remembers of the other counts;
//   - tokens.go: after each measurement the logs are folded, and every token has
//     to be where it can be, and every firing that was told has to be in a log.
//
// Beside each figure stands its goal, what DiPeN has published, and what an
// emulation of DiPeN's protocol reaches in the same run on the same machine
// (base.go runs it; attach/dipen/etcdtest/locks says what it emulates).
package main
