// SPDX-License-Identifier: Apache-2.0

// Package engine holds end-to-end tests of work that an engine gives to programs and people,
// and of the commands that fire, retry and release there.
package engine
