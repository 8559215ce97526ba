// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

func utf16Bytes(order binary.AppendByteOrder, s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func encoded(t *testing.T, enc *charmap.Charmap, s string) string {
	t.Helper()
	out, err := enc.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReadEncodings(t *testing.T) {
	xml := func(declared string) string {
		return "<?xml version=\"1.0\" encoding=\"" + declared + "\"?>\n" +
			`<pnml><net id="n" type="ptnet"><place id="p"><name><text>café</text></name></place><place id="q"/></net></pnml>`
	}
	tests := []struct{ rule, file string }{
		{"UTF-8", xml("UTF-8")},
		{"UTF-8 with a mark", "\ufeff" + xml("utf-8")},
		{"UTF-8 under a name without a hyphen", xml("utf8")},
		{"UTF-8 without a declaration", xml("")[strings.IndexByte(xml(""), '\n'):]},
		{"a UTF-8 mark beats the declaration", "\ufeff" + xml("ISO-8859-1")},
		{"UTF-8 that says it is UTF-16", xml("utf-16")},
		{"UTF-8 that says it is ASCII", xml("US-ASCII")},
		{"or by its short name", xml("ascii")},
		{"ISO-8859-1", encoded(t, charmap.ISO8859_1, xml("ISO-8859-1"))},
		{"latin1 under another name", encoded(t, charmap.ISO8859_1, xml("latin1"))},
		{"ISO-8859-15", encoded(t, charmap.ISO8859_15, xml("iso-8859-15"))},
		{"windows-1252", encoded(t, charmap.Windows1252, xml("windows-1252"))},
		{"UTF-16 little endian with a mark", utf16Bytes(binary.LittleEndian, "\ufeff"+xml("UTF-16"))},
		{"UTF-16 big endian with a mark", utf16Bytes(binary.BigEndian, "\ufeff"+xml("UTF-16"))},
		{"UTF-16 little endian without a mark", utf16Bytes(binary.LittleEndian, xml("UTF-16LE"))},
		{"UTF-16 big endian without a mark", utf16Bytes(binary.BigEndian, xml("UTF-16BE"))},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			n := read(t, tt.file).Nets[0]
			if got := n.Places[0].Name; got != "café" {
				t.Errorf("name %q", got)
			}
			// Columns count bytes in UTF-8: é is two.
			if got := n.Places[1].Pos; got.Line != 2 || got.Column != 85 {
				t.Errorf("position %v", got)
			}
		})
	}
}

// Latin-1 has controls where Windows has letters: the declared charset counts.
func TestReadTakesTheCharsetByItsName(t *testing.T) {
	name := func(charset string) string {
		return read(t, `<?xml version="1.0" encoding="`+charset+`"?><pnml><net id="n"><name><text>`+"\x80</text></name></net></pnml>").Nets[0].Name
	}
	if got := name("ISO-8859-1"); got != "\u0080" {
		t.Errorf("ISO-8859-1: %q", got)
	}
	if got := name("windows-1252"); got != "€" {
		t.Errorf("windows-1252: %q", got)
	}
}
