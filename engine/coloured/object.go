// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/pnagent/pnagent/engine/guard/scan"
)

// object is the fields of the data of a token.
type object map[string]json.RawMessage

// objectOf returns the fields of data; nil if it is not a JSON object.
func objectOf(data []byte) object {
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return nil
	}
	var o object
	if json.Unmarshal(data, &o) != nil {
		return nil
	}
	return o
}

// data returns the object as JSON, its fields by name.
func (o object) data() []byte {
	out := []byte{'{'}
	for k, name := range slices.Sorted(maps.Keys(o)) {
		if k > 0 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(name) // a text has no error
		out = append(append(append(out, key...), ':'), o[name]...)
	}
	return append(out, '}')
}

// size returns about the length of data.
func (o object) size() (n int) {
	for name, value := range o {
		n += len(name) + len(value) + len(`"":,`)
	}
	return n
}

// has reports whether a field has a value.
func (o object) has(name string, value json.RawMessage) bool {
	old, ok := o[name]
	return ok && equalJSON(old, value)
}

// equalJSON reports whether two JSON texts have the same value.
func equalJSON(a, b []byte) bool {
	return bytes.Equal(a, b) || reflect.DeepEqual(decoded(a), decoded(b))
}

// decoded returns the value of a JSON text. Whole numbers of more than 53 bits are exact.
func decoded(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(text)
	}
	return scan.Numbers(v, func(n json.Number) any {
		if f, err := n.Float64(); err == nil && f >= -1<<53 && f <= 1<<53 {
			return f
		}
		return n
	})
}

// texts remembers what was made of the latest JSON texts.
type texts struct {
	latest [16]text
	next   int
}

// text is the fields of a JSON text, or of one that has those of another over it.
type text struct {
	under, over []byte
	both        []byte
	fields      object // nil if one is no object
}

// over returns data with the fields of other data over it, if both are objects; otherwise the other.
func (s *texts) over(under, over []byte) []byte {
	if under == nil {
		return over
	}
	return s.of(under, over).both
}

// fields returns objectOf data that is never changed. The caller must not change it, either.
func (s *texts) fields(data []byte) object { return s.of(nil, data).fields }

func (s *texts) of(under, over []byte) *text {
	for k := range s.latest {
		if t := &s.latest[k]; sameData(t.over, over) && sameData(t.under, under) {
			return t
		}
	}
	made := text{under: under, over: over, both: over}
	if under == nil {
		made.fields = objectOf(over)
	} else if a, b := s.fields(under), s.fields(over); a != nil && b != nil {
		made.fields = maps.Clone(a)
		maps.Copy(made.fields, b)
		made.both = made.fields.data()
	}
	t := &s.latest[s.next%len(s.latest)]
	s.next++
	*t = made
	return t
}
