// SPDX-License-Identifier: Apache-2.0

// Package cachetest keeps what tests of large peers download and build, in the user's cache
// directory: each once for all packages and runs.
package cachetest
