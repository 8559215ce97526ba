// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"fmt"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/selfmetrics"
)

// Waiting is a net without rows: it has more new names than Build numbers before a source
// has reported the net for a minute.
type Waiting struct {
	Net   string
	Names int // of the net, its places and transitions, without a number
}

// String returns what a person has to know.
func (w Waiting) String() string {
	return fmt.Sprintf("SNMP has no rows of net %q yet: it has %d new names, which get numbers once a source has reported the net for a minute", w.Net, w.Names)
}

// Waiting returns the nets of the last Build that have no rows yet, in the order of the View.
func (b *Builder) Waiting() []Waiting {
	if nets := b.waiting.Load(); nets != nil {
		return *nets
	}
	return nil
}

// waiting returns the nets of a View that have no numbers yet.
func (n *numbering) waiting(view *merge.View) (nets []Waiting) {
	for _, net := range view.Nets {
		if n.numbered(net) == nil {
			nets = append(nets, Waiting{net.Name, n.lock.Net(net.Name).without(net.Def)})
		}
	}
	return nets
}

// families are those of a Builder.
var families = []selfmetrics.Family[[]Waiting]{
	selfmetrics.Number("pnagent_snmp_names_waiting", "Names of nets, places and transitions that SNMP does not show yet: their net has too many new ones to number before a source has reported it for a minute.",
		func(nets []Waiting) (names int) {
			for _, net := range nets {
				names += net.Names
			}
			return names
		}),
}

// Metrics returns the metrics of a Builder; nil has descriptions and no series.
func Metrics(b *Builder) *selfmetrics.Collector {
	return selfmetrics.Of(families, b, (*Builder).Waiting)
}
