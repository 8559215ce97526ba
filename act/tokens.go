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

// Waiting is a token that waits in a place. Times are by the clock of its source, in
// microseconds since the Unix epoch.
type Waiting struct {
	Instance string
	Injected int64
	Tokens   uint64 // how many tokens of the instance were injected then, and wait for the same
	Data     string // as of a stats.Token
	Waits    []telemetry.InstanceWait
}

// Found are the tokens of one source that a query selects. See stats.Found.
type Found struct {
	Tokens  []Waiting
	More    bool
	Matches uint64
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

// Oldest returns the tokens of a place that a query selects, from a source that runs the
// definition with a digest. Times of the query are by the clock of the source.
func (t *Tokens) Oldest(ctx context.Context, net, source, digest, place string, q *stats.Query) (Found, error) {
	def, err := t.definition(ctx, net, digest)
	if err != nil {
		return Found{}, err
	}
	i := slices.IndexFunc(def.Places, func(p petri.Place) bool { return p.ID == place })
	if i < 0 {
		return Found{}, nil
	}
	found, err := telemetry.AskOldest(ctx, t.client.Conn, t.client.Subjects, net, source, digest, i, q)
	if err != nil {
		return Found{}, err
	}
	out := Found{Tokens: make([]Waiting, len(found.Tokens)), More: found.More, Matches: found.Matches}
	for k, token := range found.Tokens {
		w := Waiting{Instance: token.Instance, Injected: token.Injected, Tokens: max(token.N, 1), Data: token.Data}
		if w.Waits, err = named(def, token.Waits); err != nil {
			return Found{}, fmt.Errorf("source %q: %w", source, err)
		}
		out.Tokens[k] = w
	}
	return out, nil
}

// named returns waits with the ids of a net.
func named(def *petri.Net, waits []stats.Wait) (out []telemetry.InstanceWait, err error) {
	for _, w := range waits {
		if t := w.Transition; t < 0 || int(t) >= len(def.Transitions) {
			return nil, fmt.Errorf("a wait for transition %d; expected one of %d", t, len(def.Transitions))
		}
		if p := w.Place; p != stats.NoPlace && (p < 0 || int(p) >= len(def.Places)) {
			return nil, fmt.Errorf("a wait for place %d; expected one of %d", p, len(def.Places))
		}
		out = append(out, telemetry.NewInstanceWait(def, w))
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
