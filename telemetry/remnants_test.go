// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"math/rand/v2"

	"github.com/pnagent/pnagent/stats"
)

// randomRemnants sometimes returns none, which are known.
func randomRemnants(r *rand.Rand) *Remnants {
	out := &Remnants{}
	for i := range r.IntN(3) {
		lost := Remnant{Path: []string{fmt.Sprint("host-", i)}, Region: "north", Left: 1 + r.Int64N(now0), SilentSince: r.Int64N(now0), Deadlocked: r.IntN(2) == 0}
		for _, index := range []*[]uint32{&lost.Places, &lost.Enabled, &lost.Fired} {
			*index = rising(r.IntN(4))
		}
		out.Lost = append(out.Lost, lost)
		out.Answers = append(out.Answers, Answer{Path: []string{"rack", "host"}, Bye: r.IntN(2) == 0, Columns: answerColumns[r.IntN(len(answerColumns))]})
	}
	return out
}

// remnantsGolden returns refusedGolden of a process that publishes for other sources, with
// what two of them and further ones do not report any more, and one that is back.
func remnantsGolden() Snapshot {
	s := refusedGolden()
	s.Remnants = &Remnants{
		Lost: []Remnant{
			{Path: []string{"rack 2", "host-7"}, Region: "north", Left: now0 - 5_000_000, SilentSince: now0 - 905_000_000, Places: []uint32{0, 1}, Enabled: []uint32{0}, Fired: []uint32{0}, Deadlocked: true},
			{Path: []string{"host-8"}, SilentSince: now0 - 4_000_000, Fired: []uint32{0}},
			{Left: now0 - 6_000_000, Places: []uint32{1}},
		},
		Answers: []Answer{{Path: []string{"host-9"}, Region: "south", Columns: stats.ColOldest | stats.ColFirings}, {Path: []string{"host-5"}, Bye: true}},
	}
	return s
}
