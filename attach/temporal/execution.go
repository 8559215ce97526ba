// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// workflowNet is the net of a workflow type.
type workflowNet struct {
	*ledger.Ledger
	net *ledger.Definition

	arcs map[string]bool // from places and to places, by task queue and place
	full func()          // counts a place for which there is no room
}

// newNet returns the net of a workflow type.
func newNet(id string, full func()) *workflowNet {
	n := ledger.NewDefinition(id, "")
	return &workflowNet{Ledger: ledger.New(n, ledger.Presence|ledger.Flow), net: n, arcs: map[string]bool{}, full: full}
}

// done is what the id of the transition of a place ends in.
const done = "/done"

// at returns the indices of a place and its transition, and adds them if the net
// lacks them, with the arcs of executions whose workflow tasks have a task queue.
// It returns -1 if there is no room.
func (n *workflowNet) at(id, queue string) (place, transition int) {
	place, transition = n.net.Place(id, ""), n.net.Transition(id+done, "")
	if place < 0 || transition < 0 {
		n.full()
		return -1, -1
	}
	if key := queue + "\x00" + id; queue != "" && !n.arcs[key] {
		n.arcs[key] = true
		n.net.Arc(id, id+done)
		task := placeTask(queue)
		n.at(task, "")
		n.net.Arc(task, task+done)
		if task != id {
			n.net.Arc(id+done, task)
			n.net.Arc(task+done, id)
		}
	}
	return place, transition
}

// end returns the transition of executions that begin or end in a way.
func (n *workflowNet) end(how, queue string) int {
	i := n.net.Transition(how, "")
	if i < 0 {
		n.full()
		return i
	}
	n.at(placeTask(queue), queue)
	if how == "started" {
		n.net.Arc(how, placeTask(queue))
	} else {
		n.net.Arc(placeTask(queue), how)
	}
	return i
}

// item is something that is pending in an execution.
type item struct {
	place   string
	since   int64
	until   int64
	key     string // id of an activity or child
	queue   string // of an activity
	counted bool   // as an arrival
	what    string // why the workflow task failed last
}

// execution is what is known of one execution by its history. It is pure. Times are
// microseconds since the Unix epoch by the server's clock.
type execution struct {
	net   *workflowNet
	queue string // of workflow tasks

	last   int64           // the last event that is known
	lastAt int64           // its time
	open   map[int64]*item // by the event that began it
	task   *item           // the workflow task
	wait   *item           // nothing else is pending
	idle   int64           // when the last workflow task was completed, if nothing happened since
	closed bool

	// Events up to counted, and before floor, were counted by an earlier process or
	// are not to be counted.
	counted int64
	floor   int64
	waited  string // the place of the wait after the event counted, which was counted as an arrival
}

func newExecution(n *workflowNet, floor int64, saved savedRun) *execution {
	return &execution{net: n, open: map[int64]*item{}, floor: floor, counted: saved.Last, waited: saved.Wait}
}

// read applies the events that follow, in the order of their ids.
func (x *execution) read(events []event) {
	for i := range events {
		if events[i].reset {
			x.counted = max(x.counted, events[i].id)
		}
	}
	for i := range events {
		if e := &events[i]; e.id > x.last {
			x.apply(e)
			x.last, x.lastAt = e.id, e.at
			if e.id == x.counted && x.waited != "" && x.isIdle() {
				x.wait = &item{place: x.waited, since: x.idle, counted: true}
			}
		}
	}
	if x.isIdle() && x.wait == nil {
		x.wait = x.begin(x.last, &item{place: placeWaiting, since: x.idle})
	}
}

// isIdle reports whether nothing is pending in an open execution.
func (x *execution) isIdle() bool {
	return !x.closed && x.idle > 0 && x.task == nil && len(x.open) == 0
}

// counts reports whether an event is to be counted.
func (x *execution) counts(id, at int64) bool { return id > x.counted && at >= x.floor }

// begin counts the arrival of an item with an event.
func (x *execution) begin(id int64, i *item) *item {
	if place, _ := x.net.at(i.place, x.queue); place >= 0 && x.counts(id, i.since) {
		i.counted = true
		x.net.Arrive(place, i.since)
	}
	return i
}

// finish counts the departure of an item with an event, and the firing if it was
// done.
func (x *execution) finish(e *event, i *item, fired bool) {
	place, transition := x.net.at(i.place, x.queue)
	if place < 0 || !x.counts(e.id, e.at) {
		return
	}
	x.net.Depart(place, max(e.at-i.since, 0))
	if fired {
		x.net.Fire(transition, e.at)
	}
}

func (x *execution) apply(e *event) {
	if e.effect == schedules || e.effect == arrives || e.effect == closes {
		x.leaveWait(e)
	}
	switch e.effect {
	case starts:
		x.queue = e.queue
		x.passes("started", e)
		if e.until > 0 {
			x.open[e.id] = x.begin(e.id, &item{place: placeDelay, since: e.at, until: e.until})
		}
	case schedules:
		x.endDelay(e)
		if x.task == nil {
			x.task = x.begin(e.id, &item{place: placeTask(x.queue), since: e.at})
		}
	case completes:
		if x.task != nil {
			x.finish(e, x.task, true)
		}
		x.task, x.idle = nil, e.at
	case fails:
		if x.task != nil {
			x.task.what = e.what
		}
	case opens:
		x.idle = 0
		x.open[e.id] = x.begin(e.id, &item{place: e.place, since: e.at, until: e.until, key: e.key, queue: e.queue})
	case proceeds:
		if i := x.open[e.of]; i != nil {
			i.key = e.key
		}
	case finishes, gives, cancels:
		if e.effect != cancels {
			x.idle = 0
		}
		if i := x.open[e.of]; i != nil {
			x.finish(e, i, e.effect == finishes)
			delete(x.open, e.of)
		}
	case closes:
		x.close(e)
	}
}

// passes counts that the execution began or ended.
func (x *execution) passes(how string, e *event) {
	if i := x.net.end(how, x.queue); i >= 0 && x.counts(e.id, e.at) {
		x.net.Fire(i, e.at)
	}
}

// leaveWait ends the wait of an idle execution, also one that began and ended
// within the events that are read.
func (x *execution) leaveWait(e *event) {
	if !x.isIdle() || x.wait == nil && e.effect == closes && e.what != "terminated" && e.what != "timed out" {
		return // the code of the workflow closed it
	}
	if x.wait == nil {
		x.wait = x.begin(e.id, &item{place: placeWaiting, since: x.idle})
	}
	x.finish(e, x.wait, e.effect != closes)
	x.wait, x.idle = nil, 0
}

// endDelay ends the delay of the execution's start.
func (x *execution) endDelay(e *event) {
	for id, i := range x.open {
		if i.place == placeDelay {
			x.finish(e, i, true)
			delete(x.open, id)
		}
	}
}

func (x *execution) close(e *event) {
	for id, i := range x.open {
		x.finish(e, i, false)
		delete(x.open, id)
	}
	if x.task != nil {
		x.finish(e, x.task, false)
	}
	x.task, x.wait, x.closed = nil, nil, true
	x.passes(e.what, e)
}

// waitsAt takes over what the stack trace named: the execution is in that place
// since its wait began.
func (x *execution) waitsAt(place string, now int64) {
	if x.wait == nil || x.wait.place == place {
		return
	}
	old := *x.wait
	x.wait.place = place
	from, _ := x.net.at(old.place, x.queue)
	to, _ := x.net.at(place, x.queue)
	if from >= 0 && to >= 0 && old.counted {
		x.net.Depart(from, max(now-old.since, 0))
		x.net.Arrive(to, old.since)
	}
}

// vanish counts that what was pending left an execution whose end is not known: it
// was deleted.
func (x *execution) vanish(now int64) {
	if !x.closed {
		x.read([]event{{id: x.last + 1, at: now, effect: closes, what: "deleted"}})
	}
}
