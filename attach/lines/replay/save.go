// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrState says that a saved state is not one of this net, or broken.
var ErrState = errors.New("not a state of this replay")

// maxName bounds an instance's name in a saved state, in bytes.
const maxName = 1 << 16

// AppendState appends what LoadState needs to go on: the open instances, oldest event
// first, and Counts. The rows' counters are not in it: see Unsent and Resume.
func (r *Replay) AppendState(b []byte) []byte {
	for _, n := range r.Counts.all() {
		b = binary.AppendUvarint(b, *n)
	}
	b = binary.AppendUvarint(b, uint64(len(r.byName)))
	for i := r.oldest; i != none; i = r.all[i].newer {
		in := &r.all[i]
		b = binary.AppendUvarint(b, uint64(len(in.name)))
		b = append(b, in.name...)
		b = binary.AppendVarint(b, in.last)
		b = binary.AppendUvarint(b, uint64(len(in.runs)))
		for _, q := range in.runs {
			b = binary.AppendUvarint(b, uint64(q.place))
			b = binary.AppendUvarint(b, uint64(q.n))
			b = binary.AppendVarint(b, in.last-q.injected)
		}
	}
	return b
}

func (c *Counts) all() []*uint64 {
	return []*uint64{&c.Events, &c.Unfit, &c.Silent, &c.Late, &c.Refused, &c.Evicted, &c.Blurred,
		&c.Produced, &c.Consumed, &c.Missing, &c.Remaining}
}

// LoadState makes a new Replay what AppendState saved; instances beyond its Limit are
// evicted. It returns ErrState for bytes that are no such state, and the Replay is of
// no use then.
func (r *Replay) LoadState(b []byte) error {
	s := stateReader{b: b}
	for _, n := range r.Counts.all() {
		*n = s.uvarint(math.MaxUint64)
	}
	for range s.uvarint(math.MaxInt32) {
		name := string(s.bytes(s.uvarint(maxName)))
		last := s.varint()
		if _, twice := r.byName[name]; s.broken || twice {
			return fmt.Errorf("%w: instance %.100q", ErrState, name)
		}
		if len(r.byName) >= r.cfg.Limit {
			r.Counts.Evicted++
			r.forget(r.oldest)
		}
		in := &r.all[r.slot(name, last)]
		for range s.uvarint(maxRuns) {
			q := run{place: int32(s.uvarint(math.MaxInt32)), n: uint32(s.uvarint(math.MaxUint32)), injected: last - s.varint()}
			if s.broken || int(q.place) >= r.tables.Places() || q.n == 0 {
				return fmt.Errorf("%w: tokens of instance %.100q", ErrState, name)
			}
			in.runs = append(in.runs, q)
		}
	}
	if s.broken || len(s.b) > 0 {
		return fmt.Errorf("%w: %d bytes too many or too few", ErrState, len(s.b))
	}
	return nil
}

// stateReader reads what AppendState wrote; once broken it gives zeros.
type stateReader struct {
	b      []byte
	broken bool
}

func (s *stateReader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(s.b)
	if n <= 0 || v > most || s.broken {
		s.broken = true
		return 0
	}
	s.b = s.b[n:]
	return v
}

func (s *stateReader) varint() int64 {
	v, n := binary.Varint(s.b)
	if n <= 0 || s.broken {
		s.broken = true
		return 0
	}
	s.b = s.b[n:]
	return v
}

func (s *stateReader) bytes(n uint64) []byte {
	if s.broken || n > uint64(len(s.b)) {
		s.broken = true
		return nil
	}
	out := s.b[:n]
	s.b = s.b[n:]
	return out
}
