// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"hash/fnv"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/stats"
)

// netLedger is what is known of one net. Times are by the database's clock.
type netLedger struct {
	*layout
	*ledger.Ledger
}

// flowRow is one row of started or ended.
type flowRow struct {
	id       string
	at       int64
	node     string
	micros   int64 // dwell time of an ended one
	canceled bool
}

// started counts an arrival. A node without a place has none.
func (n *netLedger) started(r *flowRow) {
	if n.scope[r.node] || n.knows(r.node) && n.placeOf(r.node) < 0 {
		return
	}
	if i := n.at(r.node); i >= 0 {
		n.Arrive(i, r.at)
	}
}

// ended counts a departure, and a firing if the activity was not canceled.
func (n *netLedger) ended(r *flowRow) {
	i := n.placeOf(r.node)
	if !n.knows(r.node) {
		i = n.at(r.node)
	}
	j := n.fires(r.node)
	if i >= 0 && !n.scope[r.node] {
		n.Depart(i, r.micros)
	}
	if j >= 0 && !r.canceled {
		n.Fire(j, r.at)
	}
}

// placeOf returns the place of a node, or -1.
func (l *layout) placeOf(node string) int {
	if i, ok := l.place[node]; ok {
		return i
	}
	return -1
}

// missing sets how many tokens each gateway lacks that waits for several flows: of
// the tokens of an instance that are together in its place.
func (n *netLedger) missing(tokens []ledger.Token) {
	type spot struct {
		instance string
		place    int
	}
	joins, together := map[int]int{}, map[spot]int{}
	for node, flows := range n.joins {
		joins[n.placeOf(node)] = flows
	}
	for i := range tokens {
		if t := &tokens[i]; joins[t.Place] > 0 {
			together[spot{t.Instance, t.Place}]++
		}
	}
	for i := range tokens {
		t := &tokens[i]
		for k := range t.Waits {
			if w := &t.Waits[k]; w.Reason == stats.ReasonMissing {
				w.Count = uint32(max(joins[t.Place]-together[spot{t.Instance, t.Place}], 0))
			}
		}
	}
}

// seen are the rows of one query that were counted: time by hash of id.
type seen map[uint64]int64

// cursor is how far one query was read.
type cursor struct {
	At    int64 `json:"at"`    // the time of the last row, at most that of the poll
	Floor int64 `json:"floor"` // rows before it are not counted
	seen  seen
}

// take reports whether a row is to be counted, and remembers it.
func (c *cursor) take(r *flowRow, now int64) bool {
	if r.at < c.Floor {
		return false
	}
	h := hash(r.id)
	if _, again := c.seen[h]; again {
		return false
	}
	c.seen[h] = r.at
	c.At = max(c.At, min(r.at, now))
	return true
}

// from returns the time from which rows are read: overlap before the cursor.
func (c *cursor) from(overlap int64) int64 { return max(c.At-overlap, c.Floor) }

// forget drops the rows that are not read again.
func (c *cursor) forget(overlap int64) {
	from := c.from(overlap)
	for h, at := range c.seen {
		if at < from {
			delete(c.seen, h)
		}
	}
}

func hash(id string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return h.Sum64()
}
