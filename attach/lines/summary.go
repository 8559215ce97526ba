// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNothing reports that nothing of the inputs could be replayed.
var ErrNothing = errors.New("nothing was replayed")

// Replayed returns ErrNothing if lines were read and all of them were dropped, with
// the number of lines by reason. A fitness of such a log says nothing.
func (a *Attachment) Replayed() error {
	c := a.Counters()
	for _, n := range a.Nets() {
		if n.Events > 0 {
			return nil
		}
	}
	var why []string
	for _, r := range Reasons() {
		if n := c.Dropped[r]; n > 0 {
			why = append(why, fmt.Sprintf("%d × %s (%s)", n, words[r].sentence, r))
		}
	}
	if len(why) == 0 || c.Held > 0 {
		return nil
	}
	return fmt.Errorf("%w: every line or event was dropped: %s", ErrNothing, strings.Join(why, ", "))
}

// Summary is the result of a replay.
type Summary struct {
	answer
	Nets []NetCounts `json:"nets"`
}

// Summary returns the result so far.
func (a *Attachment) Summary() Summary {
	c := a.Counters()
	return Summary{answer: c.answer(), Nets: a.Nets()}
}
