// SPDX-License-Identifier: Apache-2.0

package top

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// maxMarks is how many marks without a width may follow a character. More would
// overwrite the lines above.
const maxMarks = 2

// clean returns untrusted text as text that a terminal only shows. Control and
// format characters, which could move the cursor, colour or hide text or change
// its direction, become Go escapes. So do bytes that are not UTF-8, marks beyond
// maxMarks, and variation selectors.
func clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	marks := maxMarks // none may be first
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i])|0x100, 16)[1:])
		case !unicode.IsGraphic(r), unicode.Is(unicode.Variation_Selector, r), runeWidth(r) == 0 && marks >= maxMarks:
			b.WriteString(escape(r))
			marks = 0
		default:
			b.WriteRune(r)
			marks++
			if runeWidth(r) > 0 {
				marks = 0
			}
		}
		i += size
	}
	return b.String()
}

// plain reports whether a text is printable ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// escape returns a character in ASCII, as in a Go string.
func escape(r rune) string {
	e := strings.Trim(strconv.QuoteRuneToASCII(r), "'")
	if e == string(r) { // a printable one
		return `\u` + strconv.FormatUint(uint64(r)|0x10000, 16)[1:]
	}
	return e
}

func runeWidth(r rune) int {
	if r < utf8.RuneSelf {
		return 1 // only called for printable ones
	}
	return ansi.StringWidthWc(string(r))
}

// width returns how many cells of a terminal a clean text takes.
func width(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidthWc(s)
}

// ellipsis returns a clean text within w cells. A longer text loses its middle,
// because the names of one net often share a beginning or an end.
func ellipsis(s string, w int) string {
	switch {
	case width(s) <= w:
		return s
	case w <= 0:
		return ""
	}
	right := (w - 1) / 2
	left := w - 1 - right
	return prefix(s, left) + "…" + suffix(s, right)
}

// prefix returns the longest beginning of a clean text within w cells.
func prefix(s string, w int) string {
	for i, r := range s {
		if w -= runeWidth(r); w < 0 {
			return s[:i]
		}
	}
	return s
}

// suffix returns the longest end of a clean text within w cells that does not
// begin with a mark.
func suffix(s string, w int) string {
	start := len(s)
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
		n := runeWidth(r)
		if w -= n; w < 0 {
			break
		}
		if n > 0 {
			start = i
		}
	}
	return s[start:]
}

// fit returns a clean text in exactly w cells.
func fit(s string, w int, right bool) string {
	s = ellipsis(s, w)
	pad := strings.Repeat(" ", max(w-width(s), 0))
	if right {
		return pad + s
	}
	return s + pad
}

// wrap breaks a clean text into lines within w cells, at spaces if possible.
func wrap(s string, w int) []string {
	w = max(w, 2) // no character is wider
	var lines []string
	for width(s) > w {
		head := prefix(s, w)
		if cut := strings.LastIndexByte(head, ' '); cut > 0 {
			head = head[:cut]
		}
		lines = append(lines, head)
		s = strings.TrimPrefix(s[len(head):], " ")
	}
	return append(lines, s)
}
