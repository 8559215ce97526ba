// SPDX-License-Identifier: Apache-2.0

package firstfields

import (
	"slices"
	"testing"
)

func TestTheNumbersAreTheFirstFieldsOfTheRow(t *testing.T) {
	type row struct {
		Count uint64
		At    int64
		Name  string
	}
	r := row{3, -1, "a"}
	numbers := Of(&r, 2)
	if want := []uint64{3, 1<<64 - 1}; !slices.Equal(numbers, want) {
		t.Errorf("%d; want %d", numbers, want)
	}
	numbers[0] = 5
	if r.Count != 5 {
		t.Errorf("count %d after 5 was written", r.Count)
	}
	defer func() {
		if recover() == nil {
			t.Error("five numbers of a row that has room for four")
		}
	}()
	Of(&r, 5)
}
