// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"slices"
	"testing"
)

// content returns a whole state as of the last tick, without its time. Its bytes are sorted,
// because the sources that are forgotten have no order.
func (f *fleet) content() []byte {
	f.t.Helper()
	v := new(Saver).Begin(f.m, true)
	v.at, v.out = 1, v.out[:0] // which has the time
	for v.Piece() {
	}
	state, err := v.Frame()
	if err != nil {
		f.t.Fatal(err)
	}
	slices.Sort(state.Records)
	return state.Records
}

// While the revision is the same, so is what a state has: sources that fall silent, come
// back, end, are forgotten, or are refused are changes, and silence alone is none.
func TestAStateChangesOnlyWithItsRevision(t *testing.T) {
	same := 0
	for seed := range uint64(20) {
		f := newFleet(t, seed, 4)
		f.m.forgetAfter = 60e6
		var last []byte
		var revision uint64
		for range 200 {
			switch f.r.IntN(8) {
			case 0:
				f.now += 1e6
				for _, e := range f.engines {
					e.play(f.r)
					_, _ = f.m.Take(e.all(f.now), 0, f.now) // it may be refused
				}
			case 1:
				e := f.engines[f.r.IntN(len(f.engines))]
				msg := e.all(f.now)
				msg.Bye = f.r.IntN(2) == 0
				_, _ = f.m.Take(msg, 0, f.now) // it may be refused
				e.start(msg.Source, f.now+1, f.rows)
			case 2:
				f.m.RejectFrom("n", "e0", bytes.ErrTooLarge, 9, f.now)
			default:
				f.now += int64(f.r.IntN(5)) * 1e6
			}
			f.m.Tick(f.now)
			now := f.content()
			if f.m.revision == revision {
				same++
				if !bytes.Equal(now, last) {
					t.Fatalf("seed %d: the state of revision %d changed", seed, revision)
				}
			}
			last, revision = now, f.m.revision
		}
	}
	if same < 500 {
		t.Errorf("%d ticks without a change; expected many", same)
	}
}
