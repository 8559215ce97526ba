// SPDX-License-Identifier: Apache-2.0

// Package promises has no code. Its test makes the matrix of docs/promises.md: which
// promise is tested against which fault. A test states what it holds in its comment:
//
//	//promise:durable kill power
//
// The document defines the promises, by its headings, and the faults, by a table. The test
// fails if a line names something else, if a promise has no test, or if the document is not current.
package promises
