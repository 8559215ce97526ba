// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"time"

	"github.com/pnagent/pnagent/stats"
)

// idleness is since when a place has had no consumer.
type idleness struct {
	since int64 // of the first scrape without one; 0 if there is one
	left  bool  // a scrape before that had one
}

// observe adds a scrape that has the number of consumers.
func (i *idleness) observe(at int64, none bool) {
	switch {
	case !none:
		*i = idleness{left: true}
	case i.since == 0:
		i.since = at
	}
}

// text says since when there has been no consumer. Without a scrape that had one it may be longer.
func (i *idleness) text() string {
	since := time.UnixMicro(i.since).UTC().Format(time.RFC3339)
	if !i.left {
		return "no consumer, at least since " + since
	}
	return "no consumer since " + since
}

// findTakers finds the transition that the tokens of each place wait for whose reason is known. If that
// has not fired yet, it has no series, and is added here.
func (n *netState) findTakers() {
	for _, p := range n.rows[places] {
		if p.taker != nil || !p.m.explained() || p.cells[tokens].now < 1 || len(n.rows[transitions]) >= MaxRows {
			continue
		}
		taker := n.m.takers(p.m)[0]
		if !usable(taker.id.of(p.labels)) {
			continue
		}
		t := n.addRow(taker, p.labels)
		if t.m.table == transitions {
			p.taker = t
		}
	}
}

// explainPlace sets why the tokens of a place wait, all of them for one thing. The oldest has no
// name: metrics have none.
func (r *rowState) explainPlace(p *stats.Place) {
	if r.taker == nil {
		return
	}
	count := r.m.values[consumers]
	w := stats.Wait{Transition: int32(r.taker.at), Place: stats.NoPlace, Reason: r.m.reason}
	switch {
	case count == nil:
	case r.cells[consumers].n == 0 && !count.zero:
		return
	case r.alone.since != 0:
		w.Reason, w.What = stats.ReasonNoWorker, r.alone.text()
	case w.Reason == stats.ReasonUnknown:
		w.Reason = stats.ReasonEnabled
	}
	oldest := stats.Token{Injected: p.Oldest, Waits: []stats.Wait{w}}
	p.Stuck = []stats.Token{oldest}
	p.Groups = []stats.Group{{Reason: w.Reason, Tokens: p.Tokens, Due: oldest.Due(), Oldest: oldest}}
}
