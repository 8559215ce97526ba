// SPDX-License-Identifier: Apache-2.0

// Package kit is what end-to-end tests share. [Built] has the programs, [Start] runs one
// until the test ends, [Serve] is a sidecar and [RunEngine] an engine that publishes to
// it. [Until] waits for a condition. [Numbers] are what a face shows, the same for each
// face, to be compared.
//
// A test of this package's callers is named after a promise; nothing here decides what
// is right.
package kit
