// SPDX-License-Identifier: Apache-2.0

package simulate

// event is what a run does at a time: a member of a pool ends its work.
type event struct {
	at    int64
	order uint64 // of planning, so that a run can be repeated
	key   runKey
	pool  int
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.order < o.order }

// agenda is a heap of events.
type agenda struct {
	heap    []event
	planned uint64
}

func (a *agenda) plan(e event) {
	a.planned++
	e.order = a.planned
	a.heap = append(a.heap, e)
	for k := len(a.heap) - 1; k > 0 && a.heap[k].before(&a.heap[(k-1)/2]); k = (k - 1) / 2 {
		a.heap[k], a.heap[(k-1)/2] = a.heap[(k-1)/2], a.heap[k]
	}
}

// take takes out the first event, which there must be.
func (a *agenda) take() event {
	first, last := a.heap[0], len(a.heap)-1
	a.heap[0] = a.heap[last]
	a.heap = a.heap[:last]
	for k := 0; ; {
		child := 2*k + 1
		if child >= last {
			return first
		}
		if child+1 < last && a.heap[child+1].before(&a.heap[child]) {
			child++
		}
		if !a.heap[child].before(&a.heap[k]) {
			return first
		}
		a.heap[k], a.heap[child] = a.heap[child], a.heap[k]
		k = child
	}
}
