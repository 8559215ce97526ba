// SPDX-License-Identifier: Apache-2.0

package pnml

import "testing"

func TestAListKeepsWhatWasAddedInOrder(t *testing.T) {
	for _, n := range []int{0, 1, firstPage, firstPage + 1, 3*lastPage + 5} {
		var l list[int]
		first := new(int)
		for i := range n {
			p := l.add()
			*p = i
			if i == 0 {
				first = p
			}
		}
		*first = -1 // a pointer is to the element however many come after it
		if l.n != n {
			t.Errorf("%d elements, want %d", l.n, n)
		}
		all := l.all()
		if len(all) != n || l.n != 0 || len(l.all()) != 0 {
			t.Fatalf("%d elements in one piece, want %d, and none left", len(all), n)
		}
		for i, v := range all {
			if want := i; i > 0 && v != want || i == 0 && v != -1 {
				t.Fatalf("element %d is %d", i, v)
			}
		}
	}
}
