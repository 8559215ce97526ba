// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Flags of an instance. The first three are written down.
const (
	Finished   uint8 = 1 << iota // at rest, at its end
	Deadlocked                   // at rest, not at its end
	Failed                       // at rest, with a firing that could not be
	Moved                        // something happened since it was last at rest
	EverMoved                    // not as it was created
	Queued                       // plain: in the ready ring
)

// AtRest are the flags of which an instance has at most one: it takes part again
// only when something comes from outside.
const AtRest = Finished | Deadlocked | Failed

// StateEnded marks an entry of a state as a row of instances that have ended.
// Below it are 0 and what an instance is at rest as, see StateOf.
const StateEnded = 4

// StateOf returns the record in a state of what an instance is at rest as: 0 if
// it is not.
func StateOf(flags uint8) uint64 { return uint64(bits.Len8(flags & AtRest)) }

// FlagOf is the inverse of StateOf.
func FlagOf(state uint64) uint8 { return uint8(1<<state) >> 1 }

// CountRest counts an instance that comes to rest as something, one of AtRest or
// 0, which it returns.
func (b *Base) CountRest(flag uint8) uint8 {
	switch flag {
	case Finished:
		b.Rec.Net.Finished++
	case Deadlocked:
		b.Deadlocked++
	case Failed:
		b.Rec.Net.Failed++
	}
	return flag
}

// Calm makes an instance no longer count as deadlocked.
func (b *Base) Calm(flags *uint8) {
	if *flags&Deadlocked != 0 {
		b.Deadlocked--
	}
	*flags &^= Deadlocked
}

// Revive makes an instance no longer be at rest. One that had ended counts as created again.
func (b *Base) Revive(flags *uint8) {
	b.Calm(flags)
	if *flags&(Finished|Failed) != 0 {
		b.Rec.Net.Created++
	}
	*flags &^= AtRest
}

// Turns is how many turns there can be.
func (b *Base) Turns() uint64 { return uint64(max(b.Tables.Transitions(), 1)) }

// AppendEnded appends the rows of the instances that have ended: for each row the
// first number plus one, how far it is from one to the next, and how many follow.
func (b *Base) AppendEnded(dst []byte, ended func(i int) bool) []byte {
	first, step, more := -1, 0, 0
	flush := func() {
		if first >= 0 {
			dst = binary.AppendUvarint(dst, uint64(first)+1)
			dst = binary.AppendUvarint(dst, StateEnded*b.Turns())
			dst = binary.AppendUvarint(dst, uint64(max(step, 1)))
			dst = binary.AppendUvarint(dst, uint64(more))
		}
	}
	for i := range b.Count {
		if !ended(i) {
			continue
		}
		switch n := b.Number(i); {
		case first >= 0 && more == 0:
			step, more = n-first, 1
		case first >= 0 && n == first+step*(more+1):
			more++
		default:
			flush()
			first, step, more = n, 0, 0
		}
	}
	flush()
	return dst
}

// LoadEnded reads the rest of a row that begins with an instance, and counts
// those that the shard holds as finished. last is the last instance of the rows
// before: rows follow each other, so that reading them costs no more than there
// are instances.
func (b *Base) LoadEnded(r *Reader, first int, last *int, each func(i int)) {
	step, more := r.Next(math.MaxInt64), r.Next(math.MaxInt64)
	if step == 0 || first <= *last || more > uint64(math.MaxInt64-first)/step {
		r.Fail("a row of ended instances from %d on, %d more in steps of %d, after instance %d; expected it to follow that one", first, more, step, *last)
	}
	if r.Err != nil {
		return
	}
	*last = first + int(step*more)
	for i := b.from(first); i < b.Count && b.Number(i) <= *last; i++ {
		if uint64(b.Number(i)-first)%step == 0 {
			each(i)
			b.Rec.Net.Finished++
		}
	}
}
