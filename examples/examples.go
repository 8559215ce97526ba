// SPDX-License-Identifier: Apache-2.0

// Package examples holds nets of real processes, for the demo. Their bindings
// make a token stuck in each; in the demo, tokens get stuck one after the other, and the demo does
// what the BPMN process waits for.
package examples

import "embed"

// Files are the nets (*.pnml, *.bpmn) and the bindings of those in PNML (bindings.yaml).
//
//go:embed *.pnml *.bpmn bindings.yaml
var Files embed.FS
