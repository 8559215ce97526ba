// SPDX-License-Identifier: Apache-2.0

// Package simulation has no code. Its test runs the processes of a fleet in one bubble of
// testing/synctest, where time costs nothing: engines with their journals, a pair of sidecars, and
// a tree of two sidecars below a root, at a real NATS server. Only the network between them is
// simulated. A seed selects what befalls whom: processes are killed, stopped and started again,
// connections are slow, dark or cut, and the server restarts.
//
// After each second the test compares what sidecars show and what stations received with a slow
// model, which knows what it asked the engines for: see docs/promises.md.
//
//	make simulate                    seeds for two minutes
//	make simulate SIMULATE=8h        a night
//	PNAGENT_SEED=17 go test ./e2e/simulation -v
//
// A process that is killed keeps the files that it had at that moment. Of what it does after that
// nothing leaves it. Processes are killed while all of them wait; the tests of journals and of
// counters kill at each operation of the disk.
package simulation
