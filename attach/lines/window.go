// SPDX-License-Identifier: Apache-2.0

package lines

import "container/heap"

// window holds events for a while, so that earlier ones can overtake them. An
// event leaves in three cases: an event arrives that is later by the width, the
// event has waited for the width, or the window is full. The window is pure.
type window struct {
	width  int64 // microseconds; with 0 no event waits
	limit  int
	events byTime
	latest int64  // time of the latest event
	count  uint64 // of events so far, to keep the order of events of one time
}

// kept is an event in the window.
type kept struct {
	event
	arrived int64
	number  uint64
}

// push adds an event at now, and passes those that are due to out. hurried
// reports that an event left because the window is full.
func (w *window) push(e *event, now int64, out func(*event)) (hurried bool) {
	if w.width == 0 {
		out(e)
		return false
	}
	w.count++
	k := kept{*e, now, w.count}
	k.instance = append([]byte(nil), e.instance...)
	heap.Push(&w.events, k)
	w.latest = max(w.latest, e.time)
	w.upTo(w.latest-w.width, out)
	if hurried = len(w.events) > w.limit; hurried {
		w.pop(out)
	}
	return hurried
}

// idle passes events to out that have waited for the width, and all earlier ones.
func (w *window) idle(now int64, out func(*event)) {
	var until int64 = -1
	for k := range w.events {
		if w.events[k].arrived <= now-w.width {
			until = max(until, w.events[k].time)
		}
	}
	w.upTo(until, out)
}

// all passes all events to out.
func (w *window) all(out func(*event)) {
	for len(w.events) > 0 {
		w.pop(out)
	}
}

func (w *window) upTo(time int64, out func(*event)) {
	for len(w.events) > 0 && w.events[0].time <= time {
		w.pop(out)
	}
}

func (w *window) pop(out func(*event)) {
	k := heap.Pop(&w.events).(kept)
	out(&k.event)
}

// byTime is a heap, the earliest event first.
type byTime []kept

func (h byTime) Len() int { return len(h) }

func (h byTime) Less(i, j int) bool {
	if h[i].time != h[j].time {
		return h[i].time < h[j].time
	}
	return h[i].number < h[j].number
}

func (h byTime) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *byTime) Push(x any) { *h = append(*h, x.(kept)) }

// Pop implements heap.Interface.
func (h *byTime) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = kept{}
	*h = old[:len(old)-1]
	return last
}
