// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// The runs of a loop own variables: those of petri.Scope.Local. They are in the frame and not in
// the data of tokens, so that thousands of runs share the data of the tokens that began them.

// owns reports whether the frames of a scope own a variable.
func (s *Shard) owns(scope int32, name string) bool {
	sc := &s.Tables.Net.Scopes[scope-1]
	return sc.Loop != nil && !sc.Apart && slices.Contains(sc.Local, name)
}

// ownerOf returns the frame, f or one around it, that owns a variable which is seen in f; nil if
// tokens carry it.
func (s *Shard) ownerOf(f *frame, name string) *frame {
	for ; f != nil; f = f.up {
		if s.owns(f.scope, name) {
			return f
		}
		if s.isLocal(f.scope, name) {
			return nil
		}
	}
	return nil
}

// ownSeen returns the variables that frames own and that are seen in f.
func (s *Shard) ownSeen(f *frame) (seen object) {
	for g := f; g != nil; g = g.up {
		for name, value := range g.own {
			if s.ownerOf(f, name) != g {
				continue
			}
			if seen == nil {
				seen = object{}
			}
			seen[name] = value
		}
	}
	return seen
}

// view returns the data of a token with the variables that frames own.
func (s *Shard) view(in *instance, at spot, data []byte) []byte {
	if !s.looped || at.frame == 0 || s.ownData(at.place) {
		return data
	}
	own := s.ownSeen(s.holder(s.frame(in, at.frame), at.place))
	switch {
	case own == nil:
		return data
	case data == nil:
		return own.data()
	case len(bytes.TrimSpace(data)) == 0:
		return data
	}
	hidden := false
	for name := range own {
		hidden = hidden || bytes.Contains(data, quoted(name))
	}
	if text := bytes.TrimSpace(data); !hidden && text[0] == '{' && json.Valid(text) {
		fields := bytes.TrimSpace(text[:len(text)-1])
		if len(fields) == 1 { // of an object without fields
			return own.data()
		}
		return slices.Concat(fields, []byte(","), own.data()[1:])
	}
	o := objectOf(data)
	if o == nil {
		return data
	}
	maps.Copy(o, own)
	return o.data()
}

// quoted returns a name as JSON.
func quoted(name string) []byte {
	out, _ := json.Marshal(name) // a text has no error
	return out
}

// seen returns tokens with the variables that frames own.
func (s *Shard) seen(in *instance, tokens []Placed) []Placed {
	if !s.looped {
		return tokens
	}
	tokens = slices.Clone(tokens)
	for k := range tokens {
		tokens[k].Token.Data = s.view(in, tokens[k].at(), tokens[k].Token.Data)
	}
	return tokens
}

// sorted returns those variables in data that frames own which are seen in f, by frame, and the
// data without them.
func (s *Shard) sorted(f *frame, data []byte) (own map[*frame]object, rest []byte) {
	if !s.looped || !slices.ContainsFunc(s.ownNames(f), func(name string) bool { return bytes.Contains(data, quoted(name)) }) {
		return nil, data
	}
	o := objectOf(data)
	for name, value := range o {
		g := s.ownerOf(f, name)
		if g == nil {
			continue
		}
		if own == nil {
			own = map[*frame]object{}
		}
		if own[g] == nil {
			own[g] = object{}
		}
		own[g][name] = value
		delete(o, name)
	}
	if own == nil {
		return nil, data
	}
	return own, o.data()
}

// ownNames returns names that frames from f on own.
func (s *Shard) ownNames(f *frame) (names []string) {
	for ; f != nil; f = f.up {
		if sc := &s.Tables.Net.Scopes[f.scope-1]; sc.Loop != nil {
			names = append(names, sc.Local...)
		}
	}
	return names
}

// keep writes those variables in data that frames own which are seen in f, and returns the data
// without them.
func (s *Shard) keep(i int, in *instance, f *frame, data []byte) []byte {
	own, rest := s.sorted(f, data)
	for g := range own {
		s.setOwn(i, in, g, own[g])
	}
	return rest
}

// setOwn gives variables that a frame owns values.
func (s *Shard) setOwn(i int, in *instance, f *frame, values object) {
	changed := false
	for name, value := range values {
		changed = changed || !f.own.has(name, value)
	}
	if !changed {
		return
	}
	own := maps.Clone(f.own) // others may have it
	if own == nil {
		own = object{}
	}
	maps.Copy(own, values)
	f.own = own
	if s.logging {
		s.noteOwn(i, f)
	}
	for g := range s.eachFrom(in, f.number) {
		if !g.within(f) {
			continue
		}
		for k := range g.piles {
			s.touched = append(s.touched, spot{g.piles[k].place, g.number})
		}
	}
}

// begun gives a new frame the variables of its run, if it is one of a loop.
func (f *frame) begun() {
	if f.up == nil || f.up.loop == nil || f.up.loop.scope != f.scope {
		return
	}
	q := f.up.loop
	f.turn, f.own = q.begun, q.own(q.begun, q.list)
	q.begun++
}

// ownedBy returns what the frames from f on own, as it is now.
func (s *Shard) ownedBy(f *frame) (all []object) {
	for s.looped && f != nil {
		all, f = append(all, f.own), f.up
	}
	return all
}

// unowned returns the data that an action returned without the variables of frames from f on that
// it left as they were when it started.
func (l *load) unowned(f *frame, data []byte) []byte {
	changed := false
	for k := 0; f != nil && k < len(l.own); f, k = f.up, k+1 {
		changed = changed || !maps.EqualFunc(l.own[k], f.own, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
	}
	o := object(nil)
	if changed {
		o = objectOf(data)
	}
	if o == nil {
		return data
	}
	for _, own := range l.own {
		for name, value := range own {
			if o.has(name, value) {
				delete(o, name)
			}
		}
	}
	return o.data()
}
