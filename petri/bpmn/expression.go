// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"strings"
	"unicode"

	"github.com/pnagent/pnagent/internal/xmlscan"
)

// expression returns the text of an expression as a guard has it: operators as
// in C, without the wrapping of JUEL (${…}, #{…}) or FEEL (=…). What is not
// surely the same in such a language is kept as it stands, with a warning.
func (d *document) expression(e *elem) string {
	text := oneLine(e.text)
	if inner, ok := unwrap(text); ok {
		out, unsure := juel(inner)
		if unsure {
			d.Warnings.Add(e.pos, "the expression "+xmlscan.Quote(text)+" is kept without its wrapping, but uses words of its own language")
		}
		return out
	}
	switch {
	case strings.Contains(text, "${") || strings.Contains(text, "#{"):
		d.Warnings.Add(e.pos, "the expression "+xmlscan.Quote(text)+" is kept as it stands: it is a text with expressions in it")
	case strings.HasPrefix(text, "=") && !strings.HasPrefix(text, "=="):
		return feel(strings.TrimSpace(text[1:]))
	}
	return text
}

// unwrap takes ${…} or #{…} off an expression that is nothing else.
func unwrap(s string) (string, bool) {
	if len(s) < 3 || s[0] != '$' && s[0] != '#' || s[1] != '{' || s[len(s)-1] != '}' {
		return s, false
	}
	inner := s[2 : len(s)-1]
	return strings.TrimSpace(inner), !strings.ContainsAny(inner, "{}")
}

// juel writes JUEL's words for operators as signs. unsure means that it met an
// operator that has no sign.
func juel(s string) (out string, unsure bool) {
	out = outsideQuotes(s, func(code string) string {
		return eachWord(code, func(w string) string {
			switch w {
			case "eq":
				return "=="
			case "ne":
				return "!="
			case "lt":
				return "<"
			case "gt":
				return ">"
			case "le":
				return "<="
			case "ge":
				return ">="
			case "and":
				return "&&"
			case "or":
				return "||"
			case "not":
				return "!"
			case "div":
				return "/"
			case "mod":
				return "%"
			case "empty", "instanceof":
				unsure = true
			}
			return w
		})
	})
	return out, unsure
}

// feel writes FEEL's sign for equality as C does.
func feel(s string) string {
	return outsideQuotes(s, func(code string) string {
		var b strings.Builder
		for i := range len(code) {
			b.WriteByte(code[i])
			if code[i] != '=' || i > 0 && strings.IndexByte("<>!=", code[i-1]) >= 0 || i+1 < len(code) && code[i+1] == '=' {
				continue
			}
			b.WriteByte('=')
		}
		return b.String()
	})
}

// outsideQuotes changes what is outside of '…' and "…".
func outsideQuotes(s string, change func(string) string) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexAny(s, `'"`)
		if i < 0 {
			break
		}
		b.WriteString(change(s[:i]))
		end := strings.IndexByte(s[i+1:], s[i])
		if end < 0 {
			return b.String() + s[i:]
		}
		b.WriteString(s[i : i+end+2])
		s = s[i+end+2:]
	}
	return b.String() + change(s)
}

// eachWord changes the words of code; a member of something ("x.empty") is not
// one.
func eachWord(code string, change func(string) string) string {
	isWord := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.' || r == '$'
	}
	var b strings.Builder
	for code != "" {
		end := strings.IndexFunc(code, func(r rune) bool { return !isWord(r) })
		switch {
		case end < 0:
			end = len(code)
		case end == 0:
			end = strings.IndexFunc(code, isWord)
			if end < 0 {
				end = len(code)
			}
			b.WriteString(code[:end])
			code = code[end:]
			continue
		}
		b.WriteString(change(code[:end]))
		code = code[end:]
	}
	return b.String()
}

// all returns the conjunction of some guards, and none of others.
func all(none []string, also string) string {
	parts := make([]string, 0, len(none)+1)
	for _, g := range none {
		parts = append(parts, "!("+g+")")
	}
	if also != "" {
		if len(parts) == 0 {
			return also
		}
		parts = append(parts, "("+also+")")
	}
	return strings.Join(parts, " && ")
}
