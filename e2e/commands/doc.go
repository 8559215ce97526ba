// SPDX-License-Identifier: Apache-2.0

// Package commands holds end-to-end tests of the command line: check, draw, play, mib, demo,
// top, exit codes, completion, and each command that a document shows.
package commands
