// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// story is a replica that receives changes, one revision a second, and the keys
// that result from them.
type story struct {
	*Replica
	t      *testing.T
	at     int64 // revision
	keys   map[string]string
	create map[string]int64
}

func tell(t *testing.T, net *petri.Net, lim Limits) *story {
	s := &story{Replica: New(net, 0, lim), t: t, at: 100, keys: map[string]string{}, create: map[string]int64{}}
	s.Times.Look(s.at, s.now(), s.now())
	s.Begin(s.at)
	s.Commit(s.now())
	s.tx("put place_ids/a 1", "put place_ids/b 2", "put transition_ids/t 1", "put transition_ids/t/region north")
	s.tx("put region/north/election/a1 node-1")
	s.tx("put region/north/election/a2 node-2")
	return s
}

func (s *story) now() int64 { return s.at * second }

// tx applies one transaction: "put KEY VALUE" or "del KEY".
func (s *story) tx(changes ...string) {
	s.t.Helper()
	s.at++
	var events []Event
	for _, c := range changes {
		words := append(strings.Split(c, " "), "")
		key, value := words[1], words[2]
		e := Event{KV: KV{Key: key, Value: []byte(value), Create: s.at}, Delete: words[0] == "del"}
		if old, there := s.keys[key]; there {
			e.PrevCreate, e.Same = s.create[key], old == value
			e.Create = s.create[key]
		}
		if e.Delete {
			delete(s.keys, key)
			delete(s.create, key)
		} else {
			s.keys[key], s.create[key] = value, e.Create
		}
		events = append(events, e)
	}
	s.Times.Look(s.at, s.now(), s.now())
	s.Apply(s.at, s.now(), events)
}

// reload loads all present keys.
func (s *story) reload() {
	s.Begin(s.at)
	for _, tokens := range []bool{false, true} {
		for _, key := range slices.Sorted(maps.Keys(s.keys)) {
			if strings.HasPrefix(key, "pl/") == tokens {
				s.Add(KV{Key: key, Value: []byte(s.keys[key]), Create: s.create[key]}, s.now())
			}
		}
	}
	s.Commit(s.now())
}

func (s *story) rows() *stats.Rows {
	rows := stats.NewRows(s.Size())
	s.Rows(s.now(), rows)
	return rows
}

// sums returns the rows as text: "a tokens arrivals departures | t firings
// cancels running".
func (s *story) sums() string {
	rows, d := s.rows(), s.Definition()
	var out []string
	for i, p := range rows.Places {
		out = append(out, fmt.Sprint(d.Places[i].ID, " ", p.Tokens, " ", p.Arrivals, " ", p.Departures))
	}
	for i, tr := range rows.Transitions {
		out = append(out, fmt.Sprint(d.Transitions[i].ID, " ", tr.Firings, " ", tr.Cancels, " ", tr.Running))
	}
	return strings.Join(out, " | ")
}

func (s *story) want(sums string) {
	s.t.Helper()
	if got := s.sums(); got != sums {
		s.t.Errorf("revision %d:\n%s\nwant\n%s", s.at, got, sums)
	}
}

func line() *petri.Net { return &petri.Net{ID: "line"} }

func TestATransactionStartsFinishesOrCancels(t *testing.T) {
	const taken = "a 0 1 0 | b 0 0 0 | t 0 0 1"
	for name, c := range map[string]struct {
		before []string // one transaction each
		end    []string // one transaction
		want   string
	}{
		"tokens that go and come are a firing": {nil, []string{"del pl/1/1/1", "del pl/1/1", "put pl/2/2 x"}, "a 0 1 1 | b 1 1 0 | t 1 0 0"},
		"tokens that go are a firing":          {nil, []string{"del pl/1/1/1", "del pl/1/1"}, "a 0 1 1 | b 0 0 0 | t 1 0 0"},
		"a token with another value is a firing, and stays": {
			[]string{"del region/north/election/a1"}, []string{"del pl/1/1/1", "put pl/1/1 y"}, "a 1 1 0 | b 0 0 0 | t 1 0 0"},
		"the same token under the same leader is a firing": {nil, []string{"del pl/1/1/1", "put pl/1/1 x"}, "a 1 1 0 | b 0 0 0 | t 1 0 0"},
		"the same token under a new leader is a cancel": {
			[]string{"del region/north/election/a1", "del region/north/election/a2", "put region/north/election/a3 node-3"},
			[]string{"del pl/1/1/1", "put pl/1/1 x"}, "a 1 1 0 | b 0 0 0 | t 0 1 0"},
		"so is a token that is only let go": {
			[]string{"del region/north/election/a1", "del region/north/election/a2", "put region/north/election/a3 node-3"},
			[]string{"del pl/1/1/1"}, "a 1 1 0 | b 0 0 0 | t 0 1 0"},
		"a node that stood by leads from when the one before it went": {
			[]string{"del region/north/election/a1"}, []string{"del pl/1/1/1"}, "a 1 1 0 | b 0 0 0 | t 0 1 0"},
		"one that stands by and goes changes nothing": {
			[]string{"del region/north/election/a2"}, []string{"del pl/1/1/1"}, "a 1 1 0 | b 0 0 0 | t 1 0 0"},
		"under a new leader, with a token more, it is a firing": {
			[]string{"del region/north/election/a1"}, []string{"del pl/1/1/1", "put pl/2/9 x"}, "a 1 1 0 | b 1 1 0 | t 1 0 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t, line(), DefaultLimits())
			s.tx("put pl/1/1 x")
			s.want("a 1 1 0 | b 0 0 0 | t 0 0 0")
			s.tx("put pl/1/lock/a1")
			s.tx("put pl/1/1/1")
			s.want(taken)
			s.tx("del pl/1/lock/a1")
			for _, change := range c.before {
				s.tx(change)
			}
			s.tx(c.end...)
			s.want(c.want)
			if n := s.Dropped(); len(n) > 0 {
				t.Errorf("dropped %v", n)
			}
		})
	}
}

func TestWithoutARegionEveryEndIsAFiring(t *testing.T) {
	s := tell(t, line(), DefaultLimits())
	s.tx("put pl/1/1 x")
	s.tx("put pl/1/1/2")
	s.tx("put transition_ids/u 2") // its name comes late
	s.tx("del region/north/election/a1")
	s.tx("del pl/1/1/2")
	s.want("a 1 1 0 | b 0 0 0 | t 0 0 0 | transition 2 0 0 0 | u 1 0 0")
}

func TestARunTakesSeveralTokensAndEndsOnce(t *testing.T) {
	s := tell(t, line(), DefaultLimits())
	s.tx("put pl/1/1 x", "put pl/1/2 y", "put pl/2/3 z")
	s.tx("put pl/1/1/1", "put pl/2/3/1")
	s.want("a 1 2 0 | b 0 1 0 | t 0 0 1")
	if d := cmp.Diff([]Held{{"t", 2}}, s.InFlight()); d != "" {
		t.Error(d)
	}
	started := s.now()
	s.tx("put pl/1/2/1") // another run of it
	if row := s.rows().Transitions[0]; row.Running != 2 || row.RunningSince != started {
		t.Errorf("running: %+v", row)
	}
	s.tx("del pl/1/1/1", "del pl/2/3/1", "del pl/1/1", "del pl/2/3")
	s.want("a 0 2 1 | b 0 1 1 | t 1 0 1")
	if h := s.rows().Transitions[0].Duration; h.Count() != 1 || h.Sum != 2*second {
		t.Errorf("durations: %+v", h)
	}
}

func TestAgesAndDwellCountFromTheCreateRevision(t *testing.T) {
	s := tell(t, line(), DefaultLimits())
	s.tx("put pl/1/1 x")
	born := s.now()
	s.tx("put pl/1/1 y") // another value, the same token
	s.tx("put pl/1/2 x")
	row := s.rows().Places[0]
	if row.Oldest != born || row.LastInjection != s.now() || row.Ages.Tokens() != 2 || row.Injected.Mean(2) != born+second {
		t.Errorf("row %+v", row)
	}
	if d := cmp.Diff([]stats.Token{{Instance: "1", Injected: born}, {Instance: "2", Injected: s.now()}}, row.Stuck); d != "" {
		t.Error(d)
	}
	s.tx("del pl/1/1", "put pl/2/1 y") // a move
	rows := s.rows()
	if h := rows.Places[0].Dwell; h.Count() != 1 || h.Sum != 3*second || rows.Places[1].Oldest != s.now() {
		t.Errorf("after a move: dwell %+v, oldest %d", h, rows.Places[1].Oldest)
	}
	if got := rows.Places[0].Slowest; got != (stats.Slowest{Instance: "1", Micros: 3 * second, At: s.now()}) || s.rows().Places[0].Slowest.At != 0 {
		t.Errorf("slowest %+v; want it reported once", got)
	}
}

func TestTokensOlderThanTheAttachmentAreMarked(t *testing.T) {
	r := New(line(), 0, DefaultLimits())
	r.Times.Look(50, 60*second, 60*second)
	r.Begin(50)
	r.Add(KV{Key: "pl/1/4", Create: 7}, 60*second)
	r.Add(KV{Key: "pl/1/5", Create: 8}, 60*second)
	r.Add(KV{Key: "pl/1/5/1", Create: 9}, 60*second)
	r.Commit(60 * second)
	rows := stats.NewRows(r.Size())
	r.Rows(90*second, rows)
	if p := rows.Places[0]; p.Tokens != 1 || p.Oldest != 60*second || p.Stuck[0].Instance != "4 (or older)" || p.Arrivals != 2 {
		t.Errorf("place %+v", p)
	}
	if d := r.Definition(); d.Places[0].ID != "place 1" || d.Transitions[0].ID != "transition 1" {
		t.Errorf("without names: %+v", d)
	}
	r.Apply(51, 61*second, []Event{{KV: KV{Key: "pl/1/4"}, Delete: true, PrevCreate: 7}})
	r.Apply(52, 61*second, []Event{{KV: KV{Key: "pl/1/5/1"}, Delete: true, PrevCreate: 9}, {KV: KV{Key: "pl/1/5"}, Delete: true, PrevCreate: 8}})
	rows = stats.NewRows(r.Size())
	r.Rows(90*second, rows)
	if p, tr := rows.Places[0], rows.Transitions[0]; p.Departures != 2 || p.Dwell.Count() != 0 || tr.Firings != 1 || tr.Duration.Count() != 0 {
		t.Errorf("tokens with an unknown dwell time are counted in it: %+v, %+v", p, tr)
	}
	if got := r.Oldest(0, &stats.Query{Limit: 5}).Tokens; got != nil {
		t.Errorf("oldest of an empty place: %v", got)
	}
}

//promise:dropped messages
func TestAGapIsCounted(t *testing.T) {
	s := tell(t, line(), DefaultLimits())
	s.tx("put pl/1/1 x", "put pl/1/2 x")
	s.tx("put pl/1/2/1")
	s.want("a 1 2 0 | b 0 0 0 | t 0 0 1")
	since := s.Gaps().Since
	missed := &story{Replica: New(line(), 0, DefaultLimits()), t: t, at: s.at, keys: s.keys, create: s.create}
	missed.tx("del pl/1/2/1", "del pl/1/2", "put pl/2/3 x")
	missed.tx("put pl/2/4 x")
	missed.tx("del pl/2/4")
	s.at = missed.at
	s.reload()
	s.want("a 1 2 1 | b 1 1 0 | t 0 0 0")
	g := s.Gaps()
	if g.Count != 1 || g.Revisions != 3 || g.Since <= since || s.Dropped()[FaultOldRunning] != 1 {
		t.Errorf("gaps %+v, dropped %v", g, s.Dropped())
	}
	s.Apply(s.at, s.now(), []Event{{KV: KV{Key: "pl/1/9", Create: s.at}}})
	s.want("a 1 2 1 | b 1 1 0 | t 0 0 0") // a revision that was applied before changes nothing
	s.Forget()
	s.want("a 0 2 2 | b 0 1 1 | t 0 0 0")
	s.Begin(200)
	s.Forget()
	s.Add(KV{Key: "pl/1/1", Create: 7}, s.now())
	if s.Commit(s.now()) {
		t.Error("forgotten tokens are present")
	}
}

func TestAProcessContinuesWhereThePreviousOneStopped(t *testing.T) {
	s := tell(t, line(), DefaultLimits())
	s.tx("put pl/1/1 x")
	next := &story{Replica: New(line(), s.Revision(), DefaultLimits()), t: t, at: s.at, keys: s.keys, create: s.create}
	for _, m := range s.Times.Marks() {
		next.Times.Restore(m)
	}
	next.reload()
	next.want("a 1 0 0 | b 0 0 0 | t 0 0 0") // it arrived in the previous process
	next.tx("put pl/1/2 x")
	next.want("a 2 1 0 | b 0 0 0 | t 0 0 0")
	if row := next.rows().Places[0]; row.Stuck[0].Instance != "1" || row.Oldest != (next.at-1)*second {
		t.Errorf("the token became younger: %+v", row)
	}
	if next.Gaps().Count != 0 {
		t.Errorf("gaps %+v", next.Gaps())
	}
}

//promise:dropped load
func TestWhatIsBeyondTheLimitsIsCounted(t *testing.T) {
	s := tell(t, line(), Limits{Tokens: 2, Names: 2, Leaders: 2})
	s.tx("put pl/1/1 x", "put pl/1/2 x", "put pl/1/3 x")
	s.tx("put pl/1/1/1")
	s.tx("put place_ids/c 3")
	s.tx("put region/south/election/b1 node")
	s.tx("put place_ids/d x", "put place_ids/\x01 9", "put zzz 1", "put pl/x/y 1", "del pl/1/77", "put region/\xff/election/1 node")
	want := map[Fault]uint64{FaultRoom: 4, FaultBadID: 2, FaultBadName: 2, FaultForeign: 1, FaultUnseen: 1}
	if d := cmp.Diff(want, s.Dropped()); d != "" {
		t.Error(d)
	}
}

func TestPlacesAndTransitionsBeyondTheLimitAreCounted(t *testing.T) {
	s := tell(t, line(), Limits{Tokens: 100, Names: 2, Leaders: 2})
	s.tx("put pl/8/1 x")
	s.tx("put pl/1/2 x")
	s.tx("put pl/1/2/8")
	s.tx("put pl/1/2/9")
	s.want("a 0 1 0 | b 0 0 0 | t 0 0 0 | transition 8 0 0 1")
	if n := s.Dropped()[FaultRoom]; n != 2 {
		t.Errorf("%d counted", n)
	}
}

func TestANetOfAFileShowsWhatTokensWaitFor(t *testing.T) {
	net := &petri.Net{ID: "line", Places: []petri.Place{{ID: "p1", Name: "a"}, {ID: "b"}, {ID: "t2"}}, Transitions: []petri.Transition{{ID: "t1", Name: "t"}},
		Arcs: []petri.Arc{{Source: "p1", Target: "t1", Weight: 1}, {Source: "b", Target: "t1", Weight: 2}, {Source: "t2", Target: "t1", Weight: 1, Kind: petri.Inhibitor}}}
	s := tell(t, net, DefaultLimits())
	s.tx("put transition_ids/b 9", "put place_ids/t2 3") // a name that a place has, and the name of a place of the file
	s.tx("put pl/1/1 x")
	s.tx("put pl/3/2 x")
	s.want("p1 1 1 0 | b 0 0 0 | t2 1 1 0 | t1 0 0 0 | b (transition) 0 0 0")
	want := []stats.Wait{{Transition: 0, Place: 1, Reason: stats.ReasonMissing, Count: 2}, {Transition: 0, Place: 2, Reason: stats.ReasonInhibited, Count: 1}}
	if d := cmp.Diff(want, s.Oldest(0, &stats.Query{Limit: 3}).Tokens[0].Waits); d != "" {
		t.Error(d)
	}
	s.tx("put pl/2/3 x", "put pl/2/4 x", "del pl/3/2")
	want = []stats.Wait{{Transition: 0, Place: stats.NoPlace, Reason: stats.ReasonUnknown}} // its guard
	if d := cmp.Diff(want, s.Oldest(0, &stats.Query{Limit: 3}).Tokens[0].Waits); d != "" {
		t.Error(d)
	}
}

// A net of a file says which places are final. Of other places the arcs are not known, so
// tokens can be stuck there.
func TestOnlyPlacesOfAFileAreFinal(t *testing.T) {
	file := &petri.Net{ID: "line", Places: []petri.Place{{ID: "a"}, {ID: "end"}}, Transitions: []petri.Transition{{ID: "t"}},
		Arcs: []petri.Arc{{Source: "a", Target: "t", Weight: 1}, {Source: "t", Target: "end", Weight: 1}}}
	for _, c := range []struct {
		rule string
		net  *petri.Net
		want map[string]bool
	}{
		{"no file", line(), map[string]bool{"a": false, "b": false, "place 9": false}},
		{"a file", file, map[string]bool{"a": false, "end": true, "b": false, "place 9": false}},
	} {
		s := tell(t, c.net, DefaultLimits())
		s.tx("put pl/9/1 x")
		got, d := map[string]bool{}, s.Definition()
		for i, final := range d.FinalPlaces() {
			got[d.Places[i].ID] = final
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.rule, d)
		}
	}
}

func TestTheLeaderIsTheOldestCandidate(t *testing.T) {
	s := tell(t, line(), DefaultLimits())
	if d := cmp.Diff([]Leadership{{"north", "node-1", 102 * second, 1}}, s.Leaders(s.now())); d != "" {
		t.Error(d)
	}
	s.tx("del region/north/election/a1")
	if d := cmp.Diff([]Leadership{{"north", "node-2", s.now(), 0}}, s.Leaders(s.now())); d != "" {
		t.Error(d)
	}
	s.tx("del region/north/election/a2")
	if got := s.Leaders(s.now()); len(got) != 0 {
		t.Errorf("leaders %v", got)
	}
}
