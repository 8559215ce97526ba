// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

var (
	// ErrLock is wrapped by the errors of a lock that does not parse, or that contradicts
	// itself or another.
	ErrLock = errors.New("invalid OID lock")
	// ErrLockFull is the error for a name if no number is left.
	ErrLockFull = errors.New("the OID lock is full")
)

// MaxLocked is the largest number of names in a lock.
const MaxLocked = 1_000_000

// maxNumber is the largest index that every SNMP tool accepts.
const maxNumber = math.MaxInt32

// Lock has the number and the descriptor of every net, place and transition ever seen. It
// only grows; [ParseLock] describes its text. A Lock is not safe for concurrent use.
type Lock struct {
	nets     map[string]*LockedNet
	modules  *index // module names
	names    *names // net descriptors
	reserved map[string]bool
	suffixes []string
	comments []string
	next     uint32
	size     int
}

// LockedNet is one net of a lock.
type LockedNet struct {
	ID         string
	Number     uint32 // from 1; the module is at root.2.Number
	Module     string // ORDER-FULFILMENT-PN-MIB
	Descriptor string // orderFulfilment, the beginning of the module's own names

	places      kindLock
	transitions kindLock
	names       *names
	revisions   []revision // oldest first
	line        int
}

// Locked is one place or transition of a lock.
type Locked struct {
	ID         string
	Number     uint32 // from 1, among the places or the transitions of its net
	Descriptor string // awaitingPayment
	Obsolete   bool   // it was not in the net when the module was last generated

	line int
}

// revision is one REVISION clause of a net's module.
type revision struct {
	date   string // YYYYMMDDHHMMZ
	digest string // of the module's content
	text   string
	line   int
}

// kindLock has the places or the transitions of one net.
type kindLock struct {
	byID map[string]*Locked
	used *index
	next uint32
}

// index maps keys to the line of their first use.
type index struct{ lines map[string]int }

func newIndex() *index { return &index{lines: map[string]int{}} }

// first adds a key, or returns the line of an earlier use.
func (x *index) first(key string, line int) (earlier int, dup bool) {
	if earlier, dup = x.lines[key]; !dup {
		x.lines[key] = line
	}
	return earlier, dup
}

// NewLock returns an empty lock.
func NewLock() *Lock {
	reserved := reservedNames()
	return &Lock{
		nets: map[string]*LockedNet{}, modules: newIndex(), reserved: reserved,
		names: newNames(reserved, netSuffixes()), suffixes: suffixes(), next: 1,
	}
}

// Net returns a net by its id; nil if it is unknown.
func (l *Lock) Net(id string) *LockedNet { return l.nets[id] }

// Nets returns all nets by number.
func (l *Lock) Nets() []*LockedNet {
	nets := make([]*LockedNet, 0, len(l.nets))
	for _, n := range l.nets {
		nets = append(nets, n)
	}
	slices.SortFunc(nets, func(a, b *LockedNet) int { return cmp.Compare(a.Number, b.Number) })
	return nets
}

// Len returns the number of nets, places and transitions.
func (l *Lock) Len() int { return l.size }

// Place returns a place of the net by its id; nil if it is unknown.
func (n *LockedNet) Place(id string) *Locked { return n.places.byID[id] }

// Transition is the same for a transition.
func (n *LockedNet) Transition(id string) *Locked { return n.transitions.byID[id] }

// Places returns the places by number, obsolete ones included.
func (n *LockedNet) Places() []*Locked { return n.places.sorted() }

// Transitions returns the transitions by number, obsolete ones included.
func (n *LockedNet) Transitions() []*Locked { return n.transitions.sorted() }

func (k *kindLock) sorted() []*Locked {
	all := make([]*Locked, 0, len(k.byID))
	for _, e := range k.byID {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *Locked) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// Assign gives numbers and descriptors to the net with the given id, and to its places and
// transitions, in the order of the definition; existing ones stay. It returns the net and
// whether it added a name. A name without a number (ErrLockFull, an id of more than 8 KiB) is
// left out and reported; the rest is assigned.
func (l *Lock) Assign(id string, def *petri.Net) (net *LockedNet, added bool, err error) {
	before := l.size
	net = l.nets[id]
	if net == nil {
		if net, err = l.newNet(id, def.Name); err != nil {
			return nil, false, err
		}
	}
	for i := range def.Places {
		err = firstError(err, l.assign(net, &net.places, "place", def.Places[i].ID, def.Places[i].Name))
	}
	for i := range def.Transitions {
		err = firstError(err, l.assign(net, &net.transitions, "transition", def.Transitions[i].ID, def.Transitions[i].Name))
	}
	return net, l.size > before, err
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// room returns why a name cannot be added; next is the number it would get.
func (l *Lock) room(id string, next uint32) error {
	if len(id) > maxID {
		return fmt.Errorf("an id of %d bytes; expected at most %d", len(id), maxID)
	}
	if l.size >= MaxLocked || next > maxNumber {
		return ErrLockFull
	}
	return nil
}

func (l *Lock) newNet(id, name string) (*LockedNet, error) {
	if err := l.room(id, l.next); err != nil {
		return nil, fmt.Errorf("number net %q: %w", cut(id, 80), err)
	}
	n := &LockedNet{ID: id, Number: l.next}
	n.Descriptor = l.names.pick(descriptorStem("net", n.Number, name, id), "net")
	stem := moduleStem(n.Number, name, id)
	n.Module = stem + moduleSuffix
	for i := 2; ; i++ {
		if _, dup := l.modules.first(n.Module, 0); !dup {
			break
		}
		number := fmt.Sprintf("-%d", i)
		n.Module = strings.TrimRight(cut(stem, maxModuleStem-len(number)), "-") + number + moduleSuffix
	}
	l.add(n)
	return n, nil
}

// add adds a net whose number and names are free.
func (l *Lock) add(n *LockedNet) {
	n.places = kindLock{byID: map[string]*Locked{}, used: newIndex(), next: 1}
	n.transitions = kindLock{byID: map[string]*Locked{}, used: newIndex(), next: 1}
	n.names = newNames(l.reserved, l.suffixes)
	for _, s := range netSuffixes() {
		n.names.take(n.Descriptor+s, n.line)
	}
	l.nets[n.ID] = n
	l.next = max(l.next, n.Number+1)
	l.size++
}

func (l *Lock) assign(net *LockedNet, k *kindLock, kind, id, name string) error {
	if k.byID[id] != nil {
		return nil
	}
	if err := l.room(id, k.next); err != nil {
		return fmt.Errorf("number %s %q of net %q: %w", kind, cut(id, 80), cut(net.ID, 80), err)
	}
	e := &Locked{ID: id, Number: k.next}
	e.Descriptor = net.names.pick(descriptorStem(kind, e.Number, name, id), kind)
	k.add(e)
	l.size++
	return nil
}

func (k *kindLock) add(e *Locked) {
	k.byID[e.ID] = e
	k.used.first(numberKey(e.Number), e.line)
	k.next = max(k.next, e.Number+1)
}

// addRevision adds a revision, in the order of dates.
func (n *LockedNet) addRevision(r revision) {
	n.revisions = append(n.revisions, r)
	slices.SortStableFunc(n.revisions, func(a, b revision) int { return cmp.Compare(a.date, b.date) })
}

// retire marks the places and transitions that the definition does not have as obsolete, and
// the others as current.
func (n *LockedNet) retire(def *petri.Net) {
	places := make(map[string]bool, len(def.Places))
	for i := range def.Places {
		places[def.Places[i].ID] = true
	}
	transitions := make(map[string]bool, len(def.Transitions))
	for i := range def.Transitions {
		transitions[def.Transitions[i].ID] = true
	}
	for id, e := range n.places.byID {
		e.Obsolete = !places[id]
	}
	for id, e := range n.transitions.byID {
		e.Obsolete = !transitions[id]
	}
}
