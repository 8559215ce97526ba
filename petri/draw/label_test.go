// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLabels(t *testing.T) {
	for _, c := range []struct{ rule, name, id, want string }{
		{"the name", "Paid", "p1", "Paid"},
		{"the id without a name", "", "p1", "p1"},
		{"the id if there is nothing to see in the name", " \n\x00", "p1", "p1"},
		{"something if there is nothing at all", "\x01", "\x02", "?"},
		{"white space is one blank", " a \t\n b ", "", "a b"},
		{"broken at blanks", "Awaiting payment of the customer", "", "Awaiting\npayment of the\ncustomer"},
		{"broken behind an underscore", "send_krbtgt_to_all_requesters", "", "send_krbtgt_to_\nall_requesters"},
		{"broken before a capital", "waitForTheSecondPayment", "", "waitForThe\nSecondPayment"},
		{"broken anywhere if need be", "aaaaaaaaaaaaaaaaaaaaaaaa", "", "aaaaaaaaaaaaaa\naaaaaaaaaa"},
		{"wide characters count twice", "漢字の名前がとても長い", "", "漢字の名前がと\nても長い"},
		{"three lines, then an ellipsis", strings.Repeat("nine char ", 20), "", "nine char nine\nchar nine char\nnine char nine…"},
		{"accents stay on their letter", strings.Repeat("e\u0301", 15), "", strings.Repeat("e\u0301", 14) + "\ne\u0301"},
		{"the direction of text is not turned", "a\u202eb\u2066c", "", "abc"},
		{"halves of characters are replaced", "a\xffb", "", "a\ufffdb"},
	} {
		if got := label(c.name, c.id); got != c.want {
			t.Errorf("%s: the label of %q is %q; expected %q", c.rule, c.name, got, c.want)
		}
	}
}

func FuzzLabel(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := label(s, s)
		lines := strings.Split(got, "\n")
		if !utf8.ValidString(got) || len(lines) > labelLines || got == "" {
			t.Errorf("the label of %q is %q", s, got)
		}
		for _, line := range lines {
			if w := textWidth(line); w > labelWidth || line == "" || strings.TrimSpace(line) != line {
				t.Errorf("a line of the label of %q is %q, %v wide", s, line, w)
			}
		}
	})
}
