// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const readBuffer = 1 << 20

// damage describes an offset in a file at which no record can be read.
type damage struct {
	offset int64
	reason string
	// shifted reports that the record is whole but has the wrong number, which
	// no crash causes.
	shifted bool
}

func (d *damage) Error() string { return fmt.Sprintf("offset %d: %s", d.offset, d.reason) }

// corrupt returns the damage as a CorruptError.
func (d *damage) corrupt(name string, sequence uint64) *CorruptError {
	return &CorruptError{File: name, Offset: d.offset, Sequence: sequence, Reason: d.reason}
}

// records reads the records of a file one after another, from the end of the
// header on.
type records struct {
	in   *bufio.Reader
	seed uint32
	next uint64 // sequence that the next commit has
	at   int64  // offset of the next record
	end  int64  // where reading ends
	held int    // bytes of in that the last payload still uses
	long []byte // a payload that is longer than in
}

// newRecords returns a reader of the records of f up to the offset end, which
// is not before the end of the header.
func newRecords(f file, h header, end int64) *records {
	in := io.NewSectionReader(f, headerSize, end-headerSize)
	r := &records{in: bufio.NewReaderSize(in, int(min(end, readBuffer))), seed: seed(h.id), next: h.sequence, at: headerSize, end: end}
	if h.magic == snapshotMagic {
		r.next = 1
	}
	return r
}

// read returns the next record and its payload, which is valid until the next
// call. The error is io.EOF at the end, a *damage if there is no valid record,
// or an error of the disk.
func (r *records) read() (record, []byte, error) {
	if _, err := r.in.Discard(r.held); err != nil {
		return record{}, nil, err
	}
	r.held = 0
	left := r.end - r.at
	if left == 0 {
		return record{}, nil, io.EOF
	}
	if left < recordHeader {
		return record{}, nil, r.damaged("the record's header is cut short")
	}
	b, err := r.in.Peek(recordHeader)
	if err != nil {
		return record{}, nil, r.short(err)
	}
	rec, ok := parseRecord(b, r.seed)
	switch {
	case !ok:
		return record{}, nil, r.damaged("the record's header does not check")
	case int64(rec.length) > left-recordHeader:
		return record{}, nil, r.damaged("the record is cut short")
	}
	payload, err := r.payload(int(rec.length))
	if err != nil {
		return record{}, nil, r.short(err)
	}
	if crc32.Update(r.seed, castagnoli(), payload) != rec.sum {
		return record{}, nil, r.damaged("the record's payload does not check")
	}
	if err := r.count(rec); err != nil {
		return record{}, nil, err
	}
	r.at += recordHeader + int64(rec.length)
	return rec, payload, nil
}

// payload returns the n bytes after the header at the current offset.
func (r *records) payload(n int) ([]byte, error) {
	if recordHeader+n <= r.in.Size() {
		b, err := r.in.Peek(recordHeader + n)
		if err != nil {
			return nil, err
		}
		r.held = recordHeader + n
		return b[recordHeader:], nil
	}
	if _, err := r.in.Discard(recordHeader); err != nil {
		return nil, err
	}
	if cap(r.long) < n {
		r.long = make([]byte, n)
	}
	_, err := io.ReadFull(r.in, r.long[:n])
	return r.long[:n], err
}

// count checks that a whole record has the expected number.
func (r *records) count(rec record) error {
	want := r.next
	if rec.mark() {
		want--
	}
	if rec.sequence != want || rec.mark() && rec.length != 0 {
		return &damage{offset: r.at, shifted: true, reason: fmt.Sprintf("a record of commit %d; expected commit %d", rec.sequence, r.next)}
	}
	if !rec.mark() {
		r.next++
	}
	return nil
}

func (r *records) damaged(reason string) error { return &damage{offset: r.at, reason: reason} }

// short returns damage if the error means that the file has become shorter.
func (r *records) short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.damaged("the file has become shorter")
	}
	return err
}
