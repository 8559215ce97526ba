// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"github.com/pnagent/pnagent/attach/lines/replay"
)

// position records how much of a followed file was read. The file is identified
// by its inode and its first bytes, because the system reuses inodes.
type position struct {
	inode  uint64
	offset int64  // of the first byte that is not applied; carry belongs before it
	head   int64  // how many first bytes sum covers
	sum    uint32 // their CRC-32
	carry  []byte // the beginning of a line that a rotation cut off; its end is at the start of the file
}

// headSize is the largest number of first bytes that identify a file.
const headSize = 1024

func (p *position) append(b []byte) []byte {
	b = binary.AppendUvarint(b, p.inode)
	b = binary.AppendUvarint(b, uint64(p.offset))
	b = binary.AppendUvarint(b, uint64(p.head))
	b = binary.AppendUvarint(b, uint64(p.sum))
	return appendText(b, string(p.carry))
}

func readPosition(s *replay.StateReader) *position {
	return &position{inode: s.Uvarint(math.MaxUint64), offset: int64(s.Uvarint(math.MaxInt64)), head: int64(s.Uvarint(headSize)),
		sum: uint32(s.Uvarint(math.MaxUint32)), carry: append([]byte(nil), s.Text(MaxLine)...)}
}

// matches reports whether a file begins with the bytes of the position and is long enough.
func (p *position) matches(f io.ReaderAt, size int64) bool {
	if size < p.offset {
		return false
	}
	sum, err := headSum(f, p.head)
	return err == nil && sum == p.sum
}

// note extends the identifying first bytes to those that are applied.
func (p *position) note(f io.ReaderAt) error {
	n := min(p.offset, headSize)
	if n == p.head {
		return nil
	}
	sum, err := headSum(f, n)
	if err != nil {
		return err
	}
	p.head, p.sum = n, sum
	return nil
}

func headSum(f io.ReaderAt, n int64) (uint32, error) {
	b := make([]byte, n)
	if _, err := f.ReadAt(b, 0); err != nil {
		return 0, err
	}
	return crc32.ChecksumIEEE(b), nil
}
