// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"slices"
	"sort"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// instance is one instance of the net. It has only the places that hold tokens.
type instance struct {
	frame
	lastID  uint64 // of the tokens created so far
	played  uint32 // firings and starts so far; an input of random decisions
	runs    int32  // the first run; none if there is no run
	running uint16
	turn    uint16
	flags   uint8
}

// Flags of an instance. One with an incident fails when it comes to rest.
const (
	finished   = shard.Finished
	deadlocked = shard.Deadlocked
	failed     = shard.Failed
	moved      = shard.Moved
	everMoved  = shard.EverMoved
	atRest     = shard.AtRest
)

// piles are the tokens of an instance, or of a frame of it, by place.
type piles []pile

// pile is the tokens of one place that are not in flight, oldest first, and the number of those in flight.
type pile struct {
	lots   []lot
	head   uint32 // the first lot that has tokens left
	place  int32
	n      uint32
	flying uint32
}

// lot is a number of tokens that were put together. Their identities are consecutive, from id on.
type lot struct {
	id       uint64
	injected int64
	data     []byte
	n        uint32
}

// held is a lot that was taken from a place, or is to be put there.
type held struct {
	lot
	spot
}

// single appends the tokens of a lot one by one, at most a number.
func (h *held) single(to []Placed, most int) []Placed {
	for k := range min(int(h.n), most) {
		to = append(to, Placed{h.place, h.frame, Token{ID: h.id + uint64(k), Injected: h.injected, Data: h.data}})
	}
	return to
}

// compare orders the tokens of a place by age, then by identity.
func (l *lot) compare(o *lot) int {
	return cmp.Or(cmp.Compare(l.injected, o.injected), cmp.Compare(l.id, o.id))
}

// sameData reports whether two tokens share their data.
func sameData(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 && (a == nil) == (b == nil) || len(a) > 0 && &a[0] == &b[0])
}

func (p *pile) left() []lot           { return p.lots[p.head:] }
func (p *pile) total() uint32         { return p.n + p.flying }
func (in *instance) move()            { in.flags |= moved | everMoved }
func (in *instance) has(f uint8) bool { return in.flags&f != 0 }

// add inserts a lot at its position in the order.
func (p *pile) add(l lot) {
	p.n += l.n
	k := len(p.lots)
	if k > int(p.head) {
		last := &p.lots[k-1]
		switch {
		case last.id+uint64(last.n) == l.id && last.injected == l.injected && sameData(last.data, l.data):
			last.n += l.n
			return
		case last.compare(&l) > 0:
			p.insert(l)
			return
		}
	}
	if p.head > 0 && k == cap(p.lots) && int(p.head)*2 >= k {
		k = copy(p.lots, p.left())
		clear(p.lots[k:])
		p.lots, p.head = p.lots[:k], 0
	}
	p.lots = append(p.lots, l)
}

// insert inserts a lot before younger ones. Tokens that are put back are among
// the oldest, so insert moves the few lots before them, if there is space.
func (p *pile) insert(l lot) {
	left := p.left()
	at := sort.Search(len(left), func(i int) bool { return left[i].compare(&l) > 0 })
	if p.head == 0 {
		p.lots = slices.Insert(p.lots, at, l)
		return
	}
	p.head--
	left = p.left()
	copy(left, left[1:at+1])
	left[at] = l
}

// pop takes the n oldest tokens, which are in a frame; there must be as many.
func (p *pile) pop(n, frame uint32, to []held) []held {
	p.n -= n
	for n > 0 {
		l := &p.lots[p.head]
		took := held{*l, spot{p.place, frame}}
		took.n = min(n, l.n)
		to = append(to, took)
		n -= took.n
		l.n -= took.n
		l.id += uint64(took.n)
		if l.n == 0 {
			l.data = nil
			p.head++
		}
	}
	return to
}

// remove takes n tokens of a frame with identities from id on, and reports whether all were there.
func (p *pile) remove(id uint64, n, frame uint32, to []held) ([]held, bool) {
	for n > 0 {
		left, k := p.left(), p.lotOf(id)
		if k < 0 {
			return to, false
		}
		l := &left[k]
		took := held{*l, spot{p.place, frame}}
		before := uint32(id - l.id)
		took.id, took.n = id, min(n, l.n-before)
		after := lot{id: id + uint64(took.n), injected: l.injected, data: l.data, n: l.n - before - took.n}
		switch {
		case before > 0:
			l.n = before
			if after.n > 0 {
				p.lots = slices.Insert(p.lots, int(p.head)+k+1, after)
			}
		case after.n > 0:
			*l = after
		default: // move the lots before it, which are few
			copy(left[1:], left[:k])
			left[0] = lot{}
			p.head++
		}
		p.n -= took.n
		id, n = after.id, n-took.n
		to = append(to, took)
	}
	return to, true
}

// lotOf returns the index of the lot in which a token is, or -1.
func (p *pile) lotOf(id uint64) int {
	return slices.IndexFunc(p.left(), func(l lot) bool { return id >= l.id && id-l.id < uint64(l.n) })
}

// find returns the index of the pile of a place, or where to insert it.
func (ps piles) find(place int32) (at int, ok bool) {
	n := len(ps)
	for n-at > 16 {
		if mid := at + (n-at)/2; ps[mid].place <= place {
			at = mid
		} else {
			n = mid
		}
	}
	for at < n && ps[at].place < place {
		at++
	}
	return at, at < n && ps[at].place == place
}

// pile returns the pile of a place; nil if the place holds no token.
func (ps piles) pile(place int32) *pile {
	if at, ok := ps.find(place); ok {
		return &ps[at]
	}
	return nil
}

// count returns the number of tokens in a place that can be taken, and of all.
func (ps piles) count(place int32) (available, total uint32) {
	if p := ps.pile(place); p != nil {
		return p.n, p.total()
	}
	return 0, 0
}

// maxSpare bounds the memory that is kept for later piles.
const maxSpare, maxSpareLots = 1024, 64

// openPile returns the pile of a place in a frame, and creates it if it is missing.
func (x *change) openPile(f *frame, place int32) *pile {
	ps := &f.piles
	at, ok := ps.find(place)
	if !ok {
		p := pile{place: place}
		if k := len(x.s.spare); k > 0 {
			p.lots, x.s.spare = x.s.spare[k-1], x.s.spare[:k-1]
		}
		*ps = slices.Insert(*ps, at, p)
	}
	return &(*ps)[at]
}

// close drops the pile of a spot if it is empty.
func (x *change) close(at spot) {
	f := x.s.frame(x.in, at.frame)
	ps := &f.piles
	k, ok := ps.find(at.place)
	if !ok || (*ps)[k].total() > 0 {
		return
	}
	if lots := (*ps)[k].lots; cap(lots) <= maxSpareLots && len(x.s.spare) < maxSpare {
		x.s.spare = append(x.s.spare, lots[:0])
	}
	if *ps = slices.Delete(*ps, k, k+1); f.up != nil && len(*ps) == 0 {
		x.emptied = append(x.emptied, f)
	}
}

// nth returns the injection time of the n-th oldest token that can be taken; 0 if there are fewer.
func (p *pile) nth(n uint32) int64 {
	if p == nil || n == 0 {
		return 0
	}
	for _, l := range p.left() {
		if l.n >= n {
			return l.injected
		}
		n -= l.n
	}
	return 0
}
