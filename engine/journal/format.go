// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// The format, which README.md describes. Numbers are little endian.
const (
	version      = 1
	headerSize   = 32
	recordHeader = 28
	chunkSize    = 1 << 20 // bytes in each record of a snapshot; the last may have fewer

	segmentMagic  = "pnjrnseg"
	snapshotMagic = "pnjrnsnp"

	segmentSuffix  = ".segment"
	snapshotSuffix = ".snapshot"
	newSuffix      = ".new" // of a file that is still being written
	lockName       = "lock"
)

// castagnoli returns the table of the library, which makes it at the first use.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// seed returns the value with which all checksums of one journal start. The
// checksum of a record of another journal, such as one inside a payload, is
// therefore wrong.
func seed(id uint64) uint32 {
	return crc32.Checksum(binary.LittleEndian.AppendUint64(nil, id), castagnoli())
}

// header is at the start of every file.
type header struct {
	magic    string
	id       uint64 // of the journal
	sequence uint64 // the first commit of a segment; the last commit in a snapshot
}

func (h header) append(b []byte) []byte {
	start := len(b)
	b = append(b, h.magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint64(b, h.id)
	b = binary.LittleEndian.AppendUint64(b, h.sequence)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli()))
}

// parseHeader parses the header of the file called name. It checks the magic
// number and the sequence against the name; the caller checks the id.
func parseHeader(name string, b []byte) (header, error) {
	want, _ := parseName(name)
	bad := func(offset int64, reason string) (header, error) {
		return header{}, &CorruptError{File: name, Offset: offset, Reason: reason}
	}
	if len(b) < headerSize {
		return bad(0, fmt.Sprintf("header of %d bytes; expected %d", len(b), headerSize))
	}
	if magic := string(b[:8]); magic != want.magic {
		return bad(0, fmt.Sprintf("magic %q; expected %q", magic, want.magic))
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		return header{}, fmt.Errorf("%s: offset 8: version %d, expected %d: %w", name, v, version, ErrVersion)
	}
	if crc32.Checksum(b[:headerSize-4], castagnoli()) != binary.LittleEndian.Uint32(b[headerSize-4:]) {
		return bad(0, "the header's checksum does not hold")
	}
	h := header{magic: want.magic, id: binary.LittleEndian.Uint64(b[12:]), sequence: binary.LittleEndian.Uint64(b[20:])}
	if h.sequence != want.sequence {
		return bad(20, fmt.Sprintf("sequence %d; expected %d by the file's name", h.sequence, want.sequence))
	}
	return h, nil
}

// record is the header of a payload.
type record struct {
	sequence uint64
	durable  uint64 // the last commit that was durable when this was written
	length   uint32 // of the payload
	sum      uint32 // of the payload
}

// mark reports whether a record is a mark: it holds no commit, and says that
// all commits before it are durable.
func (r record) mark() bool { return r.durable == r.sequence }

// appendRecord appends a record and its payload.
func appendRecord(b []byte, seed uint32, sequence, durable uint64, payload []byte) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint64(b, sequence)
	b = binary.LittleEndian.AppendUint64(b, durable)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Update(seed, castagnoli(), payload))
	b = binary.LittleEndian.AppendUint32(b, crc32.Update(seed, castagnoli(), b[start:]))
	return append(b, payload...)
}

// parseRecord parses a record's header; ok reports whether its checksum and its
// bounds are right.
func parseRecord(b []byte, seed uint32) (r record, ok bool) {
	r = record{
		sequence: binary.LittleEndian.Uint64(b),
		durable:  binary.LittleEndian.Uint64(b[8:]),
		length:   binary.LittleEndian.Uint32(b[16:]),
		sum:      binary.LittleEndian.Uint32(b[20:]),
	}
	ok = r.length <= MaxCommit && r.durable <= r.sequence &&
		crc32.Update(seed, castagnoli(), b[:recordHeader-4]) == binary.LittleEndian.Uint32(b[recordHeader-4:])
	return r, ok
}

func segmentName(first uint64) string { return fmt.Sprintf("%016x%s", first, segmentSuffix) }
func snapshotName(upTo uint64) string { return fmt.Sprintf("%016x%s", upTo, snapshotSuffix) }
func isUnfinished(name string) bool {
	_, ok := parseName(strings.TrimSuffix(name, newSuffix))
	return ok && strings.HasSuffix(name, newSuffix)
}

// parseName returns the magic number and the sequence that the header of a file
// called name has; ok is false if it is not a file of a journal.
func parseName(name string) (h header, ok bool) {
	digits, magic := name, ""
	if d, is := strings.CutSuffix(name, segmentSuffix); is {
		digits, magic = d, segmentMagic
	} else if d, is := strings.CutSuffix(name, snapshotSuffix); is {
		digits, magic = d, snapshotMagic
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || magic == "" || n == 0 || digits != fmt.Sprintf("%016x", n) {
		return header{}, false
	}
	return header{magic: magic, sequence: n}, true
}
