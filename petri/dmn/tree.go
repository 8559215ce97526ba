// SPDX-License-Identifier: Apache-2.0

package dmn

import (
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Limits bound a file.
type Limits struct {
	Bytes    int64 // length of the file
	Token    int   // bytes of one tag, one text or one comment
	Depth    int   // elements inside each other
	Elements int   // elements of DMN in memory
}

// DefaultLimits returns 16 MiB, tokens of 1 MiB, a depth of 100 and 200,000 elements.
func DefaultLimits() Limits {
	return Limits{Bytes: 16 << 20, Token: 1 << 20, Depth: 100, Elements: 200_000}
}

// IsSpace reports whether a namespace is that of a version of DMN.
func IsSpace(namespace string) bool { return strings.Contains(namespace, "omg.org/spec/DMN/") }

// tree reads the elements of a file that are of the namespace of its root.
func tree(r io.Reader, file string, lim Limits) (*xmlscan.Element, error) {
	s := xmlscan.New(r, file, xmlscan.Limits{Bytes: lim.Bytes, Token: lim.Token, Depth: lim.Depth})
	space := ""
	t := &xmlscan.Tree{Scanner: s, Keep: func(n xmlscan.Name) bool { return n.Space == space }, Count: s.AtMost(lim.Elements)}
	return t.Root(func(n xmlscan.Name) bool {
		space = n.Space
		return n.Local == "definitions" && IsSpace(space)
	}, "<definitions> of DMN")
}

// all returns the elements of a name inside e.
func all(e *xmlscan.Element, name string) (out []*xmlscan.Element) {
	for _, k := range e.Kids {
		if k.Name.Local == name {
			out = append(out, k)
		}
	}
	return out
}
