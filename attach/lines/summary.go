// SPDX-License-Identifier: Apache-2.0

package lines

// Summary is the result of a replay.
type Summary struct {
	answer
	Nets []NetSummary `json:"nets"`
}

// NetSummary is the result for one net.
type NetSummary struct {
	Net       string  `json:"net"`
	Events    uint64  `json:"events"`
	Unfit     uint64  `json:"unfit"`
	Fitness   float64 `json:"fitness"`
	Produced  uint64  `json:"produced"`
	Consumed  uint64  `json:"consumed"`
	Missing   uint64  `json:"missing"`
	Remaining uint64  `json:"remaining"`
	Silent    uint64  `json:"silent"`
	Late      uint64  `json:"late"`
	Open      int     `json:"open"`
}

// Summary returns the result so far.
func (a *Attachment) Summary() Summary {
	c := a.Counters()
	s := Summary{answer: c.answer()}
	for _, n := range a.Nets() {
		s.Nets = append(s.Nets, NetSummary{Net: n.Net, Events: n.Events, Unfit: n.Unfit, Fitness: n.Fitness, Produced: n.Produced,
			Consumed: n.Consumed, Missing: n.Missing, Remaining: n.Remaining, Silent: n.Silent, Late: n.Late, Open: n.Open})
	}
	return s
}
