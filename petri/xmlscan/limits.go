// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"errors"
	"io"
)

// Limits bound a file. Every field is positive.
type Limits struct {
	Bytes int64 // length of the file
	Token int   // bytes of one tag, one text or one comment, in UTF-8
	Depth int   // elements inside each other, at most MaxDepth
}

// ErrLimit is in the chain of the error for a file that exceeds a limit.
var ErrLimit = errors.New("beyond a limit")

// MaxDepth bounds the recursion of readers.
const MaxDepth = 100_000

var (
	errTooLarge = errors.New("file too large")
	errTooLong  = errors.New("token too long")
)

// source reads a file and returns errTooLarge instead of more bytes than its limit.
type source struct {
	r    io.Reader
	left int64 // remaining bytes
	over bool  // there is a byte beyond the limit
	err  error // the error that ended reading, except io.EOF
}

func (s *source) Read(p []byte) (int, error) {
	if s.over {
		s.err = errTooLarge
	}
	if s.err != nil {
		return 0, s.err
	}
	if int64(len(p))-1 > s.left {
		p = p[:s.left+1]
	}
	n, err := s.r.Read(p)
	s.left -= int64(n)
	if s.left < 0 {
		s.over, s.left = true, 0
		n, err = n-1, nil
	}
	if err != io.EOF {
		s.err = err
	}
	return n, err
}
