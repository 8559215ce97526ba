// SPDX-License-Identifier: Apache-2.0

package pnml

// list gathers the nodes of a net. It grows by pages, so that nothing is copied while it
// grows and a pointer to an element stays valid until all is called.
type list[T any] struct {
	pages [][]T
	n     int
}

const (
	firstPage = 16   // elements
	lastPage  = 1024 // elements of the largest pages
)

// add returns a new element.
func (l *list[T]) add() *T {
	last := len(l.pages) - 1
	if last < 0 || len(l.pages[last]) == cap(l.pages[last]) {
		last++
		l.pages = append(l.pages, make([]T, 0, min(firstPage<<min(last, 10), lastPage)))
	}
	page := &l.pages[last]
	*page = (*page)[:len(*page)+1]
	l.n++
	return &(*page)[len(*page)-1]
}

// all returns the elements in one piece, and empties the list. It releases each page once
// it is copied.
func (l *list[T]) all() []T {
	if len(l.pages) == 0 {
		return nil
	}
	out := l.pages[0]
	if len(l.pages) > 1 {
		out = make([]T, 0, l.n)
		for i, page := range l.pages {
			out = append(out, page...)
			l.pages[i] = nil
		}
	}
	*l = list[T]{}
	return out
}
