// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// kind is how a reader takes a field. Fields of other wire types than their kind's are
// ignored, as unknown fields are.
type kind byte

// The kinds, as newFields names them.
const (
	unknown kind = 0
	number  kind = 'n' // the last one is valid
	text    kind = 't' // likewise
	column  kind = 'c' // numbers, packed or one by one; parts are joined
	message kind = 'm' // parts are joined
	list    kind = 'l' // of messages
	names   kind = 's' // a list of texts
)

// field is a field of a message: what the bytes of the message hold of it.
type field struct {
	kind   kind
	set    bool     // it is there
	number uint64   // of a number
	bytes  []byte   // of a text, or the numbers of a column
	count  int      // of numbers in a column
	parts  [][]byte // of a list
	fields fields   // of a message, or of each message of a list: those of the one that was read last
}

// fields are the fields of a message by their numbers. There is no field 0.
type fields []field

// newFields returns fields of the given kinds, for the numbers from 1 on. inner are the
// fields of the messages and of the lists, in the same order.
func newFields(kinds string, inner ...fields) fields {
	f := make(fields, 1+len(kinds))
	for i, k := range []byte(kinds) {
		at := &f[i+1]
		at.kind = kind(k)
		if at.kind == message || at.kind == list {
			at.fields, inner = inner[0], inner[1:]
		}
	}
	return f
}

// snapshotFields returns the fields of a snapshot. A test compares them with the
// definition of the wire.
func snapshotFields() fields {
	histogram := func() fields { return newFields("cccccc") }
	slowest := newFields("ntnn")
	places := newFields("cccccccccmmll", newFields("ccc"), histogram(), oldestFields(), slowest)
	transitions := newFields("ccccccccccmcclc", histogram(), slowest)
	row := newFields("nnnnn")
	block := newFields("nnnn")
	queue := newFields("nnnnnn")
	region := newFields("nnnt")
	refused := newFields("nnnn")
	remnants := newFields("ll", newFields("stnncccn"), newFields("stnnnnnn"))
	return newFields("tnnnntttnnmmmlnlnnmmm", places, transitions, row, block, queue, region, refused, remnants)
}

// oldestFields returns the fields of oldest tokens.
func oldestFields() fields {
	token := func() fields { return newFields("tnlnt", newFields("nnnnnt")) }
	return newFields("nlnnl", token(), newFields("nnnmn", token()))
}

// scanMode is how thoroughly scan checks what it reads.
type scanMode int

const (
	outer scanMode = iota // without the messages of lists, and the size of each number of a column: the reader of these checks them
	exact                 // all
)

// scan reads the fields of a message, or of a part of it. They refer to b until reset.
// Texts are not checked to be UTF-8.
func (f fields) scan(b []byte, mode scanMode) error {
	for len(b) > 0 {
		num, typ, n := protowire.Number(b[0]>>3), protowire.Type(b[0]&7), 1
		if b[0] >= more || num == 0 {
			num, typ, n = protowire.ConsumeTag(b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if num > protowire.MaxValidNumber {
			return fmt.Errorf("field number %d", num)
		}
		b = b[n:]
		at := &f[0]
		if int(num) < len(f) {
			at = &f[num]
		}
		var err error
		switch typ {
		case protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(b); n >= 0 {
				at.takeNumber(v, b[:n])
			}
		case protowire.BytesType:
			var content []byte
			if content, n = protowire.ConsumeBytes(b); n >= 0 {
				err = at.takeBytes(content, mode)
			}
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			err = protowire.ParseError(n)
		}
		if err != nil {
			return fmt.Errorf("field %d: %w", num, err)
		}
		b = b[n:]
	}
	return nil
}

// takeNumber takes a number, which is encoded in b.
func (at *field) takeNumber(v uint64, b []byte) {
	switch at.kind {
	case number:
		at.number, at.set = v, true
	case column:
		at.join(b, 1)
		at.set = true
	}
}

func (at *field) takeBytes(b []byte, mode scanMode) (err error) {
	switch at.kind {
	case unknown, number:
		return nil
	case text:
		at.bytes = b
	case column:
		count := countNumbers
		if mode == exact {
			count = countEach
		}
		var n int
		n, err = count(b)
		at.join(b, n)
	case message:
		err = at.fields.scan(b, mode)
	case list:
		if mode == exact {
			err = at.fields.read(b, mode)
		}
		at.parts = append(at.parts, b)
	case names:
		at.parts = append(at.parts, b)
	}
	at.set = true
	return err
}

// join adds n numbers to a column. The first ones are not copied.
func (at *field) join(b []byte, n int) {
	at.count += n
	if at.bytes == nil {
		at.bytes = b[:len(b):len(b)] // what is appended goes elsewhere
	} else {
		at.bytes = append(at.bytes, b...)
	}
}

// read reads one message of a list instead of the last one.
func (f fields) read(b []byte, mode scanMode) error {
	f.reset()
	return f.scan(b, mode)
}

// reset empties the fields. They refer to nothing that was read.
func (f fields) reset() {
	for i := range f {
		at := &f[i]
		if !at.set {
			continue
		}
		at.set, at.number, at.bytes, at.count = false, 0, nil, 0
		clear(at.parts)
		at.parts = at.parts[:0]
		if at.kind == message {
			at.fields.reset()
		}
	}
}
