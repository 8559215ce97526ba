// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/telemetry"
)

// fake is a server with workflows that wait for a signal. Its pages are small.
type fake struct {
	workflowservice.UnimplementedWorkflowServiceServer

	mu      sync.Mutex
	n       int               // workflows that run: 0 to n-1, the first one started first
	closed  map[int]time.Time // of these, those that have closed, and when
	deleted map[int]bool      // of these, those that no call finds
	starts  int               // times that the server started; tokens of pages are valid for one
	fails   func(method string, i int) error
	calls   map[string][]int // workflows by method
	headers metadata.MD
}

const (
	fakePage = 50 // executions of a page of a list

	// In calls and fails, the lists have these instead of a workflow.
	openList, closedList = -1, -2
)

// began is when the workflows began: number i began i seconds later.
var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func runID(i int) string { return fmt.Sprintf("run-%06d", i) }

func (f *fake) info(i int) *workflow.WorkflowExecutionInfo {
	out := &workflow.WorkflowExecutionInfo{Execution: &common.WorkflowExecution{WorkflowId: "w" + strconv.Itoa(i), RunId: runID(i)}, Type: &common.WorkflowType{Name: "Wait"},
		StartTime: timestamppb.New(began.Add(time.Duration(i) * time.Second)), Status: enums.WORKFLOW_EXECUTION_STATUS_RUNNING, TaskQueue: "q", HistoryLength: 4}
	if at, closed := f.closed[i]; closed {
		out.Status, out.CloseTime, out.HistoryLength = enums.WORKFLOW_EXECUTION_STATUS_TERMINATED, timestamppb.New(at), 5
	}
	return out
}

// call notes a call, and returns its error.
func (f *fake) call(ctx context.Context, method string, i int) error {
	f.calls[method] = append(f.calls[method], i)
	f.headers, _ = metadata.FromIncomingContext(ctx)
	if f.deleted[i] {
		return status.Error(codes.NotFound, "workflow not found")
	}
	if f.fails != nil {
		return f.fails(method, i)
	}
	return nil
}

func (f *fake) of(e *common.WorkflowExecution) int {
	i, err := strconv.Atoi(strings.TrimPrefix(e.GetRunId(), "run-"))
	if err != nil {
		return -1
	}
	return i
}

func (f *fake) ListWorkflowExecutions(ctx context.Context, req *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	open := strings.HasPrefix(req.GetQuery(), "ExecutionStatus='Running'")
	of := closedList
	if open {
		of = openList
	}
	if err := f.call(ctx, "list", of); err != nil {
		return nil, err
	}
	before := f.n
	if token := string(req.GetNextPageToken()); token != "" {
		starts := -1
		if _, err := fmt.Sscanf(token, "%d:%d", &starts, &before); err != nil || starts != f.starts {
			return nil, status.Errorf(codes.InvalidArgument, "invalid page token %q", token)
		}
	}
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	_, text, _ := strings.Cut(req.GetQuery(), "CloseTime>='")
	since, err := time.Parse(time.RFC3339Nano, strings.TrimSuffix(text, "'"))
	if err != nil && !open {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	for i := before - 1; i >= 0; i-- { // the last one first, as Temporal does
		at, closed := f.closed[i]
		if f.deleted[i] || open == closed || closed && at.Before(since) {
			continue
		}
		if len(out.Executions) == fakePage {
			out.NextPageToken = fmt.Appendf(nil, "%d:%d", f.starts, i+1)
			break
		}
		out.Executions = append(out.Executions, f.info(i))
	}
	return out, nil
}

func (f *fake) DescribeWorkflowExecution(ctx context.Context, req *workflowservice.DescribeWorkflowExecutionRequest) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.of(req.GetExecution())
	if err := f.call(ctx, "describe", i); err != nil {
		return nil, err
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: f.info(i)}, nil
}

func (f *fake) GetWorkflowExecutionHistoryReverse(ctx context.Context, req *workflowservice.GetWorkflowExecutionHistoryReverseRequest) (*workflowservice.GetWorkflowExecutionHistoryReverseResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.of(req.GetExecution())
	if err := f.call(ctx, "history", i); err != nil {
		return nil, err
	}
	at := timestamppb.New(began.Add(time.Duration(i) * time.Second))
	all := []*history.HistoryEvent{
		{EventId: 1, EventTime: at, EventType: enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, Attributes: &history.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &history.WorkflowExecutionStartedEventAttributes{TaskQueue: &taskqueue.TaskQueue{Name: "q"}}}},
		{EventId: 2, EventTime: at, EventType: enums.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED},
		{EventId: 3, EventTime: at, EventType: enums.EVENT_TYPE_WORKFLOW_TASK_STARTED},
		{EventId: 4, EventTime: at, EventType: enums.EVENT_TYPE_WORKFLOW_TASK_COMPLETED},
	}
	if at, closed := f.closed[i]; closed {
		all = append(all, &history.HistoryEvent{EventId: 5, EventTime: timestamppb.New(at), EventType: enums.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED})
	}
	slices.Reverse(all)
	from, _ := strconv.Atoi(string(req.GetNextPageToken()))
	out := &workflowservice.GetWorkflowExecutionHistoryReverseResponse{History: &history.History{Events: all[from:min(from+3, len(all))]}}
	if from+3 < len(all) {
		out.NextPageToken = []byte(strconv.Itoa(from + 3))
	}
	return out, nil
}

func (f *fake) DescribeTaskQueue(ctx context.Context, _ *workflowservice.DescribeTaskQueueRequest) (*workflowservice.DescribeTaskQueueResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &workflowservice.DescribeTaskQueueResponse{Pollers: []*taskqueue.PollerInfo{{LastAccessTime: timestamppb.Now()}}}, f.call(ctx, "queue", -1)
}

func (f *fake) QueryWorkflow(ctx context.Context, req *workflowservice.QueryWorkflowRequest) (*workflowservice.QueryWorkflowResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := []byte(`"coroutine root [blocked on approved.Receive]:\n"`)
	return &workflowservice.QueryWorkflowResponse{QueryResult: &common.Payloads{Payloads: []*common.Payload{{Data: text}}}}, f.call(ctx, "query", f.of(req.GetExecution()))
}

// newFake starts a server with workflows and an adapter of it.
func newFake(t *testing.T, n int, cfg Config, access Access, options ...grpc.ServerOption) (*fake, *Adapter) {
	t.Helper()
	f := &fake{n: n, closed: map[int]time.Time{}, deleted: map[int]bool{}, calls: map[string][]int{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	workflowservice.RegisterWorkflowServiceServer(server, f)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	access.Address = l.Addr().String()
	if access.ListRPS == 0 {
		access.ListRPS = 1e6
	}
	s, err := Dial(access)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	cfg.Server, cfg.Namespaces, cfg.Source, cfg.Interval = s, []string{"default"}, "adapter", 100*time.Millisecond
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Minute
	}
	cfg.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f, a
}

func poll(t *testing.T, a *Adapter) {
	t.Helper()
	if err := a.poll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// tokensAt returns how many workflows are in a place.
func (s *Adapter) tokensAt(place string) int {
	n := 0
	for _, r := range s.runs {
		for _, tok := range r.tokens(s.queues, s.Now()) {
			if r.net.net.Def.Places[tok.Place].ID == place {
				n++
			}
		}
	}
	return n
}

// If the budget does not suffice, workflows that wait for longest are read first,
// the others are shown as not read, and the coverage says so. Later polls read the
// rest, and no poll exceeds the budget.
func TestTheBudgetIsSpentOnTheOldest(t *testing.T) {
	const n, rps = 300, 200
	begin := time.Now()
	f, a := newFake(t, n, Config{Polling: ledger.Polling{Timeout: 800 * time.Millisecond}}, Access{RPS: rps})
	for a.Status().Read == 0 {
		poll(t, a)
	}
	c := a.Status().coverage
	if c.Open != n || c.Read >= n || a.tokensAt(placeUnread) != n-c.Read || a.tokensAt(placeWaiting) != c.Read {
		t.Errorf("%+v, %d not read, %d waiting; expected some of %d to be read", c, a.tokensAt(placeUnread), a.tokensAt(placeWaiting), n)
	}
	for i := range c.Read {
		if a.runs[runID(i)].execution == nil {
			t.Errorf("workflow %d was not read, but %d were", i, c.Read)
		}
	}
	if r := c.ratio(); r != float64(c.Read)/n {
		t.Errorf("coverage %v; expected %d of %d", r, c.Read, n)
	}
	for tries := 0; a.Status().Read < n; tries++ {
		if tries == 200 {
			t.Fatalf("%+v", a.Status().coverage)
		}
		poll(t, a)
	}
	calls := 0
	for _, one := range f.calls {
		calls += len(one)
	}
	if most := rps + int(time.Since(begin).Seconds()*rps) + 1; calls > most {
		t.Errorf("%d calls in %v; expected at most %d", calls, time.Since(begin), most)
	}
}

// A history that has not grown is not read again.
func TestOnlyNewEventsAreRead(t *testing.T) {
	f, a := newFake(t, 3, Config{}, Access{RPS: 1e6})
	for range 5 {
		poll(t, a)
	}
	if got := len(f.calls["history"]); got != 3*2 { // two pages
		t.Errorf("%d pages of histories; expected 6", got)
	}
	if got := len(f.calls["describe"]); got != 15 {
		t.Errorf("%d descriptions; expected 15", got)
	}
}

func TestWorkflowsThatEnd(t *testing.T) {
	f, a := newFake(t, 3, Config{}, Access{RPS: 1e6})
	poll(t, a)
	f.mu.Lock()
	f.closed[0], f.deleted[1] = time.Now(), true
	f.mu.Unlock()
	for range 3 {
		poll(t, a)
	}
	flows := a.nets["Wait"].flows()
	if len(a.runs) != 1 || flows["terminated"].Fired != 1 || flows["deleted"].Fired != 1 || flows[placeWaiting].Departed != 2 {
		t.Errorf("%d runs, %v; expected one run, and one terminated and one deleted", len(a.runs), flows)
	}
}

// One workflow that the server cannot describe does not keep others from being read.
func TestErrorsOfOneWorkflow(t *testing.T) {
	f, a := newFake(t, 20, Config{}, Access{RPS: 1e6})
	f.fails = func(method string, i int) error {
		if method == "describe" && i == 3 {
			return status.Error(codes.Internal, "broken")
		}
		return nil
	}
	poll(t, a)
	if c := a.Status(); c.Read != 19 || c.Dropped["reading"] != 1 || c.Errors[[2]string{"DescribeWorkflowExecution", "Internal"}] != 1 {
		t.Errorf("%+v; expected 19 of 20 to be read", c)
	}
}

// A server that wants fewer calls ends the readings of a poll, not the poll.
func TestAServerThatWantsFewerCalls(t *testing.T) {
	f, a := newFake(t, 50, Config{}, Access{RPS: 1e6})
	f.fails = func(method string, _ int) error {
		if method == "describe" && len(f.calls["describe"]) > 20 {
			return status.Error(codes.ResourceExhausted, "namespace rate limit exceeded")
		}
		return nil
	}
	poll(t, a)
	if c := a.Status().coverage; c.Open != 50 || c.Read == 0 || c.Read > 20 {
		t.Errorf("%+v; expected up to 20 of 50 to be read", c)
	}
}

func TestErrorsOfTheServer(t *testing.T) {
	for code, permanent := range map[codes.Code]bool{codes.Unavailable: false, codes.NotFound: true, codes.PermissionDenied: true, codes.Unauthenticated: true} {
		f, a := newFake(t, 1, Config{}, Access{RPS: 1e6})
		f.fails = func(string, int) error { return status.Error(code, "no") }
		err := a.poll(t.Context())
		if err == nil || !strings.Contains(err.Error(), code.String()) || (fmt.Sprintf("%T", err) == "ledger.permanent") != permanent {
			t.Errorf("%v: %T: %v; expected permanent: %v", code, err, err, permanent)
		}
	}
}

// Workers are asked for what waits for longest, once, no more often than the budget
// allows, and only if nothing happened since the last poll.
func TestWorkersAreAskedRarely(t *testing.T) {
	f, a := newFake(t, 40, Config{Questions: 1}, Access{RPS: 1e6})
	poll(t, a)
	if n := len(f.calls["query"]); n != 0 {
		t.Errorf("%d questions at first; expected none", n)
	}
	begin := time.Now()
	for range 5 {
		poll(t, a)
	}
	asked := f.calls["query"]
	if most := 1 + int(time.Since(begin).Seconds()) + 1; len(asked) == 0 || len(asked) > most || asked[0] != 0 {
		t.Errorf("asked %v; expected 0 first, and at most %d", asked, most)
	}
	if got := a.tokensAt("approved.Receive"); got != len(asked) {
		t.Errorf("%d at the place of the stack trace; expected %d", got, len(asked))
	}
	f, a = newFake(t, 5, Config{}, Access{RPS: 1e6})
	for range 5 {
		poll(t, a)
	}
	if n := len(f.calls["query"]); n != 0 {
		t.Errorf("%d questions without a budget; expected none", n)
	}
}

func TestCredentials(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	pool := x509.NewCertPool()
	pool.AddCert(web.Certificate())
	f, a := newFake(t, 1, Config{}, Access{RPS: 1e6, APIKey: "secret", TLS: &tls.Config{RootCAs: pool, ServerName: "example.com", MinVersion: tls.VersionTLS12}},
		grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12})))
	poll(t, a)
	if got := f.headers; !slices.Equal(got["authorization"], []string{"Bearer secret"}) || !slices.Equal(got["temporal-namespace"], []string{"default"}) {
		t.Errorf("headers %v; expected the key and the namespace", got)
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	for want, a := range map[string]Access{
		"expected HOST:PORT":  {Address: "temporal", RPS: 1},
		"0 calls a second":    {Address: "h:1", ListRPS: 1},
		"2e+06 calls":         {Address: "h:1", RPS: 1, ListRPS: 2e6},
		"an API key would be": {Address: "h:1", RPS: 1, ListRPS: 1, APIKey: "k"},
	} {
		if _, err := Dial(a); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; expected %q", a, err, want)
		}
	}
	s, err := Dial(Access{Address: "h:1", RPS: 1, ListRPS: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for want, cfg := range map[string]Config{
		"no namespace":   {},
		"without quotes": {Namespaces: []string{"default"}, Nets: []string{"a'b"}},
		"stack traces":   {Namespaces: []string{"default"}, Questions: -1},
		"interval":       {Namespaces: []string{"default"}},
	} {
		cfg.Server, cfg.Source, cfg.Subjects = s, "a", telemetry.Subjects{}
		if _, err := New(cfg); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; expected %q", cfg, err, want)
		}
	}
}
