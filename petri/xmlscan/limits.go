// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"cmp"
	"errors"
	"io"
)

// Limits bound a file. A field that is not positive means its default.
type Limits struct {
	Bytes int64 // length of the file
	Token int   // bytes of one tag, one text or one comment
	Depth int   // elements inside each other, at most MaxDepth
}

// DefaultLimits returns 64 MiB, tokens of 1 MiB and a depth of 200.
func DefaultLimits() Limits {
	return Limits{Bytes: 64 << 20, Token: 1 << 20, Depth: 200}
}

// ErrLimit is in the chain of the error for a file that exceeds a limit.
var ErrLimit = errors.New("beyond a limit")

// MaxDepth bounds the recursion of readers.
const MaxDepth = 100_000

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	return Limits{
		Bytes: cmp.Or(max(l.Bytes, 0), d.Bytes),
		Token: cmp.Or(max(l.Token, 0), d.Token),
		Depth: min(cmp.Or(max(l.Depth, 0), d.Depth), MaxDepth),
	}
}

var (
	errTooLarge = errors.New("file too large")
	errTooLong  = errors.New("token too long")
)

// source reads a file and returns an error at a limit. The XML decoder collects a
// whole token before it returns it, so that only its input can bound a token.
type source struct {
	r     io.Reader
	left  int64 // remaining bytes
	token int   // bytes since the start of the current token
	max   int   // bound on token
	err   error // the error that ended reading, except io.EOF
}

func (s *source) Read(p []byte) (int, error) {
	if s.token > s.max {
		s.err = errTooLong
	}
	if s.err != nil {
		return 0, s.err
	}
	if int64(len(p))-1 > s.left {
		p = p[:s.left+1]
	}
	n, err := s.r.Read(p)
	s.left -= int64(n)
	s.token += n
	if s.left < 0 {
		err = errTooLarge
		n = 0
	}
	if err != io.EOF {
		s.err = err
	}
	return n, err
}
