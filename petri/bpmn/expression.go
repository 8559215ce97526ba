// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/pnagent/pnagent/petri/xmlscan"
)

// expression returns the text of an expression as a guard: with the operators of C
// and without the wrapping of JUEL (${…}, #{…}) or FEEL (=…). It keeps the rest of
// the text, and warns if that may mean something else.
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

// unwrap returns an expression without the ${…} or #{…} around all of it.
func unwrap(s string) (string, bool) {
	if len(s) < 3 || s[0] != '$' && s[0] != '#' || s[1] != '{' || s[len(s)-1] != '}' {
		return s, false
	}
	inner := s[2 : len(s)-1]
	return strings.TrimSpace(inner), !strings.ContainsAny(inner, "{}")
}

var (
	// code matches text in quotes, and code between them.
	code = regexp.MustCompile(`'[^']*'|"[^"]*"|['"].*|[^'"]+`)
	// word matches a word; "x.empty" is one, and so not an operator.
	word = regexp.MustCompile(`[\pL\p{Nd}_.$]+`)
	// comparison matches an operator that ends in =.
	comparison = regexp.MustCompile(`[<>!=]*=+`)
)

// juel replaces JUEL's words for operators by signs. unsure is true if an operator
// has no sign.
func juel(s string) (out string, unsure bool) {
	signs := map[string]string{"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=",
		"and": "&&", "or": "||", "not": "!", "div": "/", "mod": "%"}
	out = outsideQuotes(s, word, func(w string) string {
		unsure = unsure || w == "empty" || w == "instanceof"
		return cmp.Or(signs[w], w)
	})
	return out, unsure
}

// feel replaces FEEL's sign for equality by that of C.
func feel(s string) string {
	return outsideQuotes(s, comparison, func(sign string) string {
		if sign == "=" {
			return "=="
		}
		return sign
	})
}

// outsideQuotes replaces the matches of a pattern that are not in quotes.
func outsideQuotes(s string, pattern *regexp.Regexp, replace func(string) string) string {
	return code.ReplaceAllStringFunc(s, func(part string) string {
		if part[0] == '\'' || part[0] == '"' {
			return part
		}
		return pattern.ReplaceAllStringFunc(part, replace)
	})
}

// all returns a guard that holds if also holds and none of the others does.
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
