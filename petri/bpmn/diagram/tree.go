// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// The namespaces that are read.
const (
	modelSpace   = "http://www.omg.org/spec/BPMN/20100524/MODEL"
	diagramSpace = "http://www.omg.org/spec/BPMN/20100524/DI"
	dcSpace      = "http://www.omg.org/spec/DD/20100524/DC"
	diSpace      = "http://www.omg.org/spec/DD/20100524/DI"
)

// elem is an element of the file in one of these namespaces.
type elem = xmlscan.Element

// tree reads the elements of these namespaces.
func tree(r io.Reader, file string, lim bpmn.Limits) (*elem, error) {
	s := xmlscan.New(r, file, xmlscan.Limits{Bytes: lim.Bytes, Token: lim.Token, Depth: lim.Depth})
	t := &xmlscan.Tree{Scanner: s, Count: s.AtMost(lim.Elements), Keep: func(n xmlscan.Name) bool {
		return n.Space == modelSpace || n.Space == diagramSpace || n.Space == dcSpace || n.Space == diSpace
	}}
	return t.Root(func(n xmlscan.Name) bool { return n == xmlscan.Name{Space: modelSpace, Local: "definitions"} }, "<definitions> in "+modelSpace)
}

// ref returns an attribute that refers to an element, without a prefix.
func ref(e *elem, name string) string { return local(e.Attr(name)) }

func local(ref string) string { return ref[strings.LastIndexByte(ref, ':')+1:] }

func named(e *elem, space, name string) bool {
	return e.Name == xmlscan.Name{Space: space, Local: name}
}
