// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/stats"
)

// revived replaces the flags in opRest for an instance that becomes active
// again.
const revived = atRest + 1

// log writes down what happens.
type log struct {
	codec
	on      bool // see Config.Log
	last    op   // that was written; reused memory
	members *shard.Members
}

// note writes an operation of an instance, if there is a log.
func (l *log) note(i int, o op) {
	if l.on {
		o.number = l.members.Number(i)
		l.last = o
		l.op(&l.last)
	}
}

// fire writes a firing: the instance's number, the transition and whether it was preferred to a rival;
// the run of a scope in which it acts, if the net has scopes; the lots that it took, each with its
// place, first identity and number of tokens; the lots that it puts, each with its spot, first
// identity, number of tokens and data, or the lot that it took which has these. The tokens that a reset
// arc destroys are not recorded: they are all that the place holds. It does what codec.op does for
// others, without a call for each number.
func (l *log) fire(x *change, f *frame, t int, contested bool) {
	code := uint64(t) << 1
	if contested {
		code++
	}
	text := binary.AppendUvarint(l.text, uint64(l.members.Number(x.i)))
	text = binary.AppendUvarint(text, code)
	if l.scoped {
		text = binary.AppendUvarint(text, uint64(f.number))
	}
	text = binary.AppendUvarint(text, uint64(len(x.took)))
	for k := range x.took {
		h := &x.took[k]
		text = binary.AppendUvarint(text, uint64(h.place))
		text = binary.AppendUvarint(text, h.id)
		text = binary.AppendUvarint(text, uint64(h.n))
	}
	text = binary.AppendUvarint(text, uint64(len(x.out)))
	for k := range x.out {
		h := &x.out[k]
		text = binary.AppendUvarint(text, uint64(h.place))
		if l.scoped {
			text = binary.AppendUvarint(text, uint64(h.frame))
		}
		text = binary.AppendUvarint(text, h.id)
		text = binary.AppendUvarint(text, uint64(h.n))
		from := slices.IndexFunc(x.took, func(t held) bool { return h.data != nil && sameData(t.data, h.data) })
		switch {
		case h.data == nil:
			text = append(text, refNone)
		case from >= 0:
			text = binary.AppendUvarint(text, uint64(from)+refLot)
		default:
			text = binary.AppendUvarint(append(text, refBytes), uint64(len(h.data)))
			text = append(text, h.data...)
		}
	}
	l.text = text
}

// open writes that a run of a scope opens.
func (l *log) open(i int, f *frame) {
	if l.on {
		l.note(i, op{kind: opOpen, scope: f.scope, up: f.up.number, turn: int32(f.turn), flag: f.ended, held: held{spot: spot{frame: f.number}}})
	}
}

// loop writes the loop in a run of the scope around.
func (l *log) loop(i int, up *frame) {
	q := up.loop
	l.note(i, op{kind: opLoop, scope: q.scope, begun: int32(q.begun), ended: int32(q.over), texts: q.results,
		held: held{lot{n: uint32(q.n + 1), data: q.text}, spot{frame: up.number}}})
}

// own writes new values of variables that a run owns: as one text, or, if that is too long, one for each.
func (l *log) own(i int, f *frame, values object) {
	if !l.on {
		return
	}
	texts := [][]byte{values.data()}
	if len(texts[0]) > MaxData {
		texts = texts[:0]
		for _, name := range slices.Sorted(maps.Keys(values)) {
			texts = append(texts, object{name: values[name]}.data())
		}
	}
	for _, text := range texts {
		l.note(i, op{kind: opOwn, held: held{lot{data: text}, spot{frame: f.number}}})
	}
}

// clock writes since when a transition has a clock, and when it is due if that is by Binding.Until.
func (l *log) clock(n *note) {
	l.note(int(n.instance), op{kind: opClock, transition: int32(n.transition), time: n.since, due: n.due, held: held{lot{id: n.token}, spot{frame: n.frame}}})
}

// start writes that a run of an action starts, with the tokens that it tests as a whole or not.
func (l *log) start(name RunID, p *run, whole bool) {
	l.note(p.i, op{kind: opStart, run: p, flag: whole, held: held{lot: lot{id: uint64(name >> 16)}}})
}

// end writes that a run of an action is over. If it has fired, its firing follows.
func (l *log) end(i int, name RunID, fired bool) {
	l.note(i, op{kind: opEnd, transition: int32(name & MaxNodes), flag: fired, held: held{lot: lot{id: uint64(name >> 16)}}})
}

// count counts an event of a transition that moves no token.
func (s *Shard) count(what, i, t int) {
	s.tally(what, t)
	s.log.note(i, op{kind: what, transition: int32(t)})
}

func (s *Shard) tally(what, t int) {
	counters := [...]func(*stats.Recorder, int){
		opFailed: (*stats.Recorder).Failed, opRetried: (*stats.Recorder).Retried, opCancelled: (*stats.Recorder).Cancelled,
		opTimedOut: (*stats.Recorder).TimedOut, opLate: (*stats.Recorder).Late}
	counters[what](s.Rec, t)
}
