// SPDX-License-Identifier: Apache-2.0

package history

import (
	"reflect"
	"slices"
	"sort"
)

// log holds what changes rarely: all values of one kind as of the newest moment, and what
// each was before each of its changes. A value that never changes takes no memory besides
// that of the newest moment.
type log[T any] struct {
	compare func(a, b *T) int  // order of values; 0 for two values of one thing
	same    func(a, b *T) bool // of one thing
	texts   func(*T) int       // bytes of a value besides those of T

	now     []T // as of the newest moment, in order
	next    []T // scratch, for add
	changes []change[T]
	held    int64 // texts of changes
}

// change is what to undo for the moments before it.
type change[T any] struct {
	at    int64
	added bool // before, the thing did not exist
	was   T    // its value before; if it was added, the value that it got
}

// add sets the values as of a moment. It keeps values, which must be in order, until the
// next call. Without a moment before there are no changes.
func (l *log[T]) add(at int64, first bool, values []T) {
	if !first {
		l.walk(l.now, values, func(before, after *T) {
			switch {
			case before == nil:
				l.note(change[T]{at, true, *after})
			case after == nil || !l.same(before, after):
				l.note(change[T]{at, false, *before})
			}
		})
	}
	l.now, l.next = values, l.now
}

// room returns an empty slice for the values of the next moment.
func (l *log[T]) room() []T {
	clear(l.next)
	return l.next[:0]
}

func (l *log[T]) note(c change[T]) {
	l.changes = append(l.changes, c)
	l.held += int64(l.texts(&c.was))
}

// walk calls show for each thing of two lists that are in order; nil stands for its absence.
func (l *log[T]) walk(before, after []T, show func(before, after *T)) {
	for len(before) > 0 || len(after) > 0 {
		order := -1
		switch {
		case len(before) == 0:
			order = 1
		case len(after) > 0:
			order = l.compare(&before[0], &after[0])
		}
		var b, a *T
		if order <= 0 {
			b, before = &before[0], before[1:]
		}
		if order >= 0 {
			a, after = &after[0], after[1:]
		}
		show(b, a)
	}
}

// at returns the values as of a moment, in order.
func (l *log[T]) at(moment int64) []T {
	k := sort.Search(len(l.changes), func(i int) bool { return l.changes[i].at > moment })
	undo := make([]*change[T], 0, len(l.changes)-k)
	for i := range l.changes[k:] {
		undo = append(undo, &l.changes[k+i])
	}
	order := func(a, b *change[T]) int { return l.compare(&a.was, &b.was) }
	slices.SortStableFunc(undo, order)
	undo = slices.CompactFunc(undo, func(a, b *change[T]) bool { return order(a, b) == 0 }) // the oldest of each thing

	out := make([]T, 0, len(l.now)+len(undo))
	now := l.now
	for _, u := range undo {
		i, found := slices.BinarySearchFunc(now, u, func(v T, u *change[T]) int { return l.compare(&v, &u.was) })
		out, now = append(out, now[:i]...), now[i:]
		if found {
			now = now[1:]
		}
		if !u.added {
			out = append(out, u.was)
		}
	}
	return append(out, now...)
}

// forget drops what only moments before a time need.
func (l *log[T]) forget(oldest int64) {
	n := sort.Search(len(l.changes), func(i int) bool { return l.changes[i].at > oldest })
	for i := range l.changes[:n] {
		l.held -= int64(l.texts(&l.changes[i].was))
	}
	l.changes = fewer(l.changes, n)
}

// fewer returns a slice without its first n elements, in memory of at most twice its size.
func fewer[T any](s []T, n int) []T {
	s = slices.Delete(s, 0, n)
	if cap(s) > 2*len(s)+64 {
		s = slices.Clone(s)
	}
	return s
}

// bytes returns the memory of changes, and fixed that of the newest moment.
func (l *log[T]) bytes() int64 {
	return l.held + int64(cap(l.changes))*int64(reflect.TypeFor[change[T]]().Size())
}

func (l *log[T]) fixed() int64 {
	return int64(cap(l.now)+cap(l.next)) * int64(reflect.TypeFor[T]().Size())
}
