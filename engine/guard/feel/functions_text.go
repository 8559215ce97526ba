// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pnagent/pnagent/engine/guard/scan"
	"github.com/woodsbury/decimal128"
)

// text2 returns a builtin of two texts.
func text2(params string, call func(r *run, a, b string) any) *builtin {
	return of2(params, func(r *run, a, b string) any {
		r.spend((len(a) + len(b)) / 16)
		return call(r, a, b)
	})
}

// text1 returns a builtin of one text.
func text1(call func(r *run, s string) any) *builtin {
	return of1("string", func(r *run, s string) any {
		r.spend(len(s) / 16)
		return call(r, s)
	})
}

var texts = map[string]*builtin{
	"string": fn("from", func(r *run, a []any) any {
		if a[0] == nil {
			return nil
		}
		if s, ok := a[0].(string); ok {
			return s
		}
		return r.str(string(r.appendText(nil, a[0])))
	}),
	"string length": text1(func(_ *run, s string) any { return integer(int64(utf8.RuneCountInString(s))) }),
	"upper case":    text1(func(r *run, s string) any { return r.str(strings.ToUpper(s)) }),
	"lower case":    text1(func(r *run, s string) any { return r.str(strings.ToLower(s)) }),
	"contains":      text2("string, match", func(_ *run, a, b string) any { return strings.Contains(a, b) }),
	"starts with":   text2("string, match", func(_ *run, a, b string) any { return strings.HasPrefix(a, b) }),
	"ends with":     text2("string, match", func(_ *run, a, b string) any { return strings.HasSuffix(a, b) }),
	"substring before": text2("string, match", func(_ *run, a, b string) any {
		before, _, ok := strings.Cut(a, b)
		if !ok {
			return ""
		}
		return before
	}),
	"substring after": text2("string, match", func(_ *run, a, b string) any {
		_, after, _ := strings.Cut(a, b)
		return after
	}),
	"substring":   fn("string, start position; string, start position, length", substring),
	"split":       text2("string, delimiter", splitText),
	"string join": fn("list; list, delimiter; list, delimiter, prefix, suffix", join),
	"matches": fn("input, pattern; input, pattern, flags", func(r *run, a []any) any {
		in, re := r.match(a, 2)
		if re == nil {
			return nil
		}
		return re.MatchString(in)
	}),
	"replace": fn("input, pattern, replacement; input, pattern, replacement, flags", replace),
}

func substring(r *run, a []any) any {
	s, ok := single(a[0]).(string)
	_, ok2 := single(a[1]).(decimal128.Decimal)
	if !ok || !ok2 {
		return nil
	}
	r.spend(len(s) / 16)
	all := []rune(s)
	start, ok := position(a[1], len(all))
	n := int64(len(all)) - start
	if len(a) > 2 && a[2] != nil {
		wanted, is := truncated(a[2])
		if !is || wanted < 1 {
			return nil
		}
		n = min(n, wanted)
	}
	if !ok {
		return nil
	}
	return r.str(string(all[start : start+n]))
}

// position returns the index from 0 of a position from 1, or from -1 at the end. It
// is false if nothing is there.
func position(at any, length int) (int64, bool) {
	i, ok := truncated(at)
	n := int64(length)
	switch {
	case !ok || i == 0 || i > n || -i > n:
		return 0, false
	case i < 0:
		return n + i, true
	}
	return i - 1, true
}

func splitText(r *run, s, delimiter string) any {
	re := r.compile(delimiter, "", len(s))
	if re == nil {
		return nil
	}
	out := []any{}
	for _, part := range re.Split(s, -1) {
		r.spend(1)
		out = append(out, part)
	}
	return out
}

func join(r *run, a []any) any {
	list, ok := asList(a[0])
	if !ok {
		return nil
	}
	var around [3]string // delimiter, prefix, suffix
	for i, v := range a[1:] {
		if around[i], ok = v.(string); !ok && v != nil {
			return nil
		}
	}
	var out []string
	size := 0
	for _, e := range list {
		r.spend(1)
		if e == nil {
			continue
		}
		s, ok := e.(string)
		if !ok {
			return nil
		}
		if size += len(s) + len(around[0]); size > scan.MaxText {
			r.fail("a text of more than %d bytes", scan.MaxText)
		}
		out = append(out, s)
	}
	return r.str(around[1] + strings.Join(out, around[0]) + around[2])
}

// match returns the input and the pattern of matches or replace. flags are at an
// index.
func (r *run) match(a []any, flags int) (string, *regexp.Regexp) {
	in, ok := single(a[0]).(string)
	p, ok2 := single(a[1]).(string)
	f := ""
	if len(a) > flags && a[flags] != nil {
		var is bool
		if f, is = a[flags].(string); !is {
			return "", nil
		}
	}
	if !ok || !ok2 {
		return "", nil
	}
	return in, r.compile(p, f, len(in))
}

// pattern is a compiled pattern.
type pattern struct {
	*regexp.Regexp
	size int // in instructions
}

// compile returns a pattern of XPath for a text of a length, or nil if the pattern or its
// flags are invalid. It fails for what only XPath has.
func (r *run) compile(text, flags string, length int) *regexp.Regexp {
	if strings.Trim(flags, "smixq") != "" {
		return nil
	}
	key := flags + "/" + text
	p, ok := r.patterns[key]
	if !ok {
		p.Regexp = r.newPattern(text, flags)
		if p.Regexp != nil {
			p.size = scan.PatternSize(p.String())
		}
		r.spend(100 + 10*p.size)
		if r.patterns == nil {
			r.patterns = map[string]pattern{}
		}
		r.patterns[key] = p
	}
	r.spend(1 + (1+length)*p.size/64)
	return p.Regexp
}

func (r *run) newPattern(pattern, flags string) *regexp.Regexp {
	if strings.Contains(flags, "q") {
		pattern = regexp.QuoteMeta(pattern)
	} else if pattern = r.translated(pattern, strings.Contains(flags, "x"), strings.Contains(flags, "s")); pattern == "" {
		return nil
	}
	set := ""
	for _, f := range []string{"s", "m", "i"} {
		if strings.Contains(flags, f) {
			set += f
		}
	}
	if set != "" {
		pattern = "(?" + set + ")" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		r.fail("the pattern %s: %v", scan.Quote(pattern), err)
	}
	return re
}

// translated returns a pattern of XPath as one of Go: white space is removed if free is
// set, and a point does not match the ends of lines unless dot is set. It returns "" for
// a pattern that is invalid, and fails for what only XPath has.
func (r *run) translated(pattern string, free, dot bool) string {
	var b strings.Builder
	b.WriteString("(?:)")
	depth := 0
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case free && depth == 0 && strings.IndexByte(" \t\n\r", c) >= 0:
			continue
		case c == '\\':
			for i++; free && i < len(pattern) && pattern[i] == ' '; i++ {
			}
			if i == len(pattern) || pattern[i] == '0' {
				return ""
			}
			b.WriteString("\\" + pattern[i:i+1])
			continue
		case c == '[' && depth > 0:
			if pattern[i-1] == '-' {
				r.fail("the pattern %s subtracts characters", scan.Quote(pattern))
			}
			b.WriteByte('\\')
		case c == '[':
			depth++
		case c == ']' && depth > 0:
			depth--
		case c == '.' && depth == 0 && !dot:
			b.WriteString(`[^\n\r]`)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func replace(r *run, a []any) any {
	in, re := r.match(a, 3)
	to, ok := single(a[2]).(string)
	if re == nil || !ok || re.MatchString("") {
		return nil
	}
	var template string
	if len(a) < 4 || a[3] == nil || !strings.Contains(a[3].(string), "q") {
		if template, ok = expansion(to, re.NumSubexp()); !ok {
			return nil
		}
	} else {
		template = strings.ReplaceAll(to, "$", "$$")
	}
	var out []byte
	last := 0
	for _, m := range re.FindAllStringSubmatchIndex(in, -1) {
		r.spend(1)
		out = append(out, in[last:m[0]]...)
		if out = re.ExpandString(out, template, in, m); len(out) > scan.MaxText {
			r.fail("a text of more than %d bytes", scan.MaxText)
		}
		last = m[1]
	}
	return r.str(string(append(out, in[last:]...)))
}

// expansion returns a replacement of XPath as one of Go.
func expansion(s string, groups int) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i == len(s) || s[i] != '\\' && s[i] != '$' {
				return "", false
			}
			if s[i] == '$' {
				b.WriteByte('$')
			}
			b.WriteByte(s[i])
		case '$':
			n, end := 0, i+1
			for end < len(s) && s[end] >= '0' && s[end] <= '9' && (end == i+1 || n*10+int(s[end]-'0') <= groups) {
				n = n*10 + int(s[end]-'0')
				end++
			}
			if end == i+1 {
				return "", false
			}
			if n <= groups {
				b.WriteString("${" + strconv.Itoa(n) + "}")
			}
			i = end - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}

// appendText appends a value as string() writes it.
func (r *run) appendText(to []byte, v any) []byte {
	r.spend(1)
	if len(to) > scan.MaxText {
		r.fail("a text of more than %d bytes", scan.MaxText)
	}
	switch v := v.(type) {
	case nil:
		return append(to, "null"...)
	case bool:
		return strconv.AppendBool(to, v)
	case string:
		return append(append(append(to, '"'), strings.ReplaceAll(v, `"`, `\"`)...), '"')
	case decimal128.Decimal:
		return append(to, Digits(v)...)
	case []any:
		to = append(to, '[')
		for i, e := range v {
			if i > 0 {
				to = append(to, ", "...)
			}
			to = r.appendText(to, e)
		}
		return append(to, ']')
	case *Context:
		to = append(to, '{')
		for i, k := range v.keys {
			if i > 0 {
				to = append(to, ", "...)
			}
			quote := ""
			if strings.ContainsAny(k, `{}:,"' `) {
				quote = `"`
			}
			to = append(append(append(to, quote...), strings.ReplaceAll(k, `"`, `\"`)...), quote...)
			to = r.appendText(append(to, ": "...), v.values[k])
		}
		return append(to, '}')
	case *Range:
		to = append(to, pick(v.LowIncluded, "[", "(")...)
		to = append(r.appendEnd(to, v.Low), ".."...)
		return append(r.appendEnd(to, v.High), pick(v.HighIncluded, "]", ")")...)
	case interface{ String() string }:
		return append(to, v.String()...)
	}
	return append(to, KindOf(v)...)
}

func (r *run) appendEnd(to []byte, v any) []byte {
	if v == nil {
		return to
	}
	return r.appendText(to, v)
}
