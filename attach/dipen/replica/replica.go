// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"maps"

	"github.com/pnagent/pnagent/petri"
)

// Limits bound the memory of a Replica. It counts what exceeds them.
type Limits struct {
	Tokens  int // tokens and taken keys together
	Names   int // places, and transitions
	Leaders int // election keys of all regions
}

// DefaultLimits returns limits of at most about 200 MB.
func DefaultLimits() Limits { return Limits{Tokens: 1_000_000, Names: 1 << 16, Leaders: 1 << 16} }

// KV is a key at one revision, without the prefix. The value is used for names
// and regions only, and not kept.
type KV struct {
	Key    string
	Value  []byte
	Create int64 // revision in which the key was first put
}

// Event is one change of one key.
type Event struct {
	KV
	Delete     bool
	PrevCreate int64 // Create of the previous value; 0 if there was none, or it is not known
	Same       bool  // the value did not change
}

// Replica is the state of one DiPeN net. It is not safe for concurrent use.
type Replica struct {
	Times Times

	limits   Limits
	net      *definition
	revision int64
	marking
	next    *marking // being loaded
	at      int64    // the revision of next
	dropped map[Fault]uint64
	gaps    Gaps
}

// marking is the content of the keys at one revision.
type marking struct {
	cells   map[cellID]*cell
	runs    map[runID]*run
	held    int                             // taken keys
	leaders map[string]map[uint64]candidate // by region and lease
	count   int                             // of candidates
	took    map[string]takeover             // the last take-over, by region
}

func newMarking() marking {
	return marking{cells: map[cellID]*cell{}, runs: map[runID]*run{}, leaders: map[string]map[uint64]candidate{}, took: map[string]takeover{}}
}

// candidate is the leader or a standby node of a region.
type candidate struct {
	node    string
	created int64 // revision
}

// takeover is the succession of a standby node as leader.
type takeover struct {
	created  int64 // revision of its key
	revision int64 // in which the previous leader's key was deleted
}

type cellID struct{ place, token uint64 }

// cell is a token of a place, and the transitions that have taken it. A taken
// key without its token is a cell with there unset.
type cell struct {
	there   bool
	loose   bool  // it may be older than at
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

// run is the state of a run.
type run struct {
	keys  int
	at    int64
	loose bool
}

// Gaps describes the missing parts of the history.
type Gaps struct {
	Count     uint64 // times that changes were missed
	Revisions int64  // revisions in them, of all of etcd
	Since     int64  // since when counts are complete: the start or the last gap, in microseconds since the Unix epoch
}

// New returns a Replica. The net comes from a file, with its arcs, or has only
// an id; names in etcd are added to it. With a revision, the Replica continues
// where the previous process stopped: tokens from before that revision do not
// count as arrived.
func New(net *petri.Net, revision int64, limits Limits) *Replica {
	return &Replica{limits: limits, net: newDefinition(net, limits.Names), revision: revision, marking: newMarking(), dropped: map[Fault]uint64{}}
}

// Revision returns the revision up to which all changes are applied.
func (r *Replica) Revision() int64 { return r.revision }

// Gaps returns the missing parts of the history.
func (r *Replica) Gaps() Gaps { return r.gaps }

// Dropped returns the number of skipped keys and changes, by fault.
func (r *Replica) Dropped() map[Fault]uint64 { return maps.Clone(r.dropped) }

// Drop counts a fault that the caller found.
func (r *Replica) Drop(f Fault) { r.dropped[f]++ }

// Begin starts to load all keys at a revision.
func (r *Replica) Begin(revision int64) {
	m := newMarking()
	r.next, r.at = &m, revision
}

// Add adds a key at that revision. Add names before tokens, or places get rows
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
		r.applyName(r.next, k, kv, false)
	}
}

// Commit ends the loading: the loaded marking replaces the present one. If its
// revision is later, changes were missed, and counting starts again now. It
// returns false if Forget was called since Begin.
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
	r.next.took = r.took // obsolete take-overs are ignored
	r.marking, r.next, r.revision = *r.next, nil, r.at
	return true
}

// compare counts the differences between the previous marking and the loaded one.
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

// Forget drops all times and tokens, because etcd is another cluster or was
// restored. Counts stay.
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

// cell returns the cell of a key, and adds a new one; nil if there is no room.
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

// place sets the token of a cell, created in a revision.
func (r *Replica) place(c *cell, created, now int64) {
	c.there, c.created = true, created
	c.at, c.loose = r.Times.At(created, now)
}

// take records that a transition took a token.
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

// tidy drops an empty cell.
func (m *marking) tidy(id cellID) {
	if c := m.cells[id]; c != nil && !c.there && len(c.taken) == 0 {
		delete(m.cells, id)
	}
}

// applyName applies a key of a name or a leader.
func (r *Replica) applyName(m *marking, k Key, kv KV, gone bool) {
	switch k.Kind {
	case KindPlace, KindTransition:
		if gone {
			return // ids are not reused
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

// elect adds or removes a candidate of a region.
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

// leader returns the leader of a region: the candidate with the oldest key; its
// created is 0 if there is none.
func (m *marking) leader(region string) (lead candidate) {
	for _, c := range m.leaders[region] {
		if lead.created == 0 || c.created < lead.created {
			lead = c
		}
	}
	return lead
}

// leads returns the revision since which a region has its leader: that of its
// key, or later if it was a standby and the end of the previous leader was
// seen.
func (m *marking) leads(region string) int64 {
	created := m.leader(region).created
	if t := m.took[region]; t.created == created {
		return max(created, t.revision)
	}
	return created
}
