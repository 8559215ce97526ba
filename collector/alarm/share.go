// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"maps"
	"slices"
)

// Processes of a pair exchange pages: the text of a Saved with some of the alarms.
const (
	// MaxPage is the size of the largest valid page, in bytes.
	MaxPage = 512 << 10
	// pageSize is the size at which a page is full. One more alarm may follow.
	pageSize = 64 << 10
	// perAlarm is the size of an alarm on a page without its texts, in bytes; quoting
	// makes a text up to four times as long.
	perAlarm = 128
)

// pages returns pages with the alarms of these indices. There is at least one page,
// which has the largest index.
func (m *Machine) pages(indices []uint32) [][]byte {
	var out [][]byte
	for first := true; first || len(indices) > 0; first = false {
		n, size := 0, 0
		for n < len(indices) && size < pageSize && n < maxCleared {
			if e := m.book.entries[indices[n]]; e != nil {
				size += len(e.Net) + len(e.Subject) + len(e.Text) + sizeOfLost(e.Lost.All())
			}
			n, size = n+1, size+perAlarm
		}
		part := m.part(indices[:n])
		out = append(out, part.Text())
		indices = indices[n:]
	}
	return out
}

// sizeOfLost returns about how many bytes the origins of an alarm have on a page.
func sizeOfLost(lost []Origin) (n int) {
	for _, o := range lost {
		n += len(o.Source) + len(o.Region) + 6
	}
	return n
}

// ParsePage reads a page. Its errors wrap ErrState.
func ParsePage(text []byte) (Saved, error) {
	if len(text) > MaxPage {
		return Saved{}, fmt.Errorf("%w: a page of %d bytes; expected at most %d", ErrState, len(text), MaxPage)
	}
	return ParseSaved(text)
}

// ParseNotesPage reads a page of notes. Its errors wrap ErrState.
func ParseNotesPage(text []byte) (Noted, error) {
	if len(text) > MaxPage {
		return Noted{}, fmt.Errorf("%w: a page of %d bytes; expected at most %d", ErrState, len(text), MaxPage)
	}
	return ParseNoted(text)
}

func sortedKeys[V any](m map[uint32]V) []uint32 { return slices.Sorted(maps.Keys(m)) }
