// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// jsonLines accepts exactly the objects that encoding/json accepts, and reads
// the same values.
func FuzzJSONLines(f *testing.F) {
	for _, text := range []string{
		opened("a"), `{}`, `{"instance":"\ud83d\ude00\ud800x","a":[1,-0.5e+3,{"b":null}],"end":true}`, `{"a":01}`, `{"a":"\x"}`,
		`{"instance":"a","instance":null}`, `{"instance":"\u00zz"}`, "[1]", `{"tokens":-5}`, `{"end":[true]}`, `{"\u0065nd":true}`, `{"":"x"}`,
		`{"a":{"b":{"c":1,},"b":2}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		j := newJSONLines(defaultFields())
		var got fields
		why := j.read(line, &got)
		var want map[string]json.RawMessage
		err := json.Unmarshal(line, &want)
		if why == Taken && (err != nil || want == nil) {
			t.Fatalf("%q is accepted, but is not an object: %v", line, err)
		}
		if why != Taken && err == nil && want != nil && !deeper(line, 10_000) {
			t.Fatalf("%q is an object and is rejected", line)
		}
		paths := defaultFields()
		paths.Instance, paths.Transition = "a.b", "a.b.c"
		if nested := newJSONLines(paths).read(line, new(fields)); nested != why && !deeper(line, 10_000) {
			t.Fatalf("%q is %v, and with paths %v", line, why, nested)
		}
		if why != Taken || !utf8.Valid(line) {
			return
		}
		for name, is := range map[string][]byte{"time": got.time, "net": got.net, "instance": got.instance, "transition": got.transition, "place": got.place, "tokens": got.tokens} {
			if text, there := said(want[name]); there != (is != nil) || text != string(is) {
				t.Fatalf("%q: %s is %q, want %q", line, name, is, text)
			}
		}
		if got.end != (string(bytes.TrimSpace(want["end"])) == "true") {
			t.Fatalf("%q: end is %v", line, got.end)
		}
	})
}

// A string is read alike wherever in it a quote, an escape, a control character or
// a letter beyond ASCII stands.
func TestAStringIsReadAsEncodingJSONReadsIt(t *testing.T) {
	for _, special := range []string{`"`, `\\`, `\n`, `\u00e9`, `\x`, "\n", "\x1f", "\x00", "é", "\x7f", " ", "!", "#"} {
		for at := range 20 {
			for _, more := range []int{0, 1, 7, 8, 20} {
				line := []byte(`{"instance":"` + strings.Repeat("a", at) + special + strings.Repeat("b", more) + `"}`)
				var got fields
				why := newJSONLines(defaultFields()).read(line, &got)
				var want struct{ Instance string }
				if err := json.Unmarshal(line, &want); (err == nil) != (why == Taken) || err == nil && string(got.instance) != want.Instance {
					t.Fatalf("%q is %q, %v; encoding/json reads %q, %v", line, got.instance, why, want.Instance, err)
				}
			}
		}
	}
}

// said returns the value of a member as text; false if it is neither text nor a
// number.
func said(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.IndexByte([]byte(`{[tfn`), raw[0]) >= 0 {
		return "", false
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	return string(raw), true
}

func deeper(line []byte, than int) bool {
	return bytes.Count(line, []byte("["))+bytes.Count(line, []byte("{")) > than
}

// Any text in pieces of any size is split into lines, and every line is an
// event or is counted.
func FuzzLines(f *testing.F) {
	f.Add([]byte(opened("a")+"x\n\n"+paid("a")), "", 3)
	f.Add([]byte("1 [a] t1\nx"), `^(?P<time>\d+) \[(?P<instance>.*)\] (?P<transition>\S+)`, 7)
	tables := compiled(f, orders)
	f.Fuzz(func(t *testing.T, text []byte, pattern string, size int) {
		if size < 1 || size > 1000 {
			return
		}
		if pattern != "" {
			if _, err := newPattern(pattern, defaultFields()); err != nil {
				return
			}
		}
		a := attach(t, func(c *Config) { c.Nets, c.Pattern = tables, pattern })
		feed, c := a.Feed(), cutter{}
		for piece := range slicesOf(text, size) {
			if err := feed.Take(t.Context(), c.add(piece), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := feed.Take(t.Context(), c.rest(), nil); err != nil {
			t.Fatal(err)
		}
		n := a.Counters()
		sum := a.Nets()[0].Events
		for _, k := range n.Dropped {
			sum += k
		}
		want := uint64(0)
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			if len(bytes.TrimSuffix(line, []byte("\r"))) > 0 {
				want++
			}
		}
		if n.Lines != want || sum < want {
			t.Fatalf("%d lines, %d of them known, want %d", n.Lines, sum, want)
		}
	})
}

func slicesOf(text []byte, size int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			n := min(size, len(text))
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}
