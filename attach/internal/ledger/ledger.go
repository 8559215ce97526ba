// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// The columns that a Ledger can fill in. An adapter that counts only some flow
// names the columns of those.
const (
	Presence = stats.ColTokens | stats.ColPlaceInstances | stats.ColOldest | stats.ColAges | stats.ColStuck | stats.ColBlocks
	Flow     = stats.ColArrivals | stats.ColDepartures | stats.ColDwell | stats.ColFirings | stats.ColLastFiring

	// Instances are those created and finished, and those that have a token now.
	Instances = stats.ColInstances
)

// Token is one place where an instance is.
type Token struct {
	ID       string // orders tokens of one age
	Place    int
	Instance string
	Label    string // such as a business key; "" if there is none, or it is not shown
	Since    int64
	Waits    []stats.Wait // at most stats.MaxWaits are shown
}

// Name returns what the faces call the token's instance: its label and its id.
func (t *Token) Name() string {
	if name := t.Label + " (" + t.Instance + ")"; t.Label != "" && len(name) <= telemetry.MaxName {
		return name
	}
	return t.Instance
}

// waits returns what the token waits for, by the host's clock.
func (t *Token) waits(ahead int64) []stats.Wait {
	out := slices.Clone(t.Waits[:min(len(t.Waits), stats.MaxWaits)])
	for i := range out {
		out[i].Until = shifted(out[i].Until, ahead)
	}
	return out
}

// Ledger is what is known of one net: the tokens of the last presence, and the
// counts of flow since the start of the process.
type Ledger struct {
	net     *Definition
	columns stats.Columns

	tokens      []Token // by instance
	places      []placeCount
	transitions []transitionCount
	instances   stats.NetRow // without Active
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

// New returns an empty ledger of a net, which may grow, for columns of Presence,
// Flow and Instances.
func New(net *Definition, columns stats.Columns) *Ledger { return &Ledger{net: net, columns: columns} }

// SetColumns sets the columns again, before the first poll ends.
func (l *Ledger) SetColumns(columns stats.Columns) { l.columns = columns }

// grow makes room for all rows of the net.
func (l *Ledger) grow() {
	l.places = append(l.places, make([]placeCount, len(l.net.Def.Places)-len(l.places))...)
	l.transitions = append(l.transitions, make([]transitionCount, len(l.net.Def.Transitions)-len(l.transitions))...)
}

// Present replaces the tokens by those that are open now. It keeps and sorts the
// list.
func (l *Ledger) Present(tokens []Token) {
	slices.SortFunc(tokens, func(a, b Token) int {
		return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Place, b.Place), cmp.Compare(a.ID, b.ID))
	})
	l.tokens = tokens
}

// Arrive counts a token that came to a place at a time.
func (l *Ledger) Arrive(place int, at int64) {
	l.grow()
	p := &l.places[place]
	p.arrivals++
	p.last = max(p.last, at)
}

// Depart counts a token that left a place, and how long it was there.
func (l *Ledger) Depart(place int, micros int64) {
	l.grow()
	l.places[place].departures++
	l.places[place].dwell.Observe(micros)
}

// Fire counts a firing at a time.
func (l *Ledger) Fire(transition int, at int64) {
	l.grow()
	t := &l.transitions[transition]
	t.firings++
	t.last = max(t.last, at)
}

// Create counts an instance that was created.
func (l *Ledger) Create() { l.instances.Created++ }

// Finish counts an instance that ended: it finished, or it was given up.
func (l *Ledger) Finish(failed bool) {
	if failed {
		l.instances.Failed++
	} else {
		l.instances.Finished++
	}
}

// Counts returns the arrivals and departures of a place, and the firings of a
// transition; 0 for -1.
func (l *Ledger) Counts(place, transition int) (arrivals, departures, firings uint64) {
	l.grow()
	if place >= 0 {
		arrivals, departures = l.places[place].arrivals, l.places[place].departures
	}
	if transition >= 0 {
		firings = l.transitions[transition].firings
	}
	return arrivals, departures, firings
}

// rows makes the rows as of now. Every time in them is by the host's clock: ahead
// is by how much the engine's is later.
func (l *Ledger) rows(now, ahead int64) *stats.Rows {
	l.grow()
	rows := stats.NewRows(len(l.places), len(l.transitions))
	rows.Columns = l.columns
	p := stats.NewPresent[*Token](now-ahead, len(l.places), len(l.transitions))
	p.Tie = func(a, b *Token) int { return cmp.Compare(a.ID, b.ID) }
	instance := int32(-1)
	for i := range l.tokens {
		t := &l.tokens[i]
		if i == 0 || l.tokens[i-1].Instance != t.Instance {
			instance++
		}
		injected := min(t.Since, now) - ahead
		p.Tokens(t.Place, instance, injected, 1, t)
		if p.Old(injected) {
			for _, w := range t.Waits {
				p.Block(w, 1)
			}
		}
	}
	p.AddTo(rows, func(_ int, t *Token) (string, []stats.Wait) { return t.Name(), t.waits(ahead) })
	if l.columns.Has(Instances) {
		rows.Net = l.instances
		rows.Net.Active = uint64(instance + 1)
	}
	for i := range l.places {
		c, row := &l.places[i], &rows.Places[i]
		row.Arrivals, row.Departures = c.arrivals, c.departures
		if c.last != 0 {
			row.LastInjection = c.last - ahead
		}
		row.Dwell.Merge(&c.dwell)
	}
	for i := range l.transitions {
		c, row := &l.transitions[i], &rows.Transitions[i]
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

// published is what the publisher of a net reads: a ledger as of the end of a poll.
// It does not change.
type published struct {
	def    *petri.Net
	rows   *stats.Rows
	tokens []Token
	ahead  int64
}

// publish returns the ledger as of now.
func (l *Ledger) publish(now, ahead int64) *published {
	def := *l.net.Def
	return &published{def: &def, rows: l.rows(now, ahead), tokens: l.tokens, ahead: ahead}
}

// copyTo copies the rows. A publisher may have a smaller size, if the net's larger
// definition was refused, or a larger one, if the net grows just now.
func (p *published) copyTo(into *stats.Rows) {
	copy(into.Places, p.rows.Places)
	copy(into.Transitions, p.rows.Transitions)
	into.Net, into.Blocks, into.Columns = p.rows.Net, p.rows.Blocks, p.rows.Columns
	size := int32(len(into.Transitions))
	if int(size) >= len(p.rows.Transitions) && len(into.Places) >= len(p.rows.Places) {
		return
	}
	into.Blocks = slices.DeleteFunc(slices.Clone(into.Blocks), func(b stats.Block) bool { return b.Transition >= size || int(b.Place) >= len(into.Places) })
	for i := range into.Places {
		place := &into.Places[i]
		place.Stuck = slices.Clone(place.Stuck)
		for k := range place.Stuck {
			place.Stuck[k].Waits = slices.DeleteFunc(slices.Clone(place.Stuck[k].Waits),
				func(w stats.Wait) bool { return w.Transition >= size || int(w.Place) >= len(into.Places) })
		}
	}
}

// oldest returns the tokens of a place that a query selects.
func (p *published) oldest(place int, q *stats.Query) stats.Found {
	search := stats.NewSearch(q)
	for i := range p.tokens {
		if t := &p.tokens[i]; t.Place == place && search.Named(t.Name()) {
			search.Offer(stats.FoundToken{Token: stats.Token{Instance: t.Name(), Injected: t.Since - p.ahead}}, nil, func() []stats.Wait { return t.waits(p.ahead) })
		}
	}
	return search.Found()
}

// instance returns the content of an instance by its id or its name; nil if there
// is none.
func (p *published) instance(name string, now int64) *telemetry.Instance {
	out := &telemetry.Instance{Instance: name, At: now}
	for i := range p.tokens {
		t := &p.tokens[i]
		if t.Instance != name && t.Name() != name {
			continue
		}
		one := telemetry.InstanceToken{Place: p.def.Places[t.Place].ID, Tokens: 1, Injected: t.Since - p.ahead}
		for _, w := range t.waits(p.ahead) {
			one.Waits = append(one.Waits, telemetry.NewInstanceWait(p.def, w))
		}
		out.Tokens = append(out.Tokens, one)
	}
	if out.Tokens == nil {
		return nil
	}
	return out
}
