// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Columns is what is known of a DiPeN net. Of failures, retries and cancels,
// which are one column, etcd tells only the last.
const Columns = stats.ColTokens | stats.ColArrivals | stats.ColDepartures | stats.ColOldest | stats.ColAges |
	stats.ColDwell | stats.ColStuck | stats.ColFirings | stats.ColFailures | stats.ColRunning | stats.ColLastFiring | stats.ColDuration

// orOlder marks a token of which it is not known how old it is.
const orOlder = " (or older)"

// maxWaits bounds what one token is said to wait for.
const maxWaits = 16

// Size returns how many rows there are.
func (r *Replica) Size() (places, transitions int) {
	return len(r.net.net.Places), len(r.net.net.Transitions)
}

// Definition returns the net as it is known now: rows never move, they are only
// added.
func (r *Replica) Definition() *petri.Net {
	n := r.net.net
	n.Places, n.Transitions = slices.Clone(n.Places), slices.Clone(n.Transitions)
	return &n
}

// Rows fills in rows as of now, as far as there are rows for what is known. Who
// was slowest is said once.
func (r *Replica) Rows(now int64, into *stats.Rows) {
	into.Columns |= Columns
	looks := r.look(now, len(into.Places))
	for i := range looks {
		t, row := &r.net.placeTally[i], &into.Places[i]
		*row = looks[i].row()
		row.Arrivals, row.Departures, row.LastInjection = t.arrivals, t.departures, t.last
		row.Dwell.Merge(&t.dwell)
		row.Slowest, t.slowest = t.slowest, stats.Slowest{}
		for k := range row.Stuck {
			row.Stuck[k].Waits = r.waits(looks, i)
		}
	}
	for i := range min(len(into.Transitions), len(r.net.transTally)) {
		t, row := &r.net.transTally[i], &into.Transitions[i]
		row.Firings, row.Cancels, row.LastFiring = t.firings, t.cancels, t.last
		row.Duration.Merge(&t.duration)
	}
	for id, run := range r.runs {
		if i, known := r.net.trans.byID[id.transition]; known && i < len(into.Transitions) {
			into.Transitions[i].Merge(&stats.Transition{Running: 1, RunningSince: run.at})
		}
	}
}

// look is what is present in one place.
type look struct {
	tokens   uint64
	injected stats.TimeSum
	rungs    *stats.Rungs
	ladder   []uint64
	oldest   []present // oldest first, at most stats.MaxStuck
}

type present struct {
	at    int64
	token uint64
	loose bool
}

func (a present) compare(b present) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.token, b.token))
}

// name is how the token is called.
func (a present) name() string {
	text := strconv.FormatUint(a.token, 10)
	if a.loose {
		text += orOlder
	}
	return text
}

// look counts the tokens that are there and not taken.
func (r *Replica) look(now int64, rows int) []look {
	looks, rungs := make([]look, min(rows, len(r.net.placeTally))), stats.NewRungs(now)
	for id, c := range r.cells {
		i, known := r.net.places.byID[id.place]
		if !known || i >= len(looks) || !c.there || len(c.taken) > 0 {
			continue
		}
		l := &looks[i]
		if l.ladder == nil {
			l.rungs, l.ladder = rungs, make([]uint64, rungs.Len())
		}
		l.tokens++
		l.injected.Add(c.at)
		l.ladder[rungs.Index(c.at)]++
		l.oldest = keep(l.oldest, present{c.at, id.token, c.loose}, stats.MaxStuck)
	}
	return looks
}

// keep adds a token to a list of the oldest, which holds at most so many.
func keep(list []present, p present, most int) []present {
	if len(list) >= most && p.compare(list[len(list)-1]) >= 0 {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, p, present.compare)
	list = slices.Insert(list, at, p)
	return list[:min(len(list), most)]
}

func (l *look) row() stats.Place {
	if l.tokens == 0 {
		return stats.Place{}
	}
	p := stats.Place{Tokens: l.tokens, Oldest: l.oldest[0].at, Injected: l.injected, Ages: l.rungs.Ladder(l.ladder)}
	for _, o := range l.oldest {
		p.Stuck = append(p.Stuck, stats.Token{Instance: o.name(), Injected: o.at})
	}
	slices.SortFunc(p.Stuck, func(a, b stats.Token) int { return a.Compare(&b) })
	return p
}

// waits says what each transition that needs a place waits for. Guards are not
// known: of one that has all its tokens nothing is said, unless it runs.
func (r *Replica) waits(looks []look, place int) []stats.Wait {
	var out []stats.Wait
	for _, t := range r.net.users[place] {
		lacks := false
		for _, a := range r.net.needs[t] {
			p := r.net.places.byName[a.Source]
			has := uint64(0)
			if p < len(looks) {
				has = looks[p].tokens
			}
			w := stats.Wait{Transition: t, Place: int32(p), Reason: stats.ReasonMissing}
			switch need := uint64(a.Weight); {
			case a.Kind == petri.Inhibitor && has >= need:
				w.Reason, w.Count = stats.ReasonInhibited, uint32(min(has-need+1, 1<<31))
			case a.Kind != petri.Inhibitor && a.Kind != petri.Join && has < need:
				w.Count = uint32(need - has)
			default:
				continue
			}
			lacks, out = true, append(out, w)
		}
		if !lacks {
			out = append(out, stats.Wait{Transition: t, Place: stats.NoPlace, Reason: stats.ReasonUnknown})
		}
		if len(out) >= maxWaits {
			return out[:maxWaits]
		}
	}
	return out
}

// Oldest returns the oldest tokens of a place, by its row.
func (r *Replica) Oldest(place, limit int) []stats.Token {
	var list []present
	for id, c := range r.cells {
		if i, known := r.net.places.byID[id.place]; known && i == place && c.there && len(c.taken) == 0 {
			list = keep(list, present{c.at, id.token, c.loose}, limit)
		}
	}
	if len(list) == 0 || place >= len(r.net.users) {
		return nil
	}
	waits := r.waits(r.look(list[0].at, len(r.net.placeTally)), place)
	out := make([]stats.Token, 0, len(list))
	for _, p := range list {
		out = append(out, stats.Token{Instance: p.name(), Injected: p.at, Waits: waits})
	}
	return out
}

// Held is how many tokens a transition has taken.
type Held struct {
	Name string
	N    int
}

// InFlight returns how many tokens each transition has taken, by its id in the
// definition, sorted.
func (r *Replica) InFlight() []Held {
	count := map[int]int{}
	for id, run := range r.runs {
		if row, known := r.net.trans.byID[id.transition]; known {
			count[row] += run.keys
		}
	}
	out := make([]Held, 0, len(count))
	for row, n := range count {
		out = append(out, Held{r.net.net.Transitions[row].ID, n})
	}
	slices.SortFunc(out, func(a, b Held) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Leadership is who leads a region.
type Leadership struct {
	Region  string
	Node    string // "" if its name cannot be shown
	Since   int64  // when it took over, at the latest; microseconds since the Unix epoch
	Waiting int    // others that stand by
}

// Leaders returns the leaders of all regions, by region.
func (r *Replica) Leaders(now int64) []Leadership {
	out := make([]Leadership, 0, len(r.leaders))
	for region, all := range r.leaders {
		lead := r.leader(region)
		at, _ := r.Times.At(r.leads(region), now)
		out = append(out, Leadership{region, lead.node, at, len(all) - 1})
	}
	slices.SortFunc(out, func(a, b Leadership) int { return cmp.Compare(a.Region, b.Region) })
	return out
}

// Needed returns the revisions of which the time is needed, for Times.Keep.
func (r *Replica) Needed() []int64 {
	out := make([]int64, 0, len(r.cells)+len(r.runs))
	for _, c := range r.cells {
		if c.there {
			out = append(out, c.created)
		}
	}
	for id := range r.runs {
		out = append(out, id.created)
	}
	for _, region := range r.leaders {
		for _, c := range region {
			out = append(out, c.created)
		}
	}
	for _, t := range r.took {
		out = append(out, t.revision)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
