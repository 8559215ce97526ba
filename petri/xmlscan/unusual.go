// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// rest is what is left of a document, from the current token on.
type rest struct {
	s   *Scanner
	at  int // of the next byte, after the beginning of the token
	err error
}

func (r *rest) ReadByte() (byte, error) {
	for r.s.pos+r.at == r.s.end {
		if r.s.eof {
			return 0, io.EOF
		}
		if r.err = r.s.fill(); r.err != nil {
			return 0, r.err
		}
	}
	r.at++
	return r.s.buf[r.s.pos+r.at-1], nil
}

// Read is there because the decoder asks for it. It reads a byte.
func (r *rest) Read(p []byte) (n int, err error) {
	if len(p) > 0 {
		p[0], err = r.ReadByte()
		n = 1
	}
	return n, err
}

// unusual reads a token by means of encoding/xml, which says what is wrong with it, if
// something is.
func (s *Scanner) unusual() (Kind, error) {
	r := &rest{s: s}
	dec := xml.NewDecoder(r)
	dec.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		return in, s.decode(label, s.pos+int(dec.InputOffset()))
	}
	token, err := dec.RawToken()
	if r.err != nil {
		return Other, s.unreadable(r.err)
	}
	if err != nil {
		line, column := dec.InputPos()
		return Other, s.broken(err, line, column)
	}
	n := int(dec.InputOffset())
	switch t := token.(type) {
	case xml.StartElement:
		s.tag, s.Attrs = unusualName(t.Name), s.Attrs[:0]
		for _, a := range t.Attr {
			s.Attrs = append(s.Attrs, Attr{Name(a.Name), []byte(a.Value)})
		}
		s.empty = s.buf[s.pos+n-2] == '/'
		return StartTag, s.take(StartTag, n)
	case xml.EndElement:
		s.tag = unusualName(t.Name)
		return EndTag, s.take(EndTag, n)
	case xml.CharData:
		s.Data = t
		return CharData, s.take(CharData, n)
	case xml.Directive:
		err = s.directive(t)
	case xml.ProcInst:
		if t.Target == "xml" && s.At != (petri.Pos{Line: 1, Column: 1}) {
			err = s.Fatal(s.At, "an XML declaration inside the document; expected it on line 1, column 1")
		}
	}
	if err != nil {
		return Other, err
	}
	return Other, s.take(Other, n)
}

func unusualName(n xml.Name) *name {
	raw := n.Local
	if n.Space != "" {
		raw = n.Space + ":" + raw
	}
	return &name{raw: raw, prefix: n.Space, local: n.Local}
}

// decode changes how the file is decoded from an index in buf on, as its XML declaration
// says.
func (s *Scanner) decode(label string, from int) error {
	read := bytes.NewReader(bytes.Clone(s.buf[from:s.end]))
	text, err := s.charset.reader(label, io.MultiReader(read, s.text))
	if err == nil {
		s.text, s.end, s.eof = text, from, false
	}
	return err
}

// broken returns the error for which the decoder stopped. line and column count from the
// beginning of the token.
func (s *Scanner) broken(err error, line, column int) error {
	pos := petri.Pos{Line: s.next.Line + line - 1, Column: column}
	msg := strings.TrimPrefix(err.Error(), "xml: ")
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		msg = syntax.Msg
		if msg == "unexpected EOF" {
			return s.incomplete()
		}
	}
	return s.malformed(pos, msg)
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
