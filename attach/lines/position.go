// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"github.com/pnagent/pnagent/attach/lines/replay"
)

// position is how far a followed file was taken. The file is known by its inode and by its
// first bytes, because an inode is used again.
type position struct {
	inode  uint64
	offset int64  // of the first byte that is not taken; the beginning of a line, less carry
	head   int64  // how many of the first bytes sum is of
	sum    uint32 // their CRC-32
	carry  []byte // the beginning of a line that was cut by a rotation; its end may come first
}

// headSize is how many first bytes tell files apart, at most.
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

// matches reports whether a file begins as the one that the position is of, and goes as far.
func (p *position) matches(f io.ReaderAt, size int64) bool {
	if size < p.offset {
		return false
	}
	sum, err := headSum(f, p.head)
	return err == nil && sum == p.sum
}

// note makes the position tell the file by as many bytes as are taken.
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
