// SPDX-License-Identifier: Apache-2.0

package framed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// Mend returns what Text returned for a file in which one bit is wrong now, and reports whether
// that is the damage. The checksums show which bit it is: all bits of a payload of less than
// 256 MiB have different remainders.
func (c Content) Mend(text []byte) (whole []byte, ok bool) {
	_, err := c.Parse(text)
	if err == nil {
		return nil, false
	}
	whole = bytes.Clone(text)
	head, _ := c.Header(nil, 0)
	from, to := 0, len(head)
	var damage *DamagedError
	if errors.As(err, &damage) && damage.At >= int64(to) {
		from, to = int(damage.At), int(damage.At)+frameSize
	}
	for bit := 8 * from; bit < 8*min(to, len(whole)); bit++ {
		whole[bit/8] ^= 1 << (bit % 8)
		if _, err := c.Parse(whole); err == nil {
			return whole, true
		}
		whole[bit/8] ^= 1 << (bit % 8)
	}
	if from > 0 {
		w, _, err := c.parseHeader(whole)
		if err == nil && w.mend(whole[from:]) {
			_, err = c.Parse(whole)
			return whole, err == nil
		}
	}
	return nil, false
}

// mend inverts the bit of the payload of a frame that its checksum shows to be wrong.
func (w Writer) mend(frame []byte) bool {
	if len(frame) < frameSize || int64(binary.LittleEndian.Uint32(frame)) > int64(len(frame)-frameSize) {
		return false
	}
	payload := frame[frameSize:][:binary.LittleEndian.Uint32(frame)]
	syndrome := crc32.Update(w.seed, castagnoli(), payload) ^ binary.LittleEndian.Uint32(frame[5:])
	remainder := uint32(crc32.Castagnoli) // of the last bit
	for bit := 8*len(payload) - 1; bit >= 0; bit-- {
		if remainder == syndrome {
			payload[bit/8] ^= 1 << (bit % 8)
			return true
		}
		odd := remainder & 1
		remainder = remainder>>1 ^ odd*crc32.Castagnoli
	}
	return false
}
