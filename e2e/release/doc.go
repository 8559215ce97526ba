// SPDX-License-Identifier: Apache-2.0

// Package release tests what make release writes: that two builds of a tag are equal, and that a
// package installs, runs under the hardening of its unit, updates with its state and goes again.
package release
