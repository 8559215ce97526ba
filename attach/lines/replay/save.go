// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrState reports a saved state that is invalid or of another net.
var ErrState = errors.New("not a state of this replay")

// maxName bounds an instance's name in a saved state, in bytes.
const maxName = 1 << 16

// AppendState appends the state for LoadState: the open instances, in the order
// of their last events, and Counts. The counters of rows are not part of it:
// see Unsent and Resume.
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
	return binary.AppendUvarint(b, r.Counts.Greedy)
}

// all returns the counts at the beginning of a state. Greedy is at its end.
func (c *Counts) all() []*uint64 {
	return []*uint64{&c.Events, &c.Unfit, &c.Silent, &c.Late, &c.Refused, &c.Evicted, &c.Blurred,
		&c.Produced, &c.Consumed, &c.Missing, &c.Remaining}
}

// LoadState loads a state into a new Replay, and evicts instances beyond its
// Limit. It returns ErrState for an invalid state; the Replay must then not be
// used.
func (r *Replay) LoadState(b []byte) error {
	s := StateReader{Rest: b}
	for _, n := range r.Counts.all() {
		*n = s.Uvarint(math.MaxUint64)
	}
	for range s.Uvarint(math.MaxInt32) {
		name := string(s.Text(maxName))
		last := s.Varint()
		if _, twice := r.byName[name]; s.Broken || twice {
			return fmt.Errorf("%w: instance %.100q", ErrState, name)
		}
		if len(r.byName) >= r.cfg.Limit {
			r.Counts.Evicted++
			r.forget(r.oldest)
		}
		in := &r.all[r.slot(name, last)]
		for range s.Uvarint(maxRuns) {
			q := run{place: int32(s.Uvarint(math.MaxInt32)), n: uint32(s.Uvarint(math.MaxUint32)), injected: last - s.Varint()}
			if s.Broken || int(q.place) >= r.tables.Places() || q.n == 0 {
				return fmt.Errorf("%w: tokens of instance %.100q", ErrState, name)
			}
			in.runs = append(in.runs, q)
		}
	}
	r.Counts.Greedy = s.Uvarint(math.MaxUint64)
	if s.Broken || len(s.Rest) > 0 {
		return fmt.Errorf("%w: %d bytes too many or too few", ErrState, len(s.Rest))
	}
	return nil
}

// StateReader reads a state field by field. After a missing field, or one that
// exceeds its bound, it is Broken and returns zeros.
type StateReader struct {
	Rest   []byte
	Broken bool
}

// Uvarint reads a number up to a bound.
func (s *StateReader) Uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(s.Rest)
	if n <= 0 || v > most || s.Broken {
		s.Broken = true
		return 0
	}
	s.Rest = s.Rest[n:]
	return v
}

// Varint reads a signed number.
func (s *StateReader) Varint() int64 {
	v, n := binary.Varint(s.Rest)
	if n <= 0 || s.Broken {
		s.Broken = true
		return 0
	}
	s.Rest = s.Rest[n:]
	return v
}

// Text reads bytes that follow their number, up to a bound. They share Rest's memory.
func (s *StateReader) Text(most uint64) []byte {
	n := s.Uvarint(most)
	if s.Broken || n > uint64(len(s.Rest)) {
		s.Broken = true
		return nil
	}
	out := s.Rest[:n:n]
	s.Rest = s.Rest[n:]
	return out
}
