// SPDX-License-Identifier: Apache-2.0

package stats

import "slices"

// times holds the least of many times that come and go, as a multiset: some of the least
// ones in order, and how many others there are, none of them less than floor. A
// caller that removes all those in order has to add all times again. The latest of many times is
// the least of the negative ones.
type times struct {
	best  []int64
	rest  int // times that are not in best
	floor int64
}

// replace replaces a time by another one; 0 is none. It keeps at most keep times in order.
func (l *times) replace(from, to int64, keep int) {
	if to != 0 {
		l.add(to, keep)
	}
	if from != 0 {
		l.remove(from)
	}
}

func (l *times) add(v int64, keep int) {
	if l.rest > 0 && v > l.floor {
		l.rest++
		return
	}
	i := l.search(v)
	if len(l.best) == keep {
		l.rest++
		if i == keep {
			l.floor = v
			return
		}
		l.floor = l.best[keep-1]
		l.best = l.best[:keep-1]
	}
	l.best = slices.Insert(l.best, i, v)
}

func (l *times) remove(v int64) {
	i := l.search(v)
	if i == len(l.best) || l.best[i] != v {
		l.rest--
		return
	}
	l.best = slices.Delete(l.best, i, i+1)
}

// search returns where a time is, or would be. Most are behind the last one.
func (l *times) search(v int64) int {
	i := len(l.best)
	if i == 0 || l.best[i-1] < v {
		return i
	}
	i, _ = slices.BinarySearch(l.best, v)
	return i
}

// lacks reports whether the least time is not known.
func (l *times) lacks() bool { return l.rest > 0 && len(l.best) == 0 }

// least returns the least time; 0 for none.
func (l *times) least() int64 {
	if len(l.best) == 0 {
		return 0
	}
	return l.best[0]
}

// oldest holds the oldest of many tokens that come and go, as times does.
type oldest struct {
	best  []Token
	rest  int
	floor Token
}

// spareTokens is how many tokens are kept in order.
const spareTokens = 256

// replace replaces the tokens of a contributor, oldest first, and reports whether they
// differ.
func (l *oldest) replace(old, next []Token) (changed bool) {
	for len(old)+len(next) > 0 {
		c := 1
		if len(old) > 0 && len(next) > 0 {
			c = old[0].Compare(&next[0])
		} else if len(old) > 0 {
			c = -1
		}
		if c < 0 {
			l.remove(&old[0])
		}
		if c > 0 {
			l.add(&next[0])
		}
		if c <= 0 {
			old = old[1:]
		}
		if c >= 0 {
			next = next[1:]
		}
		changed = changed || c != 0
	}
	return changed
}

func (l *oldest) add(v *Token) {
	if l.rest > 0 && v.Compare(&l.floor) > 0 {
		l.rest++
		return
	}
	i, _ := l.search(v)
	if len(l.best) == spareTokens {
		l.rest++
		if i == spareTokens {
			l.floor = *v
			return
		}
		l.floor = l.best[spareTokens-1]
		l.best = l.best[:spareTokens-1]
	}
	l.best = slices.Insert(l.best, i, *v)
}

func (l *oldest) remove(v *Token) {
	if n := len(l.best); n == 0 || l.best[n-1].Compare(v) < 0 { // as of most
		l.rest--
		return
	}
	i, found := l.search(v)
	if !found {
		l.rest--
		return
	}
	l.best = slices.Delete(l.best, i, i+1)
}

func (l *oldest) search(v *Token) (int, bool) {
	return slices.BinarySearchFunc(l.best, v, func(a Token, v *Token) int { return a.Compare(v) })
}

// lacks reports whether the n oldest tokens are not known.
func (l *oldest) lacks(n int) bool { return l.rest > 0 && len(l.best) < n }
