// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/pnagent/pnagent/petri"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds. An empty-element tag is a StartTag and an EndTag.
const (
	Other    Kind = iota // a comment, a processing instruction or a DOCTYPE
	StartTag             // Scanner.Name and Scanner.Attrs
	EndTag               // Scanner.Name
	CharData             // Scanner.Data: text up to the next markup, or a CDATA section
)

// Name is the name of an element or an attribute. Space is the URI of its namespace, the
// prefix if no namespace is declared for that, or "".
type Name struct{ Space, Local string }

// Attr is an attribute of a start tag, or a declaration of a namespace: the name xmlns, or
// a name in the Space xmlns.
type Attr struct {
	Name  Name
	Value []byte // with its references replaced; of the scanner until the next token
}

// Scanner reads the tokens of one XML document within limits. Its errors end the
// reading: each is a *petri.Fault, has one and ErrLimit in its chain, or wraps the
// reader's own error.
type Scanner struct {
	File     string    // for the messages
	At       petri.Pos // the start of the last token of Next
	Warnings Warnings

	// Of the last token, until the next one.
	Name  Name
	Attrs []Attr
	Data  []byte

	lim     Limits
	src     *source
	text    io.Reader // the file in UTF-8
	charset charset

	buf      []byte // read of text
	pos, end int    // what is left of buf
	eof      bool   // text has no more
	failed   error  // what Next returns from now on

	next petri.Pos // of the next token

	names   names
	open    []openElement
	tag     *name  // of the last tag
	empty   bool   // the last start tag was an empty-element tag
	scratch []byte // texts and values with references
}

// New returns a scanner of r. The file's name is used in messages only.
func New(r io.Reader, file string, lim Limits) *Scanner {
	lim.Depth = min(lim.Depth, MaxDepth)
	src := &source{r: r, left: lim.Bytes}
	text, sure := decoded(src)
	return &Scanner{File: file, Warnings: Warnings{File: file}, lim: lim, src: src, text: text, charset: charset{sure: sure}, next: petri.Pos{Line: 1, Column: 1}}
}

// Next reads the next token, or returns io.EOF at the end of a complete document.
func (s *Scanner) Next() (Kind, error) {
	if s.failed != nil {
		return Other, s.failed
	}
	kind, err := s.token()
	s.failed = err
	return kind, err
}

func (s *Scanner) token() (Kind, error) {
	s.At = s.next
	if s.empty {
		s.empty = false
		s.closeElement()
		return EndTag, nil
	}
	for {
		kind, n := s.ordinary(s.buf[s.pos:s.end])
		switch {
		case n == incomplete && !s.eof:
			if err := s.fill(); err != nil {
				return Other, s.unreadable(err)
			}
			continue
		case s.pos == s.end && len(s.open) == 0:
			return Other, io.EOF
		case s.pos == s.end:
			return Other, s.incomplete()
		case n <= 0:
			return s.unusual()
		}
		return kind, s.take(kind, n)
	}
}

// take ends a token of n bytes, and checks what it says.
func (s *Scanner) take(kind Kind, n int) error {
	token := s.buf[s.pos : s.pos+n]
	if n > s.lim.Token {
		return s.unreadable(errTooLong)
	}
	s.pos += n
	s.advance(token)
	switch kind {
	case StartTag:
		s.openElement()
		if len(s.open) > s.lim.Depth {
			return s.Limit("elements inside each other", int64(s.lim.Depth))
		}
	case EndTag:
		return s.endElement()
	}
	return nil
}

// advance moves the position behind a token.
func (s *Scanner) advance(token []byte) {
	if bytes.IndexByte(token, '\n') < 0 {
		s.next.Column += len(token)
		return
	}
	s.next.Line += bytes.Count(token, []byte{'\n'})
	s.next.Column = len(token) - bytes.LastIndexByte(token, '\n')
}

// chunk is how much of a file is read at once, in bytes.
const chunk = 8 << 10

// fill reads more of the current token: as much again as there is, so that a token is
// looked at again only as often as its length doubles.
func (s *Scanner) fill() error {
	held := s.end - s.pos
	if held > s.lim.Token {
		return errTooLong
	}
	want := held + min(held, s.lim.Token) + 1
	if len(s.buf)-s.pos < want+chunk {
		to := s.buf
		if len(to) < want+chunk {
			to = make([]byte, max(want, chunk)+chunk)
		}
		copy(to, s.buf[s.pos:s.end])
		s.buf, s.pos, s.end = to, 0, held
	}
	for none := 0; s.end-s.pos < want; none++ {
		n, err := s.text.Read(s.buf[s.end:min(len(s.buf), s.end+chunk)])
		s.end += n
		switch {
		case err == io.EOF:
			s.eof = true
			return nil
		case err != nil:
			return err
		case n > 0:
			none = 0
		case none == 100:
			return io.ErrNoProgress
		}
	}
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

// unreadable returns the error for a file whose next bytes cannot be had.
func (s *Scanner) unreadable(err error) error {
	switch {
	case errors.Is(err, errTooLarge):
		return s.Limit("bytes in the file", s.lim.Bytes)
	case errors.Is(err, errTooLong):
		return s.Limit(tokenBytes, int64(s.lim.Token))
	case s.src.err != nil && errors.Is(err, s.src.err), errors.Is(err, io.ErrNoProgress):
		return fmt.Errorf("reading %s: %w", s.File, err)
	}
	return s.malformed(s.next, err.Error())
}

// malformed returns the fault of a document that is not well-formed. Its position is that
// of the current token, or, if that begins on an earlier line, pos.
func (s *Scanner) malformed(pos petri.Pos, msg string) error {
	if s.At.Line == pos.Line {
		pos = s.At
	}
	return s.Fatal(pos, "%s; expected well-formed XML", Clip(msg, 200))
}

func (s *Scanner) incomplete() error {
	return s.Fatal(s.At, "the file ends inside what begins here; expected a complete XML document")
}

// Skip reads to the end of the element whose start tag was the last token.
func (s *Scanner) Skip() error {
	for end := len(s.open) - 1; len(s.open) > end; {
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
