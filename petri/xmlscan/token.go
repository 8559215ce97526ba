// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"bytes"
	"unicode/utf8"
)

// The functions of this file read a token from the beginning of b and return its length,
// or one of these.
const (
	incomplete = 0  // b ends within the token
	unusual    = -1 // the token is for encoding/xml: it is rare, or not well-formed
)

// The classes of bytes.
const (
	nameStart = 1 << iota
	nameByte
	white
	plain // of texts and values, without a meaning of its own
)

var class = classes() // constant

func classes() (of [256]uint8) {
	for c := range 0x80 {
		switch b := byte(c); {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', b == '_', b == ':':
			of[c] = nameStart | nameByte | plain
		case '0' <= b && b <= '9', b == '-', b == '.':
			of[c] = nameByte | plain
		case b == ' ', b == '\t', b == '\n':
			of[c] = white | plain
		case b == '\r':
			of[c] = white
		case b == '<', b == '&', b == '"', b == '\'', b == ']', b < ' ':
		default:
			of[c] = plain
		}
	}
	return of
}

func isSpace(c byte) bool { return class[c]&white != 0 }

// until returns the index of the first byte from i on that is not of a class.
func until(b []byte, i int, is uint8) int {
	for i < len(b) && class[b[i]]&is != 0 {
		i++
	}
	return i
}

// ordinary reads a token as nearly all are.
func (s *Scanner) ordinary(b []byte) (Kind, int) {
	switch {
	case len(b) < 2:
		return Other, incomplete
	case b[0] != '<':
		s.scratch = s.scratch[:0]
		data, n := s.run(b, 0, '<')
		s.Data = data
		return CharData, n
	case b[1] == '/':
		return EndTag, s.endTag(b)
	case b[1] == '!':
		return s.declaration(b)
	}
	return StartTag, s.startTag(b)
}

func (s *Scanner) startTag(b []byte) int {
	s.Attrs, s.scratch = s.Attrs[:0], s.scratch[:0]
	i := until(b, 1, nameByte)
	s.tag = s.names.of(b[1:i])
	for {
		i = until(b, i, white)
		switch {
		case i == len(b):
			return incomplete
		case s.tag == nil:
			return unusual
		case b[i] == '>':
			return i + 1
		case b[i] == '/' && i+1 == len(b):
			return incomplete
		case b[i] == '/' && b[i+1] == '>':
			s.empty = true
			return i + 2
		}
		if i = s.attribute(b, i); i <= 0 {
			return i
		}
	}
}

// attribute reads an attribute from i on and returns where it ends.
func (s *Scanner) attribute(b []byte, i int) int {
	end := until(b, i, nameByte)
	equals := until(b, end, white)
	if equals == len(b) {
		return incomplete
	}
	name := s.names.of(b[i:end])
	if name == nil || b[equals] != '=' {
		return unusual
	}
	quote := until(b, equals+1, white)
	if quote == len(b) {
		return incomplete
	}
	if b[quote] != '"' && b[quote] != '\'' {
		return unusual
	}
	value, end := s.run(b, quote+1, b[quote])
	if end <= 0 {
		return end
	}
	s.Attrs = append(s.Attrs, Attr{Name{name.prefix, name.local}, value})
	return end + 1
}

func (s *Scanner) endTag(b []byte) int {
	if k := len(s.open); k > 0 { // nearly always it is the expected one
		s.tag = s.open[k-1].tag
		if end := 2 + len(s.tag.raw); end < len(b) && b[end] == '>' && string(b[2:end]) == s.tag.raw {
			return end + 1
		}
	}
	end := until(b, 2, nameByte)
	i := until(b, end, white)
	if i == len(b) {
		return incomplete
	}
	s.tag = s.names.of(b[2:end])
	if s.tag == nil || b[i] != '>' {
		return unusual
	}
	return i + 1
}

// declaration reads a comment or a CDATA section.
func (s *Scanner) declaration(b []byte) (Kind, int) {
	const comment, cdata = "<!--", "<![CDATA["
	switch {
	case len(b) < len(cdata):
		return Other, incomplete
	case bytes.HasPrefix(b, []byte(comment)):
		end := bytes.Index(b[len(comment):], []byte("--"))
		if end += len(comment); end < len(comment) || end+2 >= len(b) {
			return Other, incomplete
		}
		if b[end+2] != '>' {
			return Other, unusual
		}
		return Other, end + 3
	case bytes.HasPrefix(b, []byte(cdata)):
		end := bytes.Index(b[len(cdata):], []byte("]]>"))
		if end < 0 {
			return Other, incomplete
		}
		s.Data = b[len(cdata) : len(cdata)+end]
		for _, c := range s.Data {
			if c < ' ' && c != '\t' && c != '\n' {
				return Other, unusual
			}
		}
		if !isText(s.Data) {
			return Other, unusual
		}
		return CharData, len(cdata) + end + len("]]>")
	}
	return Other, unusual
}

// isText reports whether a text has no byte that is not UTF-8, and none of the characters
// from U+0080 that XML excludes.
func isText(b []byte) bool {
	return utf8.Valid(b) && !bytes.Contains(b, []byte("\ufffe")) && !bytes.Contains(b, []byte("\uffff"))
}

// run reads a text or a value from i on to the byte stop. It returns that with its
// references and line ends replaced, and where it ends.
func (s *Scanner) run(b []byte, i int, stop byte) (data []byte, end int) {
	copied, kept := i, len(s.scratch)
	start, ascii := i, true
	for {
		i = until(b, i, plain)
		if i == len(b) {
			return nil, incomplete
		}
		switch c := b[i]; {
		case c == stop:
			data = b[start:i]
			if copied > start {
				s.scratch = append(s.scratch, b[copied:i]...)
				data = s.scratch[kept:]
			}
			if !ascii && !isText(data) {
				return nil, unusual
			}
			return data, i
		case c >= utf8.RuneSelf:
			ascii = false
			i++
		case c == '"', c == '\'', c == ']' && (stop != '<' || !bytes.HasPrefix(b[i:], []byte("]]>"))):
			i++
		case c == '\r', c == '&':
			char, n := reference(b[i:])
			if n <= 0 {
				return nil, n
			}
			s.scratch = utf8.AppendRune(append(s.scratch, b[copied:i]...), char)
			i += n
			copied = i
		default:
			return nil, unusual
		}
	}
}

// reference reads a reference to a character, or an end of a line of other systems. It
// returns the character.
func reference(b []byte) (char rune, n int) {
	if b[0] == '\r' {
		switch {
		case len(b) == 1:
			return 0, incomplete
		case b[1] == '\n':
			return '\n', 2
		}
		return '\n', 1
	}
	end := bytes.IndexByte(b[:min(len(b), longestReference)], ';')
	switch {
	case end < 0 && len(b) < longestReference:
		return 0, incomplete
	case end < 0:
		return 0, unusual
	}
	switch name := b[1:end]; string(name) {
	case "lt":
		char = '<'
	case "gt":
		char = '>'
	case "amp":
		char = '&'
	case "apos":
		char = '\''
	case "quot":
		char = '"'
	default:
		char = number(name)
	}
	if char == 0 {
		return 0, unusual
	}
	return char, end + 1
}

// longestReference is the length of references that are ordinary, in bytes.
const longestReference = len("&#1114111;")

// number returns the character of the reference "#10" or "#xa", or 0 if it is not an
// ordinary one.
func number(name []byte) (char rune) {
	if len(name) < 2 || name[0] != '#' {
		return 0
	}
	digits, base := name[1:], rune(10)
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	for _, c := range digits {
		digit := rune(c) - '0'
		if base == 16 && digit > 9 {
			digit = rune(c|0x20) - 'a' + 10
			if digit < 10 {
				return 0
			}
		}
		if digit < 0 || digit >= base {
			return 0
		}
		char = char*base + digit
	}
	if char < ' ' && char != '\t' && char != '\n' && char != '\r' || !utf8.ValidRune(char) || char == 0xfffe || char == 0xffff {
		return 0
	}
	return char
}
