// SPDX-License-Identifier: Apache-2.0

// Package upgrade runs programs of earlier commits beside the one of this tree: on the same state
// directory, on the same journal, and as engine and sidecar of one bus, forwards and backwards.
// What it finds is the second half of docs/upgrade.md.
package upgrade
