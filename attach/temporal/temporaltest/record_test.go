// SPDX-License-Identifier: Apache-2.0

package temporaltest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/query/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

var record = flag.Bool("record", false, "write the answers of the server to ../testdata")

// paths are those of this machine in a stack trace.
var paths = regexp.MustCompile(`\\t/[^" ]*/`)

// The tests of attach/temporal use answers of a real server, which this test
// writes with -record.
func TestRecordAnswers(t *testing.T) {
	if !*record {
		t.Skip("-record is not set")
	}
	s := newServer(t)
	c := s.client("default")
	stop := work(t, c)
	for _, kind := range []string{"Ship", "Approve", "Pay", "Nap", "Parent", "Broken", "Order"} {
		begin(t, c, kind, "one-"+kind)
	}
	if err := c.SignalWorkflow(t.Context(), "one-Order", "", "paid", "Ada"); err != nil {
		t.Fatal(err)
	}
	if err := c.GetWorkflow(t.Context(), "one-Order", "").Get(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	until(t, "each workflow is where it stays", func() string {
		for kind, settled := range map[string]func(d *workflowservice.DescribeWorkflowExecutionResponse) bool{
			"Pay": func(d *workflowservice.DescribeWorkflowExecutionResponse) bool {
				return len(d.GetPendingActivities()) == 1 && d.GetPendingActivities()[0].GetAttempt() == 2
			},
			"Broken": func(d *workflowservice.DescribeWorkflowExecutionResponse) bool {
				return d.GetPendingWorkflowTask().GetAttempt() >= 2
			},
			"Parent": func(d *workflowservice.DescribeWorkflowExecutionResponse) bool {
				return d.GetWorkflowExecutionInfo().GetHistoryLength() == 9
			},
			"Ship": func(d *workflowservice.DescribeWorkflowExecutionResponse) bool {
				return len(d.GetPendingActivities()) == 1
			},
			"Nap": func(d *workflowservice.DescribeWorkflowExecutionResponse) bool {
				return d.GetWorkflowExecutionInfo().GetHistoryLength() == 5
			},
			"Approve": func(d *workflowservice.DescribeWorkflowExecutionResponse) bool {
				return d.GetWorkflowExecutionInfo().GetHistoryLength() == 4
			},
		} {
			d, err := s.api.DescribeWorkflowExecution(t.Context(), &workflowservice.DescribeWorkflowExecutionRequest{Namespace: "default", Execution: &common.WorkflowExecution{WorkflowId: "one-" + kind}})
			if err != nil {
				return err.Error()
			}
			if !settled(d) {
				return kind + " moves"
			}
		}
		return ""
	})
	write := func(name string, m proto.Message, err error) {
		if err != nil {
			t.Error(err)
			return
		}
		text, err := protojson.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := json.Indent(&out, text, "", " "); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
		if err := os.WriteFile(filepath.Join("..", "testdata", name+".json"), paths.ReplaceAll(out.Bytes(), []byte(`\t`)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.api.ListWorkflowExecutions(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: "default", Query: "ExecutionStatus='Running'"})
	write("list", list, err)
	for _, queue := range []string{orders, unpolled} {
		q, err := s.api.DescribeTaskQueue(t.Context(), &workflowservice.DescribeTaskQueueRequest{Namespace: "default",
			TaskQueue: &taskqueue.TaskQueue{Name: queue}, TaskQueueType: enums.TASK_QUEUE_TYPE_ACTIVITY})
		write("queue-"+queue, q, err)
	}
	for _, kind := range []string{"Ship", "Approve", "Pay", "Nap", "Parent", "Broken", "Order"} {
		e := &common.WorkflowExecution{WorkflowId: "one-" + kind}
		d, err := s.api.DescribeWorkflowExecution(t.Context(), &workflowservice.DescribeWorkflowExecutionRequest{Namespace: "default", Execution: e})
		write("describe-"+kind, d, err)
		h, err := s.api.GetWorkflowExecutionHistoryReverse(t.Context(), &workflowservice.GetWorkflowExecutionHistoryReverseRequest{Namespace: "default", Execution: e})
		write("history-"+kind, h, err)
		if kind != "Approve" {
			continue
		}
		q, err := s.api.QueryWorkflow(t.Context(), &workflowservice.QueryWorkflowRequest{Namespace: "default", Execution: e, Query: &query.WorkflowQuery{QueryType: "__stack_trace"}})
		if err == nil {
			data := &q.GetQueryResult().GetPayloads()[0].Data
			*data = paths.ReplaceAll(*data, []byte(`\t`))
		}
		write("trace-"+kind, q, err)
	}
	stop()
}
