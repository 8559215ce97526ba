// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"cmp"
	"regexp"
	"strings"
)

var (
	// code matches text in quotes, and code between them.
	code = regexp.MustCompile(`'[^']*'|"[^"]*"|['"].*|[^'"]+`)
	// word matches a word; "x.empty" is one, and so not an operator.
	word = regexp.MustCompile(`[\pL\p{Nd}_.$]+`)
	// comparison matches an operator that ends in =.
	comparison = regexp.MustCompile(`[<>!=]*=+`)
)

// translate returns an expression of FEEL or UEL in pnagent's own language.
func translate(s string) string {
	switch {
	case strings.HasPrefix(s, "="):
		return outsideQuotes(s[1:], comparison, func(sign string) string {
			if sign == "=" {
				return "=="
			}
			return sign
		})
	case (strings.HasPrefix(s, "${") || strings.HasPrefix(s, "#{")) && strings.HasSuffix(s, "}"):
		signs := map[string]string{"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=",
			"and": "&&", "or": "||", "not": "!", "div": "/", "mod": "%"}
		return outsideQuotes(s[2:len(s)-1], word, func(w string) string { return cmp.Or(signs[w], w) })
	}
	return s
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
