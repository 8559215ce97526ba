// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/pnagent/pnagent/engine/guard/scan"
	"github.com/pnagent/pnagent/petri"
)

// The runs of a shared net own its variables: each frame those of petri.Scope.Local, or all with
// petri.Scope.Apart, and the instance the others. A token shows what its run sees. It carries data
// of its own only if that is no JSON object.

// write is variables that a firing writes, as a run sees them.
type write struct {
	f      *frame
	fields object
}

// isLocal reports whether a variable belongs to the runs of a scope, which is not the net.
func (s *scopes) isLocal(scope int32, name string) bool {
	sc := &s.tables.Net.Scopes[scope-1]
	return sc.Apart || slices.Contains(sc.Local, name)
}

// isApart reports whether the runs of a scope see only their own variables.
func (s *scopes) isApart(scope int32) bool { return s.tables.Net.Scopes[scope-1].Apart }

// holder returns the run whose variables the tokens of a place in a run show.
func (s *scopes) holder(f *frame, place int32) *frame {
	if f.up != nil && s.tables.Net.Places[place].Data == petri.DataAround {
		return f.up
	}
	return f
}

func (s *scopes) holderAt(in *instance, at spot) *frame {
	return s.holder(s.frame(in, at.frame), at.place)
}

// owner returns the run to which a variable belongs that is seen in a run.
func (s *scopes) owner(f *frame, name string) *frame {
	for f.up != nil && !s.isLocal(f.scope, name) {
		f = f.up
	}
	return f
}

// seenIn returns the variables that a run sees, as JSON; nil if there are none.
func (s *scopes) seenIn(f *frame) []byte {
	for f.up != nil && f.own == nil && !s.isApart(f.scope) {
		f = f.up
	}
	if f.up == nil || s.isApart(f.scope) {
		return f.own
	}
	return s.over(s.seenIn(f.up), f.own)
}

// view returns the data that a token shows.
func (s *scopes) view(in *instance, at spot, data []byte) []byte {
	if !s.shared || data != nil {
		return data
	}
	return s.seenIn(s.holderAt(in, at))
}

// seen returns tokens with the data that they show.
func (s *scopes) seen(in *instance, tokens []Placed) []Placed { return s.with(in, tokens, nil) }

// with returns tokens as they are seen, with the data that an action or a call returned, if any.
// In a shared net, the variables that it does not name keep their values.
func (s *scopes) with(in *instance, tokens []Placed, data []byte) []Placed {
	if !s.shared && data == nil {
		return tokens
	}
	tokens = slices.Clone(tokens)
	for k := range tokens {
		p := &tokens[k]
		p.Token.Data = s.renewed(s.view(in, p.at(), p.Token.Data), data)
		if s.shared {
			p.Token.Fields = s.fields(p.Token.Data)
		}
	}
	return tokens
}

// renewed returns the data of a token after an action or a call returned data for it, if any.
func (s *scopes) renewed(old, data []byte) []byte {
	if data != nil && !s.shared {
		return data
	}
	return s.over(old, data)
}

// context returns the run that sees what an action or a call returns for a firing in a frame: the
// innermost of those whose variables the tokens show that it takes. ok is false if it takes none;
// then those see it that it puts.
func (s *scopes) context(f *frame, r *rule) (g *frame, ok bool) {
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
func (x *change) keep(at spot, data []byte) []byte {
	if !x.s.shared || data == nil {
		return data
	}
	o := x.s.fields(data)
	if o == nil {
		return data
	}
	x.writes = append(x.writes, write{x.s.holderAt(x.in, at), o})
	return nil
}

// news returns the values that writes change, by the run that owns the variables.
func (x *change) news(writes []write) map[*frame]object {
	all := map[*frame]object{}
	for _, w := range writes {
		for name, value := range w.fields {
			f := x.s.owner(w.f, name)
			if x.s.fields(f.own).has(name, value) {
				continue
			}
			if all[f] == nil {
				all[f] = object{}
			}
			all[f][name] = value
		}
	}
	return all
}

// settleWrites gives variables their values after a firing, an injection, or a part of it, and reports
// whether those of each run have at most MaxData bytes. A new run that gets all variables around it
// sees what is written there, too.
func (x *change) settleWrites(log bool) (fits bool) {
	if !x.s.shared || len(x.writes) == 0 && len(x.opens) == 0 {
		return true
	}
	all := x.news(x.writes)
	for _, f := range x.opens {
		if len(f.own) > MaxData { // with an element of a list
			return false
		}
		if all[f] == nil && x.s.copies(f) {
			all[f] = object{}
		}
	}
	for _, f := range slices.SortedFunc(maps.Keys(all), func(f, g *frame) int { return cmp.Compare(f.number, g.number) }) {
		values := all[f]
		if len(x.opens) > 0 && f.number >= x.opens[0].number && x.s.copies(f) {
			values = object{}
			for _, over := range []object{x.s.fields(x.s.seenIn(f.up)), x.s.lead(f), all[f]} {
				maps.Copy(values, over)
			}
		}
		if len(values) > 0 && !x.setOwn(f, values, log) {
			return false
		}
	}
	x.writes, x.opens = x.writes[:0], x.opens[:0]
	return true
}

// copies reports whether a run gets its own copy of all variables around it.
func (s *scopes) copies(f *frame) bool {
	return s.isApart(f.scope) && slices.ContainsFunc(s.tables.Net.Scopes[f.scope-1].In, func(a petri.Assignment) bool { return a.Name == "" })
}

// setOwn gives variables that a run owns values, unless they are too large.
func (x *change) setOwn(f *frame, values object, log bool) bool {
	o := object{}
	maps.Copy(o, x.s.fields(f.own))
	maps.Copy(o, values)
	text := o.data()
	if len(text) > MaxData {
		return false
	}
	x.rewritten = append(x.rewritten, rewrite{f, f.own})
	f.own = text
	if log {
		x.s.log.own(x.i, f, values)
	}
	return true
}

// startAfresh makes an instance that begins again forget its variables, if it is at its end.
func (x *change) startAfresh(log bool) {
	if x.in.own == nil || !x.s.atEnd(x.in) {
		return
	}
	x.rewritten = append(x.rewritten, rewrite{&x.in.frame, x.in.own})
	x.in.own = nil
	if log {
		x.s.log.note(x.i, op{kind: opAfresh})
	}
}

// rebase returns the data that an action returned, over what others have written since it
// started: of a variable that the action left as it was, the present value.
func (s *scopes) rebase(started, now, data []byte) []byte {
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

// seenBy returns the variables that the action of a transition sees in a frame; nil if there are none.
func (s *scopes) seenBy(f *frame, r *rule) []byte {
	g, ok := s.context(f, r)
	if !s.shared || !ok {
		return nil
	}
	return s.seenIn(g)
}

// rebased applies rebase to the outcome of a run.
func (s *Shard) rebased(f *frame, r *rule, l *run, o *outcome) {
	if l.seen == nil {
		return
	}
	now := s.seenBy(f, r)
	o.data = s.rebase(l.seen, now, o.data)
	o.puts = slices.Clone(o.puts)
	for k := range o.puts {
		o.puts[k].Data = s.rebase(l.seen, now, o.puts[k].Data)
	}
}

// object is the fields of the data of a token.
type object map[string]json.RawMessage

// objectOf returns the fields of data; nil if it is not a JSON object.
func objectOf(data []byte) object {
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return nil
	}
	var o object
	if json.Unmarshal(data, &o) != nil {
		return nil
	}
	return o
}

// data returns the object as JSON, its fields by name.
func (o object) data() []byte {
	size := 2
	for name, value := range o {
		size += len(name) + len(value) + len(`"":,`)
	}
	out := append(make([]byte, 0, size), '{')
	for k, name := range slices.Sorted(maps.Keys(o)) {
		if k > 0 {
			out = append(out, ',')
		}
		key, _ := json.Marshal(name) // a text has no error
		out = append(append(append(out, key...), ':'), o[name]...)
	}
	return append(out, '}')
}

// has reports whether a field has a value.
func (o object) has(name string, value json.RawMessage) bool {
	old, ok := o[name]
	return ok && (bytes.Equal(old, value) || reflect.DeepEqual(decoded(old), decoded(value)))
}

// decoded returns the value of a JSON text. Whole numbers of more than 53 bits are exact.
func decoded(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return string(text)
	}
	return scan.Numbers(v, func(n json.Number) any {
		if f, err := n.Float64(); err == nil && f >= -1<<53 && f <= 1<<53 {
			return f
		}
		return n
	})
}

// texts remembers what was made of the latest JSON texts.
type texts struct {
	latest [16]text
	next   int
}

// text is the fields of a JSON text, or of one that has those of another over it.
type text struct {
	under, over []byte
	both        []byte
	fields      object // nil if one is no object
	used        bool   // since it was made, or passed over when another one was forgotten
}

// over returns data with the fields of other data over it, if both are objects; otherwise the other,
// if there is any.
func (s *texts) over(under, over []byte) []byte {
	switch {
	case under == nil:
		return over
	case over == nil:
		return under
	}
	return s.of(under, over).both
}

// fields returns objectOf data that is never changed. The caller must not change it, either.
func (s *texts) fields(data []byte) object { return s.of(nil, data).fields }

func (s *texts) of(under, over []byte) *text {
	for k := range s.latest {
		t := &s.latest[k]
		if sameData(t.over, over) && sameData(t.under, under) || under == nil && sameData(t.both, over) {
			t.used = true
			return t
		}
	}
	made := text{under: under, over: over, both: over}
	if under == nil {
		made.fields = objectOf(over)
	} else if a, b := s.fields(under), s.fields(over); a != nil && b != nil {
		made.fields = maps.Clone(a)
		maps.Copy(made.fields, b)
		made.both = made.fields.data()
	}
	for s.next++; s.latest[s.next%len(s.latest)].used; s.next++ {
		s.latest[s.next%len(s.latest)].used = false
	}
	t := &s.latest[s.next%len(s.latest)]
	*t = made
	return t
}

// passes returns the data that a firing in a frame passes on to new tokens: what an action or a call
// returned, if any, or what the tokens carry that were taken.
func (x *change) passes(f *frame, t int, returned []byte) []byte {
	r := &x.s.rules[t]
	if returned == nil && len(r.reach) > 0 {
		return x.passed(t)
	}
	if _, written := x.s.context(f, r); written {
		return x.s.carried(returned)
	}
	return returned
}

// carried returns what a token carries of data that an action or a call returned, whose variables
// are written already.
func (s *scopes) carried(data []byte) []byte {
	if s.shared && s.fields(data) != nil {
		return nil
	}
	return data
}

// passed returns the data for new tokens: that of the tokens that were taken.
func (x *change) passed(t int) []byte {
	x.datas = x.datas[:0]
	for k := range x.took {
		data := x.took[k].data
		if data == nil {
			continue
		}
		for range min(int(x.took[k].n), MaxTaken-len(x.datas)) {
			x.datas = append(x.datas, data)
		}
	}
	switch {
	case len(x.datas) == 0:
		return nil
	case len(x.datas) == 1 || x.s.merge == nil:
		return x.datas[0]
	}
	merged, ok := merge(x.s.merge, x.datas)
	if !ok {
		x.s.count(opFailed, x.i, t)
		return x.datas[0]
	}
	return merged
}

// merge calls a user's function, which may panic. ok reports whether a token can carry the result.
func merge(how func([][]byte) []byte, data [][]byte) (merged []byte, ok bool) {
	defer func() { _ = recover() }()
	merged = how(data)
	return merged, len(merged) <= MaxData
}
