// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// Scanner reads the tokens of one XML document within limits. Its errors end the
// reading: each is a *petri.Fault, has one and ErrLimit in its chain, or wraps the
// reader's own error.
type Scanner struct {
	File     string    // for the messages
	At       petri.Pos // the start of the last token of Next
	Warnings Warnings

	lim   Limits
	src   *source
	dec   *xml.Decoder
	depth int
}

// New returns a scanner of r. The file's name is used in messages only.
func New(r io.Reader, file string, lim Limits) *Scanner {
	lim.Depth = min(lim.Depth, MaxDepth)
	src := &source{r: r, left: lim.Bytes, max: lim.Token}
	text, sure := decoded(src)
	dec := xml.NewDecoder(text)
	dec.CharsetReader = charset(sure)
	return &Scanner{File: file, lim: lim, src: src, dec: dec, Warnings: Warnings{File: file}}
}

// Next returns the next token, or io.EOF at the end of a complete document.
func (s *Scanner) Next() (xml.Token, error) {
	line, column := s.dec.InputPos()
	s.At = petri.Pos{Line: line, Column: column}
	s.src.token = 0
	tok, err := s.dec.Token()
	if err != nil {
		return nil, s.broken(err)
	}
	switch t := tok.(type) {
	case xml.StartElement:
		if s.depth++; s.depth > s.lim.Depth {
			return nil, s.Limit("elements inside each other", int64(s.lim.Depth))
		}
	case xml.EndElement:
		s.depth--
	case xml.Directive:
		return tok, s.directive(t)
	case xml.ProcInst:
		if t.Target == "xml" && s.At != (petri.Pos{Line: 1, Column: 1}) {
			return nil, s.Fatal(s.At, "an XML declaration inside the document; expected it on line 1, column 1")
		}
	}
	return tok, nil
}

func (s *Scanner) directive(d xml.Directive) error {
	if !bytes.HasPrefix(d, []byte("DOCTYPE")) {
		return s.Fatal(s.At, "the declaration <!%s>; expected none: entities are not expanded", Clip(string(d), 60))
	}
	if bytes.IndexByte(d, '[') >= 0 {
		return s.Fatal(s.At, "a DOCTYPE with declarations of its own; expected none: entities are not expanded")
	}
	s.Warnings.Add(s.At, "DOCTYPE is ignored: no document is fetched")
	return nil
}

// Fatal returns the fault that ends the reading.
func (s *Scanner) Fatal(pos petri.Pos, format string, args ...any) error {
	return &petri.Fault{File: s.File, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// Limit returns the error that ends the reading at the current token, because there
// is more of something than limit.
func (s *Scanner) Limit(what string, limit int64) error {
	return &limitError{&petri.Fault{File: s.File, Pos: s.At,
		Msg: fmt.Sprintf("more than %d %s; expected at most %d, which is a limit that can be raised", limit, what, limit)}}
}

// tokenBytes describes Limits.Token in messages.
const tokenBytes = "bytes in one tag, text or comment"

// broken returns the error for which the decoder stopped. Its position is that of
// the current token, or, if that begins on an earlier line, of the next character.
func (s *Scanner) broken(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return err
	case errors.Is(err, errTooLarge):
		return s.Limit("bytes in the file", s.lim.Bytes)
	case errors.Is(err, errTooLong):
		return s.Limit(tokenBytes, int64(s.lim.Token))
	case s.src.err != nil && errors.Is(err, s.src.err):
		return fmt.Errorf("reading %s: %w", s.File, err)
	}
	line, column := s.dec.InputPos()
	pos := petri.Pos{Line: line, Column: column}
	msg := strings.TrimPrefix(err.Error(), "xml: ")
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		msg = syntax.Msg
		if msg == "unexpected EOF" {
			return s.Fatal(s.At, "the file ends inside what begins here; expected a complete XML document")
		}
	}
	if s.At.Line == line {
		pos = s.At
	}
	return s.Fatal(pos, "%s; expected well-formed XML", Clip(msg, 200))
}

// Skip reads to the end of the element whose start tag was the last token.
func (s *Scanner) Skip() error {
	for end := s.depth - 1; s.depth > end; {
		if _, err := s.Next(); err != nil {
			return err
		}
	}
	return nil
}

// limitError is a fault that a higher limit removes.
type limitError struct{ fault *petri.Fault }

func (e *limitError) Error() string   { return e.fault.Error() }
func (e *limitError) Unwrap() []error { return []error{e.fault, ErrLimit} }

// Space is the white space of XML.
const Space = " \t\r\n"

// Text collects character data and the position of its first character that is not
// white space.
type Text struct {
	Pos petri.Pos
	buf []byte
}

// Add adds a piece of the text, which is the last token of s.
func (t *Text) Add(s *Scanner, piece []byte) error {
	if len(t.buf)+len(piece) > s.lim.Token {
		return s.Limit(tokenBytes, int64(s.lim.Token))
	}
	if lead := len(piece) - len(bytes.TrimLeft(piece, Space)); t.Pos.Line == 0 && lead < len(piece) {
		t.Pos = After(s.At, piece[:lead])
	}
	t.buf = append(t.buf, piece...)
	return nil
}

// String returns the text without white space around it.
func (t *Text) String() string { return string(bytes.Trim(t.buf, Space)) }

// After returns the position after white space that begins at pos.
func After(pos petri.Pos, blank []byte) petri.Pos {
	if i := bytes.LastIndexByte(blank, '\n'); i >= 0 {
		return petri.Pos{Line: pos.Line + bytes.Count(blank, []byte("\n")), Column: len(blank) - i}
	}
	pos.Column += len(blank)
	return pos
}
