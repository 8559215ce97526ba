// SPDX-License-Identifier: Apache-2.0

// Package hostile holds end-to-end tests of peers that mean harm or are broken: bad messages,
// floods, forged sidecars, and what NATS' permissions keep out.
package hostile
