// SPDX-License-Identifier: Apache-2.0

package plaintext_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// Every character of Unicode, by its properties.
func TestHostileCharactersAreControlsLineSeparatorsAndBidirectionalControls(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Bidi_Control, r)
		if got := plaintext.Hostile(r); got != want {
			t.Errorf("%U: got %t; want %t", r, got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "",
		"inbox":                "inbox",
		"Prüfung € 日本 😀":       "Prüfung € 日本 😀",
		"\u05d0\u05d1":         "\u05d0\u05d1",
		"a\u202egnp.exe":       `a\u202egnp.exe`,
		"a\x1b[2Jb":            `a\u001b[2Jb`,
		"a\u009bb\u2028\u2029": `a\u009bb\u2028\u2029`,
		"a\r\nb\tc\x7f":        `a\u000d\u000ab\u0009c\u007f`,
		"a\xff":                `a\xff`,
		`C:\users`:             `C:\users`,
		`a\u202e`:              `a\u005cu202e`,
		`a\xff`:                `a\u005cxff`,
		"\ufffd":               "\ufffd",
	} {
		if got := plaintext.Escape(in); got != want {
			t.Errorf("%q: got %q; want %q", in, got, want)
		}
	}
}

func TestCellsAreNoFormulas(t *testing.T) {
	for in, want := range map[string]string{
		"inbox": "inbox", "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": `\u0009=1`, "\r=1": `\u000d=1`, "a=1": "a=1", "": "",
		"＝1": "'＝1", "＋1＝": "'＋1＝", "a;=1;-2; @": "a;'=1;'-2; @", ";;+": ";;'+", "é;b": "é;b",
	} {
		if got := plaintext.Cell(in); got != want {
			t.Errorf("%q: got %q; want %q", in, got, want)
		}
	}
}

func TestACharacterIsReplacedAtEachPlaceOfAText(t *testing.T) {
	t.Parallel()
	for length := range 20 {
		for at := range length {
			for c := range rune(256) {
				s := strings.Repeat("~", at) + string(c) + strings.Repeat(" ", length-at-1)
				want := s
				if plaintext.Hostile(c) {
					want = strings.Replace(s, string(c), fmt.Sprintf(`\u%04x`, c), 1)
				}
				if got := plaintext.Escape(s); got != want {
					t.Fatalf("Escape(%q): got %q; want %q", s, got, want)
				}
			}
		}
	}
}

func TestCleanTextIsNotAllocated(t *testing.T) {
	lines := []byte("level=INFO msg=\"a line\" net=orders\n")
	if n := testing.AllocsPerRun(100, func() {
		_, _, _ = plaintext.Escape("order-fulfilment"), plaintext.Cell(`C:\path €`), plaintext.Lines(lines)
	}); n != 0 {
		t.Errorf("got %v allocations; want none", n)
	}
}

// unescape reads what Escape writes.
func unescape(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		for prefix, digits := range map[string]int{`\u`: 4, `\x`: 2} {
			if !strings.HasPrefix(s, prefix) || len(s) < 2+digits || strings.ToLower(s[2:2+digits]) != s[2:2+digits] {
				continue
			}
			if v, err := strconv.ParseUint(s[2:2+digits], 16, 32); err == nil {
				if digits == 4 {
					b.WriteRune(rune(v))
				} else {
					b.WriteByte(byte(v))
				}
				s = s[2+digits:]
				goto next
			}
		}
		b.WriteByte(s[0])
		s = s[1:]
	next:
	}
	return b.String()
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"inbox", "a\u202eb", `\u202e`, `\\u202e`, `\` + "\u202e", "\xe2\x80", "\x1b]0;x\a", "=1+1", `\u20` + "\x1b", "\r\n\r"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		shown := plaintext.Escape(s)
		if !utf8.ValidString(shown) || strings.ContainsFunc(shown, plaintext.Hostile) {
			t.Fatalf("%q: got %q", s, shown)
		}
		if back := unescape(shown); back != s {
			t.Fatalf("%q is shown as %q, which is also %q", s, shown, back)
		}
		lines := plaintext.Lines([]byte(s))
		if left := strings.NewReplacer("\n", "", "\t", "", "\r\n", "").Replace(string(lines)); strings.ContainsFunc(left, plaintext.Hostile) || !utf8.Valid(lines) {
			t.Fatalf("%q: lines %q", s, lines)
		}
		var written bytes.Buffer
		w := plaintext.NewWriter(&written)
		cut = min(max(cut, 0), len(s))
		for _, part := range []string{s[:cut], s[cut:], "\n"} {
			if n, err := w.Write([]byte(part)); err != nil || n != len(part) {
				t.Fatalf("writing %q: %d, %v", part, n, err)
			}
		}
		if want := plaintext.Lines([]byte(s + "\n")); written.String() != string(want) {
			t.Fatalf("%q cut at %d: written %q; want %q", s, cut, written.String(), want)
		}
		var doc bytes.Buffer
		if err := json.NewEncoder(&doc).Encode(s); err != nil {
			t.Fatal(err)
		}
		var got, want string
		if err := json.Unmarshal(doc.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(plaintext.Lines(doc.Bytes()), &got); err != nil || got != want {
			t.Fatalf("%q in JSON: got %q, %v; want %q", s, got, err, want)
		}
	})
}

func BenchmarkEscape(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = plaintext.Escape("order-fulfilment/awaiting payment")
	}
}
