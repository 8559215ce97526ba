// SPDX-License-Identifier: Apache-2.0

package top

import (
	"math"
	"strconv"
	"strings"
)

// style is one of the terminal's 256 colours in the low byte, 0 for the default,
// and attributes.
type style int

const (
	normal  style = 0
	green   style = 2
	yellow  style = 3
	orange  style = 208
	red     style = 1
	faint   style = 1 << 8
	bold    style = 1 << 9
	reverse style = 1 << 10

	colours style = 0xff
)

// heat returns the style of an age in seconds. The age is written beside it, so
// the colour adds no information.
func heat(age float64) style {
	switch {
	case math.IsNaN(age), math.IsInf(age, 0), age < 10:
		return normal
	case age < 60:
		return green
	case age < 600:
		return yellow
	case age < 3600:
		return orange
	}
	return red | bold
}

// stateStyle returns the style of a source's state.
func stateStyle(state string) style {
	switch state {
	case "up":
		return green
	case "stale", "unknown":
		return yellow
	}
	return red
}

// span is clean text in one style.
type span struct {
	text  string
	style style
}

// line is one line of the screen.
type line []span

func plainLine(s string) line { return line{{s, normal}} }

// grey returns the line in the style of outdated figures.
func (l line) grey() line {
	out := make(line, len(l))
	for i, s := range l {
		out[i] = span{s.text, s.style&reverse | faint}
	}
	return out
}

// with returns the line with attributes added.
func (l line) with(s style) line {
	out := make(line, len(l))
	for i := range l {
		out[i] = span{l[i].text, l[i].style | s}
	}
	return out
}

// paint returns the line within w cells, with escape sequences for its styles.
func (l line) paint(w int, colour bool) string {
	var b strings.Builder
	for _, s := range l {
		n := width(s.text)
		if n > w {
			s.text, n = prefix(s.text, w-1)+"…", w
		}
		b.WriteString(sequence(s, colour))
		if w -= n; w <= 0 {
			break
		}
	}
	return b.String()
}

func sequence(s span, colour bool) string {
	var codes []string
	if s.style&bold != 0 {
		codes = append(codes, "1")
	}
	if s.style&faint != 0 {
		codes = append(codes, "2")
	}
	if s.style&reverse != 0 {
		codes = append(codes, "7")
	}
	switch c := int(s.style & colours); {
	case !colour || c == 0:
	case c < 8:
		codes = append(codes, strconv.Itoa(30+c))
	default:
		codes = append(codes, "38;5;"+strconv.Itoa(c))
	}
	if len(codes) == 0 || s.text == "" {
		return s.text
	}
	return "\x1b[" + strings.Join(codes, ";") + "m" + s.text + "\x1b[m"
}
