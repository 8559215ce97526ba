// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"slices"
	"sync"
	"time"

	"github.com/pnagent/pnagent/smi"
)

const (
	// maxPins is how many transactions are remembered: the last 16 of 8
	// walkers at once.
	maxPins = 128
	// walkGap is how long a transaction may be over before another can no
	// longer continue it.
	walkGap = 10 * time.Second
	// walkStep is how long it takes a manager at most, in the ordinary case,
	// to ask for more.
	walkStep = 2 * time.Second
	// walkMax is how long one walk may see the same table.
	walkMax = 30 * time.Second
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
	pins    [maxPins]pin
	next    int // the pin that is the oldest, to be written over
}

// pin is one transaction and the table it sees.
type pin struct {
	table       *smi.Table // nil where the pin is free
	transaction uint32
	continued   bool      // by a later transaction
	began       time.Time // when the walk that it is part of first saw table
	used        time.Time
	// The transaction asked for what follows from, and was given names up to
	// at. Both empty for a Get.
	from, at smi.OID
}

func newWalks(tables func() *smi.Table, hold time.Duration) *walks {
	return &walks{tables: tables, hold: hold, empty: smi.NewTable(&smi.Layout{}, nil)}
}

// pin gives the table for a request of a transaction, and the pin by which to
// say how far the request came; it is valid until the next call. start is
// where the first range starts; a Get passes nil.
func (w *walks) pin(now time.Time, transaction uint32, start smi.OID) (*smi.Table, *pin) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.find(now, transaction); p != nil {
		p.used = now
		return p.table, p
	}
	fresh := pin{table: w.newest(now), transaction: transaction, began: now, used: now, from: slices.Clone(start)}
	if earlier := w.continuedBy(now, start); earlier != nil {
		earlier.continued = true
		fresh.table, fresh.began = earlier.table, earlier.began
	}
	p := &w.pins[w.next]
	w.next = (w.next + 1) % maxPins
	*p = fresh
	return p.table, p
}

// reached notes the last name that the transaction was given.
func (w *walks) reached(p *pin, name smi.OID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.at = name
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
	for i := range maxPins {
		p := &w.pins[(w.next+maxPins-1-i)%maxPins]
		if p.table != nil && p.transaction == transaction && p.alive(now) {
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
	var ended, passed *pin
	for i := range maxPins {
		p := &w.pins[(w.next+i)%maxPins]
		switch {
		case p.table == nil || !p.alive(now) || !p.gave(start):
		case p.at.Compare(start) != 0:
			passed = p
		case !p.continued && now.Sub(p.used) <= walkStep:
			return p
		default:
			ended = p
		}
	}
	if ended != nil {
		return ended
	}
	return passed
}

// expire lets go of tables that no walk can ask for any more.
func (w *walks) expire(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range maxPins {
		if p := &w.pins[(w.next+i)%maxPins]; p.table != nil && !p.alive(now) {
			*p = pin{}
		}
	}
	if now.Sub(w.taken) >= w.hold {
		w.current = nil
	}
}

func (p *pin) alive(now time.Time) bool {
	return now.Sub(p.used) <= walkGap && now.Sub(p.began) <= walkMax
}

// gave tells whether name is among the answers of the transaction: a manager
// goes on at the last of them, or, where its message was too small for all, at
// an earlier one.
func (p *pin) gave(name smi.OID) bool {
	return len(p.at) > 0 && name.Compare(p.at) <= 0 && name.Compare(p.from) > 0
}
