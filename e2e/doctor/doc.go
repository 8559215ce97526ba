// SPDX-License-Identifier: Apache-2.0

// Package doctor holds end-to-end tests of pnagent doctor: it finds each fault of a set-up with real
// peers, and the line that it names cures it.
package doctor
