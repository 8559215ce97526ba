// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/stats"
)

// revived replaces the flags in opRest for an instance that becomes active again.
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
		l.last = o
		l.write(i)
	}
}

// write writes the last operation.
func (l *log) write(i int) {
	l.last.number = l.members.Number(i)
	l.op(&l.last)
}

// fire writes a firing: the lots that it took, and those that it puts, each with its data or the lot
// that it took which has these. The tokens that a reset arc destroys are not recorded: they are all
// that the place holds. It does what codec.op does for others, without a call for each number.
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

// own writes new values of variables that a run owns.
func (l *log) own(i int, f *frame, values object) {
	if l.on {
		l.note(i, op{kind: opOwn, held: held{lot{data: values.data()}, spot{frame: f.number}}})
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

// ErrLog is wrapped by the errors of Replay and LoadState about data that does
// not fit the shard that reads it.
var ErrLog = shard.ErrLog

// The kinds of operations. fieldsOf has the fields of each.
const (
	opRest   = iota // the state in which the instance is at rest has changed
	opFailed        // this one to opLate count an event of a transition
	opRetried
	opCancelled
	opTimedOut
	opLate
	opStart  // a run of an action starts
	opEnd    // a run is over; if it has fired, its firing follows
	opOpen   // a run of a scope opens
	opClock  // since when a transition has a clock, and when it is due by its Until
	opLoop   // a loop begins in the run of a scope; in states, it has begun
	opOver   // a run of a loop ends; its firing follows
	opOwn    // variables that a run of a scope owns, or the instance, have changed
	opAfresh // the instance forgets its variables, because it begins again
	opIs     // what the instance is; this one and those that follow are only in states: see AppendState
	opPile   // the tokens of a place
	opInject // tokens come from outside
	opFire   // a transition fires; only to read
)

// op is an operation. It has the fields of its kind.
type op struct {
	kind       int
	number     int // of the instance
	transition int32
	scope      int32
	up         uint32 // the run of the scope around
	flag       bool
	rest       uint8
	held       // its frame is the run of a scope in which something happens
	time, due  int64
	turn       int32
	begun      int32 // runs of a loop
	ended      int32
	took, puts []held
	refs       []uint64 // of puts, as they are read: see log.fire
	lots       []lot
	texts      [][]byte
	order      []uint16
	run        *run
}

// Bounds of what is read, so that it cannot overflow: times, and identities of tokens.
const (
	maxTime = 1 << 61
	maxID   = 1 << 62
)

// How the data of a token are written: none; the bytes that follow; or the data
// of one of the lots that were taken, numbered from refLot.
const (
	refNone = iota
	refBytes
	refLot
)

// codec writes operations to text, or reads them.
type codec struct {
	text          []byte
	from          *shard.Reader // nil to write
	rules, places int
	scopes, turns int
	orders        int
	scoped        bool // the net has scopes
}

// num writes or reads a number, which is at most limit.
func num[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int32 | ~int64](c *codec, v *T, limit uint64) {
	if c.from == nil {
		c.text = binary.AppendUvarint(c.text, uint64(*v))
	} else {
		*v = T(c.from.Next(limit))
	}
}

// index is num of an index below n.
func index(c *codec, v *int32, n int) {
	if c.from == nil {
		c.text = binary.AppendUvarint(c.text, uint64(*v))
	} else {
		*v = int32(c.from.Index(n))
	}
}

// bool is num of 1 for true.
func (c *codec) bool(v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	num(c, &n, 1)
	*v = n == 1
}

// list writes or reads the elements of a list, at most a number. Each takes at least a byte.
func list[T any](c *codec, all *[]T, most int, element func(*T)) {
	n := uint64(len(*all))
	num(c, &n, uint64(most))
	for k := range n {
		if c.from != nil {
			if c.from.Err != nil || len(c.from.Left) == 0 {
				c.from.Fail("it ends inside a list")
				return
			}
			*all = append(*all, *new(T))
		}
		element(&(*all)[k])
	}
}

// bytes writes or reads data.
func (c *codec) bytes(data *[]byte) {
	kind := uint64(refNone)
	if *data != nil {
		kind = refBytes
	}
	num(c, &kind, refBytes)
	if kind == refBytes {
		c.content(data)
	}
}

func (c *codec) content(data *[]byte) {
	n := uint64(len(*data))
	num(c, &n, MaxData)
	if c.from == nil {
		c.text = append(c.text, *data...)
	} else {
		*data = append([]byte{}, c.from.Bytes(n)...)
	}
}

// frame writes or reads the number of a run of a scope, if the net has scopes.
func (c *codec) frame(number *uint32) {
	if c.scoped {
		num(c, number, maxFrames)
	}
}

func (c *codec) spot(at *spot) {
	index(c, &at.place, c.places)
	c.frame(&at.frame)
}

// op writes or reads an operation: the number of its instance, its kind and its fields.
func (c *codec) op(o *op) {
	number, code, firings := uint64(o.number), uint64(2*c.rules+o.kind), 2*c.rules
	num(c, &number, math.MaxInt64)
	num(c, &code, uint64(firings+opFire-1))
	o.number, o.kind = int(number), int(code)-firings
	if o.kind < 0 { // a firing, and whether its transition was preferred to a rival
		o.kind, o.transition, o.flag = opFire, int32(code>>1), code&1 != 0
	}
	for _, field := range fieldsOf[o.kind] {
		field(c, o)
	}
}

// fieldsOf are the fields of each kind of operation, in their order.
var fieldsOf = [...][]func(*codec, *op){
	opRest:      {(*codec).rest},
	opFailed:    {(*codec).transition},
	opRetried:   {(*codec).transition},
	opCancelled: {(*codec).transition},
	opTimedOut:  {(*codec).transition},
	opLate:      {(*codec).transition},
	opStart:     {(*codec).run, (*codec).start},
	opEnd:       {(*codec).run, (*codec).transition, (*codec).flag},
	opOpen:      {(*codec).in, (*codec).scope, (*codec).up, (*codec).nth, (*codec).flag},
	opClock:     {(*codec).transition, (*codec).in, (*codec).time, (*codec).due},
	opLoop:      {(*codec).in, (*codec).scope, (*codec).amount, (*codec).data, (*codec).progress},
	opOver:      {(*codec).in, (*codec).flag, (*codec).data},
	opOwn:       {(*codec).in, (*codec).data},
	opAfresh:    {},
	opIs:        {(*codec).turn, (*codec).rest, (*codec).amount, (*codec).id, (*codec).order, (*codec).in},
	opPile:      {(*codec).at, (*codec).lots},
	opFire:      {(*codec).firing},
	opInject:    {(*codec).at, (*codec).id, (*codec).amount, (*codec).data},
}

func (c *codec) transition(o *op) { index(c, &o.transition, c.rules) }
func (c *codec) scope(o *op)      { index(c, &o.scope, c.scopes) }
func (c *codec) in(o *op)         { c.frame(&o.frame) }
func (c *codec) up(o *op)         { c.frame(&o.up) }
func (c *codec) at(o *op)         { c.spot(&o.spot) }
func (c *codec) id(o *op)         { num(c, &o.id, maxID) }
func (c *codec) run(o *op)        { num(c, &o.id, math.MaxUint64>>16) }
func (c *codec) amount(o *op)     { num(c, &o.n, math.MaxUint32) }
func (c *codec) data(o *op)       { c.bytes(&o.data) }
func (c *codec) rest(o *op)       { num(c, &o.rest, uint64(revived)) }
func (c *codec) time(o *op)       { num(c, &o.time, maxTime) }
func (c *codec) turn(o *op)       { index(c, &o.turn, c.turns) }
func (c *codec) flag(o *op)       { c.bool(&o.flag) }
func (c *codec) nth(o *op)        { num(c, &o.turn, math.MaxInt32) }

// due writes or reads when a clock is due, 0 if that is not known, and with which tokens: see identities.
func (c *codec) due(o *op) {
	num(c, &o.due, maxTime)
	num(c, &o.id, math.MaxUint64)
}

func (c *codec) order(o *op) {
	if c.from != nil {
		o.order = make([]uint16, c.orders)
	}
	for k := range o.order {
		num(c, &o.order[k], math.MaxUint16)
	}
}

// progress writes or reads how far a loop is.
func (c *codec) progress(o *op) {
	num(c, &o.begun, math.MaxInt32)
	num(c, &o.ended, math.MaxInt32)
	list(c, &o.texts, MaxRuns, c.bytes)
}

func (c *codec) lots(o *op) {
	list(c, &o.lots, math.MaxInt32, func(l *lot) {
		num(c, &l.id, maxID)
		num(c, &l.injected, maxTime)
		num(c, &l.n, math.MaxUint32)
		c.bytes(&l.data)
	})
}

// firing reads what log.fire wrote.
func (c *codec) firing(o *op) {
	c.frame(&o.frame)
	list(c, &o.took, math.MaxInt32, func(h *held) {
		index(c, &h.place, c.places)
		num(c, &h.id, maxID)
		num(c, &h.n, math.MaxUint32)
	})
	list(c, &o.puts, math.MaxInt32, func(h *held) {
		c.spot(&h.spot)
		num(c, &h.id, maxID)
		num(c, &h.n, math.MaxUint32)
		ref := c.from.Next(uint64(len(o.took)) + refLot - 1)
		if ref == refBytes {
			c.content(&h.data)
		}
		o.refs = append(o.refs, ref)
	})
}

// start writes or reads that a run of an action starts. In a state the tokens that it tests are
// whole, because they may have left their places.
func (c *codec) start(o *op) {
	if c.from != nil {
		o.run = &run{}
	}
	p := o.run
	num(c, &p.era, math.MaxUint64)
	c.frame(&p.frame)
	index(c, &p.transition, c.rules)
	num(c, &p.attempt, math.MaxInt32)
	c.bool(&p.contested)
	c.bytes(&p.data)
	num(c, &p.since, maxTime)
	c.tokens(&p.taken, false)
	c.bool(&o.flag)
	c.tokens(&p.read, o.flag)
}

func (c *codec) tokens(all *[]Placed, whole bool) {
	list(c, all, MaxTaken, func(p *Placed) {
		index(c, &p.Place, c.places)
		num(c, &p.Token.ID, maxID)
		if whole {
			num(c, &p.Token.Injected, maxTime)
			c.bytes(&p.Token.Data)
		}
	})
}
