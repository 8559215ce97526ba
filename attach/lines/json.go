// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"encoding/json"
	"strings"
)

// Fields are the names of the members of a JSON object, or of the groups of a
// pattern. An empty name is not used. The name ticket.id is that of the member id in
// the object ticket, unless there is a member called "ticket.id".
type Fields struct {
	Time, Net, Instance, Transition, Place, Tokens, End, Dropped string
}

// all returns the names of the fields in order.
func (n *Fields) all() [fieldCount]string {
	return [...]string{n.Time, n.Net, n.Instance, n.Transition, n.Place, n.Tokens, n.Dropped, n.End}
}

// jsonLines parses one JSON object (RFC 8259) per line, and skips the values of unknown
// members. If a member is repeated, the last value counts; null counts as absent. A
// number is valid as a name.
type jsonLines struct {
	names  [fieldCount]string
	nested bool // some name has a dot
	line   []byte
	at     int
	path   []byte           // names of the present object and of those around it, each with a dot behind it
	depths [fieldCount]int8 // how deep each field was found, from 1; 0 if it was not
}

func newJSONLines(names Fields) *jsonLines {
	j := &jsonLines{names: names.all()}
	for _, name := range j.names {
		j.nested = j.nested || strings.Contains(name, ".")
	}
	return j
}

// read implements format.
func (j *jsonLines) read(line []byte, into *fields) Reason {
	*into = fields{}
	j.line, j.at, j.path = line, 0, j.path[:0]
	clear(j.depths[:])
	if !j.take('{') || !j.object(1, into) {
		return NotJSON
	}
	j.space()
	if j.at != len(j.line) {
		return NotJSON
	}
	return Taken
}

// object reads the rest of an object.
func (j *jsonLines) object(depth int8, into *fields) bool {
	for first := true; !j.take('}'); first = false {
		if !first && !j.take(',') {
			return false
		}
		j.space()
		key, ok := j.text()
		if !ok || !j.take(':') || !j.member(key, depth, into) {
			return false
		}
	}
	return true
}

// member reads the value of a member.
func (j *jsonLines) member(key []byte, depth int8, into *fields) bool {
	j.space()
	if !j.nested {
		return j.value(j.field(key), into)
	}
	outer := len(j.path)
	defer func() { j.path = j.path[:outer] }()
	j.path = append(j.path, key...)
	if j.leads() && j.take('{') {
		j.path = append(j.path, '.')
		return j.object(depth+1, into)
	}
	f := j.field(j.path)
	if f == noField || j.depths[f] != 0 && j.depths[f] < depth {
		return j.value(noField, into)
	}
	was := *into
	ok := j.value(f, into)
	switch {
	case f == endField || *into.of(f) != nil:
		j.depths[f] = depth
	case j.depths[f] > depth: // null is as if absent
		*into = was
	}
	return ok
}

// leads reports whether a name of a field continues the path.
func (j *jsonLines) leads() bool {
	for _, name := range j.names {
		if len(name) > len(j.path) && name[len(j.path)] == '.' && name[:len(j.path)] == string(j.path) {
			return true
		}
	}
	return false
}

// field returns the field of a name, or noField.
func (j *jsonLines) field(name []byte) int {
	for f := range j.names {
		if j.names[f] == string(name) && len(name) > 0 {
			return f
		}
	}
	return noField
}

// value reads the value of a field. One that is neither text nor a number is absent.
func (j *jsonLines) value(field int, into *fields) (ok bool) {
	if j.at >= len(j.line) {
		return false
	}
	var said []byte
	first, from := j.line[j.at], j.at
	switch first {
	case '"':
		said, ok = j.text()
	case '{', '[':
		ok = j.skip()
	default:
		ok = j.scalar()
		if first == '-' || first >= '0' && first <= '9' {
			said = j.line[from:j.at]
		}
	}
	switch field {
	case noField:
	case endField:
		into.end = first == 't'
	case timeField:
		into.time, into.textual = said, first == '"'
	default:
		*into.of(field) = said
	}
	return ok
}

func (j *jsonLines) space() {
	for j.at < len(j.line) {
		c := j.line[j.at]
		if c > ' ' || c != ' ' && c != '\t' && c != '\r' && c != '\n' { // mostly the first
			return
		}
		j.at++
	}
}

// take skips white space and one character, if it is c.
func (j *jsonLines) take(c byte) bool {
	j.space()
	if j.at < len(j.line) && j.line[j.at] == c {
		j.at++
		return true
	}
	return false
}

// text reads a string. The result is in the line if it has no escapes.
func (j *jsonLines) text() (said []byte, ok bool) {
	if j.at >= len(j.line) || j.line[j.at] != '"' {
		return nil, false
	}
	line, from, escapes := j.line, j.at, false
	for k := from + 1; k < len(line); k++ {
		c := line[k]
		switch {
		case c > '"' && c != '\\':
		case c == '"' && escapes:
			j.at = k + 1
			return unescaped(line[from:j.at])
		case c == '"':
			j.at = k + 1
			return line[from+1 : k : k], true
		case c == '\\':
			escapes = true
			k++
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

func unescaped(quoted []byte) (said []byte, ok bool) {
	var text string
	err := json.Unmarshal(quoted, &text)
	return []byte(text), err == nil
}

// skip moves behind an object or a list.
func (j *jsonLines) skip() bool {
	from, depth := j.at, 0
	for j.at < len(j.line) {
		switch j.line[j.at] {
		case '"':
			if _, ok := j.text(); !ok {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		j.at++
		if depth == 0 {
			return json.Valid(j.line[from:j.at])
		}
	}
	return false
}

// scalar moves behind a number, true, false or null.
func (j *jsonLines) scalar() bool {
	from, whole := j.at, j.line[j.at] > '0' && j.line[j.at] <= '9'
	for ; j.at < len(j.line); j.at++ {
		switch c := j.line[j.at]; {
		case c >= '0' && c <= '9':
			continue
		case c == ',' || c == '}' || c == ']' || c <= ' ':
			return whole || json.Valid(j.line[from:j.at])
		}
		whole = false
	}
	return whole || json.Valid(j.line[from:])
}
