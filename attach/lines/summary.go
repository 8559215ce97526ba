// SPDX-License-Identifier: Apache-2.0

package lines

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
