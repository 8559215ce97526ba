// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/pnagent/pnagent/petri"
)

// The sizes of nodes. A box has the size of its label within these bounds.
const (
	placeSize   = 40
	boxMinW     = 36
	boxMinH     = 36
	boxPadding  = 8
	labelWidth  = 104 // the greatest width of a line
	labelLines  = 3
	labelRunes  = 400 // the rest of a name is ignored
	ellipsis    = "…"
	placeHolder = "?" // for a name without visible characters
)

func newTransition(t *petri.Transition) Node {
	n := Node{Label: label(t.Name, t.ID)}
	w, h := LabelSize(n.Label)
	n.W, n.H = max(boxMinW, w+2*boxPadding), max(boxMinH, h+2*boxPadding)
	return n
}

// Label returns a name as Node.Label has it, or "" if it has no visible characters.
func Label(name string) string {
	if name = clean(name, labelRunes); name == "" {
		return ""
	}
	return wrap(name, labelWidth, labelLines)
}

// Wrap returns a name in lines of at most a width in pixels, without characters that a
// picture cannot show, and shortened with an ellipsis to a number of lines.
func Wrap(name string, width float64, lines int) string {
	return wrap(clean(name, labelRunes), width, lines)
}

// Text returns a text without what a picture cannot show, on one line: at most 1,000
// characters, for titles and descriptions.
func Text(s string) string { return clean(s, titleRunes) }

// label returns the name in lines, or the id if the name has no visible characters.
func label(name, id string) string {
	return cmp.Or(Label(name), Label(id), placeHolder)
}

// clean returns a text without control characters, characters that change the
// direction of text, and invalid UTF-8. It replaces white space by single blanks and
// reads at most a number of characters.
func clean(s string, atMost int) string {
	var b strings.Builder
	blank := false
	for _, r := range s {
		if atMost--; atMost < 0 {
			break
		}
		switch {
		case unicode.IsSpace(r):
			blank = true
			continue
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Noncharacter_Code_Point, r):
			continue
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
	}
	return b.String()
}

// wrap breaks a text into some lines of a width: at blanks, after marks between words, at a capital
// inside a word, and otherwise where a line is full.
func wrap(s string, wide float64, most int) string {
	var lines []string
	line := ""
	for _, word := range words(s) {
		if textWidth(strings.TrimRight(line+word, " ")) > wide && line != "" {
			lines = append(lines, strings.TrimRight(line, " "))
			line = ""
		}
		for textWidth(strings.TrimRight(word, " ")) > wide {
			head := cut(word, wide)
			lines = append(lines, head)
			word = word[len(head):]
		}
		line += word
	}
	if line = strings.TrimRight(line, " "); line != "" {
		lines = append(lines, line)
	}
	if len(lines) > most {
		lines = lines[:most]
		last := lines[most-1]
		lines[most-1] = strings.TrimRight(cut(last, wide-textWidth(ellipsis)), " ") + ellipsis
	}
	return strings.Join(lines, "\n")
}

// words returns the parts of a text between which a line may end. A part includes
// the blanks after it.
func words(s string) []string {
	var out []string
	begin := 0
	var last rune
	for i, r := range s {
		camel := unicode.IsLower(last) && unicode.IsUpper(r)
		wide := textWidth(string(r)) >= FontSize && i > begin // wide characters have no blanks between them
		if r != ' ' && (strings.ContainsRune(" _-./:,;", last) || camel || wide) && i > begin {
			out = append(out, s[begin:i])
			begin = i
		}
		last = r
	}
	return append(out, s[begin:])
}

// cut returns the longest prefix of a text that is not wider than most, but at least
// one character with its combining marks.
func cut(s string, most float64) string {
	for i, r := range s {
		if i > 0 && runeWidth(r) > 0 && textWidth(s[:i])+runeWidth(r) > most {
			return s[:i]
		}
	}
	return s
}

// LabelSize returns the size of a label in pixels.
func LabelSize(s string) (w, h float64) {
	for line := range strings.SplitSeq(s, "\n") {
		w = max(w, textWidth(line))
		h += LineHeight
	}
	return w, h
}

// textWidth estimates the width of a line. Fonts differ, so it prefers too much to
// too little.
func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}

// runeWidth estimates by classes of characters of a common sans-serif font.
func runeWidth(r rune) float64 {
	switch {
	case strings.ContainsRune("iljI.,:;'|!", r):
		return 0.32 * FontSize
	case strings.ContainsRune(" ftr()[]/\\-\"*`", r):
		return 0.42 * FontSize
	case strings.ContainsRune("mwMW@%…—", r):
		return 0.95 * FontSize
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r < 0x100 && unicode.IsUpper(r):
		return 0.72 * FontSize
	case r < 0x100:
		return 0.6 * FontSize
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 1.2 * FontSize
	}
	return 0.75 * FontSize
}
