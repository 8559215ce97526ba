// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"slices"
	"sync"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
)

const (
	// maxPins is the number of transactions kept, so of concurrent walks that
	// can be distinguished.
	maxPins = 128
	// walkGap is the longest pause between a transaction and one that continues it.
	walkGap = 10 * time.Second
	// walkStep is the longest usual pause of a manager in a walk.
	walkStep = 2 * time.Second
	// walkActive is how long after its last request a walk counts as in progress, so that
	// a new walk joins it: longer than a busy manager pauses, shorter than pollers do.
	walkActive = 900 * time.Millisecond
	// walkShare is the largest age of a table that a new walk joins, and walkLong that of
	// a table whose walk is in its first half.
	walkShare = 10 * time.Second
	walkLong  = 30 * time.Second
	// walkMax is the largest age of a table that a walk may continue with.
	walkMax = time.Minute
)

// walks chooses the table that a request is answered from, by the rules in
// docs/design/agentx.md. It is safe for concurrent use: expire runs in another goroutine.
type walks struct {
	tables func() *smi.Table
	hold   time.Duration
	empty  *smi.Table // used if tables returns nil

	mu      sync.Mutex
	current *smi.Table
	taken   time.Time // when tables returned current
	pins    []pin     // at most maxPins, the oldest first
}

// pin is one transaction and the table it sees.
type pin struct {
	table       *smi.Table
	taken       time.Time // when tables returned table
	used        time.Time
	transaction uint32
	requests    int  // of the transaction so far
	before      int  // requests of the transaction that it continues at its end; 0 if unknown
	continued   bool // by a later transaction
	over        bool // it came to the end of the table
	held        bool // its last answer is held back
	// The transaction asked for the names after from, and was answered up to at. Both are
	// empty for a Get. A later pin takes over their memory.
	from, at smi.OID
}

func newWalks(tables func() *smi.Table, hold time.Duration) *walks {
	return &walks{tables: tables, hold: hold, empty: smi.NewTable(&smi.Layout{}, nil)}
}

// pin returns the table for a request of a transaction. start is the start of the first
// range; a Get passes nil.
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
			w.current = nil // a Get sees the newest table, and walks after it no older one
		}
		fresh.table = w.newest(now)
		fresh.taken = w.taken
	}
	fresh.from, fresh.at = w.makeRoom()
	fresh.from = append(fresh.from, start...)
	w.pins = append(w.pins, fresh)
	return fresh.table
}

// makeRoom removes a transaction if there are maxPins: the oldest from which no walk can
// continue, so that a slow walk among fast ones keeps its table. It returns the memory of
// its names.
func (w *walks) makeRoom() (from, at smi.OID) {
	if len(w.pins) < maxPins {
		return nil, nil
	}
	i := slices.IndexFunc(w.pins, func(p pin) bool { return p.continued || p.over || len(p.from) == 0 })
	gone := w.pins[max(i, 0)]
	w.pins = slices.Delete(w.pins, max(i, 0), max(i, 0)+1)
	return gone.from[:0], gone.at[:0]
}

// reached records the last name of the transaction's answer, nil for none, and whether the
// walk came to the end of the table. It reports whether the transaction now has as many
// requests as the one before it, and so is probably complete.
func (w *walks) reached(now time.Time, transaction uint32, name smi.OID, over bool) (done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.find(now, transaction)
	if p == nil {
		return false // it has become too old
	}
	if name != nil {
		p.at = append(p.at[:0], name...)
	}
	p.over = over
	return p.requests == p.before
}

// newest returns the current table, or a new one after hold.
func (w *walks) newest(now time.Time) *smi.Table {
	if w.current == nil || now.Sub(w.taken) >= w.hold {
		w.current, w.taken = w.tables(), now
	}
	if w.current == nil {
		return w.empty
	}
	return w.current
}

// find returns the newest pin of a transaction.
func (w *walks) find(now time.Time, transaction uint32) *pin {
	for i := len(w.pins) - 1; i >= 0; i-- {
		if p := &w.pins[i]; p.transaction == transaction && p.alive(now) {
			return p
		}
	}
	return nil
}

// continuedBy returns the transaction that one starting at start continues: preferably the
// oldest recent one that ended there and was not continued, so that walks at the same name
// keep their order; else the newest that ended there, else the newest that passed there.
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

// underWay returns a walk in progress whose table a new walk shall share, because two walks
// that come to the same name cannot be distinguished. They do not meet if the other one has
// a long lead.
func (w *walks) underWay(now time.Time, start smi.OID) *pin {
	if len(start) == 0 {
		return nil // a Get
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

// heldBack records that the answer of a transaction is held back, so its manager waits.
func (w *walks) heldBack(transaction uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.pins {
		if p := &w.pins[i]; p.transaction == transaction {
			p.held = true
		}
	}
}

// expected reports whether a walk is in progress whose manager does not wait for an
// answer: it will probably send another request.
func (w *walks) expected(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.pins, func(p pin) bool {
		return len(p.at) > 0 && !p.over && !p.continued && !p.held && now.Sub(p.used) <= walkActive
	})
}

// expire drops tables that no walk can need any more.
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

// ended reports whether name is the last answer of the transaction. It compares the last
// number first, in which names of one table mostly differ.
func (p *pin) ended(name smi.OID) bool {
	n := len(p.at)
	return n > 0 && n == len(name) && p.at[n-1] == name[n-1] && slices.Equal(p.at, name)
}

// passed reports whether name is among the answers of the transaction: a manager whose
// message was too small for all of them continues before the last.
func (p *pin) passed(name smi.OID) bool {
	return len(p.at) > 0 && name.Compare(p.at) <= 0 && name.Compare(p.from) > 0
}
