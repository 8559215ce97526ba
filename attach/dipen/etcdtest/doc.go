// SPDX-License-Identifier: Apache-2.0

// Package etcdtest proves package dipen against a real etcd, which it embeds. It
// is a module of its own, so that etcd's server is no dependency of pnagent:
//
//	cd attach/dipen/etcdtest && go test ./...
//
// There is nothing here but tests. An emulation of DiPeN's transactions
// (emulation_test.go) plays a net at random and keeps the truth for itself; what
// the adapter publishes is added up by a collector, as a sidecar does it, and
// compared with the truth while the adapter is restarted, etcd compacts, etcd is
// restarted, and connections are cut. Package locks beside it plays nets as fast
// as DiPeN's protocol can.
package etcdtest
