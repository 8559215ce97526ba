// SPDX-License-Identifier: Apache-2.0

package workers

import (
	"sync/atomic"

	"github.com/pnagent/pnagent/pool"
)

// worker is one of those who play, with its turn: runs[i] has the work from
// starts[i] to the next. A turn is written under the lock of the pool, and read
// without it by its worker, who plays the runs from the front. Others take
// over runs from the back and give back, for it, those that it has played.
type worker[W any] struct {
	pace   pace
	runs   []pool.Run
	starts []int
	work   []W
	given  int // runs that were given back, from the front; under the lock

	claims atomic.Uint64 // runs claimed by the worker << 32 | runs left to it by others
	_      [64]byte      // others look at claims

	run    int // the last claimed
	played int // pieces of work of the turn
	end    int // of the work of run
}

// claim takes the next run of the worker's own turn, if there is one. All that
// it claimed before is then played.
func (w *worker[W]) claim() bool {
	for {
		c := w.claims.Load()
		next, end := int(c>>32), int(uint32(c))
		if next == end {
			return false
		}
		if w.claims.CompareAndSwap(c, c+1<<32) {
			w.run = next
			w.played, w.end = w.of(next)
			return true
		}
	}
}

// lose takes the last run from a worker, if it has not claimed that. more says
// that it has others. The caller holds the lock.
func (w *worker[W]) lose() (i int, more, ok bool) {
	for {
		c := w.claims.Load()
		next, end := int(c>>32), int(uint32(c))
		if next == end {
			return 0, false, false
		}
		if w.claims.CompareAndSwap(c, c-1) {
			return end - 1, next < end-1, true
		}
	}
}

// of returns where the work of a run begins and ends.
func (w *worker[W]) of(i int) (start, end int) {
	if i+1 < len(w.starts) {
		return w.starts[i], w.starts[i+1]
	}
	return w.starts[i], len(w.work)
}

// add adds to a turn a run whose work is from start on. The caller holds the
// lock.
func (w *worker[W]) add(r pool.Run, start int) {
	w.runs, w.starts = append(w.runs, r), append(w.starts, start)
	w.claims.Store(uint64(len(w.runs)))
}

// clear forgets a turn, so that the work can be collected.
func (w *worker[W]) clear() {
	clear(w.work)
	w.runs, w.starts, w.work, w.given = w.runs[:0], w.starts[:0], w.work[:0], 0
	w.claims.Store(0)
}
