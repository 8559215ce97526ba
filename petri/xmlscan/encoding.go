// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
)

// decoded returns the text of a file in UTF-8, if its first bytes determine the
// encoding (XML 1.0 appendix F): a byte order mark, or "<" in two bytes. Otherwise
// sure is false, and the XML declaration determines the encoding.
func decoded(r io.Reader) (text *bufio.Reader, sure bool) {
	text = bufio.NewReader(r)
	head, _ := text.Peek(3) // the decoder reports a shorter file or an error
	order := unicode.BigEndian
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, _ = text.Discard(3) // cannot fail: the bytes were peeked
		return text, true
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("<\x00")):
		order = unicode.LittleEndian
	case bytes.HasPrefix(head, []byte("\xfe\xff")), bytes.HasPrefix(head, []byte("\x00<")):
	default:
		return text, false
	}
	return bufio.NewReader(unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(text)), true
}

// UTF8 returns the text of a file in UTF-8. A declaration of another encoding then
// declares UTF-8. A file in UTF-8 stays as it is, without a byte order mark.
func UTF8(file []byte) ([]byte, error) {
	text := file
	r, sure := decoded(bytes.NewReader(file))
	if sure {
		var err error
		text, err = io.ReadAll(r)
		if err != nil {
			return nil, err
		}
	}
	end := bytes.Index(text, []byte("?>"))
	if !bytes.HasPrefix(text, []byte("<?xml")) || end < 0 {
		return text, nil
	}
	at := encodingName.FindSubmatchIndex(text[:end])
	if at == nil || strings.EqualFold(string(text[at[2]:at[3]]), "utf-8") {
		return text, nil
	}
	rest, err := (&charset{sure: sure}).reader(string(text[at[2]:at[3]]), bytes.NewReader(text[end:]))
	if err != nil {
		return nil, err
	}
	out := slices.Concat(text[:at[2]], []byte("UTF-8"), text[at[3]:end])
	decodedRest, err := io.ReadAll(rest)
	return append(out, decodedRest...), err
}

// encodingName is in the XML declaration.
var encodingName = regexp.MustCompile(`\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']`)

// charset decodes a file by its XML declaration.
type charset struct {
	sure   bool // the first bytes determined the encoding
	called bool // a second decoder must not be put on the first
}

// reader returns the UTF-8 of in, which is in an encoding that is declared as other than
// UTF-8.
func (c *charset) reader(label string, in io.Reader) (io.Reader, error) {
	if c.called {
		return nil, errors.New("a second XML declaration")
	}
	c.called = true
	name := strings.ToLower(label)
	// Some writers declare UTF-16, the encoding of their strings, and store UTF-8. ASCII is a part of
	// UTF-8.
	if c.sure || name == "utf8" || name == "ascii" || name == "us-ascii" || strings.HasPrefix(name, "utf-16") {
		return in, nil
	}
	enc, err := ianaindex.IANA.Encoding(label)
	if err != nil || enc == nil {
		return nil, errors.New("unknown charset")
	}
	return enc.NewDecoder().Reader(in), nil
}
