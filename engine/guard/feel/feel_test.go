// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// variables of the tests.
const variables = `{"n": 7, "tenth": 0.1, "s": "abc", "t": true, "no": false, "nothing": null, "xs": [1, 2, 3, 4], "order total": 120.50, "first  name": "odd",
 "who": {"name": "Ann", "home address": {"city": "Bern"}}, "items": [{"price": 3, "sold": true}, {"price": 10, "sold": false}, {"price": 7, "sold": true}], "a-b": 1}`

// now is Saturday 2026-01-31, 10:00 UTC.
var now = time.Unix(1769853600, 0)

func eval(t testing.TB, text, data string, names ...string) (any, error) {
	t.Helper()
	p, err := Compile(text, names...)
	if err != nil {
		return nil, err
	}
	return p.Eval(now, scopeOf(t, data))
}

func scopeOf(t testing.TB, data string) func(string) (any, bool) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(data))
	d.UseNumber()
	var vars map[string]any
	if err := d.Decode(&vars); err != nil {
		t.Fatal(err)
	}
	return func(name string) (any, bool) {
		v, ok := vars[name]
		return Import(v), ok
	}
}

// Each case is an expression and its value as string() writes it.
func TestRulesOfTheLanguage(t *testing.T) {
	for _, group := range []struct {
		rule  string
		cases map[string]string
	}{
		{"literals", map[string]string{`1.50`: `1.5`, `.5`: `0.5`, `1e3`: `1000`, `"a\"b"`: `"a\"b"`, `"\u00e9\U01F40E"`: `"é🐎"`, `true`: `true`, `null`: `null`, `[1, "x", null]`: `[1, "x", null]`, `-5`: `-5`}},
		{"comments", map[string]string{"1 + // one\n 1": `2`, `1 + /* 1 + */ 1`: `2`}},
		{"numbers are decimals", map[string]string{`0.1 + 0.2 = 0.3`: `true`, `tenth * 3 = 0.3`: `true`, `1 / 3`: `0.3333333333333333333333333333333333`, `2 ** 100`: `1267650600228229401496703205376`,
			`1.0 = 1`: `true`, `-2 ** 2`: `4`, `2 ** 3 ** 2`: `64`, `7 / 2`: `3.5`, `1 / 0`: `null`, `10 - 2 - 3`: `5`, `2 + 3 * 4`: `14`, `1e7000`: ``}},
		{"a comparison of kinds that differ is null", map[string]string{`1 = "1"`: `null`, `1 < "2"`: `null`, `1 != "1"`: `null`, `1 + "1"`: `null`, `nothing < 1`: `null`}},
		{"null equals only null", map[string]string{`nothing = null`: `true`, `n = null`: `false`, `n != null`: `true`, `missing = null`: `true`, `null = null`: `true`}},
		{"three-valued logic", map[string]string{`true and nothing`: `null`, `false and nothing`: `false`, `nothing and false`: `false`, `true or nothing`: `true`, `nothing or false`: `null`,
			`not(nothing)`: `null`, `not(no)`: `true`, `"x" and true`: `null`, `"x" or true`: `true`, `t and not(no)`: `true`}},
		{"if takes else unless the condition is true", map[string]string{`if t then 1 else 2`: `1`, `if nothing then 1 else 2`: `2`, `if "x" then 1 else 2`: `2`, `if no then 1 else if t then 3 else 4`: `3`}},
		{"names have spaces", map[string]string{`order total > 100`: `true`, `order   total + 1`: `121.5`, `who.home address.city`: `"Bern"`, `{two words: 1, next: two words + 1}.next`: `2`, "`a-b` + 1": `2`,
			`for line item in xs return line item * 2`: `[2, 4, 6, 8]`, `{a+b: 5, c: a+b}.c`: `5`, `n - 1`: `6`, `n-1`: `6`}},
		{"lists count from 1 and from -1 at the end", map[string]string{`xs[1]`: `1`, `xs[-1]`: `4`, `xs[0]`: `null`, `xs[5]`: `null`, `xs[n - 5]`: `2`, `[][1]`: `[]`, `n[1]`: `7`}},
		{"filters", map[string]string{`xs[item > 2]`: `[3, 4]`, `items[price > 5].price`: `[10, 7]`, `items[sold and price < 5][1].price`: `3`, `items[item.price = 10]`: `[{price: 10, sold: false}]`,
			`xs[nothing]`: `[]`, `count(items[sold]) = 2`: `true`, `n[item > 5]`: `[7]`, `n[false]`: `[]`}},
		{"paths", map[string]string{`who.name`: `"Ann"`, `who.missing`: `null`, `who.missing.deeper`: `null`, `items.price`: `[3, 10, 7]`, `nothing.name`: `null`, `{a: {b: 2}}.a.b`: `2`}},
		{"ranges and in", map[string]string{`5 in [1..10]`: `true`, `1 in (1..10]`: `false`, `10 in [1..10)`: `false`, `10 in [1..10[`: `false`, `1 in ]1..10]`: `false`, `n in [1..nothing]`: `null`, `"b" in ["a".."c"]`: `true`,
			`[1..10].end`: `10`, `[1..10) = [1..10]`: `false`, `@"2026-01-15" in [@"2026-01-01"..@"2026-01-31"]`: `true`}},
		{"in takes tests and lists", map[string]string{`n in (1, 7, 9)`: `true`, `n in [1, 7]`: `true`, `n in < 10`: `true`, `n in (< 5, >= 7)`: `true`, `n in != 7`: `false`, `n in ([1..3], [6..8])`: `true`,
			`n in [[1..3], [6..8]]`: `true`, `n in (1 + 6) * 1`: `true`, `s in ("abc")`: `true`, `n in (> 9)`: `false`, `[1] in [[1], [2]]`: `true`}},
		{"between", map[string]string{`n between 7 and 9`: `true`, `n between 8 and 9`: `false`, `n between nothing and 9`: `null`, `n between 1 and 9 and t`: `true`}},
		{"for", map[string]string{`for x in xs return x + 1`: `[2, 3, 4, 5]`, `for x in [1, 2], y in [10, 20] return x + y`: `[11, 21, 12, 22]`, `for i in 3..1 return i`: `[3, 2, 1]`, `for i in [1..3] return i`: `[1, 2, 3]`,
			`for i in (1..3) return i`: `[2]`, `for i in 0..4 return if i = 0 then 1 else i * partial[-1]`: `[1, 1, 2, 6, 24]`, `for x in nothing return x`: `null`, `for x in [[1, 2], [3]], y in x return y`: `[1, 2, 3]`,
			`for d in @"2026-02-27"..@"2026-03-01" return d.day`: `[27, 28, 1]`}},
		{"some and every", map[string]string{`some x in xs satisfies x > 3`: `true`, `every x in xs satisfies x > 3`: `false`, `every x in [] satisfies false`: `true`, `some x in [] satisfies true`: `false`,
			`some i in items satisfies i.price > 5 and i.sold`: `true`, `every x in xs, y in xs satisfies x + y > 1`: `true`, `some x in [1, null] satisfies x > 1`: `null`}},
		{"contexts", map[string]string{`{a: 1, b: a + 1}`: `{a: 1, b: 2}`, `{"a b": 1}`: `{"a b": 1}`, `{a: 1} = {a: 1}`: `true`, `{a: 1, b: 2} = {b: 2, a: 1}`: `true`, `get value({a: 1}, "a")`: `1`, `{}`: `{}`,
			`get entries({a: 1})[1].key`: `"a"`, `context put({a: 1}, "b", 2)`: `{a: 1, b: 2}`, `context put({a: {b: 1}}, ["a", "b"], 2)`: `{a: {b: 2}}`, `context merge([{a: 1}, {a: 2, c: 3}])`: `{a: 2, c: 3}`,
			`context([{key: "a", value: 1}])`: `{a: 1}`}},
		{"functions are values", map[string]string{`(function(a, b) a + b)(1, 2)`: `3`, `{double: function(x) 2 * x, y: double(4)}.y`: `8`, `sort(xs, function(a, b) a > b)`: `[4, 3, 2, 1]`,
			`{f: function(x: number) x, y: f("a")}.y`: `null`, `(function(a) a)(1, 2)`: `null`, `list replace([1, 2], function(item, newItem) item = 2, 9)`: `[1, 9]`}},
		{"arguments have names", map[string]string{`substring(string: "abc", start position: 2)`: `"bc"`, `contains(match: "b", string: "abc")`: `true`, `date(year: 2026, month: 1, day: 2)`: `2026-01-02`}},
		{"texts", map[string]string{`substring("foobar", 3)`: `"obar"`, `substring("foobar", -2, 1)`: `"a"`, `substring("abc", 0)`: `null`, `string length("🐎x")`: `2`, `upper case("aB")`: `"AB"`, `lower case("aB")`: `"ab"`,
			`substring before("a-b", "-")`: `"a"`, `substring after("a-b", "-")`: `"b"`, `contains("abc", "b")`: `true`, `starts with("abc", "ab")`: `true`, `ends with("abc", "bc")`: `true`, `s + "d"`: `"abcd"`,
			`string(1.50)`: `"1.5"`, `string([1, "a"])`: `"[1, \"a\"]"`, `string join(["a", null, "b"], "-")`: `"a-b"`, `string join(["a"], "-", "<", ">")`: `"<a>"`, `split("a;b;;c", ";")`: `["a", "b", "", "c"]`,
			`number("1,000.5", ",", ".")`: `1000.5`, `number("x")`: `null`, `contains(1, "b")`: `null`}},
		{"patterns are of XPath", map[string]string{`matches("foobar", "^fo*b")`: `true`, `matches("FOO", "foo", "i")`: `true`, "matches(\"a\nb\", \"a.b\")": `false`, "matches(\"a\nb\", \"a.b\", \"s\")": `true`,
			`matches("a b", "a b", "x")`: `false`, `matches("a.b", "a.b", "q")`: `true`, `matches("axb", "a.b", "q")`: `false`, `matches("a", "a", "z")`: `null`, `replace("abcd", "(b)(c)", "[$2$1]")`: `"a[cb]d"`,
			`replace("a", "a", "\\$")`: `"$"`, `replace("a", "a*?", "x")`: `null`, `replace("a", "a", "$")`: `null`, `replace("a.b", ".", "$1", "q")`: `"a$1b"`}},
		{"lists", map[string]string{`list contains(xs, 2)`: `true`, `list contains([1, null], null)`: `true`, `count(xs)`: `4`, `min(xs)`: `1`, `max("a", "c", "b")`: `"c"`, `sum(xs)`: `10`, `mean(1, 2)`: `1.5`, `sum([])`: `null`,
			`all([true, null])`: `null`, `all([false, null])`: `false`, `any([true, null])`: `true`, `sublist(xs, 2, 2)`: `[2, 3]`, `sublist(xs, -1)`: `[4]`, `append(xs, 5)`: `[1, 2, 3, 4, 5]`, `concatenate([1], [2])`: `[1, 2]`,
			`insert before([1, 3], 2, 2)`: `[1, 2, 3]`, `remove(xs, 1)`: `[2, 3, 4]`, `reverse([1, 2])`: `[2, 1]`, `index of([1, 2, 1], 1)`: `[1, 3]`, `union([1, 2], [2, 3])`: `[1, 2, 3]`, `distinct values([1, 1.0, 2])`: `[1, 2]`,
			`flatten([1, [2, [3]]])`: `[1, 2, 3]`, `product(2, 3)`: `6`, `median(8, 2, 5)`: `5`, `stddev(2, 4, 6)`: `2`, `mode(1, 2, 2)`: `[2]`, `sort([3, 1, 2])`: `[1, 2, 3]`, `list replace(xs, 2, 9)`: `[1, 9, 3, 4]`,
			`count(n)`: `1`, `min([])`: `null`, `min(1, "a")`: `null`}},
		{"rounding", map[string]string{`decimal(2.5, 0)`: `2`, `decimal(0.335, 2)`: `0.34`, `floor(-1.5)`: `-2`, `ceiling(1.2)`: `2`, `round up(1.1, 0)`: `2`, `round down(-1.9, 0)`: `-1`, `round half up(2.5, 0)`: `3`,
			`round half down(2.5, 0)`: `2`, `floor(1.57, 1)`: `1.5`, `abs(-1)`: `1`, `modulo(-12, 5)`: `3`, `sqrt(16)`: `4`, `sqrt(-1)`: `null`, `odd(3)`: `true`, `even(3)`: `false`, `log(1)`: `0`, `exp(0)`: `1`}},
		{"dates and times", map[string]string{`date("2026-02-29")`: `null`, `date("2026-01-31") + duration("P1M")`: `2026-02-28`, `@"2026-01-31" < @"2026-02-01"`: `true`, `date(2026, 1, 2).weekday`: `5`,
			`date and time("2026-01-31T23:30:00Z") + duration("PT1H")`: `2026-02-01T00:30:00Z`, `time("10:30:00+02:00") = time("08:30:00Z")`: `true`, `time("10:00:00") = time("10:00:00Z")`: `false`,
			`@"2026-01-31" - @"2026-01-01"`: `P30D`, `date("2026-01-01") - duration("P1D")`: `2025-12-31`, `time("23:30:00") + duration("PT1H")`: `00:30:00`, `day of week(@"2026-01-31")`: `"Saturday"`,
			`month of year(@"2026-01-31")`: `"January"`, `week of year(@"2026-01-01")`: `1`, `day of year(@"2026-02-01")`: `32`, `date and time("2026-01-31T10:00:00").hour`: `10`, `@"10:00:00+02:00".time offset`: `PT2H`,
			`date("-0001-01-01")`: `-0001-01-01`, `@"2026-01-01T24:00:00"`: `2026-01-02T00:00:00`}},
		{"durations", map[string]string{`duration("P1DT2H") = duration("PT26H")`: `true`, `duration("P1Y2M").months`: `2`, `duration("PT90M")`: `PT1H30M`, `duration("PT1H") * 2.5`: `PT2H30M`, `duration("P1D") / duration("PT6H")`: `4`,
			`-duration("P1M")`: `-P1M`, `years and months duration(@"2025-01-31", @"2026-01-30")`: `P11M`, `duration("P1Y") > duration("P1D")`: `null`, `duration("P")`: `null`, `abs(duration("-PT1S"))`: `PT1S`}},
		{"the time is the one that is given", map[string]string{`now()`: `2026-01-31T10:00:00Z`, `today()`: `2026-01-31`, `now() - date and time("2026-01-31T09:00:00Z") = duration("PT1H")`: `true`}},
		{"instance of", map[string]string{`n instance of number`: `true`, `s instance of number`: `false`, `nothing instance of string`: `false`, `xs instance of list<number>`: `true`, `[1, "a"] instance of list<number>`: `false`,
			`@"2026-01-01" instance of date and time`: `false`, `who instance of context<name: string>`: `true`, `[1..2] instance of range<number>`: `true`, `n instance of Any`: `true`}},
		{"is tells zones apart", map[string]string{`is(@"10:00:00Z", @"10:00:00Z")`: `true`, `is(@"10:00:00", @"10:00:00Z")`: `false`, `is(1, "1")`: `false`}},
	} {
		for text, want := range group.cases {
			got, err := eval(t, text, variables)
			if want == "" {
				if err == nil {
					t.Errorf("%s: %s: %s; want an error", group.rule, text, show(got))
				}
			} else if err != nil || show(got) != want {
				t.Errorf("%s: %s: %s, %v; want %s", group.rule, text, show(got), err, want)
			}
		}
	}
}

// A function is one only before a parenthesis.
func TestAVariableMayHaveTheNameOfAFunction(t *testing.T) {
	for name := range functions {
		if strings.Contains(name, " and ") || strings.Contains(name, " or ") || name == "and" || name == "or" {
			continue // a conjunction
		}
		if v, err := eval(t, name+" >= 18", `{"`+name+`": 30}`); v != true || err != nil {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	for _, name := range []string{"age", "token", "tokens", "len", "type", "first", "last", "filter", "item", "partial", "notes", "order"} {
		if v, err := eval(t, name+" >= 18 and not(18 > "+name+")", `{"`+name+`": 30}`); v != true || err != nil {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
}

func TestMistakesInTheText(t *testing.T) {
	for text, want := range map[string]string{
		``:                   `line 1, column 1: found the end; expected an expression`,
		`1 +`:                `column 4: found the end; expected an expression`,
		"1 +\n  )":           `line 2, column 3: found ")"; expected an expression`,
		`a == 1`:             `column 4: found "="; expected an expression`,
		`a b) c`:             `column 4: found ")"; expected an operator or the end`,
		`if a then b`:        `found the end; expected "else"`,
		`unknown(1)`:         `column 1: unknown function "unknown"`,
		`1 + substring("a")`: `column 5: 1 arguments of substring; expected (string, start position) or (string, start position, length)`,
		`number("1", ".")`:   `2 arguments of number; expected (from) or (from, grouping separator, decimal separator)`,
		`substring(text: "a", start position: 1)`: `the names text, start position of arguments of substring`,
		`"abc`:                         `a text without an end`,
		`"\u12"`:                       `expected 4 hexadecimal digits`,
		`{a: 1, a: 2}`:                 `column 8: a second entry "a"`,
		`[1, 2`:                        `found the end; expected "]"`,
		`]1, 2]`:                       `found ","; expected ..`,
		`1 instance of shoe`:           `found "shoe"; expected a type`,
		`for x in xs`:                  `expected "return"`,
		`function(a) external {}`:      `an external function`,
		`/* a`:                         `a comment without an end`,
		`1e9999`:                       `expected one of at most 6144 digits`,
		strings.Repeat("(", 101) + "1": `nested more than 100 deep`,
		strings.Repeat("-", 101) + "1": `nested more than 100 deep`,
		strings.Repeat("list<", 101):   `expected`,
		`1 instance of ` + strings.Repeat("list<", 101): `nested more than 100 deep`,
		`[..]`: `expected`,
		`a.`:   `expected an expression`,
	} {
		p, err := Compile(text)
		var e *scan.Error
		if p != nil || !errors.As(err, &e) || e.Line == 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v; want %s", text, err, want)
		}
	}
}

func TestWhatIsNotDoneIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		`uuid()`:                       `unknown function "uuid"`,
		`random number()`:              `unknown function "random number"`,
		`matches("a", "[A-Z-[OI]]")`:   `subtracts characters`,
		`matches("a", "(a)\\1")`:       `the pattern`,
		`number = 1e1 and 3 in (!= 4)`: ``,
	} {
		if v, err := eval(t, text, variables); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v; want %s", text, v, err, want)
		}
	}
	if _, err := eval(t, `n`, `{"n": 1e99999}`); err == nil {
		t.Error("a number of more than 6144 digits has a value")
	}
}

// An expression that would take long, or much memory, ends with an error.
//
//promise:bounds hostile
func TestWorkIsBounded(t *testing.T) {
	for _, text := range []string{
		`count(for i in 1..1000000000 return i)`,
		`some x in 1..1000000, y in 1..1000000 satisfies false`,
		`for a in 1..1000, b in 1..1000 return a`,
		`(function(g, x) g(g, x))(function(g, x) g(g, x), 1)`,
		`{a: [1,1,1,1,1,1,1,1,1,1], b: [a,a,a,a,a,a,a,a,a,a], c: [b,b,b,b,b,b,b,b,b,b], d: [c,c,c,c,c,c,c,c,c,c], e: [d,d,d,d,d,d,d,d,d,d], f: [e,e,e,e,e,e,e,e,e,e], g: f = f}`,
		`{a: "0123456789abcdef", b: a+a+a+a+a+a+a+a, c: b+b+b+b+b+b+b+b, d: c+c+c+c+c+c+c+c, e: d+d+d+d+d+d+d+d, f: e+e+e+e+e+e+e+e}`,
		`{a: for i in 1..1000 return "0123456789012345678901234567890123456789012345678901234567890123456789", b: string join(a)}`,
		`replace("` + strings.Repeat("a", 3000) + `", "a", "0123456789012345678901234567890123456789")`,
		`{l: for i in 1..10000 return i, s: sort(l, function(a, b) every x in l satisfies x > 0)}`,
		`{l: for i in 1..2000 return i, d: distinct values(l)}`,
		`for i in 1..100000 return 10 ** 0.5`,
		`{a: [1,1,1,1,1,1,1,1,1,1], b: [a,a,a,a,a,a,a,a,a,a], c: [b,b,b,b,b,b,b,b,b,b], d: [c,c,c,c,c,c,c,c,c,c], e: [d,d,d,d,d,d,d,d,d,d], f: string(e)}`,
		`for i in 1..200000 return concatenate(partial, partial)`,
	} {
		v, err := eval(t, text, variables)
		var e *scan.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "more than") && !strings.Contains(err.Error(), "at most") {
			t.Errorf("%.80s: %.100s, %v", text, show(v), err)
		}
	}
}

func TestPathsAreWhatIsRead(t *testing.T) {
	for text, want := range map[string]string{
		`a.b.c + d[e > 1]`:                        "a.b d e",
		`pnagent.age > 3 and now() > x`:           "now() pnagent.age x",
		`for i in xs return i.price + tax`:        "tax xs",
		`{a: 1, b: a}`:                            "",
		`order total > 1`:                         "order total",
		`some x in xs satisfies x > item`:         "item xs",
		`pnagent.tokens[item.place = "p"].data.x`: "pnagent.tokens",
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

// Days by a count of every day of four centuries and around the ends.
func TestDaysAreCountedLikeACalendar(t *testing.T) {
	d := Date{1600, 1, 1}
	for n, weekday := d.days(), d.weekday(); d.Year < 2001; n++ {
		if got := dateOf(n); got != d || d.days() != n || d.weekday() != weekday {
			t.Fatalf("day %d: %v, number %d, weekday %d; want %v, %d", n, got, d.days(), d.weekday(), d, weekday)
		}
		weekday = weekday%7 + 1
		if d.Day++; d.Day > daysIn(d.Year, d.Month) {
			d.Day, d.Month = 1, d.Month+1
		}
		if d.Month > 12 {
			d.Month, d.Year = 1, d.Year+1
		}
	}
	for _, d := range []Date{{-maxYear, 1, 1}, {maxYear, 12, 31}, {0, 2, 29}, {-1, 12, 31}, {-400, 3, 1}} {
		if got := dateOf(d.days()); got != d {
			t.Errorf("%v became %v", d, got)
		}
	}
	for _, day := range []time.Time{time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), time.Date(1969, 7, 20, 0, 0, 0, 0, time.UTC), time.Date(2020, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(2021, 1, 3, 0, 0, 0, 0, time.UTC)} {
		d := timeOn(day).Date
		if d.days() != day.Unix()/86400-btoi(day.Unix()%86400 < 0) {
			t.Errorf("%v: number %d", d, d.days())
		}
	}
}

func btoi(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func FuzzFEEL(f *testing.F) {
	for _, text := range []string{`if order total > 100 then "big" else xs[item > 1][-1]`, `some x in xs, y in 1..3 satisfies x = y and n in (<5, [6..8[)`, `{a b: 1, c: function(x: list<number>) x[1], d: c([a b])}`,
		`date("2026-01-31") + duration("P1M") - @"2026-01-01T10:00:00+02:00"`, `replace(string join(split(s, ","), "-"), "(b)", "$1") instance of string`, `for i in ]1..3) return partial ** -0.5`, "`a-b` between .5e1 and context put(who, [\"x\"], 1).x"} {
		f.Add(text, variables)
	}
	f.Fuzz(func(t *testing.T, text, data string) {
		var vars map[string]any
		if len(text) > 4096 || len(data) > 4096 || json.Unmarshal([]byte(data), &vars) != nil {
			return
		}
		p, err := Compile(text)
		var e *scan.Error
		if err != nil {
			if p != nil || !errors.As(err, &e) || e.Line == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		once := func() string {
			v, err := p.Eval(now, scopeOf(t, data))
			if err != nil {
				if !errors.As(err, &e) {
					t.Fatalf("%T: %v", err, err)
				}
				return err.Error()
			}
			defer func() {
				if r := recover(); r != nil && !errors.As(r.(error), &e) {
					panic(r)
				}
			}()
			return fmt.Sprint(KindOf(v), show(v))
		}
		if a, b := once(), once(); a != b {
			t.Fatalf("%s\nthen %s", a, b)
		}
	})
}
