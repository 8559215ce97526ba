// SPDX-License-Identifier: Apache-2.0

// Package examples holds nets of real processes, with bindings that let
// something get stuck in each, for the demo and for trying things out.
package examples

import "embed"

// Files are the nets (*.pnml) and their bindings (bindings.yaml).
//
//go:embed *.pnml bindings.yaml
var Files embed.FS
