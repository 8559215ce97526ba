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
	Presence = stats.ColTokens | stats.ColPlaceInstances | stats.ColOldest | stats.ColAges | stats.ColStuck | stats.ColBlocks | stats.ColGroups
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

	tokens []Token    // by instance
	totals []uint64   // of places, see Total
	flow   stats.Rows // counts, and what is due, by the engine's clock
}

// Due is when a transition is to fire next, and when it did last, by a schedule of the engine; 0 if the
// engine does not say.
type Due struct {
	Transition int
	Next, Last int64
}

// New returns an empty ledger of a net, which may grow, for columns of Presence,
// Flow and Instances.
func New(net *Definition, columns stats.Columns) *Ledger { return &Ledger{net: net, columns: columns} }

// SetColumns sets the columns again, from the next snapshot on.
func (l *Ledger) SetColumns(columns stats.Columns) { l.columns = columns }

// grow makes room for all rows of the net.
func (l *Ledger) grow() {
	l.totals = append(l.totals, make([]uint64, len(l.net.Def.Places)-len(l.totals))...)
	l.flow.Places = append(l.flow.Places, make([]stats.Place, len(l.net.Def.Places)-len(l.flow.Places))...)
	l.flow.Transitions = append(l.flow.Transitions, make([]stats.Transition, len(l.net.Def.Transitions)-len(l.flow.Transitions))...)
}

// Present replaces the tokens by those that are open now. It keeps and sorts the
// list.
func (l *Ledger) Present(tokens []Token) {
	slices.SortFunc(tokens, func(a, b Token) int {
		return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Place, b.Place), cmp.Compare(a.ID, b.ID))
	})
	l.tokens = tokens
}

// Total sets how many tokens a place has, if Present gets only the oldest of them. The others count
// with age 0, so the mean age is a lower bound, and ages of all are not known.
func (l *Ledger) Total(place int, tokens uint64) {
	l.grow()
	l.totals[place] = tokens
}

// Arrive counts a token that came to a place at a time.
func (l *Ledger) Arrive(place int, at int64) {
	l.grow()
	p := &l.flow.Places[place]
	p.Arrivals++
	p.LastInjection = max(p.LastInjection, at)
}

// Depart counts a token that left a place, and how long it was there.
func (l *Ledger) Depart(place int, micros int64) {
	l.grow()
	l.flow.Places[place].Departures++
	l.flow.Places[place].Dwell.Observe(micros)
}

// Fire counts a firing at a time.
func (l *Ledger) Fire(transition int, at int64) {
	l.grow()
	t := &l.flow.Transitions[transition]
	t.Firings++
	t.LastFiring = max(t.LastFiring, at)
}

// Schedule replaces when transitions are due, of several schedules of one the earliest. When they fired
// last is a column once a schedule has it.
func (l *Ledger) Schedule(all []Due) {
	l.grow()
	for i := range l.flow.Transitions {
		l.flow.Transitions[i].NextDue = 0
	}
	for _, d := range all {
		t := &l.flow.Transitions[d.Transition]
		t.NextDue, t.LastFiring = stats.Earlier(t.NextDue, d.Next), max(t.LastFiring, d.Last)
		if d.Last != 0 {
			l.columns |= stats.ColLastFiring
		}
	}
}

// FireAlso counts firings whose times are not known.
func (l *Ledger) FireAlso(transition int, firings uint64) {
	l.grow()
	l.flow.Transitions[transition].Firings += firings
}

// Create counts an instance that was created.
func (l *Ledger) Create() { l.flow.Net.Created++ }

// Finish counts an instance that ended: it finished, or it was given up.
func (l *Ledger) Finish(failed bool) {
	if failed {
		l.flow.Net.Failed++
	} else {
		l.flow.Net.Finished++
	}
}

// Counts returns the arrivals and departures of a place, and the firings of a
// transition; 0 for -1.
func (l *Ledger) Counts(place, transition int) (arrivals, departures, firings uint64) {
	l.grow()
	if place >= 0 {
		arrivals, departures = l.flow.Places[place].Arrivals, l.flow.Places[place].Departures
	}
	if transition >= 0 {
		firings = l.flow.Transitions[transition].Firings
	}
	return arrivals, departures, firings
}

// rows makes the rows as of now. Every time in them is by the host's clock: ahead
// is by how much the engine's is later.
func (l *Ledger) rows(now, ahead int64) *stats.Rows {
	l.grow()
	places, transitions := l.flow.Size()
	rows := stats.NewRows(places, transitions)
	rows.Columns = l.columns
	p := stats.NewPresent[*Token](now-ahead, places, transitions)
	p.Tie = func(a, b *Token) int { return cmp.Compare(a.ID, b.ID) }
	instance := int32(-1)
	for i := range l.tokens {
		t := &l.tokens[i]
		if i == 0 || l.tokens[i-1].Instance != t.Instance {
			instance++
		}
		injected := min(t.Since, now) - ahead
		p.Tokens(t.Place, instance, injected, 1, t)
		w := stats.Foremost(t.Waits)
		w.Until = shifted(w.Until, ahead)
		p.Group(t.Place, w, injected, 1, t)
		if p.Old(injected) {
			for _, w := range t.Waits {
				p.Block(w, 1)
			}
		}
	}
	p.AddTo(rows, func(_ int, t *Token) (string, []stats.Wait) { return t.Name(), t.waits(ahead) })
	for i, total := range l.totals {
		row := &rows.Places[i]
		row.Arrivals = 0 // those of flow count
		if rest := total - min(total, row.Tokens); rest > 0 {
			second, micro := uint64(now-ahead)/1e6, uint64(now-ahead)%1e6
			row.Injected.Merge(stats.TimeSum{Sec: second * rest, Micro: micro * rest})
			row.Tokens, row.Instances = total, total
		}
	}
	rows.MergeShifted(&l.flow, -ahead)
	rows.Net.Active = uint64(instance + 1)
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
	known := func(t *stats.Token) {
		t.Waits = slices.DeleteFunc(slices.Clone(t.Waits), func(w stats.Wait) bool { return w.Transition >= size || int(w.Place) >= len(into.Places) })
	}
	for i := range into.Places {
		place := &into.Places[i]
		place.Stuck, place.Groups = slices.Clone(place.Stuck), slices.Clone(place.Groups)
		for k := range place.Stuck {
			known(&place.Stuck[k])
		}
		for k := range place.Groups {
			known(&place.Groups[k].Oldest)
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

// instance returns the content of an instance by its id or its name, with the command lines
// for what it waits for; nil if there is none.
func (p *published) instance(name string, command func(*petri.Net, *Token, stats.Wait) string, now int64) *telemetry.Instance {
	out := &telemetry.Instance{Instance: name, At: now}
	for i := range p.tokens {
		t := &p.tokens[i]
		if t.Instance != name && t.Name() != name {
			continue
		}
		out.Tokens = append(out.Tokens, p.token(t, command))
	}
	if out.Tokens == nil {
		return nil
	}
	return out
}

// token returns a token by the host's clock, with the command lines for what it waits for.
func (p *published) token(t *Token, command func(*petri.Net, *Token, stats.Wait) string) telemetry.InstanceToken {
	out := telemetry.InstanceToken{Place: p.def.Places[t.Place].ID, Tokens: 1, Injected: t.Since - p.ahead}
	for _, w := range t.waits(p.ahead) {
		wait := telemetry.NewInstanceWait(p.def, w)
		if command != nil {
			wait.Command = command(p.def, t, w)
		}
		out.Waits = append(out.Waits, wait)
	}
	return out
}
