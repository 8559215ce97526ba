// SPDX-License-Identifier: Apache-2.0

// Package walls holds, in its test, which package may import which, and what
// the pure ones must not touch. ARCHITECTURE.md explains why.
package walls
