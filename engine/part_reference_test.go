// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri/petritest"
	"github.com/pnagent/pnagent/petri/split"
)

// reference plays a whole net as the logs of its parts say it was played, one
// commit after another, each when what it has read of other parts was written.
type reference struct {
	*fleet
	nets    []*petritest.Reference // by instance: tokens in places, not those on their way
	logs    []*referenceLog
	outside map[string]uint64 // tokens that came from outside, by place
	fired   int
}

type referenceLog struct {
	last    uint64                      // the last entry that was read
	joiner  engine.Joiner               // of the entries
	commit  *engine.Logged              // the next one, if it waits for others
	cursors []uint64                    // by upstream part
	left    map[uint64][]split.Crossing // by commit
}

type spot struct{ instance, place int }

func newReference(f *fleet) *reference {
	r := &reference{fleet: f, outside: map[string]uint64{}}
	for range f.cfg.Instances {
		r.nets = append(r.nets, petritest.NewReference(f.tables.Net))
	}
	for i := range f.parts {
		r.logs = append(r.logs, &referenceLog{last: 1, cursors: make([]uint64, len(f.parts[i].Upstream)), left: map[uint64][]split.Crossing{}})
	}
	return r
}

// play plays the logs to their ends.
func (r *reference) play() {
	for moved := true; moved; {
		moved = false
		for part := range r.logs {
			for r.next(part) {
				moved = true
			}
		}
	}
	for part, l := range r.logs {
		if l.commit != nil {
			r.Fatalf("part %q has read what other parts have not written: %v", r.parts[part].Name, l.commit.Cursors)
		}
	}
}

// next plays one entry of a log, if there is one whose time has come.
func (r *reference) next(part int) bool {
	l := r.logs[part]
	if l.commit == nil {
		for c, err := range r.fleet.logs.Open(r.parts[part].Name, nil).Read(r.Context(), l.last+1) {
			if err != nil {
				r.Fatal(err)
			}
			whole, err := l.joiner.Add(c.Payload)
			if err == nil && whole != nil {
				l.commit, err = engine.ReadCommit(whole)
			}
			if err != nil {
				r.Fatal(err)
			}
			l.last = c.Sequence
			if l.commit != nil {
				break
			}
		}
	}
	if l.commit == nil {
		return false
	}
	for up, position := range l.commit.Cursors {
		if r.logs[r.indexOf(r.parts[part].Upstream[up])].reached() < position {
			return false
		}
	}
	r.commit(part, l.commit)
	l.left[l.last], l.commit = l.commit.Crossings, nil
	return true
}

// reached is the last entry that was played.
func (l *referenceLog) reached() uint64 {
	if l.commit != nil {
		return l.last - 1
	}
	return l.last
}

func (r *reference) indexOf(name string) int {
	for i := range r.parts {
		if r.parts[i].Name == name {
			return i
		}
	}
	r.Fatalf("no part %q", name)
	return -1
}

// arriving takes what has come for a part up to its new cursors.
func (r *reference) arriving(part int, cursors map[int]uint64) map[spot]uint64 {
	tokens := map[spot]uint64{}
	for up, position := range cursors {
		from := r.logs[r.indexOf(r.parts[part].Upstream[up])]
		for at := r.logs[part].cursors[up] + 1; at <= position; at++ {
			for _, x := range from.left[at] {
				if r.parts[part].Cut.Places[x.Place] {
					tokens[spot{x.Instance, int(x.Place)}] += uint64(x.Tokens)
				}
			}
		}
		r.logs[part].cursors[up] = position
	}
	return tokens
}

func (r *reference) commit(part int, c *engine.Logged) {
	arriving, injected, leaving := r.arriving(part, c.Cursors), map[spot]uint64{}, map[spot]uint64{}
	for ops := c.Ops; len(ops) > 0; {
		next := func() uint64 {
			v, n := binary.Uvarint(ops)
			ops = ops[max(n, 1):]
			return v
		}
		head := next()
		number, transitions := int(head>>1), uint64(r.tables.Transitions())
		if head&1 == 1 {
			place, n := int(next()), next()
			injected[spot{number, place}] += n
			r.nets[number].Marking[r.tables.Net.Places[place].ID] += n
			continue
		}
		switch t := next(); {
		case t < transitions:
			r.fire(part, number, int(t), leaving)
		case t == transitions+1: // it failed, and moved nothing
			next()
		case t == transitions+2: // a run of firings
			for k := next(); k > 0; k = next() {
				r.fire(part, number, int(k-1), leaving)
			}
		}
	}
	crossed := map[spot]uint64{}
	for _, x := range c.Crossings {
		crossed[spot{x.Instance, int(x.Place)}] += uint64(x.Tokens)
	}
	if diff := cmp.Diff(leaving, crossed, cmp.AllowUnexported(spot{})); diff != "" {
		r.Fatalf("part %q, commit %d: (-put into other parts +crossed):\n%s", r.parts[part].Name, r.logs[part].last, diff)
	}
	if len(c.Cursors) == 0 {
		for s, n := range injected {
			r.outside[r.tables.Net.Places[s.place].ID] += n
		}
		return
	}
	if diff := cmp.Diff(arriving, injected, cmp.AllowUnexported(spot{})); diff != "" {
		r.Fatalf("part %q, commit %d: (-sent +arrived):\n%s", r.parts[part].Name, r.logs[part].last, diff)
	}
}

// fire fires a transition, which is enabled, and has what it puts into other parts
// be on its way.
func (r *reference) fire(part, number, t int, leaving map[spot]uint64) {
	net, id := r.nets[number], r.tables.Net.Transitions[t].ID
	before := maps.Clone(net.Marking)
	if !r.parts[part].Cut.Transitions[t] || !net.Fire(id) {
		r.Fatalf("part %q fires %q in instance %d, which it cannot at %v", r.parts[part].Name, id, number, before)
	}
	r.fired++
	for _, a := range r.tables.Net.Arcs {
		if p, _ := r.tables.PlaceIndex(a.Target); a.Source == id && !r.parts[part].Cut.Places[p] {
			leaving[spot{number, p}] += uint64(a.Weight)
			net.Marking[a.Target] = before[a.Target]
		}
	}
}

// A net that was played in parts, by owners that were killed, paused and
// replaced, was played as one net can be: there is an order in which everything
// is written before it is read, every firing is enabled, what leaves a part is
// what its firings put, and what arrives is what left, once.
func TestPartsPlayWhatOneNetCanPlay(t *testing.T) {
	played, fired := 0, 0
	for seed := range seeds.Of(5, 120, 61, 53, 83, 76, 57, 79, 33, 117, 97, 43, 18, 91, 60, 47, 108, 8, 23, 26, 7, 37, 104) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newFleet(t, seed)
			if !f.plain() {
				return
			}
			f.keepAll = true
			for range 200 {
				f.happens()
			}
			r := newReference(f)
			r.play()
			if diff := cmp.Diff(f.put, r.outside); diff != "" {
				t.Errorf("(-came from outside +in the logs):\n%s", diff)
			}
			r.compare()
			played++
			fired += r.fired
		})
	}
	if played > 1 && fired < 80*played {
		t.Errorf("%d firings of %d nets; expected more to see", fired, played)
	}
}

// compare compares the places with those of a reader of the logs.
func (r *reference) compare() {
	want := map[string]uint64{}
	for _, net := range r.nets {
		for place, n := range net.Marking {
			if n > 0 {
				want[place] += n
			}
		}
	}
	got := map[string]uint64{}
	for part := range r.parts {
		s := r.open(part)
		r.catchUp(s, math.MaxInt)
		for p, row := range r.rows(s).Places {
			if row.Tokens > 0 && r.parts[part].Cut.Places[p] {
				got[r.tables.Net.Places[p].ID] += row.Tokens
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Errorf("(-reference's tokens +those of the parts):\n%s", diff)
	}
}
