// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/coloured"
)

// Func performs the action of a transition. It runs in its own goroutine and
// must return soon after ctx ends: by then the tokens are back, and its result
// is ignored. An error counts as an outcome of the kind coloured.Failed with
// the error's text. Func must not change the Run.
type Func func(ctx context.Context, r *Run) (coloured.Outcome, error)

// Run is one attempt of an action.
type Run struct {
	Net        string // id
	Source     string // the engine's name
	Transition string // id
	// Key is globally unique to this attempt, for receivers that must not do
	// the work twice: SOURCE/STARTED/RUN, or, in a part of a net that several
	// processes play, NET/PART/BEGAN/EPOCH/RUN, where EPOCH is that of the
	// owner that started the attempt. After a take-over an idempotent action
	// that was not over is performed again with the same key; others start
	// again with another key.
	Key    string
	Places []string // ids of the net's places, by index
	Start  coloured.Start
}

// Place returns the index of a place, for a coloured.Put, and false if the net
// has no such place.
func (r *Run) Place(id string) (int32, bool) {
	i := slices.Index(r.Places, id)
	return int32(i), i >= 0
}

// In returns the tokens that the transition has taken from a place or tests
// there, the oldest first.
func (r *Run) In(id string) []coloured.Token {
	p, ok := r.Place(id)
	if !ok {
		return nil
	}
	var out []coloured.Token
	for _, tokens := range [][]coloured.Placed{r.Start.Taken, r.Start.Read} {
		for _, t := range tokens {
			if t.Place == p {
				out = append(out, t.Token)
			}
		}
	}
	return out
}

// Peers are the connections that performers use.
type Peers struct {
	NATS *nats.Conn        // nil if there is none
	HTTP http.RoundTripper // nil for http.DefaultTransport
}

// Performer is the description of an action. It returns the action once its
// peers are available.
type Performer interface {
	// Func checks the description and returns the action. The error holds what
	// was found and what was expected, without a position.
	Func(Peers) (Func, error)
}

// The bounds of performers.
const (
	MaxAnswer      = coloured.MaxData // bytes of an answer
	MaxRequest     = 8 << 20          // bytes of a request
	DefaultTimeout = 30 * time.Second
)

// ErrAnswer is wrapped by the errors about invalid answers.
var ErrAnswer = errors.New("no valid answer")

// maxReason bounds the part of a received text that an error repeats, in bytes.
const maxReason = 1000

// timeout returns the timeout of a performer, or the default.
func timeout(d time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return DefaultTimeout
}
