// SPDX-License-Identifier: Apache-2.0

package uel

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// short returns a text that an expression makes. It fails if that is too long.
func short(s string) string {
	if len(s) > scan.MaxText {
		scan.Fail("a text of more than %d bytes", scan.MaxText)
	}
	return s
}

// units16 returns a text in UTF-16, in which Java counts.
func units16(s string) []uint16 { return utf16.Encode([]rune(s)) }

// callText calls a method of String.
func callText(r *run, s, name string, args []any) (any, bool) {
	arg := func(i int) string { return toText(args[i]) }
	sequence := func(i int) string { // a CharSequence, to which nothing is coerced
		t, ok := args[i].(string)
		if !ok {
			scan.Fail("%s as the argument of %s; expected a text", kind(args[i]), name)
		}
		return t
	}
	switch name {
	case "length":
		return int64(len(units16(s))), true
	case "isEmpty":
		return s == "", true
	case "isBlank":
		return strings.TrimSpace(s) == "", true
	case "contains":
		return strings.Contains(s, sequence(0)), true
	case "startsWith":
		return strings.HasPrefix(s, arg(0)), true
	case "endsWith":
		return strings.HasSuffix(s, arg(0)), true
	case "equalsIgnoreCase":
		return strings.EqualFold(s, arg(0)), true
	case "toLowerCase":
		return strings.ToLower(s), true
	case "toUpperCase":
		return strings.ToUpper(s), true
	case "trim":
		return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' }), true
	case "strip":
		return strings.TrimFunc(s, unicode.IsSpace), true
	case "indexOf", "lastIndexOf":
		return indexOf(s, name, sequence(0)), true
	case "compareTo":
		return int64(strings.Compare(s, arg(0))), true
	case "compareToIgnoreCase":
		return int64(strings.Compare(strings.ToLower(s), strings.ToLower(arg(0)))), true
	case "substring":
		return substring(s, args), true
	case "charAt":
		i := toLong(args[0])
		return substring(s, []any{i, i + 1}), true
	case "concat":
		return short(s + arg(0)), true
	case "replace":
		return replace(s, sequence(0), sequence(1)), true
	case "repeat":
		n := toLong(args[0])
		if n < 0 || n*int64(len(s)) > scan.MaxText || n > scan.MaxText {
			scan.Fail("a text of %d times %d bytes", n, len(s))
		}
		return strings.Repeat(s, int(n)), true
	case "matches":
		return r.pattern("^(?:"+arg(0)+")$", s).MatchString(s), true
	case "replaceAll":
		return replaceAll(s, r.pattern(arg(0), s), arg(1), -1), true
	case "replaceFirst":
		return replaceAll(s, r.pattern(arg(0), s), arg(1), 1), true
	case "split":
		return split(s, r.pattern(arg(0), s), args[1:]), true
	}
	return nil, false
}

func indexOf(s, method, part string) int64 {
	i := strings.Index(s, part)
	if method == "lastIndexOf" {
		i = strings.LastIndex(s, part)
	}
	if i < 0 {
		return -1
	}
	return int64(len(units16(s[:i])))
}

func substring(s string, args []any) string {
	units := units16(s)
	from, to := toLong(args[0]), int64(len(units))
	if len(args) > 1 {
		to = toLong(args[1])
	}
	if from < 0 || to > int64(len(units)) || from > to {
		scan.Fail("the characters %d to %d of a text of %d", from, to, len(units))
	}
	return string(utf16.Decode(units[from:to]))
}

func replace(s, old, by string) string {
	if n := strings.Count(s, old); n > 0 && len(s)+n*(len(by)-len(old)) > scan.MaxText {
		scan.Fail("a text of more than %d bytes", scan.MaxText)
	}
	return strings.ReplaceAll(s, old, by)
}

// Bounds of regular expressions: the bytes of one, and the work of all in an evaluation. A step is 64
// instructions for a byte of text.
const (
	maxPattern = 1000
	maxSteps   = 1 << 18
)

// pattern compiles a regular expression of Java for a text. It fails for what only Java has, such as back references.
func (r *run) pattern(text, of string) *regexp.Regexp {
	if len(text) > maxPattern {
		scan.Fail("a pattern of %d bytes; expected at most %d", len(text), maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		scan.Fail("the pattern %s: %v", scan.Quote(text), err)
	}
	size := scan.PatternSize(text)
	r.left -= 100 + 10*size + (1+len(of))*size/64
	if r.left < 0 {
		scan.Fail("patterns of more than %d steps", maxSteps)
	}
	return re
}

// replaceAll replaces what matches, at most most times if that is not -1. $1 in by is a group.
func replaceAll(s string, re *regexp.Regexp, by string, most int) string {
	template := expansion(by, re.NumSubexp())
	var out []byte
	last := 0
	for _, m := range re.FindAllStringSubmatchIndex(s, most) {
		out = append(out, s[last:m[0]]...)
		out = re.ExpandString(out, template, s, m)
		if len(out) > scan.MaxText {
			scan.Fail("a text of more than %d bytes", scan.MaxText)
		}
		last = m[1]
	}
	return short(string(append(out, s[last:]...)))
}

// expansion returns a replacement of Java as one of Go.
func expansion(s string, groups int) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteString(strings.ReplaceAll(s[i:i+1], "$", "$$"))
		case s[i] == '$' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			i++
			n := int(s[i] - '0')
			for i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' && n*10+int(s[i+1]-'0') <= groups {
				i++
				n = n*10 + int(s[i]-'0')
			}
			if n > groups {
				scan.Fail("the group $%d of a pattern with %d", n, groups)
			}
			b.WriteString("${" + strconv.Itoa(n) + "}")
		case s[i] == '\\' || s[i] == '$':
			scan.Fail("the replacement %s; expected a group such as $1, or a character after a backslash", scan.Quote(s))
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// split returns the parts of a text between matches. Without a limit it leaves out empty ones at the end.
func split(s string, by *regexp.Regexp, limit []any) []any {
	most := int64(0)
	if len(limit) > 0 {
		most = toLong(limit[0])
	}
	n := -1
	if most > 0 {
		n = int(min(most, scan.MaxText))
	}
	parts := by.Split(s, n)
	for most == 0 && len(parts) > 1 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	out := make([]any, len(parts))
	for i := range parts {
		out[i] = parts[i]
	}
	return out
}
