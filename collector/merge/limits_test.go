// SPDX-License-Identifier: Apache-2.0

package merge

import "testing"

//promise:bounds load
func TestLimitsFitIntoMemory(t *testing.T) {
	most := DefaultLimits()
	for _, c := range []struct {
		name          string
		rows          int
		memory        int64
		want, waiting int
	}{
		{"much memory", 5, 1 << 60, 5, most.WaitingBytes},
		{"a row takes 2 KiB of half of the memory", 1 << 30, 1 << 30, 1 << 18, 1 << 25},
		{"hardly any memory", 5, 1, 1, 1},
		{"the default", 0, 1 << 60, most.AllRows, most.WaitingBytes},
	} {
		got := Limits{Sources: 7, AllRows: c.rows}.Within(c.memory)
		if want := (Limits{Sources: 7, AllRows: c.want, WaitingBytes: c.waiting}); got != want {
			t.Errorf("%s: %+v; want %+v", c.name, got, want)
		}
	}
}
