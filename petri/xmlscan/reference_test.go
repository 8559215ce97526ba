// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
)

// expected lists the tokens of a document, with all that a Scanner says of them, and
// then the error. It is slow and obvious: encoding/xml reads each token.
func expected(file []byte) []string {
	text, sure := decoded(bytes.NewReader(file))
	dec := xml.NewDecoder(text)
	dec.CharsetReader = (&charset{sure: sure}).reader
	s := &Scanner{File: "f"} // for its faults
	var out []string
	for {
		line, column := dec.InputPos()
		s.At = petri.Pos{Line: line, Column: column}
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return append(out, fmt.Sprint(s.At, " end"))
		}
		if err != nil {
			line, column = dec.InputPos()
			s.next.Line = 1
			return append(out, s.broken(err, line, column).Error())
		}
		said := ""
		switch t := token.(type) {
		case xml.StartElement:
			said = fmt.Sprintf("<%s %s", t.Name.Space, t.Name.Local)
			for _, a := range t.Attr {
				said += fmt.Sprintf(" %s %s=%q", a.Name.Space, a.Name.Local, a.Value)
			}
		case xml.EndElement:
			said = fmt.Sprintf("</%s %s", t.Name.Space, t.Name.Local)
		case xml.CharData:
			said = fmt.Sprintf("%q", t)
		case xml.Directive:
			err = s.directive(t)
		case xml.ProcInst:
			if t.Target == "xml" && s.At != (petri.Pos{Line: 1, Column: 1}) {
				err = s.Fatal(s.At, "an XML declaration inside the document; expected it on line 1, column 1")
			}
		}
		if err != nil {
			return append(out, err.Error())
		}
		out = append(out, fmt.Sprint(s.At, " ", said))
	}
}

// scanned is the same of a Scanner.
func scanned(r io.Reader) []string {
	s := New(r, "f", Limits{Bytes: 1 << 30, Token: 1 << 30, Depth: MaxDepth})
	var out []string
	for {
		kind, err := s.Next()
		if errors.Is(err, io.EOF) {
			return append(out, fmt.Sprint(s.At, " end"))
		}
		if err != nil {
			return append(out, err.Error())
		}
		said := ""
		switch kind {
		case StartTag:
			said = fmt.Sprintf("<%s %s", s.Name.Space, s.Name.Local)
			for _, a := range s.Attrs {
				said += fmt.Sprintf(" %s %s=%q", a.Name.Space, a.Name.Local, a.Value)
			}
		case EndTag:
			said = fmt.Sprintf("</%s %s", s.Name.Space, s.Name.Local)
		case CharData:
			said = fmt.Sprintf("%q", s.Data)
		}
		out = append(out, fmt.Sprint(s.At, " ", said))
	}
}

// checkScanner compares a Scanner with the reference, whether the file comes at once or in
// pieces.
func checkScanner(t *testing.T, file []byte) {
	t.Helper()
	want := expected(file)
	for _, r := range []io.Reader{bytes.NewReader(file), iotest.OneByteReader(bytes.NewReader(file)), iotest.HalfReader(iotest.DataErrReader(bytes.NewReader(file)))} {
		if diff := cmp.Diff(want, scanned(r)); diff != "" {
			t.Fatalf("-encoding/xml +Scanner\n%s\n%q", diff, file[:min(len(file), 2000)])
		}
	}
}

// shared is the folder of files from real tools, beside the project.
const shared = "../../../shared/corpus"

func TestTheScannerIsEncodingXMLOnFiles(t *testing.T) {
	files := 0
	for _, dir := range []string{shared, "../../examples", "../bpmn/testdata", "../pnml/testdata"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && path == dir {
				t.Logf("%s is not here", dir)
				return nil
			}
			switch filepath.Ext(path) {
			case ".pnml", ".bpmn", ".bpmn2", ".xml", ".xes", ".test":
			default:
				return err
			}
			file, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if len(file) > 1<<20 && os.Getenv(seeds.Long) == "" {
				file = file[:1<<20]
			}
			files++
			t.Run(path, func(t *testing.T) { checkScanner(t, file) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 20 {
		t.Errorf("%d files", files)
	}
}

// parts are what documents are made of in random tests: what is well-formed, what nearly is.
var parts = []string{
	"<a>", "</a>", "<a>", "</a>", "<a/>", "<b:a>", "</b:a>", "<é>", "</é>", "</a\n>", "</ a>", "<a b='1'c=\"2\"\n/>", "<a  b = '1' >",
	"<a xmlns='u'>", "<a xmlns='' b:c='1'>", "<a xmlns:b='v' b:c='1' xml:lang='x'>", "<b:a xmlns:b=''>", "<xmlns>", "</xmlns>", "<a xmlns:xml='q' xmlns:xmlns='r'/>",
	"<b:a xmlns:b='v'><b:a xmlns:b='w' b:c=''></b:a><b:a/></b:a>", "<a xmlns='v'><c xmlns=''><d/></c><d/></a>", "<b:a></c:a>", "<a></b:a>",
	"<a:/>", "<:a/>", "<a:b:c/>", "<:>", "</:>", "<1>", "<a 1='2'>", "<a b>", "<a b=c>", "<a b='<'>", "<a b='>\"'/>", "<a b=\"'\r\n\r&#13;&lt;]]>é\ufffe\"/>", "<a é='1'/>", "<a bé='1'/>", "<a", "<a b='",
	"text", " ", "\n", "\r", "\r\n", "\t", "é", "\ufffe", "\uffff", "\xff", "\x00", "\x1f", "\x7f", "\u0085", "\U0001ffff", "]", "]]", ">", "]]>", "]]&gt;",
	"&amp;", "&lt;", "&gt;", "&apos;", "&quot;", "&#65;", "&#x41;", "&#xaF;", "&#X41;", "&#0;", "&#xd800;", "&#xfffe;", "&#1114111;", "&#1114112;", "&#0000000065;", "&#;", "&#x;", "&a;", "&é;", "&", "&;", "&lt", "& ",
	"<!-- c -->", "<!---->", "<!--->", "<!-->", "<!-- -- -->", "<!--\n\n-->", "<![CDATA[<&>\n]]]>", "<![CDATA[]]>", "<![CDATA[\r\n]]>", "<![CDATA[é\xff]]>", "<![CDATA[", "<![CDAT", "<!", "<!>",
	"<?p q?>", "<?xml version='1.0'?>", "<?xml version='1.1'?>", "<?xml version='1.0' encoding='latin1'?>", "<?xml encoding='utf-8'?>", "<?", "<?>", "<!DOCTYPE a>", "<!DOCTYPE a [", "<!ENTITY a 'b'>", "<!DOCTYPE a '>' <!-- --> >",
}

func TestTheScannerIsEncodingXMLOnRandomDocuments(t *testing.T) {
	for seed := range seeds.Of(3, 100) {
		r := rand.New(rand.NewPCG(seed, 32))
		for range 1000 {
			var b strings.Builder
			if r.IntN(4) == 0 {
				b.WriteString("<?xml version='1.0' encoding='" + []string{"UTF-8", "latin1", "utf-16", "windows-1252", "none"}[r.IntN(5)] + "'?>")
			}
			for range 1 + r.IntN(12) {
				part := parts[r.IntN(len(parts))]
				if r.IntN(10) == 0 {
					part = part[:r.IntN(len(part)+1)]
				}
				b.WriteString(part)
			}
			file := []byte(b.String())
			if r.IntN(10) == 0 {
				file = encodeUTF16(b.String())
			}
			checkScanner(t, file)
		}
	}
}

func encodeUTF16(s string) (out []byte) {
	for _, unit := range utf16.Encode([]rune("\ufeff" + s)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

// A token that is longer than what is read at once is the same token.
func TestTheScannerIsEncodingXMLOnLongTokens(t *testing.T) {
	for _, length := range []int{chunk - 10, chunk, 3 * chunk, 10*chunk + 1} {
		long := strings.Repeat("x\n", length/2)
		for _, file := range []string{
			"<a>" + long + "</a>", "<a b='" + long + "&lt;' c='d'/>", "<!--" + long + "--><a/>", "<a><![CDATA[" + long + "]]></a>",
			"<a>" + long + "&a;", "<?p " + long + "?><a/>", "<a " + long + ">", "<a b='" + long + "<'/>", "<!DOCTYPE a '" + long + "'><a/>", strings.ReplaceAll(long, "\n", "<a>"),
		} {
			checkScanner(t, []byte(file))
		}
	}
}

// For any bytes, the scanner returns the tokens and the error of encoding/xml.
func FuzzTheScannerIsEncodingXML(f *testing.F) {
	for _, part := range parts {
		f.Add([]byte("<a>" + part + "</a>"))
	}
	f.Fuzz(func(t *testing.T, file []byte) { checkScanner(t, file) })
}
