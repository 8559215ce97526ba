// SPDX-License-Identifier: Apache-2.0

package coloured

// change is what happens in one instance at one time: what is chosen, taken and put, and what has to
// be looked at again because of that.
type change struct {
	s   *Shard
	i   int // the instance's index
	in  *instance
	now int64

	// Of one choice.
	found  []candidate
	picked []Placed // tokens of found that guards accepted
	search search

	// Of one firing, or one injection.
	took, out []held
	datas     [][]byte // of took
	entered   []*frame // that it has opened for its tokens
	writes    []write
	fresh     []*frame // that have opened in it, and are apart from what is around

	// Since the last call of changed.
	touched   []spot   // whose tokens have changed
	emptied   []*frame // that have lost their last token
	rewritten []*frame // that own variables which have changed
}

// at begins a change of an instance. It reuses the memory of the one before.
func (s *Shard) at(i int, now int64) *change {
	x := &s.change
	x.i, x.in, x.now = i, &s.instances[i], now
	return x
}

// renew forgets the firing before.
func (x *change) renew() {
	x.took = x.took[:0]
	x.out = x.out[:0]
	x.entered = x.entered[:0]
	x.writes = x.writes[:0]
	x.fresh = x.fresh[:0]
}
