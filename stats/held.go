// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"slices"
)

// Held is one or more tokens of an instance in one place, with one injection time,
// the same waits and the same data.
type Held struct {
	Place    int32
	Tokens   uint64
	Injected int64
	Waits    []Wait
	Data     string // as of a FoundToken
}

// Compare orders tokens by age, oldest first, then by place.
func (h *Held) Compare(o *Held) int {
	return cmp.Or(cmp.Compare(h.Injected, o.Injected), cmp.Compare(h.Place, o.Place), slices.CompareFunc(h.Waits, o.Waits, Wait.Compare), cmp.Compare(h.Data, o.Data))
}

// HeldList keeps the oldest of the tokens that it is given, so that an instance
// with a million tokens costs no more than one with a few. Limit is set before the
// first Add.
type HeldList struct {
	Limit   int    // 1 or more
	LeftOut uint64 // tokens that are not in the list
	all     []Held
}

// Add adds h.
func (l *HeldList) Add(h Held) {
	if k := len(l.all) - 1; k >= 0 && l.all[k].Compare(&h) == 0 {
		l.all[k].Tokens += h.Tokens
		return
	}
	if l.all = append(l.all, h); len(l.all) >= 2*l.Limit {
		l.cut()
	}
}

// Oldest returns at most Limit tokens, oldest first.
func (l *HeldList) Oldest() []Held {
	l.cut()
	return l.all
}

// cut sorts the list, joins neighbours that differ only in their number of tokens,
// and drops what is beyond Limit.
func (l *HeldList) cut() {
	slices.SortFunc(l.all, func(a, b Held) int { return a.Compare(&b) })
	kept := l.all[:0]
	for _, h := range l.all {
		if k := len(kept) - 1; k >= 0 && kept[k].Compare(&h) == 0 {
			kept[k].Tokens += h.Tokens
		} else {
			kept = append(kept, h)
		}
	}
	for _, h := range kept[min(l.Limit, len(kept)):] {
		l.LeftOut += h.Tokens
	}
	l.all = kept[:min(l.Limit, len(kept))]
}
