// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"cmp"

	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Limits bound a file. A field that is not positive means its default.
type Limits struct {
	Bytes int64 // length of the file
	Token int   // bytes of one tag, one text or one comment
	Depth int   // elements inside each other, at most 100000
	Nodes int   // places, transitions, arcs and references, over all nets
	Nets  int   // nets in the file
}

// DefaultLimits returns 64 MiB, tokens of 1 MiB, a depth of 200, a million
// nodes and 256 nets.
func DefaultLimits() Limits {
	return Limits{Bytes: 64 << 20, Token: 1 << 20, Depth: 200, Nodes: 1_000_000, Nets: 256}
}

// ErrLimit is in the chain of Read's error for a file that exceeds a limit.
var ErrLimit = xmlscan.ErrLimit

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	return Limits{
		Bytes: cmp.Or(max(l.Bytes, 0), d.Bytes),
		Token: cmp.Or(max(l.Token, 0), d.Token),
		Depth: cmp.Or(max(l.Depth, 0), d.Depth),
		Nodes: cmp.Or(max(l.Nodes, 0), d.Nodes),
		Nets:  cmp.Or(max(l.Nets, 0), d.Nets),
	}
}
