// SPDX-License-Identifier: Apache-2.0

package yamlfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// walk visits every node, and returns the scalars.
func walk(n Node) (out []string, err error) {
	if s, ok := n.Scalar(); ok {
		return []string{s}, nil
	}
	if list, ok := n.List(); ok {
		for _, e := range list {
			s, err := walk(e)
			if err != nil {
				return nil, err
			}
			out = append(out, s...)
		}
		return out, nil
	}
	err = n.Each("a mapping", func(key Key, value Node) error {
		s, err := walk(value)
		out = append(append(out, key.Name+":"), s...)
		return err
	})
	return out, err
}

func TestScalarsStayAsTheyAreWritten(t *testing.T) {
	n, err := Read(strings.NewReader("a: 010\nb: [true, 1.50, 'x: y', \"z\\n\", .inf]\n1e3:\n  c: |\n    two\n    lines\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	got, err := walk(n)
	if d := cmp.Diff([]string{"a:", "010", "b:", "true", "1.50", "x: y", "z\n", ".inf", "1e3:", "c:", "two\nlines\n"}, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestFaultsNamePositionAndExpectation(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a list for a mapping", "a:\n  - [1]\n  - {b: }", "f:3:8: found a null; expected a mapping"},
		{"an alias", "a: &x 1\nb: *x", "f:1:4: found a anchor; expected a mapping"},
		{"a key twice", "a: 1\na: 2", "f:2:1: "},
		{"a key that is a list", "? [a]\n: 1", "f:2:1: not YAML"},
		{"not YAML", "a: [", "f:1:4: not YAML"},
		{"two documents", "a: 1\n---\nb: 2", "f:3:2: a second document; expected one"},
		{"too deep", strings.Repeat("{a: ", 200), "f: nested more than"},
		{"too deep in a line", strings.Repeat("- ", 2000), "f: nested more than"},
		{"too large", strings.Repeat("#", MaxSize+1), "f: more than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Read(strings.NewReader(c.text), "f")
			if err == nil {
				_, err = walk(n)
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s…", err, c.want)
			}
		})
	}
}

func TestALongLineIsNotDeep(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "a-%d: b-c, ", i)
	}
	n, err := Read(strings.NewReader("{"+text.String()+"}"), "f")
	if err == nil {
		_, err = walk(n)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestEmptyFileIsEmpty(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		if n, err := Read(strings.NewReader(text), "f"); err != nil || !n.IsEmpty() {
			t.Errorf("%q: %v, empty %v", text, err, n.IsEmpty())
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a: &x [1, {b: c}]\nd: *x\n<<: {e: f}\n? g\n: !!str h\n")
	f.Add("- - - a\n- |\n  b\n- >-\n  c\n...\n---\nd")
	f.Fuzz(func(_ *testing.T, text string) {
		if n, err := Read(strings.NewReader(text), "f"); err == nil && !n.IsEmpty() {
			_, _ = walk(n)
		}
	})
}
