// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"strconv"
	"strings"
)

// LastIn returns the largest index that a damaged state file shows; 0 for none. An index is
// the second word of its line, or any word of a line of indices. Damage may make one larger,
// but not beyond half of all indices.
func LastIn(text []byte) (last uint32) {
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		for i, w := range words {
			n, err := strconv.ParseUint(w, 10, 32)
			if i > 0 && err != nil {
				break
			}
			if i > 0 && n <= maxIndex/2 {
				last = max(last, uint32(n))
			}
			if i == 1 && words[0] != clearedWord {
				break
			}
		}
	}
	return last
}

// Largest returns the largest index of the notes.
func (n *Noted) Largest() (last uint32) {
	for i := range n.acks {
		last = max(last, n.acks[i].index)
	}
	for i := range n.cleared {
		last = max(last, n.cleared[i].Index)
	}
	return last
}
