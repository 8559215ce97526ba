// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Columns are the columns of a DiPeN net. Of failures, retries and cancels,
// which are one column, etcd has only cancels.
const Columns = stats.ColTokens | stats.ColArrivals | stats.ColDepartures | stats.ColOldest | stats.ColAges |
	stats.ColDwell | stats.ColStuck | stats.ColGroups | stats.ColFirings | stats.ColFailures | stats.ColRunning | stats.ColLastFiring | stats.ColDuration

// orOlder marks a token whose age is a lower bound.
const orOlder = " (or older)"

// Size returns the number of rows.
func (r *Replica) Size() (places, transitions int) {
	return r.net.counts.Size()
}

// Definition returns the present net: rows are only added.
func (r *Replica) Definition() *petri.Net {
	n := r.net.net
	n.Places, n.Transitions = slices.Clone(n.Places), slices.Clone(n.Transitions)
	return &n
}

// Rows fills in as many rows as into has, as of now. It reports each slowest token once.
func (r *Replica) Rows(now int64, into *stats.Rows) {
	into.Columns |= Columns
	rows := stats.NewRows(r.net.counts.Size())
	l := r.look(now)
	for id, run := range r.runs {
		if i, known := r.net.trans.byID[id.transition]; known && i < len(rows.Transitions) {
			l.Running(i, run.at)
		}
	}
	waits := make([][]stats.Wait, len(rows.Places))
	for i := range waits {
		if l.Count(i) > 0 {
			waits[i] = r.waits(l, i)
		}
	}
	r.present(func(place int, at int64, t token) { l.Group(place, stats.Foremost(waits[place]), at, 1, t) })
	l.AddTo(rows, func(place int, t token) (string, []stats.Wait) { return t.name(), waits[place] })
	for i := range rows.Places {
		rows.Places[i].Instances = 0 // they are not known
		rows.Places[i].Arrivals = 0  // those of counts count
	}
	rows.Merge(&r.net.counts)
	for i := range copy(into.Places, rows.Places) {
		r.net.counts.Places[i].Slowest = stats.Slowest{}
	}
	copy(into.Transitions, rows.Transitions)
}

// token is a present token; loose if it may be older than it appears.
type token struct {
	id    uint64
	loose bool
}

// name returns the name of the token.
func (t token) name() string {
	text := strconv.FormatUint(t.id, 10)
	if t.loose {
		text += orOlder
	}
	return text
}

// look counts the tokens that are present and not taken.
func (r *Replica) look(now int64) *stats.Present[token] {
	places, transitions := r.net.counts.Size()
	l := stats.NewPresent[token](now, places, transitions)
	l.Tie = func(a, b token) int { return cmp.Compare(a.id, b.id) }
	r.present(func(place int, at int64, t token) { l.Tokens(place, 0, at, 1, t) })
	return l
}

// present yields the tokens that are present and not taken, with the row of their place.
func (r *Replica) present(yield func(place int, at int64, t token)) {
	for id, c := range r.cells {
		if i, known := r.net.places.byID[id.place]; known && c.there && len(c.taken) == 0 {
			yield(i, c.at, token{id.token, c.loose})
		}
	}
}

// waits returns what each transition that needs a place waits for. Guards are
// not known, so a transition with all its tokens has ReasonUnknown.
func (r *Replica) waits(l *stats.Present[token], place int) []stats.Wait {
	var out []stats.Wait
	for _, t := range r.net.users[place] {
		lacks := false
		for _, a := range r.net.needs[t] {
			p := r.net.places.byName[a.Source]
			has := l.Count(p)
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
		if len(out) >= stats.MaxWaits {
			return out[:stats.MaxWaits]
		}
	}
	return out
}

// Oldest returns the tokens of a place, by its row, that a query selects.
func (r *Replica) Oldest(place int, q *stats.Query) stats.Found {
	search := stats.NewSearch(q)
	r.present(func(i int, at int64, t token) {
		if i == place && search.Named(t.name()) {
			search.Offer(stats.FoundToken{Token: stats.Token{Instance: t.name(), Injected: at}}, nil, nil)
		}
	})
	found := search.Found()
	if len(found.Tokens) == 0 || place >= len(r.net.users) {
		return stats.Found{}
	}
	waits := r.waits(r.look(found.Tokens[0].Injected), place)
	for i := range found.Tokens {
		found.Tokens[i].Waits = waits
	}
	return found
}

// Held is the number of tokens that a transition has taken.
type Held struct {
	Name string
	N    int
}

// InFlight returns the number of tokens that each transition has taken, sorted
// by its id in the definition.
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

// Leadership is the leader of a region.
type Leadership struct {
	Region  string
	Node    string // "" if its name is invalid
	Since   int64  // latest possible time of its take-over, in microseconds since the Unix epoch
	Waiting int    // standby nodes
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

// Needed returns the revisions whose times are needed, for Times.Keep.
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
