// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// among is a condition about a value that is a text, or a list of texts: is ["a", "b"]: EXPRESSION
// holds if each text is one of some; has ["a"]: EXPRESSION if a list has one of them. Behind the
// list may be what has the expression, for messages: is ["a"] of "the kind of task a": EXPRESSION.
type among struct {
	names []string
	of    string
	has   bool
}

// amongOf returns what is before an expression, or nil, and the expression.
func amongOf(text string) (*among, string) {
	for _, word := range []string{"is ", "has "} {
		rest, found := strings.CutPrefix(text, word)
		if !found || !strings.HasPrefix(rest, "[") {
			continue
		}
		a, d := &among{has: word == "has "}, json.NewDecoder(strings.NewReader(rest))
		if d.Decode(&a.names) != nil {
			continue
		}
		rest = rest[d.InputOffset():]
		if of, found := strings.CutPrefix(rest, " of "); found {
			a.of, rest = quoted(of)
		}
		if e, found := strings.CutPrefix(rest, ": "); found {
			return a, e
		}
	}
	return nil, text
}

// Bare returns an expression without what says of which texts its value is one.
func Bare(text string) string {
	_, text = amongOf(text)
	return text
}

// holds reports whether a condition holds with a value of its expression.
func (c *condition) holds(value any) (bool, error) {
	if c.among == nil {
		return c.truth(value)
	}
	text, err := appendJSON(nil, value)
	if err != nil {
		return false, err
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return false, err
	}
	known := func(v any) bool {
		s, is := v.(string)
		return is && slices.Contains(c.among.names, s)
	}
	switch list, is := v.([]any); {
	case is && c.among.has:
		return slices.ContainsFunc(list, known), nil
	case is:
		return !slices.ContainsFunc(list, func(v any) bool { return v != nil && !known(v) }), nil
	}
	if _, is := v.(string); !is || c.among.has {
		expected := "a text"
		if c.among.has {
			expected = "a list of texts"
		}
		if c.among.of != "" {
			return false, fmt.Errorf("%s: found %.40s; expected %s", c.among.of, text, expected)
		}
		return false, fmt.Errorf("found %.40s; expected %s", text, expected)
	}
	return known(v), nil
}
