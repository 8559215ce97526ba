// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"maps"
	"slices"

	"github.com/pnagent/pnagent/petri"
)

// The runs of a shared net own its variables: each frame those of petri.Scope.Local, or all with
// petri.Scope.Apart, and the instance the others. A token shows what its run sees. It carries data
// of its own only if that is no JSON object, or if its place has petri.OwnData.

// write is variables that a firing writes, as a run sees them.
type write struct {
	f      *frame
	fields object
}

// ownData reports whether the data of the tokens of a place are no variables.
func (s *Shard) ownData(place int32) bool { return s.Tables.Net.Places[place].Data == petri.OwnData }

// isLocal reports whether a variable belongs to the runs of a scope, which is not the net.
func (s *Shard) isLocal(scope int32, name string) bool {
	sc := &s.Tables.Net.Scopes[scope-1]
	return sc.Apart || slices.Contains(sc.Local, name)
}

// isApart reports whether the runs of a scope see only their own variables.
func (s *Shard) isApart(scope int32) bool { return s.Tables.Net.Scopes[scope-1].Apart }

// holder returns the run whose variables the tokens of a place in a run show.
func (s *Shard) holder(f *frame, place int32) *frame {
	if f != nil && s.Tables.Net.Places[place].Data == petri.DataAround {
		return f.up
	}
	return f
}

func (s *Shard) holderAt(in *instance, at spot) *frame {
	return s.holder(s.frame(in, at.frame), at.place)
}

// owner returns the run to which a variable belongs that is seen in a run.
func (s *Shard) owner(f *frame, name string) *frame {
	for f != nil && !s.isLocal(f.scope, name) {
		f = f.up
	}
	return f
}

// ownerAround returns the run to which a variable belongs that a token of a place in a new run
// shows; ok is false if it is the new run, or a new one around it in f.
func (s *Shard) ownerAround(f *frame, place int32, name string) (owner *frame, ok bool) {
	scope := s.Tables.ScopeOf(place)
	if scope != f.scopeID() && s.Tables.Net.Places[place].Data == petri.DataAround {
		scope = s.Tables.ScopeParent(scope)
	}
	for ; scope != f.scopeID(); scope = s.Tables.ScopeParent(scope) {
		if s.isLocal(scope, name) {
			return nil, false
		}
	}
	return s.owner(f, name), true
}

// owned returns the variables that a run owns, as JSON. The text is never changed, only replaced.
func (s *Shard) owned(in *instance, f *frame) *[]byte {
	if f == nil {
		return &s.variables[in.index]
	}
	return &f.own
}

// seenIn returns the variables that a run sees, as JSON; nil if there are none.
func (s *Shard) seenIn(in *instance, f *frame) []byte {
	for f != nil && f.own == nil && !s.isApart(f.scope) {
		f = f.up
	}
	if f == nil || s.isApart(f.scope) {
		return *s.owned(in, f)
	}
	return s.over(s.seenIn(in, f.up), f.own)
}

// over returns data with the fields of other data over it, if both are objects; otherwise the other.
func (s *Shard) over(under, over []byte) []byte {
	if under == nil {
		return over
	}
	for k := range s.joints {
		if j := &s.joints[k]; sameData(j.under, under) && sameData(j.over, over) {
			return j.both
		}
	}
	a, b, both := s.fields(under), s.fields(over), over
	if a != nil && b != nil {
		all := maps.Clone(a)
		maps.Copy(all, b)
		both = all.data()
	}
	s.joints[s.nextJoint%len(s.joints)] = joint{under, over, both}
	s.nextJoint++
	return both
}

// joint is a result of Shard.over.
type joint struct{ under, over, both []byte }

// fields returns objectOf data that is never changed. The caller must not change it, either.
func (s *Shard) fields(data []byte) object {
	for k := range s.parsed {
		if sameData(s.parsed[k].data, data) {
			return s.parsed[k].object
		}
	}
	o := objectOf(data)
	s.parsed[s.nextParsed%len(s.parsed)] = parsed{data, o}
	s.nextParsed++
	return o
}

// parsed is a result of Shard.fields.
type parsed struct {
	data   []byte
	object object
}

// view returns the data that a token shows.
func (s *Shard) view(in *instance, at spot, data []byte) []byte {
	if !s.shared || data != nil || s.ownData(at.place) {
		return data
	}
	return s.seenIn(in, s.holderAt(in, at))
}

// seen returns tokens with the data that they show.
func (s *Shard) seen(in *instance, tokens []Placed) []Placed {
	if !s.shared {
		return tokens
	}
	tokens = slices.Clone(tokens)
	for k := range tokens {
		tokens[k].Token.Data = s.view(in, tokens[k].at(), tokens[k].Token.Data)
	}
	return tokens
}

// with returns tokens as they are seen, with the data that an action or a call returned, if any.
// In a shared net, the variables that it does not name keep their values.
func (s *Shard) with(in *instance, tokens []Placed, data []byte) []Placed {
	tokens = s.seen(in, tokens)
	if data == nil {
		return tokens
	}
	tokens = slices.Clone(tokens)
	for k := range tokens {
		tokens[k].Token.Data = s.renewed(tokens[k].Place, tokens[k].Token.Data, data)
	}
	return tokens
}

// renewed returns the data of a token of a place after an action or a call returned data for it.
func (s *Shard) renewed(place int32, old, data []byte) []byte {
	if !s.shared || s.ownData(place) || old == nil {
		return data
	}
	return s.over(old, data)
}

// context returns the run that sees what an action or a call returns for a firing in a frame: the
// innermost of those whose variables the tokens show that it takes. ok is false if it takes none;
// then those see it that it puts.
func (s *Shard) context(f *frame, r *rule) (g *frame, ok bool) {
	for _, v := range r.sights {
		if v.take == 0 {
			continue
		}
		if h := s.holder(s.around(f, v.place), v.place); !ok || h.within(g) {
			g, ok = h, true
		}
	}
	return g, ok
}

// keep returns what a new token of a spot carries of data, and writes the rest.
func (s *Shard) keep(in *instance, at spot, data []byte) []byte {
	if !s.shared || data == nil || s.ownData(at.place) {
		return data
	}
	o := s.fields(data)
	if o == nil {
		return data
	}
	s.writes = append(s.writes, write{s.holderAt(in, at), o})
	return nil
}

// news are the variables to write, by the run that owns them.
type news map[*frame]object

// add adds those of some fields that are new, as a run sees them.
func (n news) add(s *Shard, in *instance, owner func(name string) (f *frame, ok bool), fields object) {
	for name, value := range fields {
		f, ok := owner(name)
		if !ok || s.fields(*s.owned(in, f)).has(name, value) {
			continue
		}
		if n[f] == nil {
			n[f] = object{}
		}
		n[f][name] = value
	}
}

// settleWrites gives variables their values after a firing, an injection, or a part of it. A new
// run that gets all variables around it sees what the firing writes there, too.
func (s *Shard) settleWrites(i int, in *instance, log bool) {
	if len(s.writes) == 0 && len(s.fresh) == 0 {
		return
	}
	all := news{}
	for _, w := range s.writes {
		all.add(s, in, func(name string) (*frame, bool) { return s.owner(w.f, name), true }, w.fields)
	}
	fresh := make(map[*frame]bool, len(s.fresh))
	for _, f := range s.fresh {
		fresh[f] = true
		if all[f] == nil {
			all[f] = object{}
		}
	}
	for _, f := range slices.SortedFunc(maps.Keys(all), func(f, g *frame) int { return cmp.Compare(f.id(), g.id()) }) {
		values := all[f]
		if fresh[f] {
			values = object{}
			for _, over := range []object{s.fields(s.seenIn(in, f.up)), s.lead(f), all[f]} {
				maps.Copy(values, over)
			}
		}
		if len(values) > 0 {
			s.setOwn(i, in, f, values, log)
		}
	}
	s.writes, s.fresh = s.writes[:0], s.fresh[:0]
}

// setOwn gives variables that a run owns values.
func (s *Shard) setOwn(i int, in *instance, f *frame, values object, log bool) {
	own := s.owned(in, f)
	o := object{}
	maps.Copy(o, s.fields(*own))
	maps.Copy(o, values)
	*own = o.data()
	s.longest = max(s.longest, len(*own))
	s.rewritten = append(s.rewritten, f)
	if log && s.logging {
		s.noteOwn(i, f, values)
	}
}

// startAfresh makes an instance forget its variables, if it is at its end and begins again.
func (s *Shard) startAfresh(i int, in *instance, log bool) {
	if !s.shared || s.variables[in.index] == nil {
		return
	}
	if end, _ := s.atEnd(in); !end {
		return
	}
	s.variables[in.index] = nil
	if s.rewritten = append(s.rewritten, nil); log && s.logging {
		s.noteBeyond(i, opAfresh)
	}
}

// rebase returns the data that an action returned, over what others have written since it
// started: of a variable that the action left as it was, the present value.
func (s *Shard) rebase(started, now, data []byte) []byte {
	if started == nil || sameData(started, now) {
		return data
	}
	o := objectOf(data)
	changed := false
	for name, value := range s.fields(now) {
		if mine, has := o[name]; has && s.fields(started).has(name, mine) {
			o[name], changed = value, true
		}
	}
	if !changed {
		return data
	}
	return o.data()
}

// seenBy returns the variables that the action of a transition sees in a frame; nil if there are
// none.
func (s *Shard) seenBy(in *instance, f *frame, r *rule) []byte {
	g, ok := s.context(f, r)
	if !s.shared || !ok {
		return nil
	}
	return s.seenIn(in, g)
}

// rebased applies rebase to the outcome of a run.
func (s *Shard) rebased(in *instance, f *frame, r *rule, l *load, o *outcome) {
	if l.seen == nil {
		return
	}
	now := s.seenBy(in, f, r)
	o.data = s.rebase(l.seen, now, o.data)
	if !sameData(l.seen, now) && len(o.puts) > 0 {
		o.puts = slices.Clone(o.puts)
		for k := range o.puts {
			o.puts[k].Data = s.rebase(l.seen, now, o.puts[k].Data)
		}
	}
}
