// SPDX-License-Identifier: Apache-2.0

// Package etcdtest tests package dipen with a real etcd, which it embeds. It is
// its own module, so that etcd's server is not a dependency of pnagent:
//
//	cd attach/dipen/etcdtest && go test ./...
//
// It contains only tests. An emulation of DiPeN's transactions
// (emulation_test.go) plays a net at random and records the true state. A
// collector adds up what the adapter publishes, as a sidecar does. The tests
// compare the two while the adapter is restarted, etcd compacts, etcd is
// restarted, and connections are cut. Package locks plays nets with DiPeN's
// protocol as fast as it allows.
package etcdtest
