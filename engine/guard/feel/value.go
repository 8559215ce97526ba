// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/pnagent/pnagent/engine/guard/scan"
	"github.com/woodsbury/decimal128"
)

// Context is FEEL's context: entries in order.
type Context struct {
	keys   []string
	values map[string]any
}

// NewContext returns a context without entries.
func NewContext() *Context { return &Context{values: map[string]any{}} }

// Set adds or replaces an entry.
func (c *Context) Set(key string, v any) {
	if _, ok := c.values[key]; !ok {
		c.keys = append(c.keys, key)
	}
	c.values[key] = v
}

// Keys returns the names of the entries in order.
func (c *Context) Keys() []string { return c.keys }

// Get returns the value of an entry, and whether there is one.
func (c *Context) Get(key string) (any, bool) {
	v, ok := c.values[key]
	return v, ok
}

func (c *Context) clone() *Context {
	return &Context{keys: slices.Clone(c.keys), values: maps.Clone(c.values)}
}

// Range is FEEL's range. An end that is nil is open.
type Range struct {
	Low, High                 any
	LowIncluded, HighIncluded bool
	undefined                 bool // an end is null
	unary                     bool // written with an operator
	counts                    bool // from..to of an iteration, which may count down
}

// Function is a function that an expression defines.
type Function struct {
	params []string
	types  []*typ
	body   node
	scope  *scope
}

// MonthSpan is a years and months duration, in months.
type MonthSpan int64

// Import returns a value of decoded JSON (with numbers as json.Number or float64), or a
// time in UTC, as a value of
// FEEL: nil, bool, string, decimal128.Decimal, []any, DateTime or *Context with entries sorted by name.
// The other types of values are Date, Time, DateTime, MonthSpan, Span, *Range and
// *Function.
func Import(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := NewContext()
		for _, k := range slices.Sorted(maps.Keys(v)) {
			c.Set(k, Import(v[k]))
		}
		return c
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Import(e)
		}
		return out
	case time.Time:
		return timeOn(v)
	case float64:
		return Import(json.Number(strconv.FormatFloat(v, 'g', -1, 64)))
	case json.Number:
		if n := parseNumber(string(v)); n != nil {
			return n
		}
		scan.Fail("the number %s; expected one of at most 6144 digits", scan.Quote(string(v)))
	}
	return v
}

// KindOf returns the name of a value's type, such as "number".
func KindOf(v any) string {
	switch v.(type) {
	case nil:
		return "Null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case decimal128.Decimal:
		return "number"
	case Date:
		return "date"
	case Time:
		return "time"
	case DateTime:
		return "date and time"
	case Span:
		return "days and time duration"
	case MonthSpan:
		return "years and months duration"
	case []any:
		return "list"
	case *Context:
		return "context"
	case *Range:
		return "range"
	case *Function:
		return "function"
	}
	return "unknown"
}
