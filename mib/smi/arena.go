// SPDX-License-Identifier: Apache-2.0

package smi

// arena is a list of names in one flat array without pointers for the garbage collector.
type arena struct {
	subs []uint32
	ends []uint32 // ends[i] is where name i ends in subs
}

func (a *arena) at(i int) OID {
	var start uint32
	if i > 0 {
		start = a.ends[i-1]
	}
	end := a.ends[i]
	return OID(a.subs[start:end:end])
}

// search returns the index of the first name whose sub-identifiers from skip on come after
// tail (or are tail, if include is set). All names must agree in the first skip. The
// comparison is inlined: it is the innermost loop of a walk, and a call costs a third of it.
func (a *arena) search(tail OID, skip int, include bool) int {
	lo, hi := 0, len(a.ends)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		var start uint32
		if mid > 0 {
			start = a.ends[mid-1]
		}
		other := a.subs[int(start)+skip : a.ends[mid]]
		i := 0
		for i < len(tail) && i < len(other) && tail[i] == other[i] {
			i++
		}
		var after bool // the name at mid comes after tail, or is the one sought
		switch {
		case i < len(tail) && i < len(other):
			after = other[i] > tail[i]
		case len(other) == len(tail):
			after = include
		default:
			after = len(other) > len(tail)
		}
		if after {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

func commonPrefix(a, b OID) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
