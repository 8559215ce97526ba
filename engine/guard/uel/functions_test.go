// SPDX-License-Identifier: Apache-2.0

package uel

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pnagent/pnagent/engine/guard/scan"
)

// now is Saturday 2026-01-31, 10:00 UTC.
var now = time.Unix(1769853600, 0)

// The rules are those of Flowable's documentation of expression functions, and of the String, the List and the
// Map of Java.
func TestFunctionsAndMethods(t *testing.T) {
	for _, group := range []struct {
		rule  string
		cases map[string]any
	}{
		{"vars:get is null for what does not exist", map[string]any{`${vars:get(n)}`: int64(7), `${variables:get('n')}`: int64(7), `${var:get(missing)}`: nil, `${vars:get(missing) == null}`: true, `${vars:get('wh' += 'o').name}`: "Ann",
			`${vars:getOrDefault(missing, 5)}`: int64(5), `${variables:getOrDefault(n, 5)}`: int64(7), `${vars:getOrDefault(nothing, 'x')}`: "x"}},
		{"vars:exists", map[string]any{`${vars:exists(n)}`: true, `${vars:exist(missing)}`: false, `${vars:exists(nothing)}`: false}},
		{"vars:empty", map[string]any{`${vars:empty(blank)}`: true, `${vars:isEmpty(missing)}`: true, `${vars:empty(xs)}`: false, `${vars:notEmpty(xs)}`: true, `${vars:isNotEmpty(blank)}`: false, `${vars:empty(n)}`: false}},
		{"vars:eq compares numbers by the type of the variable", map[string]any{`${vars:eq(n, 7)}`: true, `${vars:equals(n, 7.5)}`: true, `${vars:eq(f, 2)}`: false, `${vars:eq(s, 'abc')}`: true, `${vars:eq(n, '7')}`: false,
			`${vars:eq(nothing, null)}`: true, `${vars:eq(missing, 1)}`: false, `${vars:eq(t, true)}`: true}},
		{"vars:ne of null is false", map[string]any{`${vars:ne(n, 8)}`: true, `${vars:notEquals(n, 7)}`: false, `${vars:ne(missing, 8)}`: false}},
		{"vars:gt and others of null are false", map[string]any{`${vars:gt(n, 6)}`: true, `${vars:greaterThan(n, 7)}`: false, `${vars:gte(n, 7)}`: true, `${vars:lt(n, 8)}`: true, `${vars:lessThan(n, 7)}`: false, `${vars:lowerThan(f, 3)}`: true,
			`${vars:lte(f, 2.5)}`: true, `${vars:lowerThanOrEquals(s, 'abd')}`: true, `${vars:gt(missing, 1)}`: false, `${vars:lt(n, null)}`: false, `${vars:gt(xs, 1)}`: false, `${vars:lessThanOrEquals(n, 6)}`: false}},
		{"vars:contains has all, vars:containsAny one", map[string]any{`${vars:contains(xs, 1, 2)}`: true, `${vars:contains(xs, 1, 9)}`: false, `${vars:containsAny(xs, 9, 3)}`: true, `${vars:containsAny(names, 'Cy')}`: false,
			`${vars:contains(s, 'a', 'c')}`: true, `${vars:contains(missing, 1)}`: false, `${vars:containsAny(s, 'z', 'b')}`: true, `${vars:contains(n, 7)}`: false, `${vars:contains(s, null)}`: false}},
		{"vars:base64", map[string]any{`${vars:base64(s)}`: "YWJj", `${vars:base64(missing)}`: nil}},
		{"a colon after a variable vars is one of a choice", map[string]any{`${t ? vars : n}`: "V", `${t ? vars:n}`: "V", `${no ? n : vars:get(s)}`: "abc"}},
		{"now and dateTime", map[string]any{`${now()}`: "2026-01-31T10:00:00.000Z", `${dateTime().plusDays(3).toDate()}`: "2026-02-03T10:00:00.000Z", `${dateTime().plusMonths(1)}`: "2026-02-28T10:00:00.000Z",
			`${dateTime().minusYears(2).plusWeeks(1).minusHours(11)}`: "2024-02-06T23:00:00.000Z", `${now().time}`: int64(1769853600000), `${now().getTime()}`: int64(1769853600000), `${dateTime().dayOfWeek}`: int64(6),
			`${dateTime().plusSeconds(90).minusMinutes(1).secondOfMinute}`: int64(30), `${dateTime().toString('yyyy-MM-dd HH:mm:ss.SSS')}`: "2026-01-31 10:00:00.000", `${dateTime().toString("dd.MM.yy'T'HH")}`: "31.01.26T10",
			`Due ${now()}`: "Due 2026-01-31T10:00:00.000Z"}},
		{"times compare with texts that are times", map[string]any{`${due < now()}`: true, `${now() ge due}`: true, `${dateTime().isBefore(due)}`: false, `${now().after(due)}`: true, `${dateTime().minusHours(1) == due}`: true, `${now().compareTo(due)}`: int64(1)}},
		{"execution and task have what variables have", map[string]any{`${execution.businessKey}`: "K1", `${execution.getProcessBusinessKey()}`: "K1", `${task.assignee == null}`: true, `${task.getAssignee()}`: nil, `${task.getVariable('n')}`: int64(7),
			`${execution.processBusinessKey.startsWith('K')}`: true}},
		{"methods of String", map[string]any{`${s.replace('b', 'xx')}`: "axxc", `${s.concat('d')}`: "abcd", `${s.matches('a.c')}`: true, `${s.matches('b')}`: false, `${s.replaceAll('[ab]', '<$0>')}`: "<a><b>c", `${s.replaceFirst('[ab]', '-')}`: "-bc",
			`${s.replaceAll('(a)(b)', '$2$1')}`: "bac", `${'a.b'.replaceAll('\\.', '\\$')}`: "a$b", `${'a,b,,'.split(',').size()}`: int64(2), `${'a,b,,'.split(',', -1).size()}`: int64(4), `${'a,b,c'.split(',', 2)[1]}`: "b,c", `${''.split(',').size()}`: int64(1),
			`${'abab'.lastIndexOf('b')}`: int64(3), `${s.charAt(1)}`: "b", `${' x '.isBlank()}`: false, `${' x '.strip()}`: "x", `${s.repeat(2)}`: "abcabc", `${s.compareToIgnoreCase('ABC')}`: int64(0), `${🐎.lastIndexOf('y')}`: int64(3)}},
		{"a number is a text where a method has a String", map[string]any{`${s.concat(7)}`: "abc7", `${s.startsWith(nothing)}`: true, `${'7'.equalsIgnoreCase(7)}`: true, `${'a7b'.split(7).size()}`: int64(2), `${'true'.matches(t)}`: true, `${s.compareTo('abd') < 0}`: true}},
		{"methods of List and Map", map[string]any{`${xs.containsAll(xs)}`: true, `${xs.containsAll(names)}`: false, `${xs.lastIndexOf(3)}`: int64(2), `${xs.lastIndexOf(4)}`: int64(-1), `${who.getOrDefault('x', 1)}`: int64(1), `${who.getOrDefault('age', 1)}`: int64(30)}},
	} {
		for text, want := range group.cases {
			text = strings.ReplaceAll(text, "🐎.", "who.horse.")
			got, err := eval(t, text, `{"vars": "V", "due": "2026-01-31T09:00:00Z", "businessKey": "K1", `+strings.Replace(variables[1:], `"who": {`, `"who": {"horse": "🐎xyz", `, 1))
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %s: %v, %v; want %v", group.rule, text, got, err, want)
			}
		}
	}
}

func TestFunctionsWithoutAValueAreAnError(t *testing.T) {
	long := `{"s": "` + strings.Repeat("x", scan.MaxText/2) + `", "n": 7, "t": true}`
	for text, want := range map[string]string{
		`${s.concat(s).concat('x')}`:        "a text of more than 65536 bytes",
		`${s.replace('x', 'xxx')}`:          "a text of more than 65536 bytes",
		`${s.replaceAll('x', 'xxx')}`:       "a text of more than 65536 bytes",
		`${s.repeat(3)}`:                    "a text of 3 times 32768 bytes",
		`${'a'.repeat(-1)}`:                 "a text of -1 times 1 bytes",
		`${s.matches(s)}`:                   "a pattern of",
		`${'a'.matches('(a)\\1')}`:          "the pattern",
		`${s.matches('(x{100}){9}')}`:       "patterns of more than 262144 steps",
		`${'a'.replaceAll('a', '$1')}`:      "the group $1 of a pattern with 0",
		`${'a'.replaceAll('a', '$')}`:       "the replacement",
		`${vars:gt(n, 'a')}`:                "a number > a text; expected values of one type",
		`${vars:base64(n)}`:                 "found a number; expected a text",
		`${vars:contains(s, 1)}`:            "found a number; expected a text",
		`${now() < n}`:                      "found a number; expected a time",
		`${now() < 'soon'}`:                 `the text "soon"; expected a time`,
		`${now() + 1}`:                      "found a time; expected a number",
		`${dateTime().plusYears(9000)}`:     "a time in the year",
		`${dateTime().plusDays(big)}`:       `unknown variable "big"`,
		`${dateTime().toString('QQ')}`:      "QQ in the pattern",
		`${now().size()}`:                   "the method size of a time",
		`${now().colour}`:                   `the property "colour" of a time`,
		`${execution.id}`:                   `unknown variable "execution"`,
		`${dateTime().plusDays(1e300 * 9)}`: "plusDays of",
	} {
		if v, err := eval(t, text, long); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %.80v, %v; want %s", text, v, err, want)
		}
	}
}
