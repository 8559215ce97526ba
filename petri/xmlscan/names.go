// SPDX-License-Identifier: Apache-2.0

package xmlscan

import "strings"

// name is a name as it is in the file.
type name struct {
	raw           string
	prefix, local string // without a prefix, the whole name is local
	bad           bool   // encoding/xml decides whether it is a name
}

// names keeps the names of a document, so that each is one string, and the namespaces
// that are declared at this point of it.
type names struct {
	known      [512]*name        // by hash; a later name replaces an earlier one
	unprefixed string            // the namespace of elements without a prefix
	spaces     map[string]string // by prefix
	undo       []declaration     // of the open elements
}

// declaration is what a prefix meant before it was declared again.
type declaration struct {
	prefix, space string
	declared      bool
}

// longestKept is the length of names that are kept, in bytes, so that their memory is bounded.
const longestKept = 64

// of returns a name in ASCII, or nil if encoding/xml has to decide whether it is one.
func (ns *names) of(raw []byte) *name {
	if len(raw) == 0 {
		return nil
	}
	hash := (uint(raw[0])*31+uint(raw[len(raw)/2]))*31 + uint(raw[len(raw)-1])*7 + uint(len(raw))
	slot := &ns.known[hash%uint(len(ns.known))]
	n := *slot
	if n == nil || n.raw != string(raw) {
		n = newName(string(raw))
		if len(raw) <= longestKept {
			*slot = n
		}
	}
	if n.bad {
		return nil
	}
	return n
}

func newName(raw string) *name {
	n := &name{raw: raw, local: raw, bad: class[raw[0]]&nameStart == 0 || strings.Count(raw, ":") > 1}
	if prefix, local, has := strings.Cut(raw, ":"); has && prefix != "" && local != "" {
		n.prefix, n.local = prefix, local
	}
	return n
}

// xmlSpace is the namespace of the prefix xml, which is not declared.
const xmlSpace = "http://www.w3.org/XML/1998/namespace"

// space returns the namespace of a prefix: the prefix itself if it is not declared.
func (ns *names) space(prefix string) string {
	switch prefix {
	case "xmlns":
		return prefix
	case "xml":
		return xmlSpace
	}
	if space, declared := ns.spaces[prefix]; declared {
		return space
	}
	return prefix
}

// declare declares the namespace of a prefix, or of elements without one, until restore.
func (ns *names) declare(prefix, space string) {
	if prefix == "" {
		ns.undo = append(ns.undo, declaration{"", ns.unprefixed, true})
		ns.unprefixed = space
		return
	}
	before, declared := ns.spaces[prefix]
	ns.undo = append(ns.undo, declaration{prefix, before, declared})
	if ns.spaces == nil {
		ns.spaces = map[string]string{}
	}
	ns.spaces[prefix] = space
}

// restore restores what prefixes meant when there were that many declarations.
func (ns *names) restore(count int) {
	for len(ns.undo) > count {
		last := ns.undo[len(ns.undo)-1]
		ns.undo = ns.undo[:len(ns.undo)-1]
		switch {
		case last.prefix == "":
			ns.unprefixed = last.space
		case last.declared:
			ns.spaces[last.prefix] = last.space
		default:
			delete(ns.spaces, last.prefix)
		}
	}
}

// openElement is an element whose end tag is expected.
type openElement struct {
	tag   *name
	space string
	undo  int // declarations before it
}

// openElement opens the element of the last start tag, and finds the namespaces of its
// names.
func (s *Scanner) openElement() {
	undo := len(s.names.undo)
	for i := range s.Attrs {
		switch a := &s.Attrs[i]; {
		case a.Name.Space == "xmlns":
			s.names.declare(a.Name.Local, string(a.Value))
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			s.names.declare("", string(a.Value))
		}
	}
	for i := range s.Attrs {
		if a := &s.Attrs[i]; a.Name.Space != "" {
			a.Name.Space = s.names.space(a.Name.Space)
		}
	}
	space := ""
	switch {
	case s.tag.raw == "xmlns": // as encoding/xml has it
	case s.tag.prefix == "":
		space = s.names.unprefixed
	default:
		space = s.names.space(s.tag.prefix)
	}
	s.Name = Name{space, s.tag.local}
	s.open = append(s.open, openElement{s.tag, space, undo})
}

// endElement closes the element of the last end tag.
func (s *Scanner) endElement() error {
	if len(s.open) == 0 {
		return s.malformed(s.next, "unexpected end element </"+s.tag.local+">")
	}
	switch tag := s.open[len(s.open)-1].tag; {
	case tag.raw == s.tag.raw:
	case tag.local != s.tag.local:
		return s.malformed(s.next, "element <"+tag.local+"> closed by </"+s.tag.local+">")
	default:
		space := s.tag.prefix
		if space == "" {
			space = `""`
		}
		return s.malformed(s.next, "element <"+tag.local+"> in space "+tag.prefix+" closed by </"+s.tag.local+"> in space "+space)
	}
	s.closeElement()
	return nil
}

// closeElement closes the innermost element.
func (s *Scanner) closeElement() {
	last := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	s.Name = Name{last.space, last.tag.local}
	s.names.restore(last.undo)
}
