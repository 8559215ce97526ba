// SPDX-License-Identifier: Apache-2.0

// Package journaltest has the laws that every journal.Log keeps, whatever it is
// made of, as a test to run over one:
//
//	func TestLaws(t *testing.T) {
//		journaltest.Run(t, func(t testing.TB) func() journal.Log {
//			dir := t.TempDir()
//			return func() journal.Log { ... } // open the log in dir
//		})
//	}
//
// What only one of them promises, such as what a crash leaves, is tested beside
// it.
package journaltest
