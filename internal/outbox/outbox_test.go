// SPDX-License-Identifier: Apache-2.0

package outbox

import (
	"slices"
	"testing"
)

func TestAFullQueueDropsNoClearForARaise(t *testing.T) {
	type put struct {
		name    string
		alarm   uint32
		clears  bool
		dropped []string
	}
	for what, c := range map[string]struct {
		puts []put
		left []string
	}{
		"room":                         {[]put{{"raise 1", 1, false, nil}, {"clear 1", 1, true, nil}}, []string{"raise 1", "clear 1"}},
		"a raise":                      {[]put{{"raise 1", 1, false, nil}, {"raise 2", 2, false, nil}, {"raise 3", 3, false, []string{"raise 3"}}}, []string{"raise 1", "raise 2"}},
		"the clear of a waiting raise": {[]put{{"raise 1", 1, false, nil}, {"raise 2", 2, false, nil}, {"clear 1", 1, true, []string{"raise 1", "clear 1"}}}, []string{"raise 2"}},
		"the clear of a sent raise":    {[]put{{"raise 1", 1, false, nil}, {"raise 2", 2, false, nil}, {"clear 9", 9, true, []string{"raise 2"}}}, []string{"raise 1", "clear 9"}},
		"clears only":                  {[]put{{"clear 1", 1, true, nil}, {"clear 2", 2, true, nil}, {"clear 3", 3, true, []string{"clear 3"}}}, []string{"clear 1", "clear 2"}},
		"of no alarm":                  {[]put{{"report", 0, false, nil}, {"report", 0, false, nil}, {"clear 3", 3, true, []string{"report"}}}, []string{"report", "clear 3"}},
	} {
		q := New[string](2)
		for _, p := range c.puts {
			if got := q.Put(p.name, p.alarm, p.clears); !slices.Equal(got, p.dropped) {
				t.Errorf("%s: %s dropped %q, want %q", what, p.name, got, p.dropped)
			}
		}
		if q.Len() != len(c.left) {
			t.Errorf("%s: %d wait", what, q.Len())
		}
		<-q.Ready()
		for _, want := range c.left {
			if got, ok := q.Take(); !ok || got != want {
				t.Errorf("%s: took %q, want %q", what, got, want)
			}
		}
		if got, ok := q.Take(); ok {
			t.Errorf("%s: took %q of an empty queue", what, got)
		}
	}
}
