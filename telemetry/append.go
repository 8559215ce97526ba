// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// errInvalidText is the error of a text that protobuf has no form for.
var errInvalidText = errors.New("string field contains invalid UTF-8")

// appendNumber appends a field with a number; 0 is no field.
func appendNumber[T ~int32 | ~uint8 | ~uint32 | ~int64 | ~uint64](b []byte, num protowire.Number, v T) []byte {
	if v == 0 {
		return b
	}
	return appendKnown(b, num, uint64(v))
}

// appendKnown appends a field with a number that may be 0.
func appendKnown(b []byte, num protowire.Number, v uint64) []byte {
	return appendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func appendTrue(b []byte, num protowire.Number, v bool) []byte {
	if !v {
		return b
	}
	return appendKnown(b, num, 1)
}

// text appends a field with a text; "" is no field. It keeps the error of an invalid one.
func (e *Encoder) text(b []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return e.name(b, num, s)
}

// name appends a text of a list of texts, which may be "".
func (e *Encoder) name(b []byte, num protowire.Number, s string) []byte {
	if !utf8.ValidString(s) {
		e.err = errInvalidText
	}
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

// beginField begins a field of some bytes, which follow. endField takes what it returns.
func beginField(b []byte, num protowire.Number) (field []byte, start int) {
	b = append(protowire.AppendTag(b, num, protowire.BytesType), 0) // most lengths take a byte
	return b, len(b)
}

// endField sets the length of a field.
func endField(b []byte, start int) []byte {
	n := uint64(len(b) - start)
	if size := protowire.SizeVarint(n); size > 1 {
		b = slices.Insert(b, start, make([]byte, size-1)...)
	}
	binary.PutUvarint(b[start-1:], n)
	return b
}

// columns are the packed numbers of the columns of a message, by their fields.
type columns [7][]byte

func (c *columns) reset() {
	for i := range c {
		c[i] = c[i][:0]
	}
}

// append appends the message. A column without numbers is no field.
func (c *columns) append(b []byte, num protowire.Number) []byte {
	b, start := beginField(b, num)
	for i, content := range c {
		if len(content) > 0 {
			b = protowire.AppendBytes(protowire.AppendTag(b, protowire.Number(i), protowire.BytesType), content)
		}
	}
	return endField(b, start)
}
