// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/engine/region/regiontest"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// fleet is a random net cut into random regions, with all owners and standbys.
type fleet struct {
	*testing.T
	r      *rand.Rand
	tables *petri.Tables
	parts  []region.Part
	logs   *regiontest.Server
	now    int64
	cfg    engine.Config
	owners []*seat // by part; nil while there is none
	behind [][]*seat
	names  int
	put    map[string]uint64 // tokens that came from outside, by place

	keepAll bool // no snapshots
}

// seat is one process at one part.
type seat struct {
	*engine.Engine
	part   int
	log    *regiontest.Log
	source string
	reads  []engine.Upstream // by upstream part: what it was given
}

var errKilled = errors.New("killed")

func newFleet(t *testing.T, seed uint64) *fleet {
	r := rand.New(rand.NewPCG(seed, 7))
	f := &fleet{T: t, r: r, logs: regiontest.NewServer(), now: 1_000_000, put: map[string]uint64{}}
	net := sparseNet(r)
	if r.IntN(3) == 0 {
		net = petritest.RandomNet(r)
	}
	var err error
	if f.tables, err = petri.Compile(net); err != nil {
		t.Fatal(err)
	}
	f.cut()
	n := engine.NetConfig{Tables: f.tables, Transitions: make([]engine.Transition, f.tables.Transitions())}
	withData := r.IntN(2) == 0
	for i := range n.Transitions {
		tr := &n.Transitions[i]
		switch r.IntN(6) {
		case 0:
			tr.Mode = plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{A: float64(r.IntN(3000))}}
		case 1:
			tr.Mode = plain.Mode{Kind: plain.Delayed, Delay: plain.Delay{Shape: plain.Exponential, A: float64(1 + r.IntN(3000))}}
		}
		if withData && !f.tables.Source(i) && r.IntN(2) == 0 {
			tr.Guard = guardOf(r.Uint32())
		}
	}
	f.cfg = engine.Config{Nets: []engine.NetConfig{n}, Instances: 1 + r.IntN(4), Workers: 1, Seed: seed, Shuffle: r.IntN(3) == 0}
	f.owners, f.behind = make([]*seat, len(f.parts)), make([][]*seat, len(f.parts))
	return f
}

// sparseNet has few arcs, so that it can be cut.
func sparseNet(r *rand.Rand) *petri.Net {
	n := &petri.Net{ID: "sparse"}
	places := 3 + r.IntN(6)
	for i := range places {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprintf("p%d", i), Initial: r.Uint32N(4)})
	}
	arc := func(from, to string, kind petri.ArcKind) {
		n.Arcs = append(n.Arcs, petri.Arc{ID: fmt.Sprintf("a%d", len(n.Arcs)), Source: from, Target: to, Kind: kind, Weight: 1 + r.Uint32N(2)/2})
	}
	for i := range 3 + r.IntN(6) {
		id := fmt.Sprintf("t%d", i)
		n.Transitions = append(n.Transitions, petri.Transition{ID: id, Priority: petri.Urgent * (r.IntN(8) / 7)})
		arc(fmt.Sprintf("p%d", i%places), id, petri.Normal)
		if r.IntN(4) == 0 {
			kind := []petri.ArcKind{petri.Inhibitor, petri.Read, petri.Normal}[r.IntN(3)]
			arc(fmt.Sprintf("p%d", r.IntN(places)), id, kind)
		}
		for range 1 + r.IntN(2) {
			arc(id, fmt.Sprintf("p%d", r.IntN(places)), petri.Normal)
		}
	}
	return n
}

// guardOf says something about tokens that depends on nothing else.
func guardOf(salt uint32) coloured.Guard {
	return func(tokens []coloured.Placed, _ int64) coloured.Verdict {
		h := fnv.New32a()
		fmt.Fprint(h, salt)
		for _, p := range tokens {
			fmt.Fprintf(h, "%d %s;", p.Place, p.Token.Data)
		}
		return coloured.Verdict{OK: h.Sum32()%8 < 6}
	}
}

// cut gives every transition a random region; those that share a place that they
// look at have the same.
func (f *fleet) cut() {
	of := map[string]string{}
	for _, t := range f.tables.Net.Transitions {
		of[t.ID] = fmt.Sprint("r", f.r.IntN(3))
	}
	for changed := true; changed; {
		changed = false
		for _, a := range f.tables.Net.Arcs {
			for _, b := range f.tables.Net.Arcs {
				if x, y := of[a.Target], of[b.Target]; a.Source == b.Source && x != "" && y != "" && x != y {
					of[a.Target], of[b.Target], changed = min(x, y), min(x, y), true
				}
			}
		}
	}
	plan, err := split.Split(f.tables, func(id string) string { return of[id] }, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.parts = region.Regions(f.tables, plan)
}

// open has another process stand by at a part. Its clock is its own.
func (f *fleet) open(part int) *seat {
	f.names++
	s := &seat{part: part, source: fmt.Sprint("m", f.names)}
	s.log = f.logs.Open(f.parts[part].Name, func() uint64 { return f.keep(part) })
	cfg, p, skew := f.cfg, f.parts[part].Part, f.r.Int64N(100_000)-50_000
	p.Group = 0
	if f.r.IntN(2) == 0 {
		p.Group = 1 + f.r.IntN(8)
	} else {
		p.Group = 64
	}
	cfg.Source, cfg.Journal, cfg.Part = s.source, s.log, &p
	cfg.Clock = func() int64 { return f.now + skew }
	var err error
	if s.Engine, err = engine.New(cfg); err != nil {
		f.Fatal(err)
	}
	if f.r.IntN(3) == 0 {
		s.log.Limit = 24 + f.r.IntN(100) // less than many commits have
	}
	return s
}

// keep is the first commit of a part that some other has still to read: what is
// in the others' logs.
func (f *fleet) keep(part int) uint64 {
	first := ^uint64(0)
	for i := range f.parts {
		for k, up := range f.parts[i].Upstream {
			if up != f.parts[part].Name {
				continue
			}
			next := uint64(1)
			if o := f.owners[i]; o != nil {
				next = o.Standing().Cursors[k].Position + 1
			}
			first = min(first, next)
		}
	}
	return first
}

// catchUp reads what there is of the log, or a few commits of it.
func (f *fleet) catchUp(s *seat, most int) {
	for c, err := range s.log.Read(f.Context(), s.Standing().Position+1) {
		if errors.Is(err, journal.ErrCovered) {
			*s = *f.open(s.part)
			return
		}
		if most--; most < 0 {
			return
		}
		if err == nil {
			err = s.Follow(c)
		}
		if err != nil {
			f.Fatalf("following part %q: %v", f.parts[s.part].Name, err)
		}
	}
}

// succeed makes a standby, or a new process, the owner of a part.
func (f *fleet) succeed(part int) {
	old := f.owners[part]
	var s *seat
	if k := len(f.behind[part]); k > 0 {
		s, f.behind[part] = f.behind[part][k-1], f.behind[part][:k-1]
	} else {
		s = f.open(part)
	}
	f.catchUp(s, 1<<30)
	if err := s.Lead(f.Context()); err != nil {
		f.Fatalf("leading part %q: %v", f.parts[part].Name, err)
	}
	f.owners[part] = s
	at := s.Standing()
	s.reads = make([]engine.Upstream, len(at.Cursors))
	for k := range s.reads {
		s.reads[k].Plan, s.reads[k].At = f.parts[part].Plan, at.Cursors[k]
	}
	if old == nil {
		return
	}
	// A paused owner can change nothing afterwards.
	before := f.logs.Open(f.parts[part].Name, nil).Last()
	for range 3 {
		if old.Turn() != nil {
			break
		}
	}
	if old.Put(0, f.placeOf(part), nil, 1) == nil {
		f.Fatalf("part %q: an owner that was replaced takes tokens", f.parts[part].Name)
	}
	if after := f.logs.Open(f.parts[part].Name, nil).Last(); after != before {
		f.Fatalf("part %q: commit %d of an owner that was replaced", f.parts[part].Name, after)
	}
}

func (f *fleet) placeOf(part int) int {
	var mine []int
	for p, in := range f.parts[part].Cut.Places {
		if in {
			mine = append(mine, p)
		}
	}
	if len(mine) == 0 {
		return 0
	}
	return mine[f.r.IntN(len(mine))]
}

// deliver brings an owner some of what is in an upstream log.
func (f *fleet) deliver(s *seat) {
	if len(s.reads) == 0 {
		return
	}
	k := f.r.IntN(len(s.reads))
	up := f.logs.Open(f.parts[s.part].Upstream[k], nil)
	left := 1 + f.r.IntN(20)
	for c, err := range up.Read(f.Context(), s.reads[k].At.Position+1) {
		if err != nil {
			f.Fatalf("part %q reads upstream: %v", f.parts[s.part].Name, err)
		}
		tokens, err := s.reads[k].Read(c)
		if err != nil {
			f.Fatal(err)
		}
		if !s.reads[k].Begun() {
			if err := s.Arrive(f.Context(), k, s.reads[k].At, s.Mine(tokens)); err != nil {
				f.Fatal(err)
			}
			if left--; left < 0 {
				return
			}
		}
	}
}

// dies reports whether an error is that of a log that was to refuse.
func (f *fleet) dies(s *seat, err error) bool {
	if err != nil && !errors.Is(err, errKilled) {
		f.Fatalf("part %q: %v", f.parts[s.part].Name, err)
	}
	return err != nil
}

// happens has one random thing happen.
func (f *fleet) happens() {
	f.now += f.r.Int64N(2000)
	part := f.r.IntN(len(f.parts))
	s := f.owners[part]
	if s == nil {
		f.succeed(part)
		return
	}
	died := false
	switch f.r.IntN(16) {
	case 0: // it is to be killed soon, before a commit is stored, or after
		left := f.r.IntN(5)
		kill := func() error {
			if left--; left < 0 {
				return errKilled
			}
			return nil
		}
		if f.r.IntN(2) == 0 {
			s.log.Refuse = kill
		} else {
			s.log.Lose = kill
		}
	case 1: // it is paused, and taken for dead
		if s.log.Refuse == nil && s.log.Lose == nil {
			f.succeed(part)
		}
	case 2:
		if died = f.dies(s, s.Release(f.Context(), "")); !died {
			f.owners[part] = nil
			f.succeed(part)
		}
	case 3, 4:
		if f.keepAll {
			return
		}
		if err := s.Save(f.Context()); err != nil && !errors.Is(err, journal.ErrStopped) {
			f.Fatal(err)
		}
	case 5:
		if len(f.behind[part]) < 2 {
			f.behind[part] = append(f.behind[part], f.open(part))
		}
	case 6, 7:
		for _, b := range f.behind[part] {
			f.catchUp(b, f.r.IntN(10))
		}
	case 8:
		var data []byte
		if !f.plain() && f.r.IntN(2) == 0 {
			data = fmt.Appendf(nil, `"x%d"`, f.r.IntN(5))
		}
		place, n := f.placeOf(part), 1+f.r.Uint32N(3)
		if !f.parts[part].Cut.Places[place] {
			return
		}
		before := s.Standing().Position
		died = f.dies(s, s.Put(f.r.IntN(f.cfg.Instances), place, data, n))
		if !died || f.logged(part, before, s) {
			f.put[f.tables.Net.Places[place].ID] += uint64(n)
		}
	case 9, 10, 11:
		f.deliver(s)
	default:
		died = f.dies(s, s.Turn())
	}
	if died {
		f.owners[part] = nil
		f.succeed(part)
	}
}

// logged reports whether what a dead owner wrote last is in its log as a whole.
func (f *fleet) logged(part int, before uint64, _ *seat) bool {
	var up engine.Upstream
	up.Plan = f.parts[part].Plan
	whole := false
	for c, err := range f.logs.Open(f.parts[part].Name, nil).Read(f.Context(), before+1) {
		if err != nil {
			f.Fatal(err)
		}
		if _, err := up.Read(c); err != nil {
			f.Fatal(err)
		}
		whole = !up.Begun()
	}
	return whole
}

func (f *fleet) plain() bool {
	for i := range f.cfg.Nets[0].Transitions {
		if f.cfg.Nets[0].Transitions[i].Guard != nil {
			return false
		}
	}
	return true
}

func (f *fleet) rows(s *seat) *stats.Rows {
	rows := stats.NewRows(f.tables.Places(), f.tables.Transitions())
	s.Followed(f.now+1_000_000, rows)
	rows.Queues, rows.Waiting, rows.Blocks = nil, 0, nil // what an owner has still to look at
	for p := range rows.Places {
		rows.Places[p].Stuck = nil
	}
	for t := range rows.Transitions { // a follower asks no guard, and finds instances that never moved at rest when it leads
		rows.Transitions[t].Enabled, rows.Transitions[t].EnabledSince = 0, 0
	}
	rows.Net.Deadlocked = 0
	return rows
}

// agree compares an owner with its followers and with a new one.
func (f *fleet) agree(part int) {
	owner := f.owners[part]
	if owner == nil || owner.log.Refuse != nil || owner.log.Lose != nil {
		return
	}
	for _, b := range append([]*seat{f.open(part)}, f.behind[part]...) {
		f.catchUp(b, 1<<30)
		want, got := owner.Standing(), b.Standing()
		if got.Round == 0 { // it began with a snapshot behind the round
			want.Round = 0
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.Fatalf("part %q: -owner +standby\n%s", f.parts[part].Name, diff)
		}
		if want, got := f.rows(owner), f.rows(b); !reflect.DeepEqual(want, got) { // cmp is for people, and slow
			f.Fatalf("part %q: -owner +standby\n%s", f.parts[part].Name, cmp.Diff(want, got))
		}
	}
}

// A random net is cut into random regions, whose owners are killed at any
// commit, paused, replaced and handed over. Followers always have the state of
// the owner, and no token is lost or doubled.
//
//promise:owner kill pause stop none
func TestWhateverHappensToOwnersNoTokenIsLostOrDoubled(t *testing.T) {
	for seed := range seeds.Of(5, 100, 61, 57, 41, 97, 94, 29, 74, 32, 6, 5, 50, 95, 31, 48, 79, 53, 56, 43, 47, 18, 9, 10, 24, 26, 28, 38, 45, 59, 72) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newFleet(t, seed)
			for range 150 {
				f.happens()
				if f.r.IntN(4) == 0 {
					f.agree(f.r.IntN(len(f.parts)))
				}
			}
			f.balance()
		})
	}
}

// balance counts the tokens of all places and between parts: each firing has
// changed them by what its arcs say.
func (f *fleet) balance() {
	net := f.tables.Net
	want := map[string]int64{}
	for _, p := range net.Places {
		want[p.ID] = int64(p.Initial)*int64(f.cfg.Instances) + int64(f.put[p.ID])
	}
	cfg := region.Config{Engine: f.cfg, Parts: f.parts, Open: f.openLog}
	tally, err := regiontest.Count(f.Context(), &cfg)
	if err != nil {
		f.Fatal(err)
	}
	for _, a := range net.Arcs {
		if n, ok := tally.Firings[a.Source]; ok {
			want[a.Target] += int64(n) * int64(a.Weight)
		}
		if n, ok := tally.Firings[a.Target]; ok && a.Kind == petri.Normal {
			want[a.Source] -= int64(n) * int64(a.Weight)
		}
	}
	for _, a := range net.Arcs {
		if a.Kind == petri.Reset {
			delete(want, a.Source) // what it destroys is not counted
		}
	}
	for place, n := range want {
		if got := int64(tally.Tokens[place] + tally.Crossing[place]); got != n {
			f.Errorf("place %q has %d tokens, %d of them on their way; want %d", place, got, tally.Crossing[place], n)
		}
	}
}

func (f *fleet) openLog(_ context.Context, part string, _ bool, keep func() uint64) (region.Log, error) {
	return f.logs.Open(part, keep), nil
}
