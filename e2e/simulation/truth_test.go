// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"sync"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/stats"
)

// truth is the slow model: what the test asked the engines for, and what they answered.
type truth struct {
	mu      sync.Mutex
	engines map[string]*desk
	tokens  []*token
}

// token was on a desk, from one moment to another; 0 while it is there. In microseconds since the Unix epoch.
type token struct {
	from, to int64
	left     bool // while it was there, its engine said goodbye
}

// desk is what one engine acknowledged.
type desk struct {
	injected, approved uint64
	since              int64      // of the token on the desk; 0 without one
	token              *token     // the last one
	rows               stats.Rows // the last that the engine itself returned
}

func newTruth() *truth { return &truth{engines: map[string]*desk{}} }

// late is how long after its end a condition may still be reported: the engine was killed before it
// published the end, or the sidecar is not connected, and what it has received is older. One fault may follow another.
const late = calm

// raised judges the raise of a stuck token: the token is, or was a while ago, on a desk.
func (m *truth) raised(a *alarm.Alarm, at int64, fault func(string, ...any)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.tokens {
		off := k.from - a.Since
		if max(off, -off) < time.Second.Microseconds() && (k.to == 0 || at-k.to < late.Microseconds()) {
			return
		}
	}
	fault("raised, and no token is stuck since %v", time.UnixMicro(a.Since).UTC())
}

// cleared judges a clear: the token of the raise has left the desk, or its engine said goodbye. Others may
// be stuck of which the sidecar has not received yet.
func (m *truth) cleared(a *alarm.Alarm, fault func(string, ...any)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.tokens {
		off := k.from - a.Since
		if max(off, -off) < time.Second.Microseconds() && (k.to != 0 || k.left) {
			return
		}
	}
	fault("cleared, and the token of the raise is still on its desk")
}

// sums are the counters of the net, over all engines.
type sums struct {
	tokens, arrivals, departures [netPlaces]uint64
	firings                      [netTransitions]uint64
}

func (s *sums) add(r *stats.Rows) {
	for i := range r.Places {
		s.tokens[i] += r.Places[i].Tokens
		s.arrivals[i] += r.Places[i].Arrivals
		s.departures[i] += r.Places[i].Departures
	}
	for i := range r.Transitions {
		s.firings[i] += r.Transitions[i].Firings
	}
}

// counters returns a counter of each kind with its name.
func (s *sums) counters() map[string]uint64 {
	out := map[string]uint64{}
	for i, name := range []string{"in", "out", "desk"} {
		out["arrivals of "+name], out["departures of "+name] = s.arrivals[i], s.departures[i]
	}
	for i, name := range []string{"pick", "bring", "approve"} {
		out["firings of "+name] = s.firings[i]
	}
	return out
}

// total returns what all engines did.
func (m *truth) total() (s sums) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.engines {
		s.add(&d.rows)
	}
	return s
}
