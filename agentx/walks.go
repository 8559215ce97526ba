// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"slices"
	"sync"
	"time"

	"github.com/pnagent/pnagent/smi"
)

const (
	// maxPins is how many transactions are remembered. Where walks are at
	// places of their own, as many walks can go on at once.
	maxPins = 128
	// walkGap is how long a transaction may be over before another can no
	// longer continue it.
	walkGap = 10 * time.Second
	// walkStep is how long it takes a manager at most, in the ordinary case,
	// to ask for more.
	walkStep = 2 * time.Second
	// walkActive is how long after its last request a walk is taken to be
	// under way, so that one that begins joins it: longer than a busy manager
	// pauses, and shorter than pollers do, who are no walk.
	walkActive = 900 * time.Millisecond
	// walkShare is how old a table may be that is joined by the walks that
	// begin, and walkLong how old where a walk of it has far to go.
	walkShare = 10 * time.Second
	walkLong  = 30 * time.Second
	// walkMax is how old a table may become by being walked.
	walkMax = time.Minute
)

// walks chooses the table that a request is answered from, by the rules in
// the package comment. A mutex, because expire comes from another goroutine.
type walks struct {
	tables func() *smi.Table
	hold   time.Duration
	empty  *smi.Table // stands for no table

	mu      sync.Mutex
	current *smi.Table
	taken   time.Time // when current was asked for
	pins    []pin     // at most maxPins, the oldest first
}

// pin is one transaction and the table it sees.
type pin struct {
	table       *smi.Table
	taken       time.Time // when table was asked for
	used        time.Time
	transaction uint32
	requests    int  // of the transaction so far
	before      int  // those of the one at whose end it goes on; 0 where none is known
	continued   bool // by a later transaction
	over        bool // it came to the end of the table
	held        bool // its last answer is held back
	// The transaction asked for what follows from, and was given names up to
	// at. Both empty for a Get. They are the pin's own memory, which goes over to
	// the one that takes its place.
	from, at smi.OID
}

func newWalks(tables func() *smi.Table, hold time.Duration) *walks {
	return &walks{tables: tables, hold: hold, empty: smi.NewTable(&smi.Layout{}, nil)}
}

// pin gives the table for a request of a transaction. start is where the first
// range starts; a Get passes nil.
func (w *walks) pin(now time.Time, transaction uint32, start smi.OID) *smi.Table {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.find(now, transaction); p != nil {
		p.used = now
		p.requests++
		return p.table
	}
	fresh := pin{transaction: transaction, used: now, requests: 1}
	if earlier := w.continuedBy(now, start); earlier != nil {
		earlier.continued = true
		fresh.table, fresh.taken = earlier.table, earlier.taken
		if earlier.ended(start) {
			fresh.before = earlier.requests
		}
	} else if other := w.underWay(now, start); other != nil {
		fresh.table, fresh.taken = other.table, other.taken
	} else {
		if len(start) == 0 {
			w.current = nil // a Get sees the newest, and so do walks that begin after it
		}
		fresh.table = w.newest(now)
		fresh.taken = w.taken
	}
	fresh.from, fresh.at = w.makeRoom()
	fresh.from = append(fresh.from, start...)
	w.pins = append(w.pins, fresh)
	return fresh.table
}

// makeRoom forgets a transaction where as many as can be are remembered: the
// oldest that no walk goes on from, so that a slow walk among fast ones keeps
// its own. It gives the memory of that one's names.
func (w *walks) makeRoom() (from, at smi.OID) {
	if len(w.pins) < maxPins {
		return nil, nil
	}
	i := slices.IndexFunc(w.pins, func(p pin) bool { return p.continued || p.over || len(p.from) == 0 })
	gone := w.pins[max(i, 0)]
	w.pins = slices.Delete(w.pins, max(i, 0), max(i, 0)+1)
	return gone.from[:0], gone.at[:0]
}

// reached notes the last name that the transaction was given, nil for none,
// and whether its walk came to the end of the table with that. It tells whether
// the master has asked as much now as it did in the transaction before, so that
// this one is done with: a walk asks for as much each time.
func (w *walks) reached(now time.Time, transaction uint32, name smi.OID, over bool) (done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.find(now, transaction)
	if p == nil {
		return false // it has just become too old
	}
	if name != nil {
		p.at = append(p.at[:0], name...)
	}
	p.over = over
	return p.requests == p.before
}

// newest is the current table, which is looked for anew when it has been held
// long enough.
func (w *walks) newest(now time.Time) *smi.Table {
	if w.current == nil || now.Sub(w.taken) >= w.hold {
		w.current, w.taken = w.tables(), now
	}
	if w.current == nil {
		return w.empty
	}
	return w.current
}

// find looks for the pin of a transaction, from the newest on.
func (w *walks) find(now time.Time, transaction uint32) *pin {
	for i := len(w.pins) - 1; i >= 0; i-- {
		if p := &w.pins[i]; p.transaction == transaction && p.alive(now) {
			return p
		}
	}
	return nil
}

// continuedBy looks for the transaction that one starting at start continues.
// Best is the oldest that ended there, was not continued yet and is fresh:
// walkers at the same name keep their order. Then the newest that ended there,
// then the newest that passed there.
func (w *walks) continuedBy(now time.Time, start smi.OID) *pin {
	if len(start) == 0 {
		return nil
	}
	for i := range w.pins {
		p := &w.pins[i]
		if !p.continued && p.ended(start) && now.Sub(p.used) <= walkStep && p.alive(now) {
			return p
		}
	}
	var passed *pin
	for i := len(w.pins) - 1; i >= 0; i-- {
		p := &w.pins[i]
		if !p.passed(start) || !p.alive(now) {
			continue
		}
		if p.ended(start) {
			return p
		}
		if passed == nil {
			passed = p
		}
	}
	return passed
}

// underWay looks for a walk that goes on and whose table a walk that begins
// now is to see too. Walks at the same time cannot always be told apart: one
// must be where the other is, and ask before it. When they see the same table
// that does not matter; and when the other one has a great lead, they do not
// meet.
func (w *walks) underWay(now time.Time, start smi.OID) *pin {
	if len(start) == 0 {
		return nil // a Get is no walk
	}
	for i := len(w.pins) - 1; i >= 0; i-- {
		p := &w.pins[i]
		if len(p.at) == 0 || p.over || p.continued || now.Sub(p.used) > walkActive {
			continue
		}
		if age := now.Sub(p.taken); age <= walkShare || age <= walkLong && p.inFirstHalf() {
			return p
		}
	}
	return nil
}

func (p *pin) inFirstHalf() bool { return p.table.Search(p.at, true) < p.table.Len()/2 }

// heldBack notes that the manager of a transaction waits for an answer that was made.
func (w *walks) heldBack(transaction uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.pins {
		if p := &w.pins[i]; p.transaction == transaction {
			p.held = true
		}
	}
}

// expected tells whether a walk is under way whose manager does not wait: in the
// ordinary case it will ask again.
func (w *walks) expected(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.pins, func(p pin) bool {
		return len(p.at) > 0 && !p.over && !p.continued && !p.held && now.Sub(p.used) <= walkActive
	})
}

// expire lets go of tables that no walk can ask for any more.
func (w *walks) expire(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pins = slices.DeleteFunc(w.pins, func(p pin) bool { return !p.alive(now) })
	if now.Sub(w.taken) >= w.hold {
		w.current = nil
	}
}

func (p *pin) alive(now time.Time) bool {
	return now.Sub(p.used) <= walkGap && now.Sub(p.taken) <= walkMax
}

// ended tells whether name is the last answer of the transaction. Names of one
// table differ at their end, if at all.
func (p *pin) ended(name smi.OID) bool {
	n := len(p.at)
	return n > 0 && n == len(name) && p.at[n-1] == name[n-1] && slices.Equal(p.at, name)
}

// passed tells whether name is among the answers of the transaction: a manager
// whose message was too small for all goes on before the last.
func (p *pin) passed(name smi.OID) bool {
	return len(p.at) > 0 && name.Compare(p.at) <= 0 && name.Compare(p.from) > 0
}
