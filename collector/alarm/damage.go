// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"bytes"
	"errors"
	"hash/crc32"
	"strconv"
	"strings"
)

// RecoverSaved reads the content of a state file. If one bit of it is damaged, the result is as
// it was written, and damage is the error of ParseSaved without that; else damage is nil.
func RecoverSaved(text []byte) (s Saved, damage, err error) {
	return recovered(text, ParseSaved, ended)
}

// RecoverNoted does the same for a file of notes.
func RecoverNoted(text []byte) (n Noted, damage, err error) {
	return recovered(text, ParseNoted, notesEnded)
}

// recovered does the same for a file whose last line end appends.
func recovered[T any](text []byte, parse func([]byte) (T, error), end func([]byte) []byte) (v T, damage, err error) {
	v, err = parse(text)
	if !errors.Is(err, ErrState) || len(text) > MaxStateSize {
		return v, nil, err
	}
	if whole, ok := mended(text, end); ok {
		damage = err
		v, err = parse(whole)
	}
	return v, damage, err
}

// mended returns the text of a file without its damage, if that is one bit. A CRC shows which
// one: the bits of a file of less than 512 MiB all have different remainders. end appends the
// last line, which has the CRC-32 of what is before it.
func mended(text []byte, end func(body []byte) []byte) (whole []byte, ok bool) {
	at := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
	whole, ok = mendedAt(text, at, end)
	if !ok { // the bit may be in the newline before the last line
		whole, ok = mendedAt(text, max(0, bytes.LastIndex(text, []byte("end "))), end)
	}
	return whole, ok
}

// mendedAt does the same for a last line that begins at a byte.
func mendedAt(text []byte, at int, end func(body []byte) []byte) (whole []byte, ok bool) {
	whole = end(bytes.Clone(text[:at]))
	if oneBit(whole[at:], text[at:]) {
		return whole, true
	}
	want, err := strconv.ParseUint(string(bytes.TrimSpace(text[max(at, len(text)-9):])), 16, 32)
	if err != nil {
		return nil, false
	}
	syndrome := crc32.ChecksumIEEE(text[:at]) ^ uint32(want)
	remainder := uint32(crc32.IEEE) // of the last bit
	for i := at - 1; i >= 0; i-- {
		for bit := 7; bit >= 0; bit-- {
			if remainder == syndrome {
				body := bytes.Clone(text[:at])
				body[i] ^= 1 << bit
				whole = end(body)
				return whole, bytes.Equal(whole[at:], text[at:])
			}
			if odd := remainder & 1; odd != 0 {
				remainder = remainder>>1 ^ crc32.IEEE
			} else {
				remainder >>= 1
			}
		}
	}
	return nil, false
}

// oneBit reports whether two texts differ in one bit.
func oneBit(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	bits := 0
	for i := range a {
		for x := a[i] ^ b[i]; x != 0; x &= x - 1 {
			bits++
		}
	}
	return bits == 1
}

// LastIn returns the largest index that a damaged state file shows; 0 for none. An index is
// the second word of its line, or any word of a line of indices. Damage may make one larger,
// but not beyond half of all indices.
func LastIn(text []byte) (last uint32) {
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		for i, w := range words {
			n, err := strconv.ParseUint(w, 10, 32)
			if i > 0 && err != nil {
				break
			}
			if i > 0 && n <= maxIndex/2 {
				last = max(last, uint32(n))
			}
			if i == 1 && words[0] != clearedWord {
				break
			}
		}
	}
	return last
}

// Largest returns the largest index of the notes.
func (n *Noted) Largest() (last uint32) {
	for i := range n.acks {
		last = max(last, n.acks[i].index)
	}
	for i := range n.cleared {
		last = max(last, n.cleared[i].Index)
	}
	return last
}
