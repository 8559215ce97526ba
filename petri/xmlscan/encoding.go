// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"bufio"
	"bytes"
	"errors"
	"io"
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

// charset returns the function that the XML decoder calls for a declaration of
// another encoding than UTF-8. It can be called once: a second call would put a
// second decoder on the first.
func charset(sure bool) func(label string, in io.Reader) (io.Reader, error) {
	called := false
	return func(label string, in io.Reader) (io.Reader, error) {
		if called {
			return nil, errors.New("a second XML declaration")
		}
		called = true
		name := strings.ToLower(label)
		// Some writers declare UTF-16, the encoding of their strings, and store UTF-8.
		if sure || name == "utf8" || strings.HasPrefix(name, "utf-16") {
			return in, nil
		}
		enc, err := ianaindex.IANA.Encoding(label)
		if err != nil || enc == nil {
			return nil, errors.New("unknown charset")
		}
		return enc.NewDecoder().Reader(in), nil
	}
}
