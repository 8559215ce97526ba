// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// scanner reads the tokens of one XML document, knows where each begins, and
// holds the limits. Its errors end the reading.
type scanner struct {
	file     string
	lim      Limits
	src      *source
	dec      *xml.Decoder
	depth    int
	at       petri.Pos // where the token that next returned begins
	warnings warnings
}

func newScanner(r io.Reader, file string, lim Limits) *scanner {
	lim = lim.orDefault()
	src := &source{r: r, left: lim.Bytes, max: lim.Token}
	text, sure := decoded(src)
	dec := xml.NewDecoder(text)
	dec.CharsetReader = charset(sure)
	return &scanner{file: file, lim: lim, src: src, dec: dec, warnings: warnings{file: file}}
}

// element is a start tag whose content has not been read.
type element struct {
	name  string // local name
	space string
	in    string // local name of the enclosing element
	attrs []xml.Attr
	pos   petri.Pos
}

// next returns the next token, or io.EOF at the end of a complete document.
func (s *scanner) next() (xml.Token, error) {
	line, column := s.dec.InputPos()
	s.at = petri.Pos{Line: line, Column: column}
	s.src.token = 0
	tok, err := s.dec.Token()
	if err != nil {
		return nil, s.broken(err)
	}
	switch t := tok.(type) {
	case xml.StartElement:
		if s.depth++; s.depth > s.lim.Depth {
			return nil, s.limit("elements inside each other", int64(s.lim.Depth))
		}
	case xml.EndElement:
		s.depth--
	case xml.Directive:
		return tok, s.directive(t)
	case xml.ProcInst:
		if t.Target == "xml" && s.at != (petri.Pos{Line: 1, Column: 1}) {
			return nil, s.fatal(s.at, "an XML declaration inside the document; expected it on line 1, column 1")
		}
	}
	return tok, nil
}

func (s *scanner) directive(d xml.Directive) error {
	if !bytes.HasPrefix(d, []byte("DOCTYPE")) {
		return s.fatal(s.at, "the declaration <!%s>; expected none: entities are not expanded", clip(string(d), 60))
	}
	if bytes.IndexByte(d, '[') >= 0 {
		return s.fatal(s.at, "a DOCTYPE with declarations of its own; expected none: entities are not expanded")
	}
	s.warnings.add(s.at, "DOCTYPE is not read: no document is fetched")
	return nil
}

func (s *scanner) fatal(pos petri.Pos, format string, args ...any) error {
	return &petri.Fault{File: s.file, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// limit ends the reading at the present token, because there is more of
// something than max.
func (s *scanner) limit(what string, limit int64) error {
	return &limitError{&petri.Fault{File: s.file, Pos: s.at,
		Msg: fmt.Sprintf("more than %d %s; expected at most %d, which is a limit that can be raised", limit, what, limit)}}
}

// tokenBytes names in messages what Limits.Token bounds.
const tokenBytes = "bytes in one tag, text or comment"

// broken says why the decoder stopped. It blames the token that it was reading;
// where that began on an earlier line, the character before which it stopped.
func (s *scanner) broken(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return err
	case errors.Is(err, errTooLarge):
		return s.limit("bytes in the file", s.lim.Bytes)
	case errors.Is(err, errTooLong):
		return s.limit(tokenBytes, int64(s.lim.Token))
	case s.src.err != nil && errors.Is(err, s.src.err):
		return fmt.Errorf("reading %s: %w", s.file, err)
	}
	line, column := s.dec.InputPos()
	pos := petri.Pos{Line: line, Column: column}
	msg := strings.TrimPrefix(err.Error(), "xml: ")
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		msg = syntax.Msg
		if msg == "unexpected EOF" {
			return s.fatal(s.at, "the file ends inside what begins here; expected a complete XML document")
		}
	}
	if s.at.Line == line {
		pos = s.at
	}
	return s.fatal(pos, "%s; expected well-formed XML", clip(msg, 200))
}

// skip reads to the end of the element whose start tag was read last.
func (s *scanner) skip() error {
	for end := s.depth - 1; s.depth > end; {
		if _, err := s.next(); err != nil {
			return err
		}
	}
	return nil
}

// ignore skips e with a warning.
func (s *scanner) ignore(e *element) error {
	s.warnings.add(e.pos, "ignored "+tag(e.name)+" in "+tag(e.in))
	return s.skip()
}

// each reads e to its end and hands every child to child, which must read it to
// its end. Text goes to into; where that is nil there should be none.
func (s *scanner) each(e *element, into *text, child func(c *element) error) error {
	for {
		tok, err := s.next()
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			c := element{name: t.Name.Local, space: t.Name.Space, in: e.name, attrs: t.Attr, pos: s.at}
			if c.foreign(e) {
				err = s.ignore(&c)
			} else {
				err = child(&c)
			}
		case xml.CharData:
			if into != nil {
				err = into.add(s, t)
			} else if len(bytes.TrimLeft(t, space)) > 0 {
				s.warnings.add(s.at, "ignored text in "+tag(e.name))
			}
		}
		if err != nil {
			return err
		}
	}
}

// foreign says whether e belongs to another language than PNML. Tools use
// several namespaces for PNML, so it is one if its parent has it too.
func (e *element) foreign(parent *element) bool {
	return e.space != "" && e.space != parent.space && e.name != "net" &&
		!strings.HasPrefix(e.space, "http://www.pnml.org/") &&
		!strings.HasPrefix(e.space, "http://www.informatik.hu-berlin.de/top/pn")
}

// maxAttrs bounds the attributes of an element of PNML.
const maxAttrs = 64

// attrs hands the attributes of e to take, which returns false for those that
// mean nothing to it; they get a warning. It leaves out namespaces and
// attributes of other languages.
func (s *scanner) attrs(e *element, take func(name, value string) bool) error {
	if len(e.attrs) > maxAttrs {
		return s.fatal(e.pos, "%s with %d attributes; expected at most %d", tag(e.name), len(e.attrs), maxAttrs)
	}
	for i, a := range e.attrs {
		for _, b := range e.attrs[:i] {
			if a.Name == b.Name {
				return s.fatal(e.pos, "%s has the attribute %s twice; expected it once", tag(e.name), clip(a.Name.Local, 60))
			}
		}
		if a.Name.Space != "" || a.Name.Local == "xmlns" || take(a.Name.Local, a.Value) || isDrawing(a.Name.Local) {
			continue
		}
		switch a.Value {
		case "", "false", "< inf": // says no more than that the feature is not used
		default:
			s.warnings.add(e.pos, "ignored attribute "+clip(a.Name.Local, 60)+" of "+tag(e.name))
		}
	}
	return nil
}

// isDrawing says whether an attribute only tells how TAPAAL draws a node.
func isDrawing(attr string) bool {
	switch attr {
	case "nameOffsetX", "nameOffsetY", "displayName", "angle", "active":
		return true
	}
	return false
}

// space is the white space of XML.
const space = " \t\r\n"

// text collects character data and remembers where its first character that is
// not white space stands.
type text struct {
	buf []byte
	pos petri.Pos
}

func (t *text) add(s *scanner, piece []byte) error {
	if len(t.buf)+len(piece) > s.lim.Token {
		return s.limit(tokenBytes, int64(s.lim.Token))
	}
	if lead := len(piece) - len(bytes.TrimLeft(piece, space)); t.pos.Line == 0 && lead < len(piece) {
		t.pos = after(s.at, piece[:lead])
	}
	t.buf = append(t.buf, piece...)
	return nil
}

func (t *text) String() string { return string(bytes.Trim(t.buf, space)) }

// after returns the position behind white space that begins at pos.
func after(pos petri.Pos, blank []byte) petri.Pos {
	if i := bytes.LastIndexByte(blank, '\n'); i >= 0 {
		return petri.Pos{Line: pos.Line + bytes.Count(blank, []byte("\n")), Column: len(blank) - i}
	}
	pos.Column += len(blank)
	return pos
}
