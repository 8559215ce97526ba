// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/telemetry"
)

// Bounds of one server.
const (
	maxNets   = 1000
	maxRuns   = 1_000_000 // that are open
	maxClosed = 10_000    // that closed, and were not read to their end
	maxQueues = 100       // described in one poll
	maxErrors = 3         // of the readings of a closed execution
	parallel  = 8         // calls at a time
)

const (
	// overlap is how much later than it closed an execution may be listed, in
	// microseconds.
	overlap = 60_000_000
	// askAgain is when a worker that gave no stack trace is asked again, in
	// microseconds.
	askAgain = 60_000_000
)

// run is an execution that is open, or closed and not read to its end.
type run struct {
	namespace, workflow, id string
	taskQueue               string // of workflow tasks
	net                     *workflowNet
	started                 int64

	execution *execution // nil until its history is read
	described description
	readAt    int64 // of the last reading; at first its start: nothing had happened then
	quiet     bool  // nothing happened between the last two readings
	errors    int   // readings that failed
	closedAt  int64 // 0 for an open one
	trace     trace
}

func newRun(namespace string, info *workflow.WorkflowExecutionInfo, n *workflowNet) *run {
	r := &run{namespace: namespace, workflow: info.GetExecution().GetWorkflowId(), id: info.GetExecution().GetRunId(), taskQueue: info.GetTaskQueue(), net: n, started: micros(info.GetStartTime())}
	r.readAt = r.started
	return r
}

// trace is what the worker of an idle execution said.
type trace struct {
	last  int64 // the event after which it was asked
	next  int64 // when it may be asked again
	asked bool
	what  string
}

func (r *run) queue() string {
	if r.execution != nil && r.execution.queue != "" {
		return r.execution.queue
	}
	return r.taskQueue
}

// poll reads the server once and changes the ledgers. Each part of it has a share of
// the time-out. Before all executions that run were listed once, nothing is
// published: what is not listed yet would be missing.
func (s *Adapter) poll(ctx context.Context) error {
	begin, now, part := time.Now(), s.Now(), s.cfg.Timeout/4
	s.openCursors(now)
	if err := s.readLists(ctx, begin.Add(part)); err != nil {
		return err
	}
	if s.listed.IsZero() {
		s.cfg.Log.Info("the first list of running workflows takes more than one poll; nothing is published before it is complete", "listed", len(s.runs))
		s.setCoverage(coverage{Open: len(s.runs)})
		return nil
	}
	if err := s.readAll(ctx, begin.Add(2*part)); err != nil {
		return err
	}
	if err := s.describeQueues(ctx, now, begin.Add(3*part)); err != nil {
		return err
	}
	if err := s.askWorkers(ctx, now); err != nil {
		return err
	}
	s.present()
	return nil
}

// openCursors makes the cursors of namespaces that have none, and continues those of
// the state file.
func (s *Adapter) openCursors(now int64) {
	if s.state.Closed == nil {
		s.state.Closed = map[string]*cursor{}
	}
	for _, namespace := range s.cfg.Namespaces {
		c := s.state.Closed[namespace]
		if c == nil || c.Seen == nil {
			c = &cursor{Since: now, At: now, Seen: map[string]int64{}}
			s.state.Closed[namespace] = c
		}
		if c.listed == 0 {
			c.listed, c.newest = c.At, c.At
		}
	}
}

// net returns the net of a workflow type, and adds it; nil if there is no room.
func (s *Adapter) net(namespace, kind string) *workflowNet {
	id := kind
	if len(s.cfg.Namespaces) > 1 {
		id = namespace + "/" + kind
	}
	if n, known := s.nets[id]; known {
		return n
	}
	var n *workflowNet
	if len(s.nets) < maxNets && telemetry.CheckName(id) == nil {
		n = newNet(id, func() { s.Drop("place") })
		s.Add(n.Ledger)
	}
	s.nets[id] = n
	return n
}

// readAll reads executions until a time: first those that run, in up to half of the
// time, then those that closed, then the rest, and of each kind those first whose
// last reading is the oldest.
func (s *Adapter) readAll(ctx context.Context, end time.Time) error {
	readAt := func(r *run) int64 { return r.readAt }
	rest, err := s.readUntil(ctx, sorted(s.runs, readAt), time.Now().Add(time.Until(end)/2))
	if err == nil {
		_, err = s.readUntil(ctx, sorted(s.closed, readAt), end)
	}
	if err == nil {
		_, err = s.readUntil(ctx, rest, end)
	}
	return err
}

// readUntil reads executions until a time, and returns the rest. A server that
// wants fewer calls ends it, too.
func (s *Adapter) readUntil(ctx context.Context, runs []*run, end time.Time) ([]*run, error) {
	for len(runs) > 0 && time.Now().Before(end) {
		now := runs[:min(parallel, len(runs))]
		readings := make([]reading, len(now))
		var all sync.WaitGroup
		for i, r := range now {
			last := int64(0)
			if r.execution != nil {
				last = r.execution.last
			}
			all.Go(func() { readings[i] = s.cfg.Server.fetch(ctx, r, last, r.closedAt != 0, s.cfg.Detail) })
		}
		all.Wait()
		runs = runs[len(now):]
		for i, r := range now {
			if err := s.take(r, &readings[i]); status.Code(err) == codes.ResourceExhausted {
				return runs, nil
			} else if err != nil {
				return runs, err
			}
		}
	}
	return runs, nil
}

// take applies what was read of an execution. The error is about the server.
func (s *Adapter) take(r *run, got *reading) error {
	now := s.Now()
	switch {
	case got.gone:
		if r.execution != nil {
			r.execution.vanish(now)
		}
		s.forget(r, now)
		return nil
	case got.err != nil && (failed(got.err) || status.Code(got.err) == codes.ResourceExhausted):
		return got.err
	case got.err != nil:
		r.readAt = now
		s.Drop("reading")
		if !s.odd[r.id] && len(s.odd) < 1000 {
			s.odd[r.id] = true
			s.cfg.Log.Warn("a workflow cannot be read", "net", r.net.net.Def.ID, "instance", instance(r.workflow, r.id), "err", got.err)
		}
		if r.errors++; r.closedAt != 0 && r.errors >= maxErrors {
			s.Drop("closed")
			s.forget(r, r.closedAt)
		}
		return nil
	}
	first := r.execution == nil
	if first {
		r.execution = newExecution(r.net, s.state.Closed[r.namespace].Since, s.saved[r.id])
	}
	r.execution.read(got.events)
	r.quiet, r.described, r.readAt = !first && len(got.events) == 0, got.described, now
	if r.closedAt != 0 || !got.running && got.closedAt != 0 || r.execution.closed {
		s.forget(r, cmp.Or(r.closedAt, got.closedAt, r.execution.lastAt))
	}
	return nil
}

// forget removes an execution of which no more is to be read.
func (s *Adapter) forget(r *run, closedAt int64) {
	s.state.Closed[r.namespace].Seen[r.id] = max(closedAt, 1)
	delete(s.runs, r.id)
	delete(s.closed, r.id)
	delete(s.odd, r.id)
}

// describeQueues asks who polls the task queues that matter, until a time: those of
// what no worker has taken.
func (s *Adapter) describeQueues(ctx context.Context, now int64, until time.Time) error {
	wanted := map[queueKey]bool{}
	for _, r := range s.runs {
		r.waitsFor(wanted)
	}
	var due []queueKey
	for q := range wanted {
		if p := s.queues[q]; p == nil || now-p.asked >= s.cfg.Interval.Microseconds() {
			due = append(due, q)
		}
	}
	asked := func(q queueKey) int64 {
		if p := s.queues[q]; p != nil {
			return p.asked
		}
		return 0
	}
	slices.SortFunc(due, func(a, b queueKey) int {
		return cmp.Or(cmp.Compare(asked(a), asked(b)), cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.kind, b.kind))
	})
	for _, q := range due[:min(len(due), maxQueues)] {
		if time.Now().After(until) {
			break
		}
		last, err := s.cfg.Server.lastPoll(ctx, q)
		if status.Code(err) == codes.ResourceExhausted {
			break
		}
		if failed(err) {
			return err
		}
		if err == nil {
			s.queues[q] = &polled{asked: now, last: last}
		}
	}
	for q := range s.queues {
		if !wanted[q] {
			delete(s.queues, q)
		}
	}
	return nil
}

// waitsFor adds the task queues of what no worker has taken.
func (r *run) waitsFor(queues map[queueKey]bool) {
	x := r.execution
	if x == nil {
		return
	}
	for _, i := range x.open {
		if i.queue != "" && r.described.activities[i.key].idle {
			queues[queueKey{r.namespace, i.queue, enums.TASK_QUEUE_TYPE_ACTIVITY}] = true
		}
	}
	if x.wait != nil || x.task != nil && (r.described.task == nil || r.described.task.idle) {
		queues[queueKey{r.namespace, x.queue, enums.TASK_QUEUE_TYPE_WORKFLOW}] = true
	}
}

// askWorkers asks for stack traces of executions that have been idle for longest, as
// many as the budget for it allows.
func (s *Adapter) askWorkers(ctx context.Context, now int64) error {
	var ask []*run
	for _, r := range s.runs {
		if x := r.execution; x == nil || x.wait == nil || x.wait.place != placeWaiting || !r.quiet || r.trace.last == x.last && now < r.trace.next {
			continue
		}
		if p := s.queues[queueKey{r.namespace, r.queue(), enums.TASK_QUEUE_TYPE_WORKFLOW}]; p != nil && unpolledText("", p, now) == "" {
			ask = append(ask, r)
		}
	}
	slices.SortFunc(ask, func(a, b *run) int {
		return cmp.Or(cmp.Compare(a.trace.next, b.trace.next), cmp.Compare(a.execution.wait.since, b.execution.wait.since), cmp.Compare(a.id, b.id))
	})
	n := 0
	for n < min(len(ask), parallel) && s.ask.Allow() {
		n++
	}
	ask = ask[:n]
	texts, errs := make([]string, n), make([]error, n)
	var all sync.WaitGroup
	for i, r := range ask {
		all.Go(func() { texts[i], errs[i] = s.cfg.Server.ask(ctx, r) })
	}
	all.Wait()
	for i, r := range ask {
		r.trace = trace{last: r.execution.last, next: now + askAgain, asked: errs[i] == nil}
		if place, what := blockedAt(texts[i]); errs[i] == nil && place != "" {
			r.trace.what = what
			r.execution.waitsAt(place, now)
		}
	}
	return ctx.Err()
}

// present replaces the tokens, and notes how far the readings and the state are.
func (s *Adapter) present() {
	now := s.Now()
	tokens := map[*workflowNet][]ledger.Token{}
	c := coverage{Listed: s.listed.UnixMicro(), Open: len(s.runs), Oldest: now, Closed: len(s.closed)}
	s.state.Runs = map[string]savedRun{}
	if !s.closedListed { // those that closed meanwhile are not known yet
		maps.Copy(s.state.Runs, s.saved)
	}
	for _, r := range s.runs {
		s.save(r)
		c.Oldest = min(c.Oldest, r.readAt)
		if r.execution != nil {
			c.Read++
		}
		tokens[r.net] = append(tokens[r.net], r.tokens(s.queues, now)...)
	}
	least := map[string]int64{}
	for _, r := range s.closed {
		s.save(r)
		if at := least[r.namespace]; at == 0 || r.closedAt < at {
			least[r.namespace] = r.closedAt
		}
	}
	for _, n := range s.nets {
		if n != nil {
			n.Present(tokens[n])
		}
	}
	for namespace, closed := range s.state.Closed {
		closed.move(least[namespace])
	}
	s.cover(c, now)
}

// save notes in the state how far an execution was counted.
func (s *Adapter) save(r *run) {
	if saved, ok := r.saved(s.saved); ok {
		s.state.Runs[r.id] = saved
	}
}

// saved returns how far the execution was counted.
func (r *run) saved(before map[string]savedRun) (savedRun, bool) {
	if r.execution == nil {
		saved, ok := before[r.id]
		return saved, ok
	}
	out := savedRun{Last: r.execution.last}
	if w := r.execution.wait; w != nil && w.counted {
		out.Wait = w.place
	}
	return out, true
}

// move moves the cursor to where the list is complete, but not beyond an execution
// that was not read, which closed at least; 0 if there is none.
func (c *cursor) move(least int64) {
	c.At = c.listed
	if least != 0 {
		c.At = min(c.At, least)
	}
	for id, at := range c.Seen {
		if at < c.At-2*overlap {
			delete(c.Seen, id)
		}
	}
}

// cover takes over the coverage, and logs when the budget begins or ceases to
// suffice.
func (s *Adapter) cover(c coverage, now int64) {
	s.setCoverage(c)
	age := time.Duration(now-c.Oldest) * time.Microsecond
	switch short := c.Read < c.Open || age > max(time.Minute, 3*s.cfg.Interval); {
	case short && !s.short:
		s.cfg.Log.Warn("the budget of calls does not suffice", "rps", s.cfg.Server.rps, "open", c.Open, "read", c.Read, "oldest", age.Round(time.Second), "closed", c.Closed)
	case !short && s.short:
		s.cfg.Log.Info("the budget of calls suffices again", "open", c.Open)
	}
	s.short = c.Read < c.Open || age > max(time.Minute, 3*s.cfg.Interval)
}

func (s *Adapter) setCoverage(c coverage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.coverage = c
}
