// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// function is a function of FEEL with examples of its documentation: an expression, and its value as string()
// writes it.
type function struct {
	name     string
	examples map[string]string
}

// The examples of Camunda's documentation of FEEL's built-in functions ("Range functions").
func TestRelationsOfRanges(t *testing.T) {
	checkFunctions(t, []function{
		{"before", map[string]string{`before(1, 10)`: `true`, `before(10, 1)`: `false`, `before([1..5], 10)`: `true`, `before(1, [2..5])`: `true`, `before([1..5], [6..10])`: `true`,
			`before([1..5),[5..10])`: `true`, `before([1..5], [5..10])`: `false`}},
		{"after", map[string]string{`after(10, 1)`: `true`, `after(1, 10)`: `false`, `after([1..5], 10)`: `false`, `after(12, [2..5])`: `true`, `after([6..10], [1..5])`: `true`, `after([5..10], [1..5))`: `true`}},
		{"meets", map[string]string{`meets([1..5], [5..10])`: `true`, `meets([1..3], [4..6])`: `false`, `meets([1..3], [3..5])`: `true`, `meets([1..5], (5..8])`: `false`}},
		{"met by", map[string]string{`met by([5..10], [1..5])`: `true`, `met by([3..4], [1..2])`: `false`, `met by([3..5], [1..3])`: `true`, `met by((5..8], [1..5))`: `false`, `met by([5..10], [1..5))`: `false`}},
		{"overlaps", map[string]string{`overlaps([5..10], [1..6])`: `true`, `overlaps((3..7], [1..4])`: `true`, `overlaps([1..3], (3..6])`: `false`, `overlaps((5..8], [1..5))`: `false`, `overlaps([4..10], [1..5))`: `true`}},
		{"overlaps before", map[string]string{`overlaps before([1..5], [4..10])`: `true`, `overlaps before([3..4], [1..2])`: `false`, `overlaps before([1..3], (3..5])`: `false`,
			`overlaps before([1..5), (3..8])`: `true`, `overlaps before([1..5), [5..10])`: `false`}},
		{"overlaps after", map[string]string{`overlaps after([4..10], [1..5])`: `true`, `overlaps after([3..4], [1..2])`: `false`, `overlaps after([3..5], [1..3))`: `false`, `overlaps after((5..8], [1..5))`: `false`,
			`overlaps after([4..10], [1..5))`: `true`}},
		{"finishes", map[string]string{`finishes(5, [1..5])`: `true`, `finishes(10, [1..7])`: `false`, `finishes([3..5], [1..5])`: `true`, `finishes((1..5], [1..5))`: `false`, `finishes([5..10], [1..10))`: `false`}},
		{"finished by", map[string]string{`finished by([5..10], 10)`: `true`, `finished by([3..4], 2)`: `false`, `finished by([1..5], [3..5])`: `true`, `finished by((5..8], [1..5))`: `false`, `finished by([5..10], (1..10))`: `false`}},
		{"includes", map[string]string{`includes([5..10], 6)`: `true`, `includes([3..4], 5)`: `false`, `includes([1..10], [4..6])`: `true`, `includes((5..8], [1..5))`: `false`, `includes([1..10], [1..5))`: `true`}},
		{"during", map[string]string{`during(5, [1..10])`: `true`, `during(12, [1..10])`: `false`, `during(1, (1..10])`: `false`, `during([4..6], [1..10))`: `true`, `during((1..5], (1..10])`: `true`}},
		{"starts", map[string]string{`starts(1, [1..5])`: `true`, `starts(1, (1..8])`: `false`, `starts((1..5], [1..5])`: `false`, `starts([1..10], [1..5])`: `false`, `starts((1..5), (1..10))`: `true`}},
		{"started by", map[string]string{`started by([1..10], 1)`: `true`, `started by((1..10], 1)`: `false`, `started by([1..10], [1..5])`: `true`, `started by((1..10], [1..5))`: `false`, `started by([1..10], [1..10))`: `true`}},
		{"coincides", map[string]string{`coincides(5, 5)`: `true`, `coincides(3, 4)`: `false`, `coincides([1..5], [1..5])`: `true`, `coincides((1..5], [1..5))`: `false`, `coincides([1..5], [2..6])`: `false`}},
		{"what has no order is null", map[string]string{`before(1, "a")`: `null`, `before([1..5], @"2026-01-01")`: `null`, `meets(1, [1..5])`: `null`, `finishes([1..5], 5)`: `null`, `before(null, 1)`: `null`, `before(true, false)`: `null`}},
		{"dates, times and texts have an order", map[string]string{`before(@"2026-01-01", [@"2026-01-02"..@"2026-01-03"])`: `true`, `includes([@"08:00:00"..@"17:00:00"], @"12:00:00")`: `true`,
			`during(duration("PT2H"), [duration("PT1H")..duration("P1D")])`: `true`, `before("a", "b")`: `true`}},
		{"an open end is beyond all values", map[string]string{`includes((> 5), 7)`: `true`, `before(7, (> 7))`: `true`, `overlaps((< 3), [1..2])`: `true`, `after((>= 5), [1..5))`: `true`}},
		{"arguments have names", map[string]string{`before(point1: 1, point2: 2)`: `true`, `includes(point: 3, range: [1..5])`: `true`, `meets(range2: [5..6], range1: [1..5])`: `true`}},
	})
}

// The examples of the kit's group 1156.
func TestRangesFromTexts(t *testing.T) {
	checkFunctions(t, []function{
		{"range", map[string]string{`range("[18..21]") = [18..21]`: `true`, `range("]18..21]") = ]18..21]`: `true`, `range("[18..21[") = [18..21[`: `true`, `range(" [ 1 .. 3 ] ") = [1..3]`: `true`,
			`range("[\"a\"..\"c\"]") = ["a".."c"]`: `true`, `range("[date(\"1970-01-01\")..@\"1970-01-02\"]") = [@"1970-01-01"..@"1970-01-02"]`: `true`, `2 in range("[1..3]")`: `true`, `-1 in range("[-1.5..0)")`: `true`,
			`range("[1..]")`: `null`, `range("[..2]")`: `null`, `range("[3..1]")`: `null`, `range("[1..\"b\"]")`: `null`, `range(">=10")`: `null`, `range("")`: `null`, `range("[null..null]")`: `null`,
			`range("[date(string(\"1970-01-01\"))..date(\"1970-01-02\")]")`: `null`, `range("[1..2] + 1")`: `null`, `range([1..3])`: `null`}},
	})
}

// The examples of Camunda's documentation of FEEL's built-in functions, and of its library FEEL-Scala 1.19.
func TestFunctionsOfCamunda(t *testing.T) {
	checkFunctions(t, []function{
		{"is defined", map[string]string{`is defined(1)`: `true`, `is defined(null)`: `false`, `is defined(x)`: `false`, `is defined(x.y)`: `false`, `is defined(who.name)`: `true`, `is defined(who.missing)`: `false`}},
		{"get or else", map[string]string{`get or else("this", "default")`: `"this"`, `get or else(null, "default")`: `"default"`, `get or else(null, null)`: `null`, `get or else(missing, 1) + n`: `8`}},
		{"assert", map[string]string{`assert(n, n != null)`: `7`, `assert(n, n >= 0, "positive")`: `7`, `assert(n, n < 0)`: ``, `assert(x, x != null, "no x")`: ``}},
		{"extract", map[string]string{`extract("references are 1234, 1256, 1378", "12[0-9]*")`: `["1234", "1256"]`, `extract("a", "b")`: `[]`, `extract(1, "b")`: `null`}},
		{"trim", map[string]string{`trim("  hello world  ")`: `"hello world"`, `trim("hello   world ")`: `"hello   world"`, `trim(1)`: `null`}},
		{"is blank", map[string]string{`is blank("")`: `true`, `is blank(" ")`: `true`, `is blank("hello world")`: `false`, `is blank(null)`: `null`}},
		{"to base64", map[string]string{`to base64("FEEL")`: `"RkVFTA=="`, `from base64("RkVFTA==")`: `"FEEL"`, `from base64("!")`: `null`}},
		{"is empty", map[string]string{`is empty([])`: `true`, `is empty([1,2,3])`: `false`, `is empty(null)`: `null`}},
		{"partition", map[string]string{`partition([1,2,3,4,5], 2)`: `[[1, 2], [3, 4], [5]]`, `partition([], 2)`: `[]`, `partition([1,2], 0)`: `null`, `partition([1,2], -1)`: `null`}},
		{"duplicate values", map[string]string{`duplicate values([1,2,3,2,1])`: `[1, 2]`, `duplicate values([1,2])`: `[]`}},
		{"last day of month", map[string]string{`last day of month(date("2022-10-01"))`: `2022-10-31`, `last day of month(date and time("2022-10-16T12:00:00"))`: `2022-10-31`, `last day of month(@"2024-02-03")`: `2024-02-29`}},
		{"decimal", map[string]string{`decimal(1/3, 2)`: `0.33`, `decimal(1.5, 0)`: `2`, `decimal(2.5, 0, "half_up")`: `3`, `decimal(2.5, 0, "other")`: `null`}},
		{"from json", map[string]string{`from json("{\"a\": 1, \"b\": 2}")`: `{a: 1, b: 2}`, `from json("true")`: `true`, `from json("\"2023-06-14\"")`: `"2023-06-14"`, `from json("{")`: `null`, `from json("1 2")`: `null`}},
		{"to json", map[string]string{`to json({a: 1, b: 2})`: `"{\"a\":1,\"b\":2}"`, `to json(true)`: `"true"`, `to json(@"2023-06-14")`: `"\"2023-06-14\""`, `to json(@"P3Y")`: `"\"P3Y\""`, `to json("<&>")`: `"\"<&>\""`,
			`to json(@"2025-11-24T10:00:00@Europe/Berlin")`: `"\"2025-11-24T10:00:00+01:00[Europe/Berlin]\""`, `to json([1, function() 1])`: `null`}},
		{"fromAi", map[string]string{`fromAi(n)`: `7`, `fromAi(n, "a number", "number", null, {required: false})`: `7`, `fromAi(value: n, type: "number")`: `7`, `fromAi(value: n, options: {strict: true})`: `7`}},
		{"get value", map[string]string{`get value({foo: 123}, "foo")`: `123`, `get value(context: {a: 1}, key: "b")`: `null`, `get value({x:1, y: {z:0}}, ["y", "z"])`: `0`, `get value({a: {b: 3}}, ["b"])`: `null`}},
		{"context put", map[string]string{`put({x:1}, "y", 2)`: `{x: 1, y: 2}`, `put all([{x:1}, {y:2}])`: `{x: 1, y: 2}`, `context merge({x:1}, {y:2})`: `{x: 1, y: 2}`}},
	})
}

// The examples of Camunda's documentation and of the kit, and what Java does where clocks are changed.
func TestZonesByName(t *testing.T) {
	checkFunctions(t, []function{
		{"texts", map[string]string{`date and time("2018-04-29T09:30:00@Europe/Berlin")`: `2018-04-29T09:30:00@Europe/Berlin`, `date and time("2018-04-29T09:30:00+02:00[Europe/Berlin]")`: `2018-04-29T09:30:00@Europe/Berlin`,
			`@"2018-12-08T10:30:11@Australia/Melbourne"`: `2018-12-08T10:30:11@Australia/Melbourne`, `@"10:30:11@Australia/Melbourne"`: `10:30:11@Australia/Melbourne`, `string(time("00:01:00@Etc/UTC"))`: `"00:01:00@Etc/UTC"`,
			`@"10:00:00@UTC" = @"10:00:00Z"`: `true`}},
		{"what is no zone is null", map[string]string{`time("13:20:00@xyz/abc")`: `null`, `time("13:20:00+02:00@Europe/Paris")`: `null`, `@"2026-01-31T10:00:00@Local"`: `null`, `@"2026-01-31T10:00:00[Europe/Paris]"`: `null`,
			`@"2026-01-31T10:00:00@Europe/../Europe/Paris"`: `null`, `@"2026-01-31T10:00:00@Nowhere/None"`: `null`}},
		{"instants are equal", map[string]string{`date and time("2018-10-08T00:00:00+02:00") = date and time("2018-10-08T00:00:00@Europe/Paris")`: `true`, `@"2018-02-08T00:00:00+01:00" = @"2018-02-08T00:00:00@Europe/Paris"`: `true`,
			`@"2002-04-02T12:00:00@Australia/Melbourne" = @"2002-04-02T12:00:00@Australia/Sydney"`: `true`, `is(@"2002-04-02T23:00:00@Australia/Melbourne", @"2002-04-02T23:00:00@Australia/Sydney")`: `false`}},
		{"differences", map[string]string{`@"2021-01-02T10:10:10@Europe/Paris" - @"2021-01-01T10:10:10@Asia/Dhaka"`: `P1DT5H`, `@"2021-01-02" - @"2021-01-01T10:10:10@Australia/Melbourne"`: `P1DT49M50S`,
			`@"10:10:10@Australia/Melbourne" - @"11:10:10@Australia/Melbourne"`: `-PT1H`, `@"2021-01-02T10:10:10@Europe/Paris" - @"2021-01-01T10:10:10"`: `null`}},
		{"sums keep the zone", map[string]string{`@"2021-01-12T10:10:10@Australia/Melbourne" + @"P1DT1H"`: `2021-01-13T11:10:10@Australia/Melbourne`, `@"-2021-01-01T10:10:10@Australia/Melbourne" - @"P1M"`: `-2022-12-01T10:10:10@Australia/Melbourne`,
			`@"10:15:00@Australia/Melbourne" + @"-PT1H"`: `09:15:00@Australia/Melbourne`, `@"2026-03-28T12:00:00@Europe/Berlin" + @"P1D"`: `2026-03-29T13:00:00@Europe/Berlin`,
			`(@"2026-02-28T12:00:00@Europe/Berlin" + @"P1M").time offset`: `PT1H`, `(@"2026-03-28T12:00:00@Europe/Berlin" + @"P1M").time offset`: `PT2H`}},
		{"a local time that is skipped, and one that is twice", map[string]string{`@"2026-03-29T02:30:00@Europe/Berlin"`: `2026-03-29T03:30:00@Europe/Berlin`, `@"2026-03-08T02:30:00@America/New_York"`: `2026-03-08T03:30:00@America/New_York`,
			`@"2026-10-25T02:30:00@Europe/Berlin".time offset`: `PT2H`, `@"2026-11-01T01:30:00@America/New_York".time offset`: `-PT4H`, `@"2026-10-25T02:30:00+01:00[Europe/Berlin]".time offset`: `PT1H`}},
		{"date and time of a zone", map[string]string{`date and time(@"2020-07-31T14:27:30@Europe/Berlin", "America/Los_Angeles")`: `2020-07-31T05:27:30@America/Los_Angeles`, `date and time(@"2020-07-31T14:27:30", "Z")`: `2020-07-31T14:27:30Z`,
			`date and time(@"2020-07-31T14:27:30@Europe/Berlin", "+01:00")`: `2020-07-31T13:27:30+01:00`, `date and time(date("2017-01-01"),time("23:59:01@Europe/Paris"))`: `2017-01-01T23:59:01@Europe/Paris`,
			`date and time(@"2020-07-31T14:27:30Z", "Local")`: `null`, `date and time(@"2017-09-05T10:20:00@Europe/Paris",time("09:15:30Z"))`: `2017-09-05T09:15:30Z`}},
		{"properties", map[string]string{`date and time("2018-12-10T10:30:00@Etc/UTC").timezone`: `"Etc/UTC"`, `@"2018-12-10T10:30:00Z".timezone`: `null`, `@"2026-07-01T10:00:00@Europe/Paris".time offset`: `PT2H`,
			`time(@"2017-08-10T10:20:00@Europe/Paris")`: `10:20:00@Europe/Paris`}},
	})
}

func checkFunctions(t *testing.T, functions []function) {
	t.Helper()
	for _, f := range functions {
		for text, want := range f.examples {
			got, err := eval(t, text, variables)
			if want == "" {
				if err == nil {
					t.Errorf("%s: %s: %s; want an error", f.name, text, show(got))
				}
			} else if err != nil || show(got) != want {
				t.Errorf("%s: %s: %s, %v; want %s", f.name, text, show(got), err, want)
			}
		}
	}
}

// FuzzTests passes any text as unary tests: it passes or not, the same each time, or is refused at a position.
func FuzzTests(f *testing.F) {
	for _, text := range []string{`< 10, [20..30), not(5)`, `not("a", null)`, `? > 3 and contains(s, "a")`, `-`, `== xs[1]`, `]1..n[`, `1 2`} {
		f.Add(text, 7)
	}
	f.Fuzz(func(t *testing.T, text string, in int) {
		if len(text) > 4096 {
			return
		}
		tests, err := CompileTests(text)
		var e *scan.Error
		if err != nil {
			if tests != nil || !errors.As(err, &e) || e.Line == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		once := func() string {
			yes, err := tests.Pass(&Budget{Left: MaxSteps}, now, integer(int64(in)), scopeOf(t, variables))
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("%T: %v", err, err)
			}
			return fmt.Sprint(yes, err)
		}
		if a, b := once(), once(); a != b {
			t.Fatalf("%s\nthen %s", a, b)
		}
	})
}
