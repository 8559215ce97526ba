// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// variable is a variable of a shared net: a name in a run of a scope, 0 for the instance.
type variable struct {
	owner uint32
	name  string
}

// write gives a variable a value.
type write struct {
	variable
	value json.RawMessage
}

// ownData reports whether the data of the tokens of a place are no variables.
func (s *Shard) ownData(place int32) bool { return s.Tables.Net.Places[place].Data == petri.OwnData }

// isLocal reports whether a variable that tokens carry belongs to the runs of a scope, which is
// not the net.
func (s *Shard) isLocal(scope int32, name string) bool {
	sc := &s.Tables.Net.Scopes[scope-1]
	return sc.Apart || sc.Loop == nil && slices.Contains(sc.Local, name)
}

// holder returns the run whose variables the tokens of a place in a run carry.
func (s *Shard) holder(f *frame, place int32) *frame {
	if f != nil && s.Tables.Net.Places[place].Data == petri.DataAround {
		return f.up
	}
	return f
}

// owner returns the run to which a variable belongs that is seen in a run.
func (s *Shard) owner(f *frame, name string) uint32 {
	for f != nil && !s.isLocal(f.scope, name) {
		f = f.up
	}
	return f.id()
}

// domain returns the innermost run, f or one around it, that has variables of its own. All
// runs of one domain see the same variables.
func (s *Shard) domain(f *frame) uint32 {
	for f != nil {
		if sc := &s.Tables.Net.Scopes[f.scope-1]; sc.Apart || sc.Loop == nil && len(sc.Local) > 0 {
			break
		}
		f = f.up
	}
	return f.id()
}

// domainAt is domain of the holder of a token.
func (s *Shard) domainAt(in *instance, at spot) uint32 {
	return s.domain(s.holder(s.frame(in, at.frame), at.place))
}

// sharing is the writes of one firing, and the tokens' data that they have changed.
type sharing struct {
	*Shard
	in      *instance
	writes  []write
	domains map[uint32][]write // the writes that a domain sees
	changed map[changedData][]byte
}

// changedData is data in a domain, by its first byte; nil if a token carries none.
type changedData struct {
	first  *byte
	domain uint32
}

// share makes the values of variables that the tokens in out have, and those in took had
// not, the values of all tokens that carry these variables.
func (s *Shard) share(in *instance) {
	if s.nothingNew(in) {
		return
	}
	x := s.sharing(in, s.took, s.out, nil)
	if len(x.writes) == 0 {
		return
	}
	for k := range s.out {
		x.update(&s.out[k].data, s.out[k].spot)
	}
	first := slices.MinFunc(x.writes, func(a, b write) int { return cmp.Compare(a.owner, b.owner) })
	for f := range s.eachFrom(in, first.owner) {
		for k := range *f.in(in) {
			p, changed := &(*f.in(in))[k], false
			left := p.left()
			for j := range left {
				changed = x.update(&left[j].data, spot{p.place, f.id()}) || changed
			}
			if changed {
				s.touched = append(s.touched, spot{p.place, f.id()})
			}
		}
	}
	for id := in.runs; id != none; id = s.notes.all[id].next {
		x.updateRun(s.load(id))
	}
	for _, p := range s.unended {
		if p.i == int(in.index) {
			x.updateAll(p.taken)
			x.updateAll(p.read)
		}
	}
}

// nothingNew reports whether out has no data that took has not, or there is no other token.
func (s *Shard) nothingNew(in *instance) bool {
	news, alone := false, len(in.piles) == 0 && len(s.out) == 1 && in.runs == none && len(s.unended) == 0
	for k := range s.out {
		h := &s.out[k]
		news = news || len(h.data) > 0 && !s.ownData(h.place) &&
			!slices.ContainsFunc(s.took, func(t held) bool {
				return sameData(t.data, h.data) && !s.ownData(t.place) && (!s.locals || s.domainAt(in, t.spot) == s.domainAt(in, h.spot))
			})
	}
	if !news || !alone {
		return !news
	}
	for _, f := range s.opened(in) {
		if len(f.piles) > 0 {
			return false
		}
	}
	return true
}

// sharing returns the writes of a firing that takes and puts tokens. Those in entering are put
// into runs that are not open yet: their spots have the run around these that is.
func (s *Shard) sharing(in *instance, took, out, entering []held) *sharing {
	base, values := map[variable]json.RawMessage{}, map[variable]json.RawMessage{}
	each(took, func(h *held, o object) {
		if !s.ownData(h.place) {
			for name, value := range o {
				base[variable{s.ownerAt(in, h.spot, name), name}] = value
			}
		}
	})
	put := func(v variable, value json.RawMessage) {
		if old, ok := base[v]; !ok || !equalJSON(old, value) {
			values[v] = value
		}
	}
	each(out, func(h *held, o object) {
		if s.ownData(h.place) {
			return
		}
		for name, value := range o {
			put(variable{s.ownerAt(in, h.spot, name), name}, value)
		}
	})
	each(entering, func(h *held, o object) {
		if s.ownData(h.place) {
			return
		}
		for name, value := range o {
			if owner, ok := s.ownerAround(s.frame(in, h.frame), h.place, name); ok {
				put(variable{owner, name}, value)
			}
		}
	})
	x := &sharing{Shard: s, in: in, domains: map[uint32][]write{}, changed: map[changedData][]byte{}}
	for v, value := range values {
		x.writes = append(x.writes, write{v, value})
	}
	slices.SortFunc(x.writes, func(a, b write) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.owner, b.owner)) })
	return x
}

// each calls do for the lots whose data is an object.
func each(lots []held, do func(*held, object)) {
	var o object
	for k := range lots {
		if k == 0 || !sameData(lots[k].data, lots[k-1].data) {
			o = objectOf(lots[k].data)
		}
		if o != nil {
			do(&lots[k], o)
		}
	}
}

func (s *Shard) ownerAt(in *instance, at spot, name string) uint32 {
	if !s.locals {
		return 0
	}
	return s.owner(s.holder(s.frame(in, at.frame), at.place), name)
}

// ownerAround returns the run to which a variable belongs that a token of a place in a new run
// carries; ok is false if it is the new run, or a new one around it in f.
func (s *Shard) ownerAround(f *frame, place int32, name string) (owner uint32, ok bool) {
	scope := s.Tables.ScopeOf(place)
	if s.Tables.Net.Places[place].Data == petri.DataAround {
		scope = s.Tables.ScopeParent(scope)
	}
	for ; scope != f.scopeID(); scope = s.Tables.ScopeParent(scope) {
		if s.isLocal(scope, name) {
			return 0, false
		}
	}
	return s.owner(f, name), true
}

// seen returns the writes that a domain sees.
func (x *sharing) seen(domain uint32) []write {
	if !x.locals {
		return x.writes
	}
	seen, ok := x.domains[domain]
	if !ok {
		f := x.frame(x.in, domain)
		for _, w := range x.writes {
			if x.owner(f, w.name) == w.owner {
				seen = append(seen, w)
			}
		}
		x.domains[domain] = seen
	}
	return seen
}

// after returns the data of a token after the writes.
func (x *sharing) after(data []byte, at spot) []byte {
	if x.ownData(at.place) || data != nil && len(data) == 0 {
		return data
	}
	key := changedData{}
	if x.locals {
		key.domain = x.domainAt(x.in, at)
	}
	if data != nil {
		key.first = &data[0]
	}
	out, ok := x.changed[key]
	if !ok {
		out = written(data, x.seen(key.domain))
		x.changed[key] = out
	}
	return out
}

// afterEntering is after for a token that enters a new run: see sharing.
func (x *sharing) afterEntering(h *held) []byte {
	if x.ownData(h.place) {
		return h.data
	}
	var seen []write
	for _, w := range x.writes {
		if owner, ok := x.ownerAround(x.frame(x.in, h.frame), h.place, w.name); ok && owner == w.owner {
			seen = append(seen, w)
		}
	}
	return written(h.data, seen)
}

// written returns data after writes: the same if it is not an object or has the values.
func written(data []byte, writes []write) []byte {
	if len(writes) == 0 {
		return data
	}
	o, changed := object{}, false
	if data != nil {
		o = objectOf(data)
	}
	if o == nil {
		return data
	}
	for _, w := range writes {
		if !o.has(w.name, w.value) {
			o[w.name], changed = w.value, true
		}
	}
	if !changed {
		return data
	}
	return o.data()
}

// update changes the data of a token, and reports whether it did. Data that would be too
// large stays as it is: see fitsAll.
func (x *sharing) update(data *[]byte, at spot) bool {
	after := x.after(*data, at)
	if sameData(after, *data) || len(after) > MaxData {
		return false
	}
	*data = after
	x.longest = max(x.longest, len(after))
	return true
}

func (x *sharing) updateAll(tokens []Placed) {
	for k := range tokens {
		x.update(&tokens[k].Token.Data, tokens[k].at())
	}
}

// updateRun changes the data of the tokens of a run. Its worker has the tokens as they were.
func (x *sharing) updateRun(l *load) {
	if l.seen == nil {
		l.seen, l.taken, l.read = l.taken, slices.Clone(l.taken), slices.Clone(l.read)
	}
	x.updateAll(l.taken)
	x.updateAll(l.read)
}

// rebase returns the data that an action returned, over what others have written since it
// started: of a variable that the action left as it was, the present value.
func (l *load) rebase(data []byte) []byte {
	o := objectOf(data)
	if o == nil || l.seen == nil {
		return data
	}
	before, now := fieldsOf(l.seen), fieldsOf(l.taken)
	changed := false
	for name, value := range now {
		old, was := before[name]
		mine, has := o[name]
		if was && equalJSON(old, value) || has != was || was && !equalJSON(mine, old) {
			continue // no other firing wrote it, or the action did
		}
		o[name], changed = value, true
	}
	if !changed {
		return data
	}
	return o.data()
}

// fieldsOf returns the fields of all tokens.
func fieldsOf(tokens []Placed) object {
	all := object{}
	for k := range tokens {
		maps.Copy(all, objectOf(tokens[k].Token.Data))
	}
	return all
}

// rebased applies rebase to an outcome.
func (l *load) rebased(o *outcome) error {
	o.data = l.rebase(o.data)
	most := len(o.data)
	if l.seen != nil && len(o.puts) > 0 {
		o.puts = slices.Clone(o.puts)
		for k := range o.puts {
			o.puts[k].Data = l.rebase(o.puts[k].Data)
			most = max(most, len(o.puts[k].Data))
		}
	}
	if most > MaxData {
		return fmt.Errorf("%w, not %d", ErrTooLarge, most)
	}
	return nil
}

// passOn completes the data that the last token in out was passed: it applies passInto, and
// puts new data over it, if any.
func (s *Shard) passOn(in *instance, data []byte) {
	h := &s.out[len(s.out)-1]
	if s.locals {
		h.data = s.passInto(in, h.data, h.spot)
	}
	if data != nil {
		h.data = s.over(h.place, h.data, data)
	}
}

// over returns the data of a token of a place after an action or a call returned new data
// for it. The variables that the new data does not name keep their values.
func (s *Shard) over(place int32, old, data []byte) []byte {
	if !s.shared || s.ownData(place) {
		return data
	}
	o, news := objectOf(old), objectOf(data)
	if o == nil || news == nil {
		return data
	}
	maps.Copy(o, news)
	return o.data()
}

// passInto returns the data that a firing passes on into a spot: without variables of runs
// inside, and with the values of those around.
func (s *Shard) passInto(in *instance, data []byte, at spot) []byte {
	if s.ownData(at.place) {
		return data
	}
	to := s.domainAt(in, at)
	if !slices.ContainsFunc(s.took, func(t held) bool {
		return (t.data != nil || s.looped) && !s.ownData(t.place) && s.domainAt(in, t.spot) != to
	}) {
		return data
	}
	o, changed := objectOf(data), false
	if data == nil {
		o = object{}
	}
	for name, value := range o {
		owner, keep, own := s.ownerAt(in, at, name), false, false
		each(s.took, func(t *held, from object) {
			mine, has := from[name]
			switch of := s.ownerAt(in, t.spot, name); {
			case !has:
			case s.ownData(t.place):
				own = true
			case of == owner:
				value, keep = mine, true
			case of < owner: // of a run around the new one
				keep = true
			}
		})
		if own {
			continue
		}
		if !keep {
			delete(o, name)
			changed = true
		} else if !equalJSON(o[name], value) {
			o[name], changed = value, true
		}
	}
	if o != nil && s.looped {
		changed = s.passOwn(in, o, at) || changed
	}
	if !changed {
		return data
	}
	return o.data()
}

// passOwn adds what frames own of what the taken tokens saw, for a run inside that has the names
// for itself. It reports whether there was any.
func (s *Shard) passOwn(in *instance, o object, at spot) (some bool) {
	for _, t := range s.took {
		f := s.holder(s.frame(in, t.frame), t.place)
		for name, value := range s.ownSeen(f) {
			if s.ownerAt(in, at, name) > s.ownerOf(f, name).number {
				o[name], some = value, true
			}
		}
	}
	return some
}
