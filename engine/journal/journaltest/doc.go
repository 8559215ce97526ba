// SPDX-License-Identifier: Apache-2.0

// Package journaltest checks the rules that every journal.Log keeps, in files
// or on a server. It is a test to run over an implementation:
//
//	func TestLaws(t *testing.T) {
//		journaltest.Run(t, func(t testing.TB) func() journal.Log {
//			dir := t.TempDir()
//			return func() journal.Log { ... } // open the log in dir
//		})
//	}
//
// Promises of a single implementation, such as what a crash leaves, are tested
// in its own package.
package journaltest
