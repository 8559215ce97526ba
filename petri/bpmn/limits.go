// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"

	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Limits bound a file and its nets. A field that is not positive means its default.
type Limits struct {
	Bytes    int64 // length of the file
	Token    int   // bytes of one tag, one text or one comment
	Depth    int   // elements inside each other, at most 1000
	Elements int   // elements of XML in memory
	Nodes    int   // places, transitions and arcs, over all nets
}

// DefaultLimits returns 16 MiB, tokens of 1 MiB, a depth of 100, 200,000 elements and a million nodes.
func DefaultLimits() Limits {
	return Limits{Bytes: 16 << 20, Token: 1 << 20, Depth: 100, Elements: 200_000, Nodes: 1_000_000}
}

// ErrLimit is in the chain of Read's error for a file that exceeds a limit.
var ErrLimit = xmlscan.ErrLimit

// maxDepth bounds the recursion over nested sub-processes.
const maxDepth = 1000

// OrDefault returns the limits with the defaults for fields that are not positive.
func (l Limits) OrDefault() Limits {
	d := DefaultLimits()
	return Limits{
		Bytes:    cmp.Or(max(l.Bytes, 0), d.Bytes),
		Token:    cmp.Or(max(l.Token, 0), d.Token),
		Depth:    min(cmp.Or(max(l.Depth, 0), d.Depth), maxDepth),
		Elements: cmp.Or(max(l.Elements, 0), d.Elements),
		Nodes:    cmp.Or(max(l.Nodes, 0), d.Nodes),
	}
}
