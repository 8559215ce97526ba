// SPDX-License-Identifier: Apache-2.0

package replica

import "slices"

// group is the events of one transaction, sorted out.
type group struct {
	put     []Event // tokens; parsed in the same order
	putKeys []Key
	del     []Key
	take    []Key
	end     []ended
	other   bool // something else changed
}

type ended struct {
	key     Key
	created int64 // revision of the taken key
}

// Apply takes in the changes of one revision, all of them, as of now. Revisions
// must rise; one that is in already changes nothing, so that a history may be
// told again.
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

// Reached notes that there is no change of this net up to a revision that is not
// in yet.
func (r *Replica) Reached(revision int64) { r.revision = max(r.revision, revision) }

// sort takes in what is about names and leaders, and sorts out the rest.
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
			r.learn(&r.marking, k, e.KV, e.Delete)
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
func (r *Replica) holdOf(k Key, told int64) int64 {
	if c := r.cells[cellID{k.Place, k.Token}]; c != nil {
		for _, h := range c.taken {
			if h.transition == k.Transition {
				return h.created
			}
		}
	}
	return told
}

// finish ends the runs whose taken keys went.
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
			started = nil // it is not known how long it took
		}
		r.net.fired(id.transition, started, at)
	}
}

// restored tells whether a transaction gave back the tokens that were taken, as
// they were, and did nothing else.
func (r *Replica) restored(g *group) bool {
	if len(g.end) == 0 || len(g.del) > 0 || len(g.take) > 0 || g.other {
		return false
	}
	back := map[cellID]bool{}
	for _, e := range g.end {
		id := cellID{e.key.Place, e.key.Token}
		if c := r.cells[id]; c == nil || !c.there {
			return false // the token that it took is not there
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

// orphaned tells whether a run was begun before its region had the leader that it
// has now.
func (r *Replica) orphaned(id runID) bool {
	region, known := r.net.regionOf(id.transition)
	if !known {
		return false
	}
	return id.created < r.leads(region)
}

// release drops a taken key and returns its run; nil if that was not seen.
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

// put takes in a token that was put: a new one, or another value of one.
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

// remove takes out a token that was deleted.
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
