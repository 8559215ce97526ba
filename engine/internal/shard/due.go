// SPDX-License-Identifier: Apache-2.0

package shard

import "math"

// Due is what is due at a time, each with a small number of its own: a heap,
// ordered by time, then by instance.
type Due struct {
	// Before orders what is due in one instance at one time, so that a run can be
	// repeated.
	Before func(a, b int32) bool

	heap   []planned
	places []int32 // by id: 1 + its place in heap; 0 if it is not planned
}

type planned struct {
	at       int64
	instance int32
	id       int32
}

// Plan has something of an instance be due at a time, whether it was planned or not.
func (d *Due) Plan(id, instance int32, at int64) {
	d.Drop(id)
	for int(id) >= len(d.places) {
		d.places = append(d.places, 0)
	}
	d.heap = append(d.heap, planned{at, instance, id})
	d.up(len(d.heap) - 1)
}

// Planned reports whether something is planned.
func (d *Due) Planned(id int32) bool { return int(id) < len(d.places) && d.places[id] != 0 }

// Drop takes something out, if it is planned.
func (d *Due) Drop(id int32) {
	if !d.Planned(id) {
		return
	}
	at, last := int(d.places[id])-1, len(d.heap)-1
	moved := d.heap[last]
	d.heap, d.places[id] = d.heap[:last], 0
	switch {
	case at == last:
	case at > 0 && d.before(moved, d.heap[(at-1)/2]):
		d.heap[at] = moved
		d.up(at)
	default:
		d.heap[at] = moved
		d.down(at)
	}
}

// Next returns when the first is due, if something is planned.
func (d *Due) Next() (at int64, ok bool) {
	if len(d.heap) == 0 {
		return 0, false
	}
	return d.heap[0].at, true
}

// Late returns how much later than due something may come that was planned for a delay:
// 1 % of the delay, at most 5 ms. All are microseconds.
func Late(delay int64) int64 { return min(max(delay, 0)/100, 5000) }

// Complete levels of the heap that Within reads, and one level more, which bounds the rest.
const (
	levels = 1<<7 - 1
	bounds = 1<<8 - 1
)

// Within returns when the first is due, and the latest time at which nothing that is planned
// is later than due by more than late says of it, if something is planned. If much is due
// within that time, latest is earlier, instead of that all of it is read.
func (d *Due) Within(late func(id int32) int64) (first, latest int64, ok bool) {
	if len(d.heap) == 0 {
		return 0, 0, false
	}
	latest = math.MaxInt64
	for k, p := range d.heap[:min(len(d.heap), bounds)] {
		switch {
		case p.at >= latest:
		case k < levels:
			latest = min(latest, p.at+late(p.id))
		default:
			latest = p.at
		}
	}
	return d.heap[0].at, latest, true
}

// Due reports whether something is due at now.
func (d *Due) Due(now int64) bool { return len(d.heap) > 0 && d.heap[0].at <= now }

// Take takes out what is due first, which is planned.
func (d *Due) Take() int32 {
	id := d.heap[0].id
	d.Drop(id)
	return id
}

func (d *Due) before(a, b planned) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.instance != b.instance:
		return a.instance < b.instance
	}
	return d.Before(a.id, b.id)
}

func (d *Due) set(at int, p planned) {
	d.heap[at], d.places[p.id] = p, int32(at)+1
}

func (d *Due) up(at int) {
	p := d.heap[at]
	for ; at > 0 && d.before(p, d.heap[(at-1)/2]); at = (at - 1) / 2 {
		d.set(at, d.heap[(at-1)/2])
	}
	d.set(at, p)
}

func (d *Due) down(at int) {
	p := d.heap[at]
	for child := 2*at + 1; child < len(d.heap); child = 2*at + 1 {
		if child+1 < len(d.heap) && d.before(d.heap[child+1], d.heap[child]) {
			child++
		}
		if !d.before(d.heap[child], p) {
			break
		}
		d.set(at, d.heap[child])
		at = child
	}
	d.set(at, p)
}
