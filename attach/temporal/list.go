// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// list is a list of executions of all namespaces. It may take several polls.
type list struct {
	query func(namespace string) string // the same while the list is under way
	take  func(namespace string, info *workflow.WorkflowExecutionInfo)
	done  func(begin time.Time)

	begin     time.Time // zero if the list is not under way
	namespace int       // the one that is listed
	token     []byte    // of its next page; nil for the first one
	due       time.Time // when the list may begin again
}

// newLists returns the lists in the order of their importance.
func (s *Adapter) newLists() []*list {
	return []*list{{
		query: func(string) string { return "ExecutionStatus='Running'" + s.types() },
		take:  s.takeOpen,
		done:  func(begin time.Time) { s.listed = begin },
	}, {
		query: s.closedQuery,
		take:  s.takeClosed,
		done: func(time.Time) {
			s.closedListed = true
			for _, c := range s.state.Closed {
				c.listed = c.newest
			}
		},
	}}
}

// types returns the condition of a list that only some workflow types are wanted.
func (s *Adapter) types() string {
	if len(s.cfg.Nets) == 0 {
		return ""
	}
	return " AND WorkflowType IN ('" + strings.Join(s.cfg.Nets, "','") + "')"
}

// readLists continues the lists until a time. That of the executions that closed
// begins after the first one of those that run.
func (s *Adapter) readLists(ctx context.Context, until time.Time) error {
	for _, l := range s.lists {
		if err := s.readList(ctx, l, until); err != nil || s.listed.IsZero() {
			return err
		}
	}
	return nil
}

// readList continues a list until a time, or begins it. After a complete list it
// waits for as long as that took. A server that wants fewer calls is an error only
// while nothing is known.
func (s *Adapter) readList(ctx context.Context, l *list, until time.Time) error {
	if l.begin.IsZero() {
		if time.Now().Before(l.due) {
			return nil
		}
		l.begin = time.Now()
	}
	for pages := 0; l.namespace < len(s.cfg.Namespaces); pages++ {
		namespace := s.cfg.Namespaces[l.namespace]
		page, err := s.cfg.Server.page(ctx, until, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: namespace, Query: l.query(namespace), PageSize: listPage, NextPageToken: l.token})
		if status.Code(err) == codes.ResourceExhausted && (pages > 0 || !s.listed.IsZero()) {
			return nil
		}
		if err != nil {
			return s.refused(l, err)
		}
		for _, info := range page.GetExecutions() {
			l.take(namespace, info)
		}
		s.trim()
		if l.token = page.GetNextPageToken(); len(l.token) == 0 {
			l.token, l.namespace = nil, l.namespace+1
		}
	}
	l.done(l.begin)
	l.due = time.Now().Add(time.Since(l.begin))
	l.begin, l.namespace = time.Time{}, 0
	return nil
}

// refused makes an error permanent that a server gives to the first call, and that
// does not go away. If the server refuses a later page, such as after a restart that
// made its token invalid, the list of the namespace begins again.
func (s *Adapter) refused(l *list, err error) error {
	first := l.token == nil && s.Source.Status().Polls == 0
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.NotFound, codes.InvalidArgument:
		if first {
			return ledger.Permanent(err)
		}
	}
	if !failed(err) && status.Code(err) != codes.ResourceExhausted {
		l.token = nil
	}
	return err
}

// takeOpen takes an entry of the list of executions that run, unless it is known to be
// closed: lists are late.
func (s *Adapter) takeOpen(namespace string, info *workflow.WorkflowExecutionInfo) {
	id := info.GetExecution().GetRunId()
	if s.runs[id] != nil || s.closed[id] != nil || s.state.Closed[namespace].Seen[id] != 0 {
		return
	}
	n := s.net(namespace, info.GetType().GetName())
	if n == nil || len(s.runs) >= maxRuns {
		s.Drop("workflow")
		return
	}
	s.runs[id] = newRun(namespace, info, n)
}

func (s *Adapter) closedQuery(namespace string) string {
	c := s.state.Closed[namespace]
	since := max(c.listed-overlap, c.Since)
	return "ExecutionStatus!='Running' AND CloseTime>='" + time.UnixMicro(since).UTC().Format(time.RFC3339Nano) + "'" + s.types()
}

// takeClosed takes an entry of the list of executions that closed: it does not run
// any more, and its last events are to be read.
func (s *Adapter) takeClosed(namespace string, info *workflow.WorkflowExecutionInfo) {
	id, c := info.GetExecution().GetRunId(), s.state.Closed[namespace]
	closedAt := max(micros(info.GetCloseTime()), 1)
	c.newest = max(c.newest, closedAt)
	if s.closed[id] != nil || c.Seen[id] != 0 {
		return
	}
	r := s.runs[id]
	if r == nil {
		n := s.net(namespace, info.GetType().GetName())
		if n == nil {
			s.Drop("workflow")
			return
		}
		r = newRun(namespace, info, n)
	}
	r.closedAt, r.readAt = closedAt, closedAt
	s.closed[id] = r
	delete(s.runs, id)
}

// trim leaves out the closed executions that are too many, those first that closed
// first. Only the ids of those that may be listed again are kept.
func (s *Adapter) trim() {
	if len(s.closed) <= maxClosed {
		return
	}
	all := sorted(s.closed, func(r *run) int64 { return r.closedAt })
	for _, r := range all[:len(all)-maxClosed] {
		s.Drop("closed")
		s.forget(r, r.closedAt)
		if c := s.state.Closed[r.namespace]; r.closedAt < c.newest-2*overlap {
			delete(c.Seen, r.id)
		}
	}
}

// sorted returns executions by a time, the earliest first.
func sorted(runs map[string]*run, at func(*run) int64) []*run {
	out := slices.Collect(maps.Values(runs))
	slices.SortFunc(out, func(a, b *run) int { return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.id, b.id)) })
	return out
}
