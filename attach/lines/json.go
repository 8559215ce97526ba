// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Fields are the names of the members of a JSON object, or of the groups of a
// pattern. An empty name is not used.
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
	line   []byte
	at     int
	spares [7][]byte // memory for text with escapes, one for each field
	key    []byte
}

// read implements format.
func (j *jsonLines) read(line []byte, into *fields) Reason {
	*into = fields{}
	j.line, j.at = line, 0
	if !j.take('{') {
		return NotJSON
	}
	for first := true; !j.take('}'); first = false {
		if !first && !j.take(',') {
			return NotJSON
		}
		j.space()
		key, ok := j.text(&j.key)
		if !ok || !j.take(':') || !j.member(key, into) {
			return NotJSON
		}
	}
	if j.space(); j.at != len(j.line) {
		return NotJSON
	}
	return Taken
}

// member reads the value of a member.
func (j *jsonLines) member(key []byte, into *fields) (ok bool) {
	j.space()
	switch n := &j.names; string(key) {
	case "":
		return j.skip(0)
	case n.Time:
		into.time, into.textual, ok = j.value(0)
	case n.Net:
		into.net, _, ok = j.value(1)
	case n.Instance:
		j.spares[2] = nil // an event keeps it beyond the next line
		into.instance, _, ok = j.value(2)
	case n.Transition:
		into.transition, _, ok = j.value(3)
	case n.Place:
		into.place, _, ok = j.value(4)
	case n.Tokens:
		into.tokens, _, ok = j.value(5)
	case n.Dropped:
		into.dropped, _, ok = j.value(6)
	case n.End:
		from := j.at
		ok = j.skip(0)
		into.end = ok && string(j.line[from:j.at]) == "true"
	default:
		ok = j.skip(0)
	}
	return ok
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
		switch j.line[j.at] {
		case ' ', '\t', '\r', '\n':
			j.at++
		default:
			return
		}
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
	from := j.at + 1
	for k := from; k < len(j.line); k++ {
		switch c := j.line[k]; {
		case c == '"':
			j.at = k + 1
			return j.line[from:k:k], true
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
