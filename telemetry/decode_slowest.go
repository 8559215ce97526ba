// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// readSlowest sets the slowest token or firing of each of the n rows of a
// table, at the address that at returns. The list names rows by their index in
// the net; index maps them to rows and is nil in a full snapshot. known reports
// whether the table has the histograms that the list belongs to.
func readSlowest(list []*wire.Slowest, index []uint32, n int, known bool, at func(row int) *stats.Slowest) error {
	for i := range n {
		*at(i) = stats.Slowest{}
	}
	if len(list) > 0 && !known {
		return fmt.Errorf("%w: without its histograms", BadColumns)
	}
	for i, w := range list {
		if i > 0 && w.GetRow() <= list[i-1].GetRow() {
			return fmt.Errorf("%w: row %d after row %d", BadIndex, w.GetRow(), list[i-1].GetRow())
		}
		row, ok := int(w.GetRow()), int(w.GetRow()) < n
		if index != nil {
			row, ok = slices.BinarySearch(index, w.GetRow())
		}
		if !ok {
			return fmt.Errorf("%w: row %d is not there", BadIndex, w.GetRow())
		}
		if err := checkText(w.GetInstance()); err != nil {
			return fmt.Errorf("instance: %w", err)
		}
		if w.GetAt() <= 0 || w.GetAt() > MaxTime || w.GetDuration() > MaxTime {
			return fmt.Errorf("%w: %d µs until %d", BadValue, w.GetDuration(), w.GetAt())
		}
		*at(row) = stats.Slowest{Instance: w.GetInstance(), Micros: int64(w.GetDuration()), At: w.GetAt()}
	}
	return nil
}
