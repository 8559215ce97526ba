// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pnagent/pnagent/engine/coloured"
)

// Key returns the correlation key of a message as JSON, given the tokens that the
// transition takes or tests. It panics if it cannot be determined. A nil Key is
// none. Keys are compared as texts: the number 7 equals the text "7". null and an
// empty text are no key. A catcher without a Key accepts every message; one with a
// Key only a message whose key is equal and not empty.
type Key func(tokens []coloured.Placed, now int64) []byte

// MaxKey is the largest length of the text of a key, in bytes.
const MaxKey = 1 << 10

// of returns the text of a key.
func (k Key) of(tokens []coloured.Placed, now int64) (text string, err error) {
	if k == nil {
		return "", nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("its key: %v", r)
		}
	}()
	return keyText(k(tokens, now))
}

// accepts returns the condition for the tokens of a catcher; nil always holds.
func (k Key) accepts(key string) coloured.Guard {
	if k == nil {
		return nil
	}
	return func(tokens []coloured.Placed, now int64) coloured.Verdict {
		own, err := k.of(tokens, now)
		return coloured.Verdict{OK: err == nil && own != "" && own == key}
	}
}

// keyText returns the text of a key that is JSON.
func keyText(value []byte) (string, error) {
	if len(value) == 0 {
		return "", nil
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("a key that is not JSON: %w", err)
	}
	text := ""
	switch v := v.(type) {
	case nil:
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = fmt.Sprint(v)
	default:
		return "", fmt.Errorf("the key %.100s; expected a text, a number, true or false", value)
	}
	if len(text) > MaxKey {
		return "", fmt.Errorf("a key of %d bytes; expected at most %d", len(text), MaxKey)
	}
	return text, nil
}
