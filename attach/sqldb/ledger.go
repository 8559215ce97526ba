// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"cmp"
	"hash/fnv"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// columns are the columns that a database gives.
const columns = stats.ColTokens | stats.ColArrivals | stats.ColDepartures | stats.ColPlaceInstances | stats.ColOldest | stats.ColAges |
	stats.ColDwell | stats.ColStuck | stats.ColFirings | stats.ColLastFiring | stats.ColBlocks

// netLedger is what is known of one net: the tokens of the last presence, and the
// counts of flow since the start of the process. It is pure. Times are
// microseconds since the Unix epoch by the database's clock.
type netLedger struct {
	*layout
	tokens      []token // by instance
	places      []placeCount
	transitions []transitionCount

	ready *stats.Rows // of the last poll, by the host's clock
}

// token is one place where an instance is.
type token struct {
	id       string // of the row
	place    int
	instance string
	label    string // such as a business key; "" if there is none, or it is not shown
	since    int64
	waits    []wait
}

// wait is what a token waits for, with a text for people.
type wait struct {
	stats.Wait
	text string
}

type placeCount struct {
	arrivals, departures uint64
	last                 int64 // arrival
	dwell                stats.Histogram
}

type transitionCount struct {
	firings uint64
	last    int64
}

// grow makes room for the rows of the layout.
func (n *netLedger) grow() {
	for len(n.places) < len(n.net.Places) {
		n.places = append(n.places, placeCount{})
	}
	for len(n.transitions) < len(n.net.Transitions) {
		n.transitions = append(n.transitions, transitionCount{})
	}
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
		n.grow()
		p := &n.places[i]
		p.arrivals++
		p.last = max(p.last, r.at)
	}
}

// ended counts a departure, and a firing if the activity was not canceled.
func (n *netLedger) ended(r *flowRow) {
	i := n.placeOf(r.node)
	if !n.knows(r.node) {
		i = n.at(r.node)
	}
	j := n.fires(r.node)
	n.grow()
	if i >= 0 && !n.scope[r.node] {
		n.places[i].departures++
		n.places[i].dwell.Observe(r.micros)
	}
	if j >= 0 && !r.canceled {
		t := &n.transitions[j]
		t.firings++
		t.last = max(t.last, r.at)
	}
}

// placeOf returns the place of a node, or -1.
func (l *layout) placeOf(node string) int {
	if i, ok := l.place[node]; ok {
		return i
	}
	return -1
}

// present replaces the tokens.
func (n *netLedger) present(tokens []token) {
	slices.SortFunc(tokens, func(a, b token) int {
		return cmp.Or(cmp.Compare(a.instance, b.instance), cmp.Compare(a.place, b.place), cmp.Compare(a.id, b.id))
	})
	for i := 0; i < len(tokens); {
		k := i + 1
		for k < len(tokens) && tokens[k].instance == tokens[i].instance && tokens[k].place == tokens[i].place {
			k++
		}
		n.missing(tokens[i:k])
		i = k
	}
	n.tokens = tokens
	n.grow()
}

// missing sets how many tokens a gateway lacks that waits for several flows.
// together are the tokens of an instance in its place.
func (n *netLedger) missing(together []token) {
	for i := range together {
		for k := range together[i].waits {
			if w := &together[i].waits[k]; w.Reason == stats.ReasonMissing {
				w.Count = uint32(max(n.joins[n.net.Transitions[w.Transition].ID]-len(together), 0))
			}
		}
	}
}

// name returns what the token's instance is called.
func (t *token) name() string {
	name := t.instance
	if t.label != "" {
		name = t.label + " (" + t.instance + ")"
	}
	if len(name) > telemetry.MaxName {
		name = t.instance
	}
	return name
}

func (t *token) statWaits() []stats.Wait {
	var out []stats.Wait
	for _, w := range t.waits[:min(len(t.waits), stats.MaxWaits)] {
		out = append(out, w.Wait)
	}
	return out
}

// rows makes the rows as of now. Every time in them is by the host's clock: ahead
// is by how much the database's is later.
func (n *netLedger) rows(now, ahead int64) *stats.Rows {
	rows := stats.NewRows(len(n.places), len(n.transitions))
	rows.Columns = columns
	p := stats.NewPresent[*token](now-ahead, len(n.places), len(n.transitions))
	p.Tie = func(a, b *token) int { return cmp.Compare(a.id, b.id) }
	instance := int32(-1)
	for i := range n.tokens {
		t := &n.tokens[i]
		if i == 0 || n.tokens[i-1].instance != t.instance {
			instance++
		}
		injected := min(t.since, now) - ahead
		p.Tokens(t.place, instance, injected, 1, t)
		if p.Old(injected) {
			for _, w := range t.waits {
				p.Block(w.Wait, 1)
			}
		}
	}
	p.AddTo(rows, func(_ int, t *token) (string, []stats.Wait) { return t.name(), host(t.statWaits(), ahead) })
	for i := range n.places {
		c, row := &n.places[i], &rows.Places[i]
		row.Arrivals, row.Departures, row.LastInjection = c.arrivals, c.departures, shifted(c.last, ahead)
		row.Dwell.Merge(&c.dwell)
	}
	for i := range n.transitions {
		c, row := &n.transitions[i], &rows.Transitions[i]
		row.Firings, row.LastFiring = c.firings, shifted(c.last, ahead)
	}
	return rows
}

// shifted returns a time by the host's clock; 0 stays.
func shifted(t, ahead int64) int64 {
	if t == 0 {
		return 0
	}
	return t - ahead
}

func host(waits []stats.Wait, ahead int64) []stats.Wait {
	for i := range waits {
		waits[i].Until = shifted(waits[i].Until, ahead)
	}
	return waits
}

// copyTo copies the rows of the last poll. A publisher may still have a smaller
// size than the net.
func (n *netLedger) copyTo(into *stats.Rows) {
	from := n.ready
	copy(into.Places, from.Places)
	copy(into.Transitions, from.Transitions)
	into.Net, into.Blocks, into.Columns = from.Net, from.Blocks, from.Columns
	if len(into.Transitions) < len(from.Transitions) || len(into.Places) < len(from.Places) {
		into.Blocks = slices.DeleteFunc(slices.Clone(from.Blocks), func(b stats.Block) bool { return int(b.Transition) >= len(into.Transitions) })
	}
}

// oldest returns the oldest tokens of a place, at most limit.
func (n *netLedger) oldest(place, limit int, ahead int64) []stats.Token {
	var out []stats.Token
	for i := range n.tokens {
		if t := &n.tokens[i]; t.place == place {
			out = append(out, stats.Token{Instance: t.name(), Injected: t.since - ahead, Waits: host(t.statWaits(), ahead)})
		}
	}
	slices.SortFunc(out, func(a, b stats.Token) int { return a.Compare(&b) })
	return out[:min(len(out), limit)]
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
