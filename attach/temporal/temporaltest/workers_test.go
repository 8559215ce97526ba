// SPDX-License-Identifier: Apache-2.0

package temporaltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const (
	orders   = "orders"   // the task queue of the workers
	unpolled = "unpolled" // no worker polls it
)

func options(queue string) workflow.ActivityOptions {
	return workflow.ActivityOptions{TaskQueue: queue, StartToCloseTimeout: time.Minute,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 5 * time.Second, BackoffCoefficient: 1}}
}

// Ship waits for an activity that no worker knows.
func Ship(ctx workflow.Context) error {
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options(unpolled)), "ShipIt").Get(ctx, nil)
}

// Approve waits for a signal.
func Approve(ctx workflow.Context) error {
	var by string
	workflow.GetSignalChannel(ctx, "approved").Receive(ctx, &by)
	return nil
}

// Pay retries an activity without end.
func Pay(ctx workflow.Context) error {
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options(orders)), "Fails").Get(ctx, nil)
}

// Nap waits for a timer.
func Nap(ctx workflow.Context) error { return workflow.Sleep(ctx, time.Hour) }

// Parent waits for its child.
func Parent(ctx workflow.Context) error {
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: "child-of-" + workflow.GetInfo(ctx).WorkflowExecution.ID})
	return workflow.ExecuteChildWorkflow(ctx, "Approve").Get(ctx, nil)
}

// Partner waits for a Nexus operation of an endpoint whose task queue no worker polls.
func Partner(ctx workflow.Context) error {
	return workflow.NewNexusClient("partner", "billing").ExecuteOperation(ctx, "invoice", "", workflow.NexusOperationOptions{}).Get(ctx, nil)
}

// Broken fails in its first workflow task, again and again.
func Broken(workflow.Context) error { panic("broken by intent") }

// Order does one thing after the other, and ends.
func Order(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, options(orders))
	if err := workflow.ExecuteActivity(ctx, "Quick").Get(ctx, nil); err != nil {
		return err
	}
	if err := workflow.Sleep(ctx, 100*time.Millisecond); err != nil {
		return err
	}
	var by string
	workflow.GetSignalChannel(ctx, "paid").Receive(ctx, &by)
	return workflow.ExecuteActivity(ctx, "Quick").Get(ctx, nil)
}

func quick(context.Context) error { return nil }

// fails has a cause with data of a person.
func fails(context.Context) error { return errors.New("card of Ada Lovelace declined") }

// client returns a client of a namespace.
func (s *server) client(namespace string) client.Client {
	s.t.Helper()
	var c client.Client
	until(s.t, "a client connects", func() string {
		var err error
		if c, err = client.Dial(client.Options{HostPort: s.address, Namespace: namespace, Identity: "starter", Logger: quiet{}}); err != nil {
			return err.Error()
		}
		return ""
	})
	s.t.Cleanup(c.Close)
	return c
}

// work runs a worker of the queue orders, and returns what stops it.
func work(t *testing.T, c client.Client, interceptors ...interceptor.WorkerInterceptor) (stop func()) {
	t.Helper()
	w := worker.New(c, orders, worker.Options{Identity: "worker", Interceptors: interceptors, WorkerStopTimeout: time.Second})
	for name, f := range map[string]any{"Ship": Ship, "Approve": Approve, "Pay": Pay, "Nap": Nap, "Parent": Parent, "Partner": Partner, "Broken": Broken, "Order": Order} {
		w.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: name})
	}
	w.RegisterActivityWithOptions(quick, activity.RegisterOptions{Name: "Quick"})
	w.RegisterActivityWithOptions(fails, activity.RegisterOptions{Name: "Fails"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			w.Stop()
		}
	}
	t.Cleanup(stop)
	return stop
}

// begin starts a workflow and returns its run.
func begin(t *testing.T, c client.Client, workflowType, id string) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: orders}, workflowType)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// quiet is a logger that drops all.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
