// SPDX-License-Identifier: Apache-2.0

package act

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// MaxTokens is how many tokens of a place a source names at most.
const MaxTokens = 1000

// Waiting is a token that waits in a place. Times are by the clock of its source, in
// microseconds since the Unix epoch.
type Waiting struct {
	Instance string
	Injected int64
	Waits    []telemetry.InstanceWait
}

// Tokens asks sources for the oldest tokens of places. It keeps the definitions that it
// reads. It is safe for concurrent use.
type Tokens struct {
	client Client

	mu    sync.Mutex
	known map[[2]string]*petri.Net // by net and digest, at most maxNamed
}

// NewTokens returns Tokens for a connection.
func NewTokens(nc *nats.Conn, subjects telemetry.Subjects) *Tokens {
	return &Tokens{client: Client{Conn: nc, Subjects: subjects}, known: map[[2]string]*petri.Net{}}
}

// Oldest returns the oldest tokens of a place, at most limit of them, from a source that
// runs the definition with a digest.
func (t *Tokens) Oldest(ctx context.Context, net, source, digest, place string, limit int) ([]Waiting, error) {
	def, err := t.definition(ctx, net, digest)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(def.Places, func(p petri.Place) bool { return p.ID == place })
	if i < 0 {
		return nil, nil
	}
	tokens, err := telemetry.AskOldest(ctx, t.client.Conn, t.client.Subjects, net, source, digest, i, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Waiting, len(tokens))
	for k, token := range tokens {
		out[k] = Waiting{Instance: token.Instance, Injected: token.Injected}
		for _, w := range token.Waits {
			if t := w.Transition; t < 0 || int(t) >= len(def.Transitions) {
				return nil, fmt.Errorf("source %q: a wait for transition %d; expected one of %d", source, t, len(def.Transitions))
			}
			if p := w.Place; p != stats.NoPlace && (p < 0 || int(p) >= len(def.Places)) {
				return nil, fmt.Errorf("source %q: a wait for place %d; expected one of %d", source, p, len(def.Places))
			}
			out[k].Waits = append(out[k].Waits, telemetry.NewInstanceWait(def, w))
		}
	}
	return out, nil
}

// definition returns a definition, and keeps it.
func (t *Tokens) definition(ctx context.Context, net, digest string) (*petri.Net, error) {
	key := [2]string{net, digest}
	t.mu.Lock()
	def := t.known[key]
	t.mu.Unlock()
	if def != nil {
		return def, nil
	}
	def, err := t.client.definition(ctx, net, digest)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) >= maxNamed {
		clear(t.known)
	}
	t.known[key] = def
	return def, nil
}
