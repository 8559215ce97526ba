// SPDX-License-Identifier: Apache-2.0

// Package plaintext replaces the characters of untrusted text that do more than
// be shown: control characters (C0, DEL, C1), which move the cursor of a terminal or
// forge a line of a log, the line separators U+2028 and U+2029, and the controls of
// bidirectional text, which reorder what stands beside them. It has the one list of
// these characters, and each face of pnagent uses it.
//
// A replaced character is its JSON escape, such as \u202e, so that bytes of a JSON
// document keep their meaning when they are replaced: a reader of JSON gets the text
// as it is.
package plaintext

import (
	"io"
	"strings"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// Hostile reports whether a character is replaced. That includes tab and line
// feed.
func Hostile(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r < 0x061c:
		return false
	}
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Escape returns a name or another text of one line with each hostile character as
// \uXXXX and each octet that is not UTF-8 as \xXX. A backslash that begins such a
// sequence in the text itself becomes \u005c, so different texts stay different.
// Other texts are returned as they are, without an allocation.
func Escape(s string) string {
	if clean(s) {
		return s
	}
	b := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, '\\', 'x', hex[s[i]>>4], hex[s[i]&15])
		case Hostile(r), r == '\\' && escaped(s[i:]):
			b = appendEscape(b, r)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return string(b)
}

// clean reports whether Escape changes nothing. It reads eight octets at once, since
// each name of a table passes here once a tick.
func clean(s string) bool {
	const each = 0x0101010101010101
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		control, above, backslash := (w-' '*each)&^w, w+each|w, w^'\\'*each
		if (control|above|(backslash-each)&^backslash)&(0x80*each) != 0 {
			return cleanRunes(s[i:])
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '\\' {
			return cleanRunes(s[i:])
		}
	}
	return true
}

func cleanRunes(s string) bool {
	for i, r := range s {
		if Hostile(r) || r == '\\' && escaped(s[i:]) {
			return false
		}
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return false
			}
		}
	}
	return true
}

// escaped reports whether a text begins with \uXXXX or \xXX.
func escaped(s string) bool {
	var digits int
	switch {
	case strings.HasPrefix(s, `\u`):
		digits = 4
	case strings.HasPrefix(s, `\x`):
		digits = 2
	default:
		return false
	}
	return len(s) >= 2+digits && strings.Trim(s[2:2+digits], hex) == ""
}

func appendEscape(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// Cell returns a text as the cell of a CSV file that a person opens in a
// spreadsheet: escaped, then as Guard returns it.
func Cell(s string) string { return Guard(Escape(s)) }

// Guard returns a text with an apostrophe before each character for which a
// spreadsheet reads a formula where it begins a cell: = + - @ and their wide forms, tab
// and carriage return. Behind a semicolon a cell begins in spreadsheets of many languages.
func Guard(s string) string {
	if !strings.ContainsAny(s, signs) {
		return s
	}
	var b strings.Builder
	begins := true
	for _, r := range s {
		if begins && strings.ContainsRune(signs, r) {
			b.WriteByte('\'')
		}
		b.WriteRune(r)
		begins = r == ';'
	}
	return b.String()
}

// signs are the characters for which spreadsheets read a formula.
const signs = "=+-@＝＋－＠\t\r"

// AppendLines appends text of several lines, such as a message for a terminal or a
// JSON document, with its hostile characters as \uXXXX. Tabs and line feeds stay,
// and carriage returns before line feeds. Octets that are not UTF-8 become \xXX.
func AppendLines(dst, text []byte) []byte {
	for len(text) > 0 {
		n := plainPrefix(text)
		dst, text = append(dst, text[:n]...), text[n:]
		if len(text) == 0 {
			break
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, '\\', 'x', hex[text[0]>>4], hex[text[0]&15])
		case r == '\r' && len(text) > 1 && text[1] == '\n', r == '\t', r == '\n', !Hostile(r):
			dst = append(dst, text[:n]...)
		default:
			dst = appendEscape(dst, r)
		}
		text = text[n:]
	}
	return dst
}

// plainPrefix returns how many octets at the beginning are printable ASCII.
func plainPrefix(text []byte) int {
	for i, c := range text {
		if c < ' ' || c >= 0x7f {
			return i
		}
	}
	return len(text)
}

// Lines returns text as AppendLines does: text itself if nothing is replaced.
func Lines(text []byte) []byte {
	for i := 0; i < len(text); {
		if n := plainPrefix(text[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 || Hostile(r) && r != '\t' && r != '\n' {
			return AppendLines(append(make([]byte, 0, len(text)+16), text[:i]...), text[i:])
		}
		i += n
	}
	return text
}

// Writer writes what Lines makes of each write to another writer. A character may
// be spread over several writes.
type Writer struct {
	to   io.Writer
	held []byte // the beginning of a character, or a carriage return
}

// NewWriter returns a writer to another one. It may be used by one goroutine at a
// time.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write implements io.Writer.
func (w *Writer) Write(text []byte) (int, error) {
	all := text
	if len(w.held) > 0 {
		all = append(w.held, text...)
	}
	end := complete(all)
	held := append([]byte(nil), all[end:]...)
	if _, err := w.to.Write(Lines(all[:end])); err != nil {
		return 0, err
	}
	w.held = held
	return len(text), nil
}

// To returns the writer that it writes to.
func (w *Writer) To() io.Writer { return w.to }

// Flush writes the beginning of a character that was not completed.
func (w *Writer) Flush() error {
	_, err := w.to.Write(Lines(w.held))
	w.held = nil
	return err
}

// complete returns the length of text without the character that it begins at its
// end and does not complete.
func complete(text []byte) int {
	n := len(text)
	if n > 0 && text[n-1] == '\r' {
		return n - 1
	}
	for back := 1; back < utf8.UTFMax && back <= n; back++ {
		if c := text[n-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[n-back:]) {
				return n - back
			}
			break
		}
	}
	return n
}
