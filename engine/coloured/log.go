// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/binary"
	"slices"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// ErrLog is wrapped by the errors of Replay and LoadState about data that does
// not fit the shard that reads it.
var ErrLog = shard.ErrLog

// The operations of a log, by the lowest bit of their first number. Only older
// logs have opInject: the reader derives the identities of its tokens.
const (
	opFire = iota
	opInject
)

// opFire with a transition number beyond the last transition is one of these
// operations.
const (
	opInjectAs = iota // tokens were injected
	opRest            // the state in which the instance is at rest has changed
	opRan             // a run ended after a time; its firing follows as an operation of its own
	opFailed          // this one to opLate count an event of a transition
	opRetried
	opCancelled
	opTimedOut
	opLate
	opStart // a run starts; the next one: a run is over
	opEnd
	opOpen   // a run of a scope opens
	opDue    // when a transition is due, by its Until
	opLoop   // a loop begins in the run of a scope
	opOver   // a run of a loop ends; its firing follows
	opOwn    // variables that a run of a scope owns, or the instance, have changed
	opAfresh // the instance forgets its variables, because it begins again
	opBeyond
)

// revived replaces the flags in opRest for an instance that becomes active
// again.
const revived = atRest + 1

// How the data of a token are written: none; the bytes that follow; or the data
// of one of the lots that were taken, numbered from refLot.
const (
	refNone = iota
	refBytes
	refLot
)

// writer writes numbers and data of logs and states.
type writer struct {
	text   []byte
	scoped bool // the net has scopes
}

func (w *writer) put(numbers ...uint64) {
	for _, n := range numbers {
		w.text = binary.AppendUvarint(w.text, n)
	}
}

// frame writes the number of a run of a scope, if the net has scopes.
func (w *writer) frame(number uint32) {
	if w.scoped {
		w.put(uint64(number))
	}
}

func (w *writer) data(data []byte) {
	if data == nil {
		w.put(refNone)
		return
	}
	w.put(refBytes, uint64(len(data)))
	w.text = append(w.text, data...)
}

// tokens writes how many there are, and of each its place and its identity.
func (w *writer) tokens(all []Placed) {
	w.put(uint64(len(all)))
	for k := range all {
		w.put(uint64(all[k].Place), all[k].Token.ID)
	}
}

// flagged returns twice a number, and one more if a flag is set.
func flagged(n uint64, flag bool) uint64 {
	if flag {
		return n<<1 + 1
	}
	return n << 1
}

// log writes down what happens.
type log struct {
	writer
	on, runs bool // see Config.Log and Config.Runs
	beyond   uint64
	members  *shard.Members
}

// begin begins an operation of an instance beyond the transitions.
func (l *log) begin(i int, what uint64, numbers ...uint64) {
	l.put(uint64(l.members.Number(i))<<1+opFire, l.beyond+what)
	l.put(numbers...)
}

// note writes an operation of numbers, if there is a log.
func (l *log) note(i int, what uint64, numbers ...uint64) {
	if l.on {
		l.begin(i, what, numbers...)
	}
}

// open writes that a run of a scope opens: its number, the scope, and the
// number of the run of the scope around.
func (l *log) open(i int, f *frame) {
	l.note(i, opOpen, uint64(f.number), uint64(f.scope), uint64(f.up.id()))
}

// inject writes an injection: the place and, if the net has scopes, the
// run of its scope; the first identity, the number of tokens, their data.
func (l *log) inject(i int, h *held) {
	if l.on {
		l.begin(i, opInjectAs, uint64(h.place))
		l.frame(h.frame)
		l.put(h.id, uint64(h.n))
		l.data(h.data)
	}
}

// fire writes a firing: the instance's number and the kind; the transition
// and whether it was preferred to a rival; the lots that it took, each with its
// place, first identity and number of tokens; the lots that it puts, each with
// its place, first identity, number of tokens and their data. The tokens that a
// reset arc destroys are not recorded: they are all that the place holds. If the
// net has scopes, the run in which the transition acts follows the transition,
// and the run into which a lot is put its place.
func (l *log) fire(x *change, f *frame, t int, contested bool) {
	l.text = binary.AppendUvarint(l.text, uint64(l.members.Number(x.i))<<1+opFire)
	l.text = binary.AppendUvarint(l.text, flagged(uint64(t), contested))
	l.frame(f.id())
	l.text = binary.AppendUvarint(l.text, uint64(len(x.took)))
	for k := range x.took {
		h := &x.took[k]
		l.text = binary.AppendUvarint(l.text, uint64(h.place))
		l.text = binary.AppendUvarint(l.text, h.id)
		l.text = binary.AppendUvarint(l.text, uint64(h.n))
	}
	l.text = binary.AppendUvarint(l.text, uint64(len(x.out)))
	for k := range x.out {
		h := &x.out[k]
		l.text = binary.AppendUvarint(l.text, uint64(h.place))
		l.frame(h.frame)
		l.text = binary.AppendUvarint(l.text, h.id)
		l.text = binary.AppendUvarint(l.text, uint64(h.n))
		from := slices.IndexFunc(x.took, func(t held) bool { return h.data != nil && sameData(t.data, h.data) })
		if from < 0 {
			l.data(h.data)
		} else {
			l.put(uint64(from) + refLot)
		}
	}
}

// count counts an event of a transition that moves no token.
func (s *Shard) count(what uint64, i, t int) {
	s.tally(what, t)
	s.log.note(i, what, uint64(t))
}

func (s *Shard) tally(what uint64, t int) {
	switch what {
	case opFailed:
		s.Rec.Failed(t)
	case opRetried:
		s.Rec.Retried(t)
	case opCancelled:
		s.Rec.Cancelled(t)
	case opTimedOut:
		s.Rec.TimedOut(t)
	case opLate:
		s.Rec.Late(t)
	}
}
