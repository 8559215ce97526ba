// SPDX-License-Identifier: Apache-2.0

// Package examples holds nets of real processes, for the demo. Their bindings
// make a token stuck in each.
package examples

import "embed"

// Files are the nets (*.pnml) and their bindings (bindings.yaml).
//
//go:embed *.pnml bindings.yaml
var Files embed.FS
