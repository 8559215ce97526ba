// SPDX-License-Identifier: Apache-2.0

package latest

import (
	"sync"
	"testing"
)

func TestASubscriberGetsTheNewestAlone(t *testing.T) {
	var v Value[int]
	if v.Load() != nil {
		t.Error("it holds something before the first")
	}
	early := v.Subscribe()
	one, two, three := 1, 2, 3
	v.Store(&one)
	late := v.Subscribe()
	if got := <-late; got != &one {
		t.Errorf("the first that a late subscriber gets is %d, want 1", *got)
	}
	v.Store(&two)
	v.Store(&three)
	for name, c := range map[string]<-chan *int{"early": early, "late": late} {
		if got := <-c; got != &three || len(c) != 0 {
			t.Errorf("%s: %d and %d more, want 3 alone", name, *got, len(c))
		}
	}
	if v.Load() != &three {
		t.Error("it holds another than the last")
	}
}

// Values arrive in order, whichever goroutine stores them, and the last one always
// arrives.
func TestTheLastValueAlwaysArrives(t *testing.T) {
	var v Value[int]
	subscribed := v.Subscribe()
	var storing, reading sync.WaitGroup
	reading.Go(func() {
		for last := 0; last < 1000; {
			next := *<-subscribed
			if next < last {
				t.Errorf("%d after %d", next, last)
			}
			last = next
		}
	})
	storing.Go(func() {
		for i := range 1001 {
			v.Store(&i)
		}
	})
	storing.Wait()
	reading.Wait()
}
