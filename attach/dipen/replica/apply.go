// SPDX-License-Identifier: Apache-2.0

package replica

import "slices"

// group holds the events of one transaction by kind.
type group struct {
	put     []Event // tokens; parsed in the same order
	putKeys []Key
	del     []Key
	take    []Key
	end     []ended
	other   bool // another kind of key changed
}

type ended struct {
	key     Key
	created int64 // revision of the taken key
}

// Apply applies all changes of one revision, as of now. Revisions must be
// ascending. A revision that was applied before changes nothing, so a history
// may be repeated.
func (r *Replica) Apply(revision, now int64, events []Event) {
	if revision <= r.revision {
		return
	}
	g := r.sort(revision, events)
	at, loose := r.Times.At(revision, now)
	r.finish(&g, at, loose)
	for i, k := range g.putKeys {
		r.put(k, g.put[i], at)
	}
	for _, k := range g.take {
		r.take(&r.marking, k, revision, now)
	}
	for _, k := range g.del {
		r.remove(k, at, loose)
	}
	r.revision = revision
}

// Reached records that the net has no further changes up to a revision.
func (r *Replica) Reached(revision int64) { r.revision = max(r.revision, revision) }

// sort applies the changes of names and leaders, and groups the others.
func (r *Replica) sort(revision int64, events []Event) group {
	var g group
	for _, e := range events {
		k, fault := ParseKey(e.Key)
		switch {
		case fault != FaultNone:
			r.Drop(fault)
		case k.Kind == KindLock || k.Kind == KindGenerator:
		case k.Kind == KindToken && e.Delete:
			g.del = append(g.del, k)
		case k.Kind == KindToken:
			g.put, g.putKeys = append(g.put, e), append(g.putKeys, k)
		case k.Kind == KindTaken && e.Delete:
			g.end = append(g.end, ended{k, r.holdOf(k, e.PrevCreate)})
		case k.Kind == KindTaken:
			if c := r.cells[cellID{k.Place, k.Token}]; c == nil || !c.takenBy(k.Transition) {
				g.take = append(g.take, k)
			}
		default:
			g.other = true
			before := r.leader(k.Name)
			r.applyName(&r.marking, k, e.KV, e.Delete)
			if now := r.leader(k.Name); k.Kind == KindElection && e.Delete && now.created != before.created {
				r.took[k.Name] = takeover{now.created, revision}
			}
		}
	}
	return g
}

func (c *cell) takenBy(transition uint64) bool {
	return slices.ContainsFunc(c.taken, func(h hold) bool { return h.transition == transition })
}

// holdOf returns the revision in which a taken key was put.
func (r *Replica) holdOf(k Key, given int64) int64 {
	if c := r.cells[cellID{k.Place, k.Token}]; c != nil {
		for _, h := range c.taken {
			if h.transition == k.Transition {
				return h.created
			}
		}
	}
	return given
}

// finish ends the runs whose taken keys were deleted.
func (r *Replica) finish(g *group, at int64, loose bool) {
	restored := r.restored(g)
	counted := map[runID]bool{}
	for _, e := range g.end {
		id := runID{e.key.Transition, e.created}
		started := r.release(e)
		if counted[id] {
			continue
		}
		counted[id] = true
		if restored && r.orphaned(id) {
			r.net.cancelled(id.transition)
			continue
		}
		if started != nil && (loose || started.loose) {
			started = nil // its duration is not known
		}
		r.net.fired(id.transition, started, at)
	}
}

// restored reports whether a transaction only returned the taken tokens
// unchanged.
func (r *Replica) restored(g *group) bool {
	if len(g.end) == 0 || len(g.del) > 0 || len(g.take) > 0 || g.other {
		return false
	}
	back := map[cellID]bool{}
	for _, e := range g.end {
		id := cellID{e.key.Place, e.key.Token}
		if c := r.cells[id]; c == nil || !c.there {
			return false // the taken token is absent
		}
		back[id] = true
	}
	for i, k := range g.putKeys {
		if !g.put[i].Same || !back[cellID{k.Place, k.Token}] {
			return false
		}
	}
	return true
}

// orphaned reports whether a run started before its region had its present leader.
func (r *Replica) orphaned(id runID) bool {
	region, known := r.net.regionOf(id.transition)
	if !known {
		return false
	}
	return id.created < r.leads(region)
}

// release drops a taken key and returns its run; nil if its start was not seen.
func (r *Replica) release(e ended) *run {
	at := cellID{e.key.Place, e.key.Token}
	if c := r.cells[at]; c != nil {
		n := len(c.taken)
		c.taken = slices.DeleteFunc(c.taken, func(h hold) bool { return h.transition == e.key.Transition })
		r.held -= n - len(c.taken)
		r.tidy(at)
	}
	id := runID{e.key.Transition, e.created}
	ran := r.runs[id]
	if ran == nil {
		return nil
	}
	if ran.keys--; ran.keys == 0 {
		delete(r.runs, id)
	}
	return ran
}

// put applies a token that was put: a new one, or a new value.
func (r *Replica) put(k Key, e Event, now int64) {
	c := r.cell(&r.marking, k)
	if c == nil || c.there && c.created == e.Create {
		return
	}
	if c.there { // its end was not seen
		r.Drop(FaultUnseen)
		r.net.left(cellID{k.Place, k.Token}, nil, 0)
	}
	r.place(c, e.Create, now)
	r.net.arrived(k.Place, c.at)
}

// remove applies the deletion of a token.
func (r *Replica) remove(k Key, at int64, loose bool) {
	id := cellID{k.Place, k.Token}
	c := r.cells[id]
	if c == nil || !c.there {
		r.Drop(FaultUnseen)
		return
	}
	if loose || c.loose {
		r.net.left(id, nil, at)
	} else {
		r.net.left(id, c, at)
	}
	c.there = false
	r.tidy(id)
}
