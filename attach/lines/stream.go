// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// MaxLine bounds a line, in bytes. Longer lines are dropped and counted.
const MaxLine = 1 << 20

// chunkSize is the size of one read.
const chunkSize = 64 << 10

// Stream reads the lines of a reader to its end, which is not an error, or
// until ctx ends. A read may then still be blocked; the owner of the reader
// must close it.
func (a *Attachment) Stream(ctx context.Context, r io.Reader) error {
	f, c := a.Feed(), cutter{}
	buf := make([]byte, chunkSize)
	for ctx.Err() == nil {
		n, err := r.Read(buf)
		if whole := c.add(buf[:n]); len(whole) > 0 || c.long > 0 {
			f.count.Dropped[TooLong] += c.takeLong()
			if err := f.Take(ctx, whole, nil); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return f.Take(ctx, c.rest(), nil)
		}
		if err != nil {
			return fmt.Errorf("reading lines: %w", err)
		}
	}
	return ctx.Err()
}

// cutter joins pieces into whole lines.
type cutter struct {
	part    []byte // the beginning of an unfinished line
	out     []byte
	long    uint64 // lines that were too long, since takeLong
	passing bool   // the next piece belongs to a line that is already too long
}

// add adds a piece and returns the whole lines that it completes, valid until the next call.
func (c *cutter) add(piece []byte) []byte {
	last := bytes.LastIndexByte(piece, '\n')
	if last < 0 {
		c.keep(piece)
		return nil
	}
	whole, rest := piece[:last+1], piece[last+1:]
	if c.passing {
		whole, c.passing = whole[bytes.IndexByte(whole, '\n')+1:], false
	}
	if len(c.part) > 0 {
		c.out = append(append(c.out[:0], c.part...), whole...)
		whole, c.part = c.out, c.part[:0]
	}
	c.keep(rest)
	return whole
}

func (c *cutter) keep(piece []byte) {
	if c.passing || len(piece) == 0 {
		return
	}
	if c.part = append(c.part, piece...); len(c.part) > MaxLine {
		c.part, c.passing = c.part[:0], true
		c.long++
	}
}

// rest returns the unfinished line and clears it.
func (c *cutter) rest() []byte {
	out := c.part
	c.part = nil
	return out
}

func (c *cutter) takeLong() uint64 {
	n := c.long
	c.long = 0
	return n
}
