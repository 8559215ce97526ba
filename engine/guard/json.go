// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// appendJSON appends a value as JSON. The result is at most MaxData bytes, and the
// same for the same value.
func appendJSON(to []byte, v any) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		to = append(to, '{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				to = append(to, ',')
			}
			if to, err = appendJSON(to, k); err != nil {
				return nil, err
			}
			if to, err = appendJSON(append(to, ':'), v[k]); err != nil {
				return nil, err
			}
		}
		to = append(to, '}')
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
	case nil, bool, string, int, time.Time, json.Number:
		return appendScalar(to, v)
	default:
		return nil, fmt.Errorf("%s; expected a value of JSON", kind(v))
	}
	return within(to)
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
