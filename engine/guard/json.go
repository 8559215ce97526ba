// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/woodsbury/decimal128"

	"github.com/pnagent/pnagent/engine/guard/feel"
)

// appendJSON appends a value as JSON. The result is at most MaxData bytes, and the
// same for the same value.
func appendJSON(to []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case map[string]any:
		return appendObject(to, slices.Sorted(maps.Keys(v)), func(k string) any { return v[k] })
	case *feel.Context:
		return appendObject(to, v.Keys(), func(k string) any { e, _ := v.Get(k); return e })
	case decimal128.Decimal:
		return within(append(to, feel.Digits(v)...))
	case interface{ ISO() string }:
		return appendScalar(to, v.ISO())
	case feel.Date, feel.Span, feel.MonthSpan:
		return appendScalar(to, v.(fmt.Stringer).String())
	case []any:
		return appendList(to, v)
	case []int:
		return appendList(to, v)
	case time.Duration:
		return appendJSON(to, v.String())
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("the number %v; expected one that JSON has", v)
		}
		return appendScalar(to, v)
	case nil, bool, string, int, int64, time.Time, json.Number:
		return appendScalar(to, v)
	default:
		return nil, fmt.Errorf("%s; expected a value of JSON", kind(v))
	}
}

func appendObject(to []byte, keys []string, value func(key string) any) ([]byte, error) {
	to = append(to, '{')
	for i, k := range keys {
		if i > 0 {
			to = append(to, ',')
		}
		var err error
		if to, err = appendScalar(to, k); err != nil {
			return nil, err
		}
		if to, err = appendJSON(append(to, ':'), value(k)); err != nil {
			return nil, err
		}
	}
	return within(append(to, '}'))
}

func appendList[T any](to []byte, list []T) ([]byte, error) {
	to = append(to, '[')
	for i, e := range list {
		if i > 0 {
			to = append(to, ',')
		}
		var err error
		if to, err = appendJSON(to, e); err != nil {
			return nil, err
		}
	}
	return within(append(to, ']'))
}

func appendScalar(to []byte, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return within(append(to, b...))
}

func within(to []byte) ([]byte, error) {
	if len(to) > MaxData {
		return nil, fmt.Errorf("a value of more than %d bytes of JSON", MaxData)
	}
	return to, nil
}
