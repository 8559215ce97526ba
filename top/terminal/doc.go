// SPDX-License-Identifier: Apache-2.0

// Package terminal gives a top.Model a screen, a keyboard, a clock and a
// sidecar. [Run] shows it until the user quits, and leaves the terminal as it
// was, whether by a key, by the context's end or by a panic. [Once] writes one
// table and returns. [Client] asks a sidecar over HTTP.
package terminal
