// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"maps"
	"slices"
)

// A page is what processes of a pair send each other: the text of a Saved with
// some of the alarms.
const (
	// MaxPage is the size of the largest page that is read, in bytes.
	MaxPage = 512 << 10
	// pageSize is what a page is filled up to. One alarm more may be on it.
	pageSize = 64 << 10
	// perAlarm is what an alarm takes on a page beside its texts, in bytes; quoting
	// makes a text up to four times as long.
	perAlarm = 128
)

// pages returns what is known of alarms with these indices. There is one page at
// least, which says what the largest index is.
func (m *Machine) pages(indices []uint32) [][]byte {
	var out [][]byte
	for first := true; first || len(indices) > 0; first = false {
		n, size := 0, 0
		for n < len(indices) && size < pageSize && n < maxCleared {
			if e := m.book.entries[indices[n]]; e != nil {
				size += len(e.Net) + len(e.Subject) + len(e.Text)
			}
			n, size = n+1, size+perAlarm
		}
		part := m.part(indices[:n])
		out = append(out, part.Text())
		indices = indices[n:]
	}
	return out
}

// parsePage reads a page. Its errors wrap ErrState.
func parsePage(text []byte) (Saved, error) {
	if len(text) > MaxPage {
		return Saved{}, fmt.Errorf("%w: a page of %d bytes; expected at most %d", ErrState, len(text), MaxPage)
	}
	return ParseSaved(text)
}

func sortedKeys[V any](m map[uint32]V) []uint32 { return slices.Sorted(maps.Keys(m)) }
