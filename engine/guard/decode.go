// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/engine/coloured"
)

// byAge returns the indexes of tokens, the oldest first.
func byAge(tokens []coloured.Placed) []int {
	order := make([]int, len(tokens))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := tokens[a].Token, tokens[b].Token
		return cmp.Or(cmp.Compare(x.Injected, y.Injected), cmp.Compare(x.ID, y.ID))
	})
	return order
}

// decodeAll decodes the data of tokens; without data the result is nil.
func decodeAll(tokens []coloured.Placed) ([]any, error) {
	out := make([]any, len(tokens))
	size := 0
	for i := range tokens {
		data := tokens[i].Token.Data
		if size += len(data); size > MaxData {
			return nil, fmt.Errorf("the tokens carry more than %d bytes; expected less for a guard that reads them", MaxData)
		}
		if len(data) == 0 {
			continue
		}
		v, err := decode(data)
		if err != nil {
			return nil, fmt.Errorf("the data of token %d: %w", tokens[i].Token.ID, err)
		}
		out[i] = v
	}
	return out, nil
}

// decode decodes JSON.
func decode(data []byte) (any, error) {
	if deep(data) {
		return nil, fmt.Errorf("nested more than %d deep", MaxDepth)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not JSON: more after the first value")
	}
	return numbers(v), nil
}

// deep reports whether JSON nests deeper than MaxDepth.
func deep(data []byte) bool {
	depth, text := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// numbers converts the numbers of decoded JSON so that they can be compared: to
// int if that is exact, else to float64.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.Atoi(string(v)); err == nil {
			return i
		}
		f, _ := strconv.ParseFloat(string(v), 64) // a number that is too large is infinite, and compares as that
		return f
	case map[string]any:
		for k, e := range v {
			v[k] = numbers(e)
		}
	case []any:
		for i, e := range v {
			v[i] = numbers(e)
		}
	}
	return v
}

// Merge returns the data of a token that replaces several. If their data are
// JSON objects, it is one with the fields of all; a field of a later one
// replaces that of an earlier one. Otherwise, or if the result exceeds
// coloured.MaxData, it is the first data that is not empty. Merge can be used
// as coloured.Config.Merge.
func Merge(data [][]byte) []byte {
	some := make([][]byte, 0, len(data))
	for _, d := range data {
		if len(d) > 0 && (len(some) == 0 || !bytes.Equal(some[len(some)-1], d)) {
			some = append(some, d)
		}
	}
	switch len(some) {
	case 0:
		return nil
	case 1:
		return some[0]
	}
	all, size := map[string]json.RawMessage{}, 0
	for _, d := range some {
		var object map[string]json.RawMessage
		if size += len(d); size > coloured.MaxData || json.Unmarshal(d, &object) != nil || object == nil {
			return some[0]
		}
		for k, v := range object {
			all[k] = v
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(all) != nil || out.Len() > coloured.MaxData {
		return some[0]
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
