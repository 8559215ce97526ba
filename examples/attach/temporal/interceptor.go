// SPDX-License-Identifier: Apache-2.0

// Package flow publishes the activities of a Temporal worker to pnagent as they
// happen, without polling:
//
//	flow, err := flow.New(telemetry.Attachment{URL: "nats://127.0.0.1:4222", Source: "worker-1"}, "orders", "Charge", "Ship")
//	defer flow.Close(context.Background())
//	worker.New(client, "orders", worker.Options{Interceptors: []interceptor.WorkerInterceptor{flow}})
//
// Each activity type is a place with the activities that this worker runs, and a
// transition that fires when one has completed. A token's age counts from when the
// attempt was scheduled, so the dwell time has the wait in the task queue, too. An
// attempt that fails departs without a firing. What no worker has taken is not seen
// here: for that, use pnagent attach temporal beside it.
package flow

import (
	"bytes"
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

// Interceptor is a worker interceptor. Workers of one process may share it.
type Interceptor struct {
	interceptor.WorkerInterceptorBase
	src *telemetry.Source
}

// New returns an interceptor that publishes a net with these activity types; other
// activities are not counted. It sets the net of the Attachment.
func New(a telemetry.Attachment, net string, activities ...string) (*Interceptor, error) {
	def := &petri.Net{ID: net}
	for _, name := range activities {
		def.Places = append(def.Places, petri.Place{ID: name + "/running", Name: name})
		def.Transitions = append(def.Transitions, petri.Transition{ID: name})
		def.Arcs = append(def.Arcs, petri.Arc{ID: name + "/arc", Source: name + "/running", Target: name, Kind: petri.Normal, Weight: 1})
	}
	var text bytes.Buffer
	if err := pnml.Write(&text, def); err != nil {
		return nil, err
	}
	a.PNML = text.Bytes()
	src, err := telemetry.Attach(a)
	if err != nil {
		return nil, err
	}
	return &Interceptor{src: src}, nil
}

// Close publishes the last snapshot. Stop the workers before.
func (i *Interceptor) Close(ctx context.Context) error { return i.src.Close(ctx) }

// InterceptActivity is called by the SDK for each activity.
func (i *Interceptor) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &inbound{interceptor.ActivityInboundInterceptorBase{Next: next}, i.src}
}

type inbound struct {
	interceptor.ActivityInboundInterceptorBase
	src *telemetry.Source
}

// ExecuteActivity runs the activity with a token in its place.
func (i *inbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (result any, err error) {
	info := activity.GetInfo(ctx)
	place, unknown := i.src.Place(info.ActivityType.Name + "/running")
	transition, also := i.src.Transition(info.ActivityType.Name)
	if unknown != nil || also != nil {
		return i.Next.ExecuteActivity(ctx, in)
	}
	rec := i.src.Recorder() // one for each goroutine
	defer i.src.Release(rec)
	since, completed := info.ScheduledTime.UnixMicro(), false
	rec.Inject(place, 1, since)
	defer func() { // also if the activity panics
		now := time.Now().UnixMicro()
		if !completed {
			rec.Remove(place, 1, since, now)
			return
		}
		rec.Take(place, 1, since, now)
		rec.Fire(transition, now)
	}()
	result, err = i.Next.ExecuteActivity(ctx, in)
	completed = err == nil
	return result, err
}
