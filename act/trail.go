// SPDX-License-Identifier: Apache-2.0

package act

import (
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry"
)

// MaxTrail is how many actions a Trail keeps.
const MaxTrail = 1000

// Trail keeps the last actions that engines publish, in memory. It is safe for concurrent
// use.
type Trail struct {
	mu   sync.Mutex
	kept []telemetry.Action // a ring once it is full
	next int                // where the next one goes
}

// NewTrail returns a Trail that listens until the connection is closed.
func NewTrail(nc *nats.Conn, subjects telemetry.Subjects) (*Trail, error) {
	t := &Trail{}
	_, err := nc.Subscribe(subjects.Audits(), func(m *nats.Msg) {
		if a, err := telemetry.ReadAction(subjects, m); err == nil { // of another form, it is no action of an engine
			t.add(a)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("subscribing to audits: %w", err)
	}
	return t, nil
}

func (t *Trail) add(a telemetry.Action) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kept) < MaxTrail {
		t.kept = append(t.kept, a)
		return
	}
	t.kept[t.next] = a
	t.next = (t.next + 1) % MaxTrail
}

// Last returns the last actions, the newest first: all, or those of a net, or those of an
// instance of it.
func (t *Trail) Last(net, instance string) []telemetry.Action {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := []telemetry.Action{}
	for i := range t.kept {
		a := t.kept[(t.next+len(t.kept)-1-i)%len(t.kept)]
		if (net == "" || a.Net == net) && (instance == "" || a.Instance == instance) {
			last = append(last, a)
		}
	}
	return last
}
