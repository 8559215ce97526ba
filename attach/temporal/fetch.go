// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/query/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Bounds of what is read.
const (
	listPage     = 1000
	firstPause   = 100 * time.Millisecond // after a page that the server refused because of too many calls
	historyPage  = 250
	maxEvents    = 100_000 // of one history; Temporal ends an execution with 51,200
	askWithin    = 3 * time.Second
	largestTrace = 1 << 20 // bytes
)

// page returns a page of a list. While the server wants fewer calls, it is asked
// again, later and later, until a time. The error is then ResourceExhausted, also if
// the budget of lists does not suffice.
func (s *Server) page(ctx context.Context, until time.Time, req *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	waiting, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	for pause := firstPause; ; pause *= 2 {
		if err := wait(waiting, s.lists); err != nil {
			return nil, err
		}
		page, err := s.api.ListWorkflowExecutions(ctx, req)
		if err == nil {
			return page, nil
		}
		err = fmt.Errorf("listing the workflows of namespace %s: %w", req.GetNamespace(), err)
		if status.Code(err) != codes.ResourceExhausted {
			return nil, err
		}
		select {
		case <-waiting.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}

// reading is what the server says of one execution.
type reading struct {
	described description
	running   bool
	gone      bool  // the server does not know it
	closedAt  int64 // 0 if that is not known
	events    []event
	err       error
}

// fetch reads an execution, and its history after an event. One that is known to be
// closed is not described.
func (s *Server) fetch(ctx context.Context, r *run, last int64, closed, detail bool) (out reading) {
	of := &common.WorkflowExecution{WorkflowId: r.workflow, RunId: r.id}
	length := last + historyPage
	if !closed {
		d, err := s.api.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{Namespace: r.namespace, Execution: of})
		if err != nil {
			return failedReading(err)
		}
		info := d.GetWorkflowExecutionInfo()
		out.described = readDescription(d, time.Now().UnixMicro(), detail)
		out.running = info.GetStatus() == enums.WORKFLOW_EXECUTION_STATUS_RUNNING
		out.closedAt = micros(info.GetCloseTime())
		if length = info.GetHistoryLength(); length <= last {
			return out
		}
	}
	var err error
	if out.events, err = s.history(ctx, r.namespace, of, last, length-last); err != nil {
		return failedReading(err)
	}
	return out
}

// failedReading returns a reading that failed. A namespace that is not found is an
// error of the server; its workflows may exist.
func failedReading(err error) reading {
	return reading{err: err, gone: status.Code(err) == codes.NotFound && !isNamespaceNotFound(err)}
}

func isNamespaceNotFound(err error) bool {
	var absent *serviceerror.NamespaceNotFound
	return errors.As(serviceerror.FromStatus(status.Convert(err)), &absent)
}

// history returns the events after one, by their ids; about expect of them.
func (s *Server) history(ctx context.Context, namespace string, of *common.WorkflowExecution, last, expect int64) ([]event, error) {
	var out []event
	for token := []byte(nil); ; {
		page, err := s.api.GetWorkflowExecutionHistoryReverse(ctx, &workflowservice.GetWorkflowExecutionHistoryReverseRequest{Namespace: namespace, Execution: of,
			MaximumPageSize: int32(min(expect+1, historyPage)), NextPageToken: token})
		if err != nil {
			return nil, fmt.Errorf("reading the history: %w", err)
		}
		token = page.GetNextPageToken()
		for _, h := range page.GetHistory().GetEvents() {
			if h.GetEventId() <= last {
				token = nil
				break
			}
			out = append(out, readEvent(h))
		}
		if len(out) > maxEvents {
			return nil, fmt.Errorf("reading the history: more than %d events", maxEvents)
		}
		if len(token) == 0 {
			slices.Reverse(out)
			return out, nil
		}
	}
}

// lastPoll returns when a worker polled a task queue last; 0 if the server knows of
// none.
func (s *Server) lastPoll(ctx context.Context, q queueKey) (int64, error) {
	answer, err := s.api.DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{Namespace: q.namespace, TaskQueue: &taskqueue.TaskQueue{Name: q.name}, TaskQueueType: q.kind})
	if err != nil {
		return 0, fmt.Errorf("describing task queue %s: %w", q.name, err)
	}
	var last int64
	for _, p := range answer.GetPollers() {
		last = max(last, micros(p.GetLastAccessTime()))
	}
	return last, nil
}

// ask asks the worker of an execution for its stack trace.
func (s *Server) ask(ctx context.Context, r *run) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	answer, err := s.api.QueryWorkflow(ctx, &workflowservice.QueryWorkflowRequest{Namespace: r.namespace, Execution: &common.WorkflowExecution{WorkflowId: r.workflow, RunId: r.id},
		Query: &query.WorkflowQuery{QueryType: "__stack_trace"}, QueryRejectCondition: enums.QUERY_REJECT_CONDITION_NOT_OPEN})
	if err != nil {
		return "", fmt.Errorf("asking for the stack trace: %w", err)
	}
	return readTrace(answer), nil
}

// readTrace returns the stack trace of an answer; "" if it has none.
func readTrace(answer *workflowservice.QueryWorkflowResponse) string {
	var text string
	if p := answer.GetQueryResult().GetPayloads(); len(p) != 1 || len(p[0].GetData()) > largestTrace || json.Unmarshal(p[0].GetData(), &text) != nil {
		return ""
	}
	return text
}
