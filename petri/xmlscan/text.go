// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"bytes"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

// Space is the white space of XML.
const Space = " \t\r\n"

// Trim returns a value of the file without white space around it.
func Trim(value []byte) []byte {
	for len(value) > 0 && isSpace(value[0]) {
		value = value[1:]
	}
	for len(value) > 0 && isSpace(value[len(value)-1]) {
		value = value[:len(value)-1]
	}
	return value
}

// Text collects character data and the position of its first character that is not
// white space.
type Text struct {
	Pos  petri.Pos
	size int    // bytes, with white space
	buf  []byte // without white space at the beginning
}

// Add adds the CharData that is the last token of s.
func (t *Text) Add(s *Scanner) error {
	t.size += len(s.Data)
	if t.size > s.lim.Token {
		return s.Limit(tokenBytes, int64(s.lim.Token))
	}
	piece := s.Data
	if t.Pos.Line == 0 {
		piece = piece[until(piece, 0, white):]
		if len(piece) == 0 {
			return nil
		}
		t.Pos = After(s.At, s.Data[:len(s.Data)-len(piece)])
	}
	t.buf = append(t.buf, piece...)
	return nil
}

// Bytes returns the text without white space around it, until the next Reset.
func (t *Text) Bytes() []byte { return Trim(t.buf) }

// String returns the text without white space around it.
func (t *Text) String() string { return string(t.Bytes()) }

// Reset empties t. Its memory is used again.
func (t *Text) Reset() { *t = Text{buf: t.buf[:0]} }

// After returns the position after white space that begins at pos.
func After(pos petri.Pos, blank []byte) petri.Pos {
	if i := bytes.LastIndexByte(blank, '\n'); i >= 0 {
		return petri.Pos{Line: pos.Line + bytes.Count(blank, []byte("\n")), Column: len(blank) - i}
	}
	pos.Column += len(blank)
	return pos
}

// Strings makes strings of values of the file. Many strings share an allocation.
type Strings struct{ last strings.Builder }

// Of returns a value as a string.
func (s *Strings) Of(value []byte) string {
	const together = 4 << 10 // bytes
	if len(value) < 2 {
		return string(value) // needs no memory
	}
	if s.last.Len()+len(value) > s.last.Cap() {
		if len(value) > together/4 {
			return string(value)
		}
		s.last = strings.Builder{}
		s.last.Grow(together)
	}
	start := s.last.Len()
	s.last.Write(value)
	return s.last.String()[start:]
}
