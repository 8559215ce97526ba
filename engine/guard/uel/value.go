// SPDX-License-Identifier: Apache-2.0

package uel

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// Import returns a value of decoded JSON (with numbers as json.Number) as one of UEL:
// nil, bool, string, int64 (Java's Long), float64 (Double), []any or map[string]any. A
// whole number of more than 64 bits remains a json.Number, with which nothing can be
// calculated.
func Import(v any) any {
	return scan.Numbers(v, func(n json.Number) any {
		if strings.ContainsAny(string(n), ".eE") {
			f, _ := strconv.ParseFloat(string(n), 64) // a number that is too large is infinite, as in Java
			return f
		}
		if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
			return i
		}
		return n
	})
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a text"
	case int64, float64:
		return "a number"
	case json.Number:
		return "a number of more than 64 bits"
	case []any:
		return "a list"
	case moment:
		return "a time"
	}
	return "an object"
}

// toBool coerces to Boolean (JSR-341, 1.23.6).
func toBool(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return strings.EqualFold(v, "true")
	}
	scan.Fail("found %s; expected true or false", kind(v))
	return false
}

// toText coerces to String (1.23.2).
func toText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return javaDouble(v)
	case moment:
		return v.String()
	}
	scan.Fail("found %s; expected a text", kind(v))
	return ""
}

// javaDouble returns what Double.toString does.
func javaDouble(f float64) string {
	switch a := math.Abs(f); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strconv.FormatFloat(f, 'f', -1, 64), "+") + "inity"
	case f == 0 || a >= 1e-3 && a < 1e7:
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(n)
}

// toLong and toDouble coerce to numbers (1.23.3).
func toLong(v any) int64 {
	switch v := v.(type) {
	case nil:
		return 0
	case int64:
		return v
	case float64:
		return javaLong(v)
	case string:
		if v == "" {
			return 0
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			scan.Fail("the text %s; expected a whole number", scan.Quote(v))
		}
		return n
	}
	scan.Fail("found %s; expected a number", kind(v))
	return 0
}

// javaLong converts as a cast to long does.
func javaLong(f float64) int64 {
	switch {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

func toDouble(v any) float64 {
	switch v := v.(type) {
	case nil:
		return 0
	case int64:
		return float64(v)
	case float64:
		return v
	case string:
		if v == "" {
			return 0
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil && !math.IsInf(f, 0) || strings.ContainsAny(v, "xX_") {
			scan.Fail("the text %s; expected a number", scan.Quote(v))
		}
		return f
	}
	scan.Fail("found %s; expected a number", kind(v))
	return 0
}

// equal is == (1.8.2).
func equal(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	either := func(is func(any) bool) bool { return is(a) || is(b) }
	switch {
	case either(isMoment):
		return toMoment(a).Equal(toMoment(b).Time)
	case either(isDouble):
		return toDouble(a) == toDouble(b)
	case either(isLong):
		return toLong(a) == toLong(b)
	case either(isBool):
		return toBool(a) == toBool(b)
	case either(isText):
		return toText(a) == toText(b)
	}
	return reflect.DeepEqual(a, b)
}

func isDouble(v any) bool { _, ok := v.(float64); return ok }
func isLong(v any) bool   { _, ok := v.(int64); return ok }
func isBool(v any) bool   { _, ok := v.(bool); return ok }
func isText(v any) bool   { _, ok := v.(string); return ok }

// related is < and so on (1.8.1).
func related(op string, a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil && (op == "<=" || op == ">=")
	}
	either := func(is func(any) bool) bool { return is(a) || is(b) }
	var c int
	switch {
	case either(isMoment):
		c = toMoment(a).Compare(toMoment(b).Time)
	case either(isDouble):
		x, y := toDouble(a), toDouble(b)
		if math.IsNaN(x) || math.IsNaN(y) {
			return false
		}
		c = cmp.Compare(x, y)
	case either(isLong):
		c = cmp.Compare(toLong(a), toLong(b))
	case either(isText):
		c = strings.Compare(toText(a), toText(b))
	case isBool(a) && isBool(b):
		if a != b {
			c = 1
			if b == true {
				c = -1
			}
		}
	default:
		scan.Fail("%s %s %s; expected numbers or texts", kind(a), op, kind(b))
	}
	return scan.Holds(op, c)
}

// fractional reports whether arithmetic with a value is that of Double.
func fractional(v any) bool {
	s, ok := v.(string)
	return isDouble(v) || ok && strings.ContainsAny(s, ".eE")
}

// calculate is + - * / % (1.7).
func calculate(op string, a, b any) any {
	if a == nil && b == nil {
		return int64(0)
	}
	if op == "/" {
		return toDouble(a) / toDouble(b)
	}
	if fractional(a) || fractional(b) {
		x, y := toDouble(a), toDouble(b)
		if op == "%" {
			return math.Mod(x, y)
		}
		return arithmetic(op, x, y)
	}
	x, y := toLong(a), toLong(b)
	if op == "%" && y == 0 {
		scan.Fail("division by zero")
	}
	if op == "%" {
		return x % y
	}
	return arithmetic(op, x, y)
}

func arithmetic[N int64 | float64](op string, x, y N) N {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	}
	return x * y
}

func negative(v any) any {
	if fractional(v) {
		return -toDouble(v)
	}
	return -toLong(v)
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func joined(a, b any) string { return short(toText(a) + toText(b)) }

// property is v[by] (1.6).
func property(v, by any) any {
	if v == nil || by == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return v[toText(by)]
	case []any:
		if i := toLong(by); i >= 0 && i < int64(len(v)) {
			return v[i]
		}
		return nil
	case moment:
		if out, ok := v.property(toText(by)); ok {
			return out
		}
	}
	scan.Fail("the property %s of %s", scan.Quote(toText(by)), kind(v))
	return nil
}

// arities are the methods that expressions may call, and how many arguments they can
// have.
var arities = map[string][]int{
	"size": {0}, "isEmpty": {0}, "contains": {1}, "containsAll": {1}, "get": {1}, "getOrDefault": {2}, "containsKey": {1}, "containsValue": {1}, "indexOf": {1}, "lastIndexOf": {1},
	"equals": {1}, "toString": {0, 1}, "compareTo": {1},
	"length": {0}, "equalsIgnoreCase": {1}, "startsWith": {1}, "endsWith": {1}, "toLowerCase": {0}, "toUpperCase": {0}, "trim": {0},
	"substring": {1, 2}, "charAt": {1}, "concat": {1}, "replace": {2}, "replaceAll": {2}, "replaceFirst": {2}, "repeat": {1}, "split": {1, 2}, "matches": {1}, "isBlank": {0}, "strip": {0}, "compareToIgnoreCase": {1},
	"intValue": {0}, "longValue": {0}, "doubleValue": {0}, "floatValue": {0}, "booleanValue": {0},
	"plusSeconds": {1}, "plusMinutes": {1}, "plusHours": {1}, "plusDays": {1}, "plusWeeks": {1}, "plusMonths": {1}, "plusYears": {1},
	"minusSeconds": {1}, "minusMinutes": {1}, "minusHours": {1}, "minusDays": {1}, "minusWeeks": {1}, "minusMonths": {1}, "minusYears": {1},
	"toDate": {0}, "getTime": {0}, "getMillis": {0}, "getYear": {0}, "getMonthOfYear": {0}, "getDayOfMonth": {0}, "getDayOfYear": {0}, "getDayOfWeek": {0}, "getHourOfDay": {0},
	"getMinuteOfHour": {0}, "getSecondOfMinute": {0}, "isBefore": {1}, "isAfter": {1}, "before": {1}, "after": {1},
}

// call calls a method. It fails if the value has no such one.
func call(r *run, v any, name string, args []any) any {
	switch {
	case name == "equals" && v != nil:
		return javaEqual(v, args[0])
	case name == "toString" && v != nil && len(args) == 0:
		return toText(v)
	}
	switch v := v.(type) {
	case moment:
		if out, ok := v.call(name, args); ok {
			return out
		}
	case string:
		if out, ok := callText(r, v, name, args); ok {
			return out
		}
	case int64, float64:
		switch name {
		case "intValue", "longValue":
			return toLong(v)
		case "doubleValue", "floatValue":
			return toDouble(v)
		case "compareTo":
			if reflect.TypeOf(v) == reflect.TypeOf(args[0]) {
				return int64(cmp.Compare(toDouble(v), toDouble(args[0])))
			}
		}
	case bool:
		if name == "booleanValue" {
			return v
		}
	case []any:
		if out, ok := callList(v, name, args); ok {
			return out
		}
	case map[string]any:
		if out, ok := callMap(v, name, args); ok {
			return out
		}
	}
	scan.Fail("the method %s of %s", name, kind(v))
	return nil
}

// javaEqual is the method equals: values of different types are not equal.
func javaEqual(a, b any) bool { return reflect.DeepEqual(a, b) }

func callList(l []any, name string, args []any) (any, bool) {
	is := func(e any) bool { return javaEqual(e, args[0]) }
	switch name {
	case "size":
		return int64(len(l)), true
	case "isEmpty":
		return len(l) == 0, true
	case "contains":
		return slices.ContainsFunc(l, is), true
	case "containsAll":
		of, ok := args[0].([]any)
		return !slices.ContainsFunc(of, func(e any) bool { return !slices.ContainsFunc(l, func(have any) bool { return javaEqual(have, e) }) }), ok
	case "indexOf":
		return int64(slices.IndexFunc(l, is)), true
	case "lastIndexOf":
		for i := len(l) - 1; i >= 0; i-- {
			if is(l[i]) {
				return int64(i), true
			}
		}
		return int64(-1), true
	case "get":
		i := toLong(args[0])
		if i < 0 || i >= int64(len(l)) {
			scan.Fail("the element %d of a list of %d", i, len(l))
		}
		return l[i], true
	}
	return nil, false
}

func callMap(m map[string]any, name string, args []any) (any, bool) {
	switch name {
	case "size":
		return int64(len(m)), true
	case "isEmpty":
		return len(m) == 0, true
	case "get":
		key, _ := args[0].(string)
		return m[key], true
	case "getOrDefault":
		key, _ := args[0].(string)
		v, ok := m[key]
		if !ok {
			return args[1], true
		}
		return v, true
	case "containsKey":
		key, ok := args[0].(string)
		_, has := m[key]
		return ok && has, true
	case "containsValue":
		for _, v := range m {
			if javaEqual(v, args[0]) {
				return true, true
			}
		}
		return false, true
	}
	return nil, false
}
