// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/internal/ordered"
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
	modules  map[string]int // lines of the module names
	names    *names         // net descriptors
	prefixes *prefixes
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
	Descriptor string // orderFulfilment; names of the first edition began with it
	Prefix     string // bw of bwQueued, the beginning of the module's names; "" in a lock of the first edition

	places      kindLock
	transitions kindLock
	names       *names
	revisions   []revision // oldest first
	level       Level      // "" until a module is written
	levelLine   int
	line        int
}

// Locked is one place or transition of a lock.
type Locked struct {
	ID         string
	Number     uint32 // from 1, among the places or the transitions of its net
	Descriptor string // awaitingPayment, without the prefix of the net
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
	used map[uint32]int // lines of the numbers
	next uint32
}

// element is a place or a transition of a definition.
type element struct{ kind, id, name, doc string }

// The kinds of elements.
const (
	kindPlace      = "place"
	kindTransition = "transition"
)

// elements yields the places and then the transitions of a definition.
func elements(def *petri.Net) iter.Seq[element] {
	return func(yield func(element) bool) {
		for i := range def.Places {
			if p := &def.Places[i]; !yield(element{kindPlace, p.ID, p.Name, p.Doc}) {
				return
			}
		}
		for i := range def.Transitions {
			if t := &def.Transitions[i]; !yield(element{kindTransition, t.ID, t.Name, t.Doc}) {
				return
			}
		}
	}
}

// NewLock returns an empty lock.
func NewLock() *Lock {
	reserved := reservedNames()
	return &Lock{
		nets: map[string]*LockedNet{}, modules: map[string]int{}, reserved: reserved,
		names: newNames("", reserved, nil), prefixes: newPrefixes(), suffixes: suffixes(), next: 1,
	}
}

// Net returns a net by its id; nil if it is unknown.
func (l *Lock) Net(id string) *LockedNet { return l.nets[id] }

// Nets returns all nets by number.
func (l *Lock) Nets() []*LockedNet {
	return slices.SortedFunc(maps.Values(l.nets), func(a, b *LockedNet) int { return cmp.Compare(a.Number, b.Number) })
}

// Name returns the name of the node of a place or transition in the net's module: bwQueued.
func (n *LockedNet) Name(e *Locked) string { return n.own(upperFirst(e.Descriptor)) }

// own returns a name of the net's module.
func (n *LockedNet) own(word string) string { return n.Prefix + word }

// Place returns a place of the net by its id; nil if it is unknown.
func (n *LockedNet) Place(id string) *Locked { return n.places.byID[id] }

// Transition is the same for a transition.
func (n *LockedNet) Transition(id string) *Locked { return n.transitions.byID[id] }

// of returns the elements of a kind.
func (n *LockedNet) of(kind string) *kindLock {
	if kind == kindPlace {
		return &n.places
	}
	return &n.transitions
}

// entry returns what the lock has of an element; nil if it is unknown.
func (n *LockedNet) entry(e element) *Locked { return n.of(e.kind).byID[e.id] }

// Places returns the places by number, obsolete ones included.
func (n *LockedNet) Places() []*Locked { return n.places.sorted() }

// Transitions returns the transitions by number, obsolete ones included.
func (n *LockedNet) Transitions() []*Locked { return n.transitions.sorted() }

func (k *kindLock) sorted() []*Locked {
	return slices.SortedFunc(maps.Values(k.byID), func(a, b *Locked) int { return cmp.Compare(a.Number, b.Number) })
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
	if net.without(def) > 0 {
		net.recall(def)
	}
	for e := range elements(def) {
		err = cmp.Or(err, l.assign(net, e))
	}
	return net, l.size > before, err
}

// recall notes which texts the descriptors of a definition's places and transitions are from.
func (n *LockedNet) recall(def *petri.Net) {
	for e := range elements(def) {
		if had := n.entry(e); had != nil {
			n.names.texts[strings.ToLower(had.Descriptor)] = stemOf(e.kind, had.Number, e.name, e.id).text
		}
	}
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
	n.Descriptor = l.names.pick(stemOf("net", n.Number, name, id), "net")
	stem := moduleStem(n.Number, name, id)
	n.Module = shorten(stem, "-", maxModuleStem) + moduleSuffix
	taken := func() bool { _, is := l.modules[n.Module]; return is }
	for i := 2; taken(); i++ {
		number := fmt.Sprintf("-%d", i)
		n.Module = shorten(stem, "-", maxModuleStem-len(number)) + number + moduleSuffix
	}
	prefix, err := l.prefixes.pick(n.Number, name, id)
	if err != nil {
		return nil, fmt.Errorf("number net %q: %w", cut(id, 80), err)
	}
	l.modules[n.Module] = 0
	l.add(n)
	l.begin(n, prefix, 0)
	return n, nil
}

// add adds a net whose number and names are free.
func (l *Lock) add(n *LockedNet) {
	n.places = kindLock{byID: map[string]*Locked{}, used: map[uint32]int{}, next: 1}
	n.transitions = kindLock{byID: map[string]*Locked{}, used: map[uint32]int{}, next: 1}
	n.names = newNames("", l.reserved, l.suffixes)
	l.nets[n.ID] = n
	l.next = max(l.next, n.Number+1)
	l.size++
}

// begin gives a net the prefix of its names, from a line of the lock. It has no places or
// transitions yet, or they are all named again.
func (l *Lock) begin(n *LockedNet, prefix string, line int) {
	n.Prefix = prefix
	n.names = newNames(prefix, l.reserved, l.suffixes)
	for _, word := range moduleWords() {
		n.names.take(word, line)
	}
}

// rename gives a net of a lock of the first edition a prefix, and all its places and
// transitions new descriptors: the first edition cut names to 20 characters, and two nets
// could have the same. It changes no number. It returns how many it renamed.
func (l *Lock) rename(n *LockedNet, def *petri.Net) (renamed int, err error) {
	prefix, err := l.prefixes.pick(n.Number, def.Name, n.ID)
	if err != nil {
		return 0, fmt.Errorf("rename the objects of net %q: %w", cut(n.ID, 80), err)
	}
	l.begin(n, prefix, 0)
	stems := map[*Locked]stem{}
	for e := range elements(def) {
		if had := n.entry(e); had != nil {
			stems[had] = stemOf(e.kind, had.Number, e.name, e.id)
		}
	}
	for _, kind := range []string{kindPlace, kindTransition} {
		for _, e := range n.of(kind).sorted() {
			s, current := stems[e]
			if !current {
				s = stem{words: []string{e.Descriptor}}
			}
			e.Descriptor = n.names.pick(s, kind)
			renamed++
		}
	}
	return renamed, nil
}

func (l *Lock) assign(net *LockedNet, e element) error {
	k := net.of(e.kind)
	if k.byID[e.id] != nil {
		return nil
	}
	if err := l.room(e.id, k.next); err != nil {
		return fmt.Errorf("number %s %q of net %q: %w", e.kind, cut(e.id, 80), cut(net.ID, 80), err)
	}
	n := &Locked{ID: e.id, Number: k.next}
	n.Descriptor = net.names.pick(stemOf(e.kind, n.Number, e.name, e.id), e.kind)
	k.add(n)
	l.size++
	return nil
}

func (k *kindLock) add(e *Locked) {
	k.byID[e.ID] = e
	k.used[e.Number] = e.line
	k.next = max(k.next, e.Number+1)
}

// addRevision adds a revision, in the order of dates.
func (n *LockedNet) addRevision(r revision) {
	n.revisions = append(n.revisions, r)
	ordered.By(n.revisions, func(a, b *revision) int { return cmp.Compare(a.date, b.date) })
}

// retire marks the places and transitions that the definition does not have as obsolete, and
// the others, which must all be in the lock, as current.
func (n *LockedNet) retire(def *petri.Net) {
	for _, e := range n.members() {
		e.Obsolete = true
	}
	for e := range elements(def) {
		n.entry(e).Obsolete = false
	}
}
