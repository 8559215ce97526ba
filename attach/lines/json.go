// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Fields are the names of the members of a JSON object, or of the groups of a
// pattern. An empty name is not used. The name ticket.id is that of the member id in
// the object ticket, unless there is a member called "ticket.id".
type Fields struct {
	Time, Net, Instance, Transition, Place, Tokens, End, Dropped string
}

// maxNesting bounds the nesting of skipped values.
const maxNesting = 100

// jsonLines parses one JSON object (RFC 8259) per line. It checks and skips the
// values of unknown members. If a member is repeated, the last value counts;
// null counts as absent. A number is valid as a name.
type jsonLines struct {
	names  Fields
	nested bool // some name has a dot
	line   []byte
	at     int
	spares [fieldCount][]byte // memory for text with escapes
	key    []byte
	path   []byte           // names of the present object and of those around it, each with a dot behind it
	depths [fieldCount]int8 // how deep each field was found, from 1; 0 if it was not
}

// The fields of a line.
const (
	timeField = iota
	netField
	instanceField
	transitionField
	placeField
	tokensField
	droppedField
	endField
	fieldCount
	noField = -1
)

func newJSONLines(names Fields) *jsonLines {
	j := &jsonLines{names: names}
	for _, name := range j.all() {
		j.nested = j.nested || strings.Contains(name, ".")
	}
	return j
}

// all returns the names of the fields in order.
func (j *jsonLines) all() [fieldCount]string {
	n := &j.names
	return [...]string{n.Time, n.Net, n.Instance, n.Transition, n.Place, n.Tokens, n.Dropped, n.End}
}

// read implements format.
func (j *jsonLines) read(line []byte, into *fields) Reason {
	*into = fields{}
	j.line, j.at, j.path = line, 0, j.path[:0]
	if j.nested {
		clear(j.depths[:])
	}
	if !j.take('{') || !j.object(1, into) {
		return NotJSON
	}
	if j.space(); j.at != len(j.line) {
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
		key, ok := j.text(&j.key)
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
		return j.set(j.field(key), into)
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
		return j.skip(0)
	}
	was := *into
	ok := j.set(f, into)
	switch {
	case !into.lacks(f):
		j.depths[f] = depth
	case j.depths[f] > depth: // null is as if absent
		*into = was
	}
	return ok
}

// leads reports whether a name of a field continues the path.
func (j *jsonLines) leads() bool {
	for _, name := range j.all() {
		if len(name) > len(j.path) && name[len(j.path)] == '.' && name[:len(j.path)] == string(j.path) {
			return true
		}
	}
	return false
}

// field returns the field of a name, or noField.
func (j *jsonLines) field(name []byte) int {
	switch n := &j.names; string(name) {
	case "":
		return noField
	case n.Time:
		return timeField
	case n.Net:
		return netField
	case n.Instance:
		return instanceField
	case n.Transition:
		return transitionField
	case n.Place:
		return placeField
	case n.Tokens:
		return tokensField
	case n.Dropped:
		return droppedField
	case n.End:
		return endField
	}
	return noField
}

// set reads the value of a field.
func (j *jsonLines) set(field int, into *fields) (ok bool) {
	switch field {
	case timeField:
		into.time, into.textual, ok = j.value(field)
	case netField:
		into.net, _, ok = j.value(field)
	case instanceField:
		j.spares[field] = nil // an event keeps it beyond the next line
		into.instance, _, ok = j.value(field)
	case transitionField:
		into.transition, _, ok = j.value(field)
	case placeField:
		into.place, _, ok = j.value(field)
	case tokensField:
		into.tokens, _, ok = j.value(field)
	case droppedField:
		into.dropped, _, ok = j.value(field)
	case endField:
		from := j.at
		ok = j.skip(0)
		into.end = ok && string(j.line[from:j.at]) == "true"
	default:
		ok = j.skip(0)
	}
	return ok
}

// lacks reports whether a field is absent.
func (f *fields) lacks(field int) bool {
	values := [...][]byte{f.time, f.net, f.instance, f.transition, f.place, f.tokens, f.dropped}
	return field < len(values) && values[field] == nil
}

// value returns a string or a number; nil for null and for other types.
func (j *jsonLines) value(spare int) (v []byte, textual, ok bool) {
	if j.at < len(j.line) && j.line[j.at] == '"' {
		v, ok = j.text(&j.spares[spare])
		return v, true, ok
	}
	from := j.at
	if ok = j.skip(0); !ok {
		return nil, false, false
	}
	if c := j.line[from]; c == '-' || c >= '0' && c <= '9' {
		return j.line[from:j.at], false, true
	}
	return nil, false, true
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

// text reads a string. The result is in the line if it has no escapes, otherwise in spare.
func (j *jsonLines) text(spare *[]byte) ([]byte, bool) {
	if j.at >= len(j.line) || j.line[j.at] != '"' {
		return nil, false
	}
	line, from := j.line, j.at+1
	for k := from; k < len(line); k++ {
		c := line[k]
		switch {
		case c > '"' && c != '\\':
		case c == '"':
			j.at = k + 1
			return line[from:k:k], true
		case c == '\\':
			return j.escaped(from, k, spare)
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// escaped reads a string from its first escape on.
func (j *jsonLines) escaped(from, k int, spare *[]byte) ([]byte, bool) {
	out := append((*spare)[:0], j.line[from:k]...)
	for k < len(j.line) {
		c := j.line[k]
		k++
		switch {
		case c == '"':
			j.at, *spare = k, out
			return out, true
		case c < ' ':
			return nil, false
		case c != '\\':
			out = append(out, c)
			continue
		}
		if k >= len(j.line) {
			return nil, false
		}
		c = j.line[k]
		k++
		if c != 'u' {
			plain := unescape(c)
			if plain == 0 {
				return nil, false
			}
			out = append(out, plain)
			continue
		}
		r, ok := hex4(j.line, k)
		if !ok {
			return nil, false
		}
		k += 4
		if utf16.IsSurrogate(r) {
			low, paired := rune(0), k+1 < len(j.line) && j.line[k] == '\\' && j.line[k+1] == 'u'
			if paired {
				low, paired = hex4(j.line, k+2)
			}
			if r = utf16.DecodeRune(r, low); paired && r != utf8.RuneError {
				k += 6
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return nil, false
}

// unescape returns the character of an escape, or 0.
func unescape(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return 0
}

func hex4(line []byte, at int) (r rune, ok bool) {
	if at+4 > len(line) {
		return 0, false
	}
	for _, c := range line[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// skip skips a value.
func (j *jsonLines) skip(depth int) bool {
	j.space()
	if j.at >= len(j.line) || depth > maxNesting {
		return false
	}
	switch c := j.line[j.at]; c {
	case '"':
		_, ok := j.text(&j.key)
		return ok
	case '{', '[':
		j.at++
		return j.skipAll(c, depth)
	case 't':
		return j.word("true")
	case 'f':
		return j.word("false")
	case 'n':
		return j.word("null")
	default:
		return j.number()
	}
}

// skipAll skips the rest of an object or a list.
func (j *jsonLines) skipAll(open byte, depth int) bool {
	end := open + 2 // of { and [ in ASCII
	for first := true; !j.take(end); first = false {
		if !first && !j.take(',') {
			return false
		}
		if open == '{' {
			j.space()
			if _, ok := j.text(&j.key); !ok || !j.take(':') {
				return false
			}
		}
		if !j.skip(depth + 1) {
			return false
		}
	}
	return true
}

func (j *jsonLines) word(w string) bool {
	if len(j.line)-j.at < len(w) || string(j.line[j.at:j.at+len(w)]) != w {
		return false
	}
	j.at += len(w)
	return true
}

// number skips a number.
func (j *jsonLines) number() bool {
	j.sign("-")
	if j.at < len(j.line) && j.line[j.at] == '0' {
		j.at++
	} else if !j.digits() {
		return false
	}
	if j.at < len(j.line) && j.line[j.at] == '.' {
		if j.at++; !j.digits() {
			return false
		}
	}
	if j.at < len(j.line) && (j.line[j.at] == 'e' || j.line[j.at] == 'E') {
		j.at++
		j.sign("+-")
		return j.digits()
	}
	return true
}

func (j *jsonLines) sign(signs string) {
	for k := range len(signs) {
		if j.at < len(j.line) && j.line[j.at] == signs[k] {
			j.at++
			return
		}
	}
}

func (j *jsonLines) digits() bool {
	from := j.at
	for j.at < len(j.line) && j.line[j.at] >= '0' && j.line[j.at] <= '9' {
		j.at++
	}
	return j.at > from
}
