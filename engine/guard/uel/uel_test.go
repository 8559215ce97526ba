// SPDX-License-Identifier: Apache-2.0

package uel

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pnagent/pnagent/engine/guard/scan"
)

// variables of the tests.
const variables = `{"n": 7, "big": 9223372036854775807, "f": 2.5, "whole": 2.0, "s": "abc", "digits": "12", "half": "0.5", "blank": "", "t": true, "no": false, "word": "TRUE",
 "nothing": null, "xs": [1, 2, 3], "names": ["Ann", "Bob"], "empties": {"list": [], "map": {}}, "who": {"name": "Ann", "first name": "A", "age": 30, "size": 5}, "🐎": "x🐎y"}`

func eval(t testing.TB, text, data string) (any, error) {
	t.Helper()
	p, err := Compile(text)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(data))
	d.UseNumber()
	var vars map[string]any
	if err := d.Decode(&vars); err != nil {
		t.Fatal(err)
	}
	return p.Eval(now, func(name string) (any, bool) {
		v, ok := vars[name]
		return Import(v), ok
	})
}

func TestRulesOfTheLanguage(t *testing.T) {
	for _, group := range []struct {
		rule  string
		cases map[string]any
	}{
		{"literals", map[string]any{`${1}`: int64(1), `${1.5}`: 1.5, `${.5e1}`: 5.0, `${1e2}`: 100.0, `${'it\'s'}`: "it's", `#{"a\\b"}`: `a\b`, `${true}`: true, `${null}`: nil}},
		{"words are signs", map[string]any{`${n gt 6 and n lt 8}`: true, `${n le 7 or no}`: true, `${n ge 8}`: false, `${n eq 7}`: true, `${n ne 7}`: false,
			`${not no}`: true, `${7 div 2}`: 3.5, `${7 mod 2}`: int64(1), `${n>6&&n<8||no}`: true, `${!no}`: true}},
		{"precedence", map[string]any{`${1 + 2 * 3 == 7 && !no}`: true, `${-n + 1}`: int64(-6), `${not no and no}`: false, `${1 < 2 == true}`: true, `${(1 + 2) * 3}`: int64(9),
			`${no and no or t}`: true, `${t ? 1 : no ? 2 : 3}`: int64(1), `${no ? 1 : no ? 2 : 3}`: int64(3), `${-2 * -3}`: int64(6), `${!empty s}`: true}},
		{"== coerces to the type of a number", map[string]any{`${n == '7'}`: true, `${'7' == n}`: true, `${f == '2.5'}`: true, `${whole == 2}`: true, `${n == 7.0}`: true, `${n == ''}`: false}},
		{"== coerces to a boolean", map[string]any{`${t == 'true'}`: true, `${word == t}`: true, `${no == 'x'}`: true}},
		{"== coerces to a text", map[string]any{`${s == 'abc'}`: true, `${s == 'ABC'}`: false, `${digits == '12'}`: true}},
		{"null equals only null", map[string]any{`${nothing == null}`: true, `${n == null}`: false, `${blank == null}`: false, `${null != n}`: true, `${nothing != null}`: false}},
		{"lists and maps are equal by their elements", map[string]any{`${xs == xs}`: true, `${empties.list == empties.map}`: false}},
		{"< of null", map[string]any{`${nothing < 1}`: false, `${nothing <= null}`: true, `${nothing < null}`: false, `${1 >= nothing}`: false}},
		{"< of texts and numbers", map[string]any{`${s < 'abd'}`: true, `${digits > 9}`: true, `${'12' < '9'}`: true, `${half < 1.0}`: true, `${n > 6.5}`: true}},
		{"arithmetic coerces", map[string]any{`${digits + 1}`: int64(13), `${half + 1}`: 1.5, `${nothing + 1}`: int64(1), `${nothing + null}`: int64(0), `${n - '2'}`: int64(5),
			`${n * f}`: 17.5, `${n / 2}`: 3.5, `${n % 4}`: int64(3), `${7.5 % 2}`: 1.5, `${-half}`: -0.5, `${-nothing}`: int64(0), `${blank + 1}`: int64(1)}},
		{"arithmetic of Java", map[string]any{`${big + 1}`: int64(math.MinInt64), `${1 / 0}`: math.Inf(1), `${-7 % 3}`: int64(-1)}},
		{"conditions coerce", map[string]any{`${nothing and t}`: false, `${blank or word}`: true, `${!nothing}`: true, `${'yes' ? 1 : 2}`: int64(2)}},
		{"conditions stop when they are decided", map[string]any{`${no and unknown}`: false, `${t or unknown}`: true, `${t ? 1 : unknown}`: int64(1)}},
		{"empty", map[string]any{`${empty nothing}`: true, `${empty blank}`: true, `${empty empties.list}`: true, `${empty empties.map}`: true, `${empty xs}`: false,
			`${empty 0}`: false, `${not empty who}`: true, `${empty who.unknown}`: true}},
		{"properties", map[string]any{`${who.name}`: "Ann", `${who['first name']}`: "A", `${who["age"] + 1}`: int64(31), `${who.unknown}`: nil, `${who.unknown.deeper}`: nil,
			`${xs[0]}`: int64(1), `${xs['2']}`: int64(3), `${xs[9]}`: nil, `${xs[nothing]}`: nil, `${names[xs[0]]}`: "Bob", `${who.size}`: int64(5)}},
		{"methods of lists", map[string]any{`${xs.size()}`: int64(3), `${xs.isEmpty()}`: false, `${xs.contains(2)}`: true, `${xs.contains('2')}`: false, `${names.contains('Ann')}`: true,
			`${names.get(1)}`: "Bob", `${names.indexOf('Bob')}`: int64(1), `${xs.indexOf(9)}`: int64(-1)}},
		{"methods of maps", map[string]any{`${who.get('name')}`: "Ann", `${who.containsKey('age')}`: true, `${who.containsValue(30)}`: true, `${empties.map.size()}`: int64(0), `${who.get('x')}`: nil}},
		{"methods of texts", map[string]any{`${s.length()}`: int64(3), `${s.equals('abc')}`: true, `${'a'.equals(nothing)}`: false, `${s.equalsIgnoreCase('ABC')}`: true, `${s.contains('b')}`: true,
			`${s.startsWith('ab')}`: true, `${s.endsWith('bc')}`: true, `${s.toUpperCase()}`: "ABC", `${' x '.trim().isEmpty()}`: false, `${s.substring(1)}`: "bc", `${s.substring(0, 2)}`: "ab",
			`${s.indexOf('c')}`: int64(2), `${s.compareTo('abd') < 0}`: true, `${'🐎'.length()}`: int64(2), `${'x🐎y'.indexOf('y')}`: int64(3)}},
		{"methods of numbers", map[string]any{`${f.intValue()}`: int64(2), `${n.doubleValue()}`: 7.0, `${n.equals(7)}`: true, `${n.equals(7.0)}`: false, `${n.compareTo(8)}`: int64(-1), `${n.toString()}`: "7", `${t.booleanValue()}`: true}},
		{"variables by execution", map[string]any{`${execution.getVariable('n')}`: int64(7), `${execution.getVariable("unknown")}`: nil, `${execution.hasVariable('n')}`: true, `${execution.hasVariable('x')}`: false}},
		{"texts with expressions in them", map[string]any{`${n}-${s}`: "7-abc", `${nothing}!`: "!", `#{f} of ${whole}`: "2.5 of 2.0", `${'a' += n += t}`: "a7true", `order-${n}`: "order-7"}},
		{"Double as a text of Java", map[string]any{`${1.0 += ''}`: "1.0", `${1e7 += ''}`: "1.0E7", `${0.00012 += ''}`: "1.2E-4", `${123456.5 += ''}`: "123456.5", `${1.0 / 0 += ''}`: "Infinity"}},
		{"white space", map[string]any{"${ n\n\t==7 }": true, `${xs . size ( ) }`: int64(3)}},
	} {
		for text, want := range group.cases {
			got, err := eval(t, text, variables)
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Errorf("%s: %s: %v, %v; want %v", group.rule, text, got, err, want)
			}
		}
	}
}

// Names of functions and of what pnagent offers are names of variables.
func TestAVariableMayHaveAnyNameThatIsNotReserved(t *testing.T) {
	for _, name := range []string{"age", "token", "tokens", "now", "count", "len", "type", "first", "last", "date", "sum", "min", "filter", "abs", "size", "execution", "andy", "notes", "$x", "_y", "größe", "emptyList"} {
		if v, err := eval(t, "${"+name+" >= 18 and not (18 > "+name+")}", `{"`+name+`": 30}`); v != true || err != nil {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
}

func TestMistakesInTheText(t *testing.T) {
	for text, want := range map[string]string{
		`${}`:                                 `line 1, column 3: found "}"; expected an expression`,
		`${a b}`:                              `line 1, column 5: found "b"; expected "}"`,
		`${a`:                                 `line 1, column 4: found the end; expected "}"`,
		"${a and\n  or}":                      `line 2, column 3: found "or"; expected an expression`,
		`${a ? b}`:                            `column 8: found "}"; expected ":"`,
		`${f(1)}`:                             `column 3: unknown function "f" with 1 arguments`,
		`${dateTime(1)}`:                      `unknown function "dateTime" with 1 arguments`,
		`${vars:find(a)}`:                     `column 3: unknown function "vars:find"`,
		`${vars:eq(a)}`:                       `column 3: 1 arguments of vars:eq`,
		`${vars:get(a, 1)}`:                   `2 arguments of vars:get`,
		`${vars:contains(a)}`:                 `1 arguments of vars:contains`,
		`${task.setAssignee('a')}`:            `unknown method "setAssignee" of task`,
		`${bean.check(a)}`:                    `column 8: unknown method "check" with 1 arguments`,
		`${xs.size(1)}`:                       `unknown method "size" with 1 arguments`,
		`${execution.setVariable('a', 1)}`:    `unknown method "setVariable" of execution`,
		`${a instanceof b}`:                   `found "instanceof"; expected "}"`,
		`${'a}`:                               `a text without an end; expected "'"`,
		`${'a\n'}`:                            `a backslash; expected a backslash or a quote after it`,
		`${9223372036854775808}`:              `the number "9223372036854775808"; expected one of 64 bits`,
		`${a -> b}`:                           `found ">"; expected an expression`,
		`${a = 1}`:                            `found "="; expected "}"`,
		`${` + strings.Repeat("(", 101) + `}`: `nested more than 100 deep`,
		`${a.}`:                               `expected the name of a property or a method`,
	} {
		p, err := Compile(text)
		var e *scan.Error
		if p != nil || !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v; want %s", text, err, want)
		}
	}
}

func TestWhatHasNoValueIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		`${unknown}`:        `unknown variable "unknown"`,
		`${empty unknown}`:  `unknown variable "unknown"`,
		`${n == s}`:         `the text "abc"; expected a whole number`,
		`${f == s}`:         `the text "abc"; expected a number`,
		`${s + 1}`:          `the text "abc"; expected a whole number`,
		`${xs + 1}`:         `found a list; expected a number`,
		`${xs > 1}`:         `found a list; expected a number`,
		`${xs > who}`:       `a list > an object; expected numbers or texts`,
		`${n and t}`:        `found a number; expected true or false`,
		`${n % 0}`:          `division by zero`,
		`${s.name}`:         `the property "name" of a text`,
		`${nothing.size()}`: `the method size of null`,
		`${n.size()}`:       `the method size of a number`,
		`${names.get(2)}`:   `the element 2 of a list of 2`,
		`${s.substring(4)}`: `the characters 4 to 3 of a text of 3`,
		`${s.contains(n)}`:  `a number as the argument of contains; expected a text`,
		`${xs}!`:            `found a list; expected a text`,
		`${n == '0x7'}`:     `expected a whole number`,
	} {
		if v, err := eval(t, text, variables); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %s", text, v, err, want)
		}
	}
	for _, text := range []string{`${n == 1}`, `${n + 1}`, `${n > 1.5}`, `${n == '9223372036854775808'}`, `${n.toString()}`, `${n and true}`} {
		if v, err := eval(t, text, `{"n": 9223372036854775808}`); err == nil || !strings.Contains(err.Error(), "found a number of more than 64 bits") {
			t.Errorf("%s: %v, %v", text, v, err)
		}
	}
	if _, err := eval(t, `${s += s += s}`, `{"s": "`+strings.Repeat("x", scan.MaxText/2)+`"}`); err == nil || !strings.Contains(err.Error(), "a text of more than 65536 bytes") {
		t.Errorf("a long text: %v", err)
	}
}

func TestPathsAreWhatIsRead(t *testing.T) {
	for text, want := range map[string]string{
		`${a.b.c + d['e'] > 1}`:                      "a.b d",
		`${pnagent.age > 3 && a.size() > 0}`:         "a pnagent.age",
		`${execution.getVariable('x') == execution}`: "execution",
		`${'a'.length() == 1}`:                       "",
		`${vars:get(a) == vars:eq('b', 1)}`:          "a variables",
		`${due lt now()}`:                            "due now()",
		`${execution.businessKey}`:                   "businessKey execution.businessKey",
	} {
		p, err := Compile(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if got := strings.Join(p.Paths(), " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func FuzzUEL(f *testing.F) {
	for _, text := range []string{`${amount gt 5 and not empty xs}`, `#{a.b['c'][0] eq 'x'}-${d}`, `${a ? b.size() : -c / 2 mod 3}`, `${execution.getVariable("a").equals('b') || 1e3 >= .5}`, `${'\'' += "x" += n}`} {
		f.Add(text, variables)
	}
	f.Fuzz(func(t *testing.T, text, data string) {
		var vars map[string]any
		if len(text) > 4096 || len(data) > 4096 || json.Unmarshal([]byte(data), &vars) != nil {
			return
		}
		p, err := Compile(text)
		if err != nil {
			var e *scan.Error
			if p != nil || !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		once := func() string {
			v, err := p.Eval(now, func(name string) (any, bool) { v, ok := vars[name]; return v, ok })
			var e *scan.Error
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return fmt.Sprint(v, err)
		}
		if a, b := once(), once(); a != b {
			t.Fatalf("%s\nthen %s", a, b)
		}
	})
}
