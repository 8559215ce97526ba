// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// wide are limits that the files of tests do not reach.
var wide = Limits{Bytes: 1 << 20, Token: 1 << 20, Depth: 200}

// tokens lists the tokens of a document with their positions, and then the error
// that ended the reading, if any.
func tokens(s *Scanner) []string {
	var out []string
	for {
		kind, err := s.Next()
		at := fmt.Sprintf("%d:%d ", s.At.Line, s.At.Column)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			return append(out, err.Error())
		}
		switch kind {
		case StartTag:
			out = append(out, at+"<"+s.Name.Local+">")
		case EndTag:
			out = append(out, at+"</"+s.Name.Local+">")
		case CharData:
			out = append(out, at+string(s.Data))
		}
	}
}

func TestNext(t *testing.T) {
	const noEntities = "expected none: entities are not expanded"
	tests := []struct {
		rule, xml string
		lim       Limits
		want      []string
	}{
		{"tokens and where they begin", "\ufeff<a>\n <b/>é<c x='1'\n/></a>", wide,
			[]string{"1:1 <a>", "1:4 \n ", "2:2 <b>", "2:6 </b>", "2:6 é", "2:8 <c>", "3:3 </c>", "3:3 </a>"}},
		{"what is not well-formed", "<a>\n<b></a>", wide, []string{"1:1 <a>", "1:4 \n", "2:1 <b>", "f:2:4: element <b> closed by </a>; expected well-formed XML"}},
		{"an end within", "<a>\n<b", wide, []string{"1:1 <a>", "1:4 \n", "f:2:1: the file ends inside what begins here; expected a complete XML document"}},
		{"entities of its own", "<a>&b;</a>", wide, []string{"1:1 <a>", "f:1:4: invalid character entity &b;; expected well-formed XML"}},
		{"declared entities", `<!DOCTYPE a [<!ENTITY b "c">]><a/>`, wide, []string{"f:1:1: a DOCTYPE with declarations of its own; " + noEntities}},
		{"other declarations", `<!ENTITY b "c"><a/>`, wide, []string{`f:1:1: the declaration <!ENTITY b "c">; ` + noEntities}},
		{"a second XML declaration", "<a><?xml version='1.0'?></a>", wide, []string{"1:1 <a>", "f:1:4: an XML declaration inside the document; expected it on line 1, column 1"}},
		{"too deep", "<a><b/></a>", Limits{Bytes: 100, Token: 100, Depth: 1}, []string{"1:1 <a>", "f:1:4: more than 1 elements inside each other; expected at most 1, which is a limit that can be raised"}},
		{"tokens as long as they may be", "<abc>defgh</abc>", Limits{Bytes: 100, Token: 6, Depth: 9}, []string{"1:1 <abc>", "1:6 defgh", "1:11 </abc>"}},
		{"a tag that is one byte longer", "<a>\n<abc b=''/></a>", Limits{Bytes: 100, Token: 10, Depth: 9}, []string{"1:1 <a>", "1:4 \n", "f:2:1: more than 10 bytes in one tag, text or comment; expected at most 10, which is a limit that can be raised"}},
		{"a text that is one byte longer", "<a>123456</a>", Limits{Bytes: 100, Token: 5, Depth: 9}, []string{"1:1 <a>", "f:1:4: more than 5 bytes in one tag, text or comment; expected at most 5, which is a limit that can be raised"}},
		{"a declaration that is longer", "<!DOCTYPE a><a/>", Limits{Bytes: 100, Token: 5, Depth: 9}, []string{"f:1:1: more than 5 bytes in one tag, text or comment; expected at most 5, which is a limit that can be raised"}},
		{"too long", "<a></a>", Limits{Bytes: 5, Token: 100, Depth: 9}, []string{"1:1 <a>", "f:1:4: more than 5 bytes in the file; expected at most 5, which is a limit that can be raised"}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tokens(New(iotest.OneByteReader(strings.NewReader(tt.xml)), "f", tt.lim))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestSkipReadsToTheEndOfAnElement(t *testing.T) {
	s := New(strings.NewReader("<a><b><c>x</c><c/></b><d/></a>"), "f", wide)
	for range 2 {
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Skip(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1:23 <d>", "1:27 </d>", "1:27 </a>"}, tokens(s)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// stuck is a reader that returns a beginning, and then neither bytes nor an error.
type stuck struct{ begin io.Reader }

func (s stuck) Read(p []byte) (int, error) {
	n, _ := s.begin.Read(p)
	return n, nil
}

func TestAReaderThatFailsOrIsStuckEndsTheReading(t *testing.T) {
	gone := errors.New("the disk is gone")
	for _, file := range []string{"", "<a>", "<a", "<a>text", "<a><!DOCT", "<a b='"} {
		for want, r := range map[error]io.Reader{
			gone:             io.MultiReader(strings.NewReader(file), iotest.ErrReader(gone)),
			io.ErrNoProgress: stuck{strings.NewReader(file)},
		} {
			s := New(r, "f", wide)
			var err error
			for err == nil {
				_, err = s.Next()
			}
			if _, again := s.Next(); !errors.Is(err, want) || !strings.HasPrefix(err.Error(), "reading f: ") || !errors.Is(again, err) {
				t.Errorf("%q: error %v, then %v; want %v twice", file, err, again, want)
			}
		}
	}
}

func TestTextHasThePositionOfItsFirstCharacter(t *testing.T) {
	s := New(strings.NewReader("<a>\n  x<!-- y --> z\n</a>"), "f", wide)
	var text Text
	for {
		kind, err := s.Next()
		if err != nil {
			break
		}
		if kind == CharData {
			if err := text.Add(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if text.String() != "x z" || text.Pos != (petri.Pos{Line: 2, Column: 3}) {
		t.Errorf("%q at %v", &text, text.Pos)
	}
}

// A string stays as it is when the value that it was made of is overwritten, and when others
// are made.
func TestStringsAreCopies(t *testing.T) {
	var made Strings
	var got, want []string
	value := make([]byte, 0, 10_000)
	for i := range 3000 {
		value = append(value[:0], bytes.Repeat([]byte{byte('a' + i%26)}, i%40)...)
		if i%500 == 0 {
			value = append(value[:0], bytes.Repeat([]byte{'x'}, 2*i)...)
		}
		got, want = append(got, made.Of(value)), append(want, string(value))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestAValueIsTrimmedOfTheWhiteSpaceOfXML(t *testing.T) {
	for _, value := range []string{"", " ", "\t\r\n ", " a", "a ", " a b\n", "\u00a0a\u00a0", "\va"} {
		if got, want := string(Trim([]byte(value))), strings.Trim(value, Space); got != want {
			t.Errorf("%q is %q trimmed, want %q", value, got, want)
		}
	}
}

func TestFaultsAreJoinedInSourceOrderAndBounded(t *testing.T) {
	f := Faults{File: "f"}
	f.Add(petri.Pos{}, "nowhere")
	f.Add(petri.Pos{Line: 2, Column: 1}, "second")
	f.Add(petri.Pos{Line: 1, Column: 9}, "first")
	if got := f.Join(io.ErrUnexpectedEOF).Error(); got != "f:1:9: first\nf:2:1: second\nf: nowhere\nunexpected EOF" {
		t.Error(got)
	}
	for range MaxFaults {
		f.Add(petri.Pos{Line: 3, Column: 1}, "more")
	}
	if got := f.Join(nil).Error(); f.Len() != MaxFaults+3 || !strings.HasSuffix(got, "\nf: 3 more faults not shown") {
		t.Errorf("%d faults, the last %s", f.Len(), got[len(got)-50:])
	}
}

// For any bytes, the scanner ends with io.EOF, a fault or a limit, and returns no
// token beyond its limits.
func FuzzNext(f *testing.F) {
	for _, seed := range []string{"<a><b c='d'/>e</a>", "<?xml version='1.0' encoding='latin1'?><a>\xe4</a>", "\xff\xfe<\x00a\x00/\x00>\x00", "<!DOCTYPE a><a/>", "<a>&lt;<![CDATA[b]]></a>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s := New(bytes.NewReader(content), "f", Limits{Bytes: 1 << 20, Token: 1000, Depth: 20})
		last := petri.Pos{}
		for {
			kind, err := s.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				var fault *petri.Fault
				if !errors.As(err, &fault) {
					t.Errorf("error %v", err)
				}
				return
			}
			if s.At.Line < last.Line || s.At.Line == last.Line && s.At.Column < last.Column {
				t.Errorf("token %d at %v after %v", kind, s.At, last)
			}
			last = s.At
		}
	})
}
