// SPDX-License-Identifier: Apache-2.0

package xes

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

const small = `<?xml version="1.0"?><log xes.version="1.0" xmlns="http://www.xes-standard.org/">
<global scope="event"><string key="concept:name" value="name"/></global>
<trace><string key="concept:name" value="o-7"/><list key="x"><event/></list>
<event><string key="concept:name" value="a"/><date key="time:timestamp" value="T1"/><string key="lifecycle:transition" value="start"><string key="concept:name" value="inside"/></string></event>
<event/></trace><trace/><event><string key="concept:name" value="outside"/></event></log>`

// items returns all items of a log, a line each.
func items(r io.Reader) (out string, err error) {
	l, err := NewReader(r, "l.xes")
	if err != nil {
		return "", err
	}
	for {
		i, err := l.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		switch i.Kind {
		case Event:
			out += fmt.Sprintf("%s: %s at %s %s\n", i.Trace, i.Name, i.Time, i.Phase)
		case End:
			out += fmt.Sprintf("%s ends\n", i.Trace)
		case Stray:
			out += "stray\n"
		}
	}
}

func TestALogIsItsItemsInOrder(t *testing.T) {
	const want = "o-7: a at T1 start\no-7:  at  \no-7 ends\ntrace 2 ends\nstray\n"
	if got, err := items(strings.NewReader(small)); got != want || err != nil {
		t.Errorf("%v\n%s", err, got)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, small); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := items(&packed); got != want || err != nil {
		t.Errorf("gzip: %v\n%s", err, got)
	}
}

func TestLogsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"<net/>":              "l.xes:1:1: the element <net>; expected <log>",
		"<log><trace><event>": "l.xes:1:20: ",
		"\x1f\x8bx":           "reading l.xes: unexpected EOF",
	} {
		if _, err := items(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// A log of any bytes is read to an end: each trace that has an event ends, unless there is an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := items(bytes.NewReader(text))
		if lines := strings.Count(got, "\n"); err == nil && lines > len(text) {
			t.Errorf("%d items in %d bytes", lines, len(text))
		}
	})
}
