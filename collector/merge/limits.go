// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"time"
)

// DefaultForgetAfter is how long a silent source's tokens stay in the sums.
const DefaultForgetAfter = 15 * time.Minute

// Limits bound what a Merger keeps. A zero field means its default. Whatever
// exceeds a limit is rejected and counted by reason. A live source is never removed for
// another one, once it has sent messages for a minute.
type Limits struct {
	Sources     int // over all nets, including gone ones whose rows are kept
	Nets        int // net names
	Rows        int // places and transitions of one net, over all its definitions
	AllRows     int // of all sources together, including those that wait for a definition; and of all nets together
	Definitions int // requested at the same time; and known of one net
	GoneRows    int // rows kept of sources that are gone
	Past        int // sources of which only the epochs are remembered
	// WaitingBytes is the memory of snapshots that wait for a definition, or for the
	// rest of their rows. What exceeds it is requested again when the definition is
	// known. It is also that of messages that wait to be read, of sources that are shown and of
	// others.
	WaitingBytes int
}

// DefaultLimits returns 10,000 sources, 1,000 nets, 100,000 rows a net,
// 10,000,000 rows in all (of a sixteenth to a quarter of a kibibyte each), 256 definitions,
// 200,000 rows of gone sources, 65,536 past sources (about a hundred bytes each)
// and 256 MiB for snapshots that wait.
func DefaultLimits() Limits {
	return Limits{Sources: 10_000, Nets: 1_000, Rows: 100_000, AllRows: 10_000_000, Definitions: 256,
		GoneRows: 200_000, Past: 65_536, WaitingBytes: 256 << 20}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	return Limits{
		Sources:      cmp.Or(l.Sources, d.Sources),
		Nets:         cmp.Or(l.Nets, d.Nets),
		Rows:         cmp.Or(l.Rows, d.Rows),
		AllRows:      cmp.Or(l.AllRows, d.AllRows),
		Definitions:  cmp.Or(l.Definitions, d.Definitions),
		GoneRows:     cmp.Or(l.GoneRows, d.GoneRows),
		Past:         cmp.Or(l.Past, d.Past),
		WaitingBytes: cmp.Or(l.WaitingBytes, d.WaitingBytes),
	}
}

// Waiting returns WaitingBytes.
func (l Limits) Waiting() int { return l.orDefault().WaitingBytes }

// rowBytes is the memory of a row of a source in the sidecar: in the source's rows,
// in those of the net, and in what is served of them.
const rowBytes = 2 << 10

// Within returns the limits with as many rows, and as many bytes of snapshots that wait,
// as fit into half and a thirty-second of memory bytes.
func (l Limits) Within(memory int64) Limits {
	most := l.orDefault()
	l.AllRows = int(min(int64(most.AllRows), max(memory/2/rowBytes, 1)))
	l.WaitingBytes = int(min(int64(most.WaitingBytes), max(memory/32, 1)))
	return l
}
