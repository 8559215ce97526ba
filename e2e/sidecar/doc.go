// SPDX-License-Identifier: Apache-2.0

// Package sidecar holds end-to-end tests of what sidecars add up: sums in every face, restarts,
// pairs that take over, trees.
package sidecar
