// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pnagent/pnagent/engine/guard/scan"
	"github.com/woodsbury/decimal128"
)

// extensions are the functions that Camunda adds to those of DMN, other than uuid and random
// number, whose values differ each time.
var extensions = map[string]*builtin{
	"is defined": fn("value", func(_ *run, a []any) any { return a[0] != nil }),
	"get or else": fn("value, default", func(_ *run, a []any) any {
		if a[0] == nil {
			return a[1]
		}
		return a[0]
	}),
	"assert":   fn("value, condition; value, condition, cause", assert),
	"put":      contexts["context put"],
	"put all":  contexts["context merge"],
	"is empty": ofList("list", func(_ *run, l, _ []any) any { return len(l) == 0 }),
	"duplicate values": ofList("list", func(r *run, l, _ []any) any {
		return slices.DeleteFunc(distinct(r, l), func(e any) bool {
			n := 0
			for _, other := range l {
				if equal(r, e, other) == true {
					n++
				}
			}
			return n < 2
		})
	}),
	"partition": ofList("list, size", partition),
	"extract": fn("string, pattern; input, pattern", func(r *run, a []any) any {
		in, re := r.match(a, len(a))
		if re == nil {
			return nil
		}
		out := []any{}
		for _, m := range re.FindAllString(in, -1) {
			r.spend(1)
			out = append(out, m)
		}
		return out
	}),
	"trim":      text1(func(r *run, s string) any { return r.str(strings.TrimFunc(s, func(c rune) bool { return c <= ' ' })) }),
	"is blank":  text1(func(_ *run, s string) any { return strings.TrimSpace(s) == "" }),
	"to base64": of1("value", func(r *run, s string) any { return r.str(base64.StdEncoding.EncodeToString([]byte(s))) }),
	"from base64": of1("value", func(r *run, s string) any {
		out, err := base64.StdEncoding.DecodeString(r.literal(s))
		if err != nil || !utf8.Valid(out) {
			return nil
		}
		return string(out)
	}),
	"from json": of1("value", fromJSON),
	"to json": fn("value", func(r *run, a []any) any {
		out, ok := r.appendJSON(nil, a[0])
		if !ok {
			return nil
		}
		return r.str(string(out))
	}),
	"fromAi": {form: "value; value, description; value, description, type; value, description, type, schema; value, description, type, schema, options",
		gaps: true, call: func(_ *run, a []any) any { return a[0] }},
	"last day of month": day1(func(d Date) any { return Date{d.Year, d.Month, daysIn(d.Year, d.Month)} }),
}

// assert returns a value, or stops the evaluation if a condition is not true.
func assert(r *run, a []any) any {
	if a[1] == true {
		return a[0]
	}
	cause := "the condition of assert is not true"
	if len(a) > 2 {
		s, ok := a[2].(string)
		if !ok {
			return nil
		}
		cause = s
	}
	r.fail("%s", cause)
	return nil
}

// partition returns lists of a size, of which the last one may be shorter.
func partition(r *run, l, a []any) any {
	d, _ := single(a[0]).(decimal128.Decimal)
	size, ok := whole(d)
	if !ok || size < 1 {
		return nil
	}
	out := []any{}
	for len(l) > 0 {
		r.spend(1)
		n := min(size, int64(len(l)))
		out, l = append(out, slices.Clone(l[:n])), l[n:]
	}
	return out
}

// fromJSON returns the value that a text of JSON has, or nil.
func fromJSON(r *run, s string) any {
	r.literal(s)
	if scan.Deep([]byte(s)) {
		r.fail("JSON nested more than %d deep", scan.MaxDepth)
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	return Import(v)
}

// appendJSON appends a value as JSON. It is false for a value that JSON does not have, such as a function.
func (r *run) appendJSON(to []byte, v any) ([]byte, bool) {
	r.spend(1)
	if len(to) > scan.MaxText {
		r.fail("a text of more than %d bytes", scan.MaxText)
	}
	var ok bool
	switch v := v.(type) {
	case nil:
		return append(to, "null"...), true
	case decimal128.Decimal:
		return append(to, Digits(v)...), true
	case []any:
		to = append(to, '[')
		for i, e := range v {
			if i > 0 {
				to = append(to, ',')
			}
			to, ok = r.appendJSON(to, e)
			if !ok {
				return nil, false
			}
		}
		return append(to, ']'), true
	case *Context:
		to = append(to, '{')
		for i, k := range v.keys {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendQuoted(to, k), ':')
			to, ok = r.appendJSON(to, v.values[k])
			if !ok {
				return nil, false
			}
		}
		return append(to, '}'), true
	case bool:
		return append(to, pick(v, "true", "false")...), true
	case string:
		return appendQuoted(to, v), true
	case interface{ ISO() string }:
		return appendQuoted(to, v.ISO()), true
	case interface{ String() string }:
		return appendQuoted(to, v.String()), true
	}
	return nil, false
}

func appendQuoted(to []byte, s string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text has no error
	return append(to, strings.TrimSuffix(b.String(), "\n")...)
}
