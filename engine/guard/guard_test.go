// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine/coloured"
)

const second = 1_000_000

// at is the time at which the guards of these tests are asked: Saturday
// 2026-01-31, 10:00 UTC.
const at = 1769853600 * second

var places = []string{"cart", "stock"}

// token returns a token in a place with an age in seconds.
func token(place int32, age int64, data string) coloured.Placed {
	return coloured.Placed{Place: place, Token: coloured.Token{ID: uint64(100 + age), Injected: at - age*second, Data: []byte(data)}}
}

// ask compiles and asks a guard. failed is the error with which it panics.
func ask(t testing.TB, text string, tokens []coloured.Placed) (v coloured.Verdict, failed error) {
	t.Helper()
	g, err := NewCompiler(places).Guard(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() {
		if r := recover(); r != nil {
			failed = r.(*Error)
		}
	}()
	return g(tokens, at), nil
}

func TestWhatAnExpressionSees(t *testing.T) {
	tokens := []coloured.Placed{
		token(0, 10, `{"amount": 99.5, "express": true, "who": "Ann", "items": [{"price": 3}, {"price": 4}], "order id": 7, "big": 9007199254740993}`),
		token(0, 5, `{"who": "Bob", "at": {"city": "Bern"}, "age": 70}`),
		token(1, 20, `{"who": "Cy", "left": 3}`),
	}
	for _, text := range []string{
		`amount < 100`,
		`amount < 100 && express`,
		`!(amount > 100) && (express)`,
		`not (amount > 100) and left == 3`,
		`who == "Bob"`,               // the youngest one's
		`pnagent.token.who == "Ann"`, // the first one's
		`pnagent.tokens[2].data.left - 3 == 0`,
		`pnagent.tokens[1].place == "cart" && pnagent.tokens[2].place == "stock"`,
		`pnagent.tokens[0].id == 110`,
		`pnagent.tokens[1].age == 5.0`,
		`pnagent.age == 20`, // of the oldest token
		`age == 70`,         // the field
		`pnagent.tokens[1].data.age == 70`,
		`$env["order id"] == 7`,
		`big == 9007199254740993`, // integers are exact
		`big % 2 == 1`,
		`at.city in ["Bern", "Basel"]`,
		`at.city startsWith "Be" and at.city matches "^B.*n$"`,
		`at?.street?.number == nil`,
		`(colour ?? "red") == "red"`,
		`colour == nil`,
		`!colour`, // nil counts as false
		`!(colour) && (express)`,
		`colour || express`,
		`!(express && colour)`, // on the right, too
		`(express and colour) == false`,
		`(colour or sold) == false`,
		`colour ? false : true`,
		`none(items, .sold)`,
		`all(items, .price > 2) and any(items, .price == 4) and count(items, .price > 3) == 1`,
		`sum(items, .price) == 7`,
		`len(filter(pnagent.tokens, .place == "cart")) == 2`,
		`pnagent.now.Hour() == 10 and pnagent.now.Weekday().String() == "Saturday"`,
		`pnagent.now > date("2026-01-31") and pnagent.now - date("2026-01-31") < duration("11h")`,
		`let a = amount + 1; a > 100`,
		`who + "!" == "Bob!"`,
		`true`,
	} {
		if v, err := ask(t, text, tokens); !v.OK || err != nil || v.Again != 0 {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
	}
}

// Only pnagent is a name of pnagent's own; a function is one only before a parenthesis.
func TestAVariableOfAnyNameIsTheVariable(t *testing.T) {
	for _, name := range []string{"age", "token", "tokens", "now", "count", "len", "type", "first", "last", "date", "sum", "min", "max", "filter", "abs", "string", "duration", "get", "all"} {
		tokens := []coloured.Placed{token(0, 1, fmt.Sprintf(`{"%s": 30}`, name))}
		for _, text := range []string{name + ` >= 18 and ` + name + ` < 31`, `${` + name + ` ge 18}`, `= ` + name + ` >= 18`} {
			if v, err := ask(t, text, tokens); !v.OK || err != nil {
				t.Errorf("%s: %+v, %v", text, v, err)
			}
		}
		if v, err := ask(t, `len([`+name+`]) == 1 and abs(-1) == 1`, tokens); !v.OK || err != nil {
			t.Errorf("functions beside the variable %s: %+v, %v", name, v, err)
		}
	}
}

func TestAGuardWithUnlessHoldsIfThoseExpressionsDoNot(t *testing.T) {
	for text, want := range map[string]bool{
		"unless a\nb":              true,
		"unless b\na":              false,
		"unless a\na":              false,
		"unless nothing\nb":        true,
		"unless a":                 true,
		"unless a\nunless nothing": true,
		"unless a\nunless b":       false,
		"unless b":                 false,
		"once: ${b}":               true,
		"once: ${none > 1}":        false,
		"unless a\nonce: ${none}":  false,
		"once: none":               false,
		"unless ${a}\n= b":         true,
		"unless = a\n${b}":         true,
		"unless a\nb &&\n !a":      true,
	} {
		if v, err := ask(t, text, []coloured.Placed{token(0, 1, `{"a": false, "b": true}`)}); v.OK != want || err != nil {
			t.Errorf("%q: %+v, %v", text, v, err)
		}
	}
	for text, want := range map[string]string{
		"unless a\nb c":                               `line 2, column 3: `,
		"unless a b\nc":                               `column 3: `,
		"unless a\nb\n or or":                         `line 3, column 5: `,
		"example.org-v1: b":                           `column 1: an expression of the language example.org-v1; expected FEEL`,
		"bpmn:getDataObject('b')":                     `column 5: unexpected token Operator(":")`,
		strings.Repeat("unless a\n", 1001):            `line 1001, column 1: more than 1000 conditions`,
		"unless a\njavascript: b":                     `line 2, column 1: an expression of the language javascript; expected FEEL (= …), UEL (${…}) or pnagent's own`,
		"unless a\n" + strings.Repeat("b", MaxText+1): `an expression of 4097 bytes`,
	} {
		if _, err := NewCompiler(nil).Guard(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v; want %s", text, err, want)
		}
	}
}

// The same condition, or the same question about tokens, in each language.
func TestGuardsOfEachLanguage(t *testing.T) {
	tokens := []coloured.Placed{
		token(0, 10, `{"amount": 99.5, "tenth": 0.1, "who": "Ann", "items": [{"price": 3}, {"price": 4}], "order total": 7, "big": 12345678901234567890123, "yes": true, "none": null, "text": "true"}`),
		token(1, 20, `{"who": "Cy"}`),
	}
	for text, want := range map[string]string{
		`= amount < 100 and who = "Ann"`:        "true",
		`= amount < 100 and missing > 3`:        "found null; expected true or false",
		`= amount > 100 and missing > 3`:        "false",
		`= not(missing > 3)`:                    "found null; expected true or false",
		`= missing`:                             "found null; expected true or false",
		`once: = missing > 3`:                   "false",
		`once: ${none}`:                         "found null; expected true or false",
		"unless = missing\nyes":                 "found null; expected true or false",
		`= who`:                                 "found string; expected true or false",
		`= order total = 7 and tenth * 3 = 0.3`: "true",
		`= big + 1 = 12345678901234567890124`:   "true",
		`= items[price > 3][1].price = 4 and sum(items.price) = 7`:                                 "true",
		`= pnagent.age = 20 and pnagent.tokens[2].place = "stock" and pnagent.token.amount = 99.5`: "true",
		`= pnagent.now = date and time("2026-01-31T10:00:00Z") and now() = pnagent.now`:            "true",
		`= some t in pnagent.tokens satisfies t.data.who = "Cy" and t.age > 15`:                    "true",
		`${amount lt 100 and who eq 'Ann'}`:                                                        "true",
		`#{text}`:                                                                                  "found a text; expected true or false",
		`${none}`:                                                                                  "found null; expected true or false",
		`${who}`:                                                                                   "found a text; expected true or false",
		`${missing}`:                                                                               `unknown variable "missing"`,
		`${execution.getVariable('missing') == null}`:                                              "true",
		`${items}`: "found a list; expected true or false",
		`${items.size() == 2 and items[0].price == '3'}`:                                                        "true",
		`${vars:gt(amount, 99) and vars:eq(who, 'Ann') and not vars:exists(missing)}`:                           "true",
		`${'2026-01-31T09:00:00Z' < now() and dateTime().plusDays(1) > now()}`:                                  "true",
		`${pnagent.age == 20 and pnagent.tokens[1].place == 'stock' and pnagent.now == '2026-01-31T10:00:00Z'}`: "true",
		`${big == 1}`:          "found a number of more than 64 bits; expected a number",
		`yes and amount < 100`: "true",
	} {
		v, err := ask(t, text, tokens)
		got := fmt.Sprint(v.OK)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// As JSR-341 has it.
func TestCoercedConditionsTakeTexts(t *testing.T) {
	c := NewCompiler(places)
	c.Coerced = true
	for text, want := range map[string]bool{`${text}`: true, `${who}`: false, "unless ${who}\n#{text}": true} {
		g, err := c.Guard(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if v := g([]coloured.Placed{token(0, 10, `{"who": "Ann", "text": "True"}`)}, at); v.OK != want {
			t.Errorf("%s: %v", text, v.OK)
		}
	}
}

func TestValuesOfEachLanguage(t *testing.T) {
	tokens := []coloured.Placed{token(0, 10, `{"n": 3, "xs": [1, 2.50], "who": {"b": "<", "a": null}}`)}
	for text, want := range map[string]string{
		`= n / 4`:                  `0.75`,
		`= {order: n, who: who}`:   `{"order":3,"who":{"a":null,"b":"\u003c"}}`,
		`= for i in 1..n return i`: `[1,2,3]`,
		`= xs`:                     `[1,2.5]`,
		`= [@"2026-01-31", duration("P1D"), @"10:00:00+02:00", duration("P14M"), now()]`: `["2026-01-31","P1D","10:00:00+02:00","P1Y2M","2026-01-31T10:00:00Z"]`,
		`= missing`:       `null`,
		`= function(a) a`: `a *feel.Function; expected a value of JSON`,
		`${n}`:            `3`,
		`${n / 2}`:        `1.5`,
		`order-${n}`:      `column 8: `,
		`${'order-'}${n}`: `"order-3"`,
		`${who}`:          `{"a":null,"b":"\u003c"}`,
		`${1 / 0}`:        `the number +Inf; expected one that JSON has`,
	} {
		value, err := NewCompiler(places).Value(text)
		got := ""
		if err == nil {
			func() {
				defer func() {
					if r := recover(); r != nil {
						err = r.(*Error)
					}
				}()
				got = string(value(tokens, at))
			}()
		}
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestAValueIsJSON(t *testing.T) {
	tokens := []coloured.Placed{token(0, 10, `{"n": 3, "xs": [1, 2.5], "who": {"b": "<", "a": null}, "big": "`+strings.Repeat("x", MaxData/2)+`"}`)}
	for _, c := range []struct{ text, want, fails string }{
		{`n + 1`, `4`, ``},
		{`xs`, `[1,2.5]`, ``},
		{`1..n`, `[1,2,3]`, ``},
		{`{"x": who, "y": nothing}`, `{"x":{"a":null,"b":"\u003c"},"y":null}`, ``},
		{`pnagent.now`, `"2026-01-31T10:00:00Z"`, ``},
		{`duration("90m")`, `"1h30m0s"`, ``},
		{`1 / 0`, ``, `the number +Inf; expected one that JSON has`},
		{`[big, big]`, ``, `a value of more than 65536 bytes of JSON`},
		{`let a = [xs, xs, xs, xs, xs, xs, xs, xs]; let b = [a, a, a, a, a, a, a, a]; let c = [b, b, b, b, b, b, b, b]; let d = [c, c, c, c, c, c, c, c]; [d, d, d, d, d, d, d, d]`, ``, `a value of more than 65536 bytes of JSON`},
	} {
		value, err := NewCompiler(places).Value(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		var got, failed string
		func() {
			defer func() {
				if r := recover(); r != nil {
					failed = r.(*Error).Error()
				}
			}()
			got = string(value(tokens, at))
		}()
		if got != c.want || failed != c.fails {
			t.Errorf("%s: %.200s, %s; want %s, %s", c.text, got, failed, c.want, c.fails)
		}
	}
	for text, want := range map[string]string{"a b": "column 3: ", "unless a\nb": "a condition; expected one expression"} {
		if _, err := NewCompiler(nil).Value(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

func TestNoIsAskedAgainOnlyIfTimeMayChangeIt(t *testing.T) {
	tokens := []coloured.Placed{token(0, 10, `{"amount": 200, "customer": {"age": 7}}`)}
	for text, again := range map[string]int64{
		`amount < 100`:                 0,
		`nothing`:                      0,
		`pnagent.age > 30`:             at + second,
		`pnagent.now.Hour() > 12`:      at + second,
		`pnagent.tokens[0].age > 30`:   at + second,
		`any(pnagent.tokens, .age>30)`: at + second,
		`= pnagent.age > 30`:           at + second,
		`= now() > date and time("2027-01-01T00:00:00Z")`: at + second,
		`${pnagent.age > 30}`:                             at + second,
		`${customer.age > 30}`:                            0,
		`= customer.age > 30`:                             0,
		`customer.age > 30`:                               0,
	} {
		if v, err := ask(t, text, tokens); v != (coloured.Verdict{Again: again}) || err != nil {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
	}
}

func TestMistakesInTheText(t *testing.T) {
	for text, want := range map[string]string{
		``:                                  `column 1: unexpected token EOF`,
		`amount <`:                          `column 8: unexpected token EOF`,
		"a &&\n b c":                        `line 2, column 4: unexpected token Identifier("c")`,
		`amount + 1 + true`:                 `mismatched types`,
		`1 + 2`:                             `column 1: a result of type int; expected true or false`,
		`"yes"`:                             `a result of type string; expected true or false`,
		`launch(missiles)`:                  `column 1: unknown function "launch"`,
		`a and env("HOME")`:                 `unknown function "env"`,
		`now() > 1`:                         `unknown function "now"`,
		`date("1").Local() == 1`:            `unknown function "Local"`,
		`reduce(xs, #acc)`:                  `column 1: unknown function "reduce"`,
		`pnagent.now == 3`:                  `invalid operation: == (mismatched types time.Time and int)`,
		`x matches "("`:                     `missing closing )`,
		"a == \"\xff\"":                     `bytes that are not UTF-8; expected an expression`,
		strings.Repeat("a or ", 1000) + "b": `an expression of 5001 bytes; expected at most 4096`,
	} {
		g, err := NewCompiler(nil).Guard(text)
		var e *Error
		if g != nil || !errors.As(err, &e) || !strings.Contains(err.Error(), want) || len(err.Error()) > maxMessage+50 {
			t.Errorf("%.60s: got  %v\nwant %s", text, err, want)
		}
	}
}

func TestWhatGoesWrongOverTokensIsAPanicWithAnError(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 200), ",") + "]"
	tokens := []coloured.Placed{token(0, 1, `{"who": "Ann", "n": 3, "xs": `+list+`}`)}
	for _, c := range []struct {
		text, want string
		tokens     []coloured.Placed
	}{
		{`who < 3`, `invalid operation: string < int`, tokens},
		{`nothing < 3`, `column 9: invalid operation: <nil> < int`, tokens},
		{`who and true`, `found a text; expected true or false`, tokens},
		{`n`, `found a number; expected true or false`, tokens},
		{`xs`, `found a list; expected true or false`, tokens},
		{`pnagent.token`, `found an object; expected true or false`, tokens},
		{`who.length() > 1`, `string`, tokens},
		{`xs[1000] == 1`, `index out of range`, tokens},
		{`all(xs, all(xs, # == 1))`, `more than 10000 rounds of loops`, tokens},
		{`all(xs, # in xs)`, `more than 1041 rounds of loops`, []coloured.Placed{token(0, 1, `{"xs": [`+strings.TrimSuffix(strings.Repeat("1,", 32_200), ",")+`]}`)}},
		{`all(1..10000000, true)`, `memory budget exceeded`, tokens},
		{`let a = who + who; let b = a+a; let c = b+b+b+b; let d = c+c+c+c; let e = d+d+d+d; let f = e+e+e+e; let g = f+f+f+f; let h = g+g+g+g; let i = h+h+h+h; let j = i+i+i+i; len(j) > 0`, `expected at most 65536`, tokens},
		{`a`, `the data of token 101: not JSON`, []coloured.Placed{token(0, 1, `plain text`)}},
		{`a`, `the data of token 101: not JSON: more after`, []coloured.Placed{token(0, 1, `{} {}`)}},
		{`a`, `the data of token 101: nested more than 100 deep`, []coloured.Placed{token(0, 1, strings.Repeat("[", 101))}},
		{`a`, `the tokens carry more than 65536 bytes`, []coloured.Placed{token(0, 1, strings.Repeat(" ", MaxData)+"1")}},
	} {
		if v, err := ask(t, c.text, c.tokens); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want %s", c.text, v, err, c.want)
		}
	}
}

func TestHowDeepDataMayNest(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		rule, data string
		deep       bool
	}{
		{"as deep as it may", nested(MaxDepth), false},
		{"one deeper", nested(MaxDepth + 1), true},
		{"objects as well as lists", strings.Repeat(`{"a":[`, MaxDepth/2+1), true},
		{"many beside each other", "[" + strings.Repeat(`[],{},`, 200) + "1]", false},
		{"brackets in a text", `["` + strings.Repeat("[{", 200) + `"]`, false},
		{"brackets behind a quote in a text", `["\"` + strings.Repeat("[", 200) + `"]`, false},
		{"brackets behind a text that ends with a backslash", `{"a\\":` + nested(MaxDepth) + "}", true},
		{"brackets in a text do not close", `["` + strings.Repeat("]", 200) + `",` + nested(MaxDepth) + "]", true},
	} {
		_, err := ask(t, `a == nil`, []coloured.Placed{token(0, 1, c.data)})
		if got := err != nil && strings.Contains(err.Error(), "nested more than 100 deep"); got != c.deep || !c.deep && err != nil {
			t.Errorf("%s: %v", c.rule, err)
		}
	}
}

func TestDataOfAllTokensIsBounded(t *testing.T) {
	half := `"` + strings.Repeat("x", MaxData/2-2) + `"`
	if v, err := ask(t, `a == nil`, []coloured.Placed{token(0, 1, half), token(0, 2, half)}); !v.OK || err != nil {
		t.Errorf("data of the largest size: %+v, %v", v, err)
	}
	if v, err := ask(t, `a == nil`, []coloured.Placed{token(0, 1, half), token(0, 2, half), token(0, 3, `1`)}); err == nil {
		t.Errorf("one byte more: %+v", v)
	}
}

// Messages of the expression library can be long and have several lines.
func TestMessagesAreCut(t *testing.T) {
	for n, want := range map[int]int{maxMessage: maxMessage, maxMessage + 1: maxMessage + len("…")} {
		if got := errorOf(errors.New(strings.Repeat("x", n) + "\n more")); len(got.Msg) != want || strings.Contains(got.Msg, "more") {
			t.Errorf("%d bytes became %d: %q", n, len(got.Msg), got.Msg)
		}
	}
	if got := errorOf(errors.New(strings.Repeat("é", maxMessage))); !utf8.ValidString(got.Msg) {
		t.Errorf("cut within a character: %q", got.Msg)
	}
	for at, want := range map[Error]string{{0, 0, "m"}: "m", {1, 9, "m"}: "column 9: m", {2, 1, "m"}: "line 2, column 1: m"} {
		if got := at.Error(); got != want {
			t.Errorf("%+v: %q, want %q", at, got, want)
		}
	}
}

func TestDataIsNotDecodedForNothing(t *testing.T) {
	for _, text := range []string{`pnagent.age >= 1`, `true`, `pnagent.now.Hour() == 10`} {
		if v, err := ask(t, text, []coloured.Placed{token(0, 1, `no JSON`)}); !v.OK || err != nil {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
	}
}

func TestTokensWithoutDataGiveNoVariables(t *testing.T) {
	for _, text := range []string{`pnagent.token == nil and pnagent.tokens[0].data == nil and len(pnagent.tokens) == 1`, `amount == nil`} {
		if v, err := ask(t, text, []coloured.Placed{token(0, 1, ``)}); !v.OK || err != nil {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
	}
	if v, err := ask(t, `pnagent.token == nil and len(pnagent.tokens) == 0 and pnagent.age == 0`, nil); !v.OK || err != nil {
		t.Errorf("no tokens at all: %+v, %v", v, err)
	}
}

func TestAGuardChangesNothingAndServesMany(t *testing.T) {
	g, err := NewCompiler(nil).Guard(`any(xs, # > n)`)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for k := range 4 {
		go func() {
			tokens := []coloured.Placed{token(0, 1, fmt.Sprintf(`{"xs": [1, 2, %d], "n": 3}`, 3+k%2))}
			for range 200 {
				if g(tokens, at).OK != (k%2 == 1) {
					done <- fmt.Errorf("goroutine %d", k)
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name string
		data []string
		want string
	}{
		{"nothing", nil, ""},
		{"empty ones", []string{"", ""}, ""},
		{"one", []string{"", `{"a": 1}`}, `{"a": 1}`},
		{"the same", []string{`{"b":1, "a":2}`, `{"b":1, "a":2}`}, `{"b":1, "a":2}`},
		{"objects, later replaces", []string{`{"a":1,"b":{"x":1}}`, "", `{"b":{"y":"<"},"c":9007199254740993}`}, `{"a":1,"b":{"y":"<"},"c":9007199254740993}`},
		{"no object among them", []string{"", `[1]`, `{"a":1}`}, `[1]`},
		{"too large together", []string{`{"a":1}`, `{"b":"` + strings.Repeat("x", coloured.MaxData-20) + `"}`, `{"c":"123456789"}`}, `{"a":1}`},
		{"no JSON behind an object", []string{`{"a":1}`, `x`}, `{"a":1}`},
		{"null", []string{`{"a":1}`, `null`}, `{"a":1}`},
		{"no JSON", []string{"x", "y"}, "x"},
		{"too large", []string{`{"a":1}`, `{"b":"` + strings.Repeat("x", coloured.MaxData) + `"}`}, `{"a":1}`},
	} {
		var in [][]byte
		for _, d := range c.data {
			in = append(in, []byte(d))
		}
		if d := cmp.Diff(c.want, string(Merge(in))); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func FuzzGuard(f *testing.F) {
	for _, text := range []string{`amount < 100 && !(express)`, `any(items, .price > 2) or len(items) in 1..3`, `let a = who + who; a matches "x+" ? b : c?.d`,
		`pnagent.now - date(when) > duration("1h")`, `sum(filter(xs, # != nil)) / n ** 2 >= -1e3`, `$env["a b"] ?? split(s, ",")[-1] == "x"`, `{"a": [1,2][0]}.a == 1 | string`} {
		f.Add(text, `{"amount": 99, "express": true, "items": [{"price": 3}], "who": "x", "xs": [1, null]}`)
	}
	f.Fuzz(func(t *testing.T, text, data string) {
		g, err := NewCompiler(places).Guard(text)
		if err != nil {
			var e *Error
			if g != nil || !errors.As(err, &e) {
				t.Fatalf("guard %t, error %#v", g != nil, err)
			}
			return
		}
		tokens := []coloured.Placed{token(0, 3, data), token(1, 2, "")}
		run := func() (out string) {
			defer func() {
				if r := recover(); r != nil {
					e, ok := r.(*Error)
					if !ok || len(e.Error()) > maxMessage+50 {
						t.Fatalf("panic with %T: %v", r, r)
					}
					out = e.Error()
				}
			}()
			return fmt.Sprint(g(tokens, at))
		}
		if a, b := run(), run(); a != b {
			t.Fatalf("%s\nthen %s", a, b)
		}
	})
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"a":1}`), []byte(`{"b":2}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if out := Merge([][]byte{a, b}); len(out) > max(coloured.MaxData, len(a), len(b)) {
			t.Fatalf("%d and %d bytes give %d", len(a), len(b), len(out))
		}
	})
}

func BenchmarkGuard(b *testing.B) {
	tokens := []coloured.Placed{token(0, 3, `{"amount": 99, "express": true, "who": "Ann"}`)}
	b.Run("base: in Go, decoding", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			v, err := decode(tokens[0].Token.Data)
			if o := numbers(v).(map[string]any); err != nil || o["amount"].(int) > 100 || o["express"] != true {
				b.Fatal(v, err)
			}
		}
	})
	for name, text := range map[string]string{"data": `amount < 100 and express`, "data in FEEL": `= amount < 100 and express`, "data in UEL": `${amount < 100 and express}`, "age": `pnagent.age > 2`} {
		b.Run(name, func(b *testing.B) {
			g, err := NewCompiler(places).Guard(text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if !g(tokens, at).OK {
					b.Fatal("no")
				}
			}
		})
	}
}

// A condition can be about a text, or a list of texts, in any language.
func TestConditionsOfTexts(t *testing.T) {
	tokens := []coloured.Placed{{Token: coloured.Token{ID: 1, Data: []byte(`{"a": "x", "list": ["x", null, "y"], "n": 1}`)}}}
	for text, want := range map[string]string{
		`is ["x","y: "]: ${a}`:                    "true",
		`is ["y"]: = a`:                           "false",
		`is []: a`:                                "false",
		`is ["x","y"]: = list`:                    "true",
		`is ["x"]: ${list}`:                       "false",
		`is ["x"]: = []`:                          "true",
		`has ["x"]: = list`:                       "true",
		`has ["z"]: list`:                         "false",
		`is ["x"]: ${n}`:                          "found 1; expected a text",
		`is ["x"]: = b`:                           "found null; expected a text",
		`has ["x"]: = a`:                          `found "x"; expected a list of texts`,
		`is ["x"] of "the kind of \"x: y\"": = n`: `the kind of "x: y": found 1; expected a text`,
		`is ["x"] of "the kind": = a`:             "true",
		"unless is [\"y\"]: = a\n= n = 1":         "true",
		"unless is [\"x\"]: = a":                  "false",
	} {
		t.Run(text, func(t *testing.T) {
			g, err := NewCompiler(nil).Guard(text)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if why := recover(); why != nil && fmt.Sprint(why) != want {
					t.Errorf("failed with %v, want %s", why, want)
				}
			}()
			if got := fmt.Sprint(g(tokens, 0).OK); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	if _, err := NewCompiler(nil).Value(`is ["x"]: a`); err == nil {
		t.Error("a value that is a condition was compiled")
	}
}

// A line defines a variable for those after it, in any language.
func TestLinesDefineVariables(t *testing.T) {
	tokens := []coloured.Placed{{Token: coloured.Token{ID: 1, Data: []byte(`{"a": 2, "big": 12345678901234567890}`)}}}
	for text, want := range map[string]string{
		"with b = ${a + 1}\n= [a, b]":                           "[2,3]",
		"with b = = a * 2\nwith c c = b + 1\n${a + b}":          "6",
		"with a = = {\"x\": [1; 2]}\na.x":                       "",
		"with a = = \"x = ; y\"\na":                             `"x = ; y"`,
		"with b = = big\n= context merge([{\"c\": 1}, {d: b}])": `{"c":1,"d":12345678901234567890}`,
		"with b = = nothing\n= b = null":                        "true",
		"with b = = 1":                                          "",
		"unless a > 1\n= 1":                                     "",
	} {
		value, err := NewCompiler(nil).Value(text)
		if err != nil {
			if want != "" {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
			continue
		}
		if got := string(value(tokens, 0)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	g, err := NewCompiler(nil).Guard("unless a > 5\nwith b = ${a gt 1}\nunless not b\n= b")
	if err != nil || !g(tokens, 0).OK {
		t.Errorf("%v; want a guard that holds", err)
	}
}
