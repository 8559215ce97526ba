// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/petri"
)

// Key returns the correlation key of a message as JSON, given the tokens that the
// transition takes or tests. It panics if it cannot be determined. It depends on
// nothing but their data. A nil Key is none. Keys are compared as texts: the number 7 equals the text "7". null and an
// empty text are no key. A catcher without a Key accepts every message; one with a
// Key only a message whose key is equal and not empty.
type Key func(tokens []coloured.Placed, now int64) []byte

// MaxKey is the largest length of the text of a key, in bytes.
const MaxKey = 1 << 10

// name returns the text of the name of an event.
func (k Key) name(tokens []coloured.Placed, now int64) (text string, err error) {
	text, err = k.of(tokens, now)
	if err == nil && (text == "" || len(text) > petri.MaxEventName) {
		err = fmt.Errorf("a name of %d bytes; expected 1 to %d", len(text), petri.MaxEventName)
	}
	return text, err
}

// of returns the text of a key.
func (k Key) of(tokens []coloured.Placed, now int64) (text string, err error) {
	if k == nil {
		return "", nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return keyText(k(tokens, now))
}

// event returns the check of the name and the key of an event; nil if they are constant.
func (tr *Transition) event() func(tokens []coloured.Placed, now int64) error {
	name, key := tr.EventName, tr.Key
	if name == nil && key == nil {
		return nil
	}
	return func(tokens []coloured.Placed, now int64) error {
		if name != nil {
			if _, err := name.name(tokens, now); err != nil {
				return fmt.Errorf("the name of its event: %w", err)
			}
		}
		text, err := key.of(tokens, now)
		if err == nil && key != nil && text == "" {
			err = errors.New("null, or an empty text; expected a text, a number, true or false")
		}
		if err != nil {
			return fmt.Errorf("the key of its message: %w", err)
		}
		return nil
	}
}

// maxKnown bounds the keys that a catcher remembers.
const maxKnown = 1 << 18

// holding names the tokens of an instance with which a catcher waits, at most two.
type holding struct {
	instance int
	tokens   [2]uint64 // identities; 0 for none
}

// address is what tokens wait for; a part that cannot be determined is "".
type address struct{ name, key string }

// accepts returns the condition for the tokens of an instance to wait for an event;
// nil always holds.
func (c *catcher) accepts(instance int, ev *event) coloured.Guard {
	if c.name == nil && c.key == nil {
		return nil
	}
	return func(tokens []coloured.Placed, now int64) coloured.Verdict {
		own := c.addressOf(instance, tokens, now)
		return coloured.Verdict{OK: (c.name == nil || own.name == ev.name) && (c.key == nil || own.key != "" && own.key == ev.key)}
	}
}

// addressOf returns what tokens wait for. An address is determined once, and again if it could not
// be: variables may have changed.
func (c *catcher) addressOf(instance int, tokens []coloured.Placed, now int64) (own address) {
	at := holding{instance: instance}
	if len(tokens) <= len(at.tokens) {
		for k := range tokens {
			at.tokens[k] = tokens[k].Token.ID
		}
		if own, ok := c.known[at]; ok {
			return own
		}
	}
	var err error
	if c.name != nil {
		if own.name, err = c.name.name(tokens, now); err != nil {
			own.name = ""
		}
	}
	if own.key, err = c.key.of(tokens, now); err != nil {
		own.key = ""
	}
	if c.name != nil && own.name == "" || c.key != nil && own.key == "" {
		return own
	}
	if len(tokens) <= len(at.tokens) {
		if len(c.known) >= maxKnown {
			clear(c.known)
		}
		c.known[at] = own
	}
	return own
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
