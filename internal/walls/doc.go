// SPDX-License-Identifier: Apache-2.0

// Package walls holds, in its test, which package may import which, that imports
// go down the layers of ARCHITECTURE.md, and what the pure packages must not
// touch.
package walls
