// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"github.com/pnagent/pnagent/petri"
)

// Limits bound what a Replica keeps. Beyond them it counts what it leaves out.
type Limits struct {
	Tokens  int // tokens and taken keys together
	Names   int // places, and transitions
	Leaders int // election keys of all regions
}

// DefaultLimits is enough for most, in some 200 MB at worst.
func DefaultLimits() Limits { return Limits{Tokens: 1_000_000, Names: 1 << 16, Leaders: 1 << 16} }

// KV is a key as it is at one revision, without the prefix. The value is looked
// at for names and regions only, and never kept.
type KV struct {
	Key    string
	Value  []byte
	Create int64 // revision in which the key was put first
}

// Event is one change of one key.
type Event struct {
	KV
	Delete     bool
	PrevCreate int64 // Create of what was there before; 0 if nothing was, or it is not known
	Same       bool  // the value is what it was before
}

// Replica is what is known of one DiPeN net. It is not safe for concurrent use.
type Replica struct {
	Times Times

	limits   Limits
	net      *definition
	revision int64
	marking
	next    *marking // while it is loaded
	at      int64    // the revision that is loaded
	dropped map[Fault]uint64
	gaps    Gaps
}

// marking is what the keys say at one revision.
type marking struct {
	cells   map[cellID]*cell
	runs    map[runID]*run
	held    int                             // taken keys
	leaders map[string]map[uint64]candidate // by region and lease
	count   int                             // of candidates
	took    map[string]takeover             // by region: how its leader came to lead
}

func newMarking() marking {
	return marking{cells: map[cellID]*cell{}, runs: map[runID]*run{}, leaders: map[string]map[uint64]candidate{}, took: map[string]takeover{}}
}

// candidate is a node that stands for a region.
type candidate struct {
	node    string
	created int64 // revision
}

// takeover is that a node which stood by became the leader.
type takeover struct {
	created  int64 // revision of its key
	revision int64 // in which the one before it went
}

type cellID struct{ place, token uint64 }

// cell is a token at a place, and by whom it is taken. A taken key without its
// token is a cell that is not there.
type cell struct {
	there   bool
	loose   bool  // injected may be too late
	created int64 // revision
	at      int64 // time of it
	taken   []hold
}

type hold struct {
	transition uint64
	created    int64
}

// runID is a run of a transition: the taken keys that one transaction put.
type runID struct {
	transition uint64
	created    int64
}

type run struct {
	keys  int
	at    int64
	loose bool
}

// Gaps is what of the history could not be had.
type Gaps struct {
	Count     uint64 // times that changes were missed
	Revisions int64  // revisions in them, of all of etcd
	Since     int64  // since when counts hold: of the attachment or the last gap, in microseconds since the Unix epoch
}

// New returns a Replica. The net is that of a file, with its arcs, or one with an
// id alone; what etcd names beyond it is added. With revision it goes on where a
// process before it stopped: what was there then does not count as arrived.
func New(net *petri.Net, revision int64, limits Limits) *Replica {
	return &Replica{limits: limits, net: newDefinition(net, limits.Names), revision: revision, marking: newMarking(), dropped: map[Fault]uint64{}}
}

// Revision returns up to which revision everything is in.
func (r *Replica) Revision() int64 { return r.revision }

// Gaps returns what could not be had.
func (r *Replica) Gaps() Gaps { return r.gaps }

// Dropped returns what was passed over, by fault.
func (r *Replica) Dropped() map[Fault]uint64 {
	out := make(map[Fault]uint64, len(r.dropped))
	for f, n := range r.dropped {
		out[f] = n
	}
	return out
}

// Drop counts something that the caller had to pass over.
func (r *Replica) Drop(f Fault) { r.dropped[f]++ }

// Begin begins to load all keys as they are at a revision.
func (r *Replica) Begin(revision int64) {
	m := newMarking()
	r.next, r.at = &m, revision
}

// Add adds a key as it is at the revision: names before tokens, or places get rows
// without names first. After Forget it does nothing.
func (r *Replica) Add(kv KV, now int64) {
	if r.next == nil {
		return
	}
	k, fault := ParseKey(kv.Key)
	if fault != FaultNone {
		r.Drop(fault)
		return
	}
	switch k.Kind {
	case KindToken:
		if c := r.cell(r.next, k); c != nil {
			r.place(c, kv.Create, now)
		}
	case KindTaken:
		r.take(r.next, k, kv.Create, now)
	default:
		r.learn(r.next, k, kv, false)
	}
}

// Commit ends the loading: what was added takes the place of what was there. If
// that is later than what was known before, changes were missed, and counts hold
// from now on. It returns false if all was forgotten since Begin.
func (r *Replica) Commit(now int64) bool {
	if r.next == nil {
		return false
	}
	first := r.revision == 0
	missed := !first && r.at > r.revision
	if first || missed || r.gaps.Since == 0 {
		r.gaps.Since = now
	}
	if missed {
		r.gaps.Count++
		r.gaps.Revisions += r.at - r.revision
	}
	r.compare()
	r.next.took = r.took // of leaders that are not the same any more it says nothing
	r.marking, r.next, r.revision = *r.next, nil, r.at
	return true
}

// compare counts what is known to have happened between the marking before and
// the one that was loaded.
func (r *Replica) compare() {
	for id, c := range r.next.cells {
		if !c.there {
			continue
		}
		old := r.cells[id]
		if (old == nil || !old.there || old.created != c.created) && c.created > r.revision {
			r.net.arrived(id.place, c.at)
		}
	}
	for id, old := range r.cells {
		if c := r.next.cells[id]; old.there && (c == nil || !c.there || c.created != old.created) {
			r.net.left(id, nil, 0)
		}
	}
	for id := range r.runs {
		if r.next.runs[id] == nil {
			r.Drop(FaultOldRunning)
		}
	}
}

// Forget makes the Replica know nothing of times and tokens: etcd is another one,
// or was set back. Counts stay.
func (r *Replica) Forget() {
	for id, c := range r.cells {
		if c.there {
			r.net.left(id, nil, 0)
		}
	}
	for range r.runs {
		r.Drop(FaultOldRunning)
	}
	r.gaps.Count++
	r.Times, r.marking, r.next, r.revision = Times{}, newMarking(), nil, 0
}

// cell returns the cell of a key, new if need be; nil if there is no room.
func (r *Replica) cell(m *marking, k Key) *cell {
	id := cellID{k.Place, k.Token}
	c := m.cells[id]
	if c == nil {
		if len(m.cells)+m.held >= r.limits.Tokens || r.net.place(k.Place) < 0 {
			r.Drop(FaultRoom)
			return nil
		}
		c = &cell{}
		m.cells[id] = c
	}
	return c
}

// place puts a token that was created in a revision into a cell.
func (r *Replica) place(c *cell, created, now int64) {
	c.there, c.created = true, created
	c.at, c.loose = r.Times.At(created, now)
}

// take notes that a transition took a token.
func (r *Replica) take(m *marking, k Key, created, now int64) {
	c := r.cell(m, k)
	if c == nil {
		return
	}
	if m.held+len(m.cells) >= r.limits.Tokens || r.net.transition(k.Transition) < 0 {
		r.Drop(FaultRoom)
		m.tidy(cellID{k.Place, k.Token})
		return
	}
	c.taken = append(c.taken, hold{k.Transition, created})
	m.held++
	id := runID{k.Transition, created}
	if m.runs[id] == nil {
		at, loose := r.Times.At(created, now)
		m.runs[id] = &run{at: at, loose: loose}
	}
	m.runs[id].keys++
}

// tidy drops a cell with nothing in it.
func (m *marking) tidy(id cellID) {
	if c := m.cells[id]; c != nil && !c.there && len(c.taken) == 0 {
		delete(m.cells, id)
	}
}

// learn takes in a key that is about names and leaders.
func (r *Replica) learn(m *marking, k Key, kv KV, gone bool) {
	switch k.Kind {
	case KindPlace, KindTransition:
		if gone {
			return // ids are not given out again
		}
		id, ok := ID(string(kv.Value))
		if !ok {
			r.Drop(FaultBadID)
			return
		}
		if f := r.net.name(k, id); f != FaultNone {
			r.Drop(f)
		}
	case KindRegion:
		if !gone && !r.net.region(k.Name, string(kv.Value)) {
			r.Drop(FaultRoom)
		}
	case KindElection:
		r.elect(m, k, kv, gone)
	}
}

// elect notes that a node stands for a region, or that it does not any more.
func (r *Replica) elect(m *marking, k Key, kv KV, gone bool) {
	region := m.leaders[k.Name]
	if gone {
		if _, there := region[k.Lease]; there {
			m.count--
			delete(region, k.Lease)
		}
		if len(region) == 0 {
			delete(m.leaders, k.Name)
		}
		return
	}
	if !goodName(k.Name) {
		r.Drop(FaultBadName)
		return
	}
	if _, there := region[k.Lease]; !there {
		if m.count >= r.limits.Leaders {
			r.Drop(FaultRoom)
			return
		}
		m.count++
	}
	if region == nil {
		region = map[uint64]candidate{}
		m.leaders[k.Name] = region
	}
	c := candidate{created: kv.Create}
	if node := string(kv.Value); goodName(node) {
		c.node = node
	}
	region[k.Lease] = c
}

// leader returns who leads a region: the one whose key is oldest; its created is
// 0 where nobody does.
func (m *marking) leader(region string) (lead candidate) {
	for _, c := range m.leaders[region] {
		if lead.created == 0 || c.created < lead.created {
			lead = c
		}
	}
	return lead
}

// leads returns since which revision a region has its leader: that of its key, or
// later if it stood by and the leader before it was seen to go.
func (m *marking) leads(region string) int64 {
	created := m.leader(region).created
	if t := m.took[region]; t.created == created {
		return max(created, t.revision)
	}
	return created
}
