// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
)

// decoded turns the bytes of a file into UTF-8 as far as its first bytes tell
// the encoding (XML 1.0 appendix F): a byte order mark, or "<" in two bytes. sure
// is false if only the XML declaration can tell.
func decoded(r io.Reader) (text *bufio.Reader, sure bool) {
	text = bufio.NewReader(r)
	head, _ := text.Peek(3) // a shorter file or a failing one: the decoder will say so
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

// charset returns the function that the XML decoder calls when it meets a
// declaration of another encoding than UTF-8. Once is all it may be called: a
// second declaration would stack a second decoder on the first.
func charset(sure bool) func(label string, in io.Reader) (io.Reader, error) {
	called := false
	return func(label string, in io.Reader) (io.Reader, error) {
		if called {
			return nil, errors.New("a second XML declaration")
		}
		called = true
		name := strings.ToLower(label)
		// Some writers say UTF-16 of the string they held and store UTF-8.
		if sure || name == "utf8" || strings.HasPrefix(name, "utf-16") {
			return in, nil
		}
		enc, err := ianaindex.IANA.Encoding(label)
		if err != nil || enc == nil {
			return nil, fmt.Errorf("unknown charset")
		}
		return enc.NewDecoder().Reader(in), nil
	}
}
