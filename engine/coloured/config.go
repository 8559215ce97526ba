// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"errors"
	"fmt"
	"math"

	"github.com/pnagent/pnagent/engine/internal/shard"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/engine/ready"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
)

// Limits.
const (
	MaxData         = 1 << 20        // bytes that a token carries
	MaxTaken        = 1024           // tokens that a transition with a guard, an action or an event, or that preempts, takes and tests, and that an outcome puts
	MaxCombinations = 256            // of tokens with which a guard is asked until something changes
	MaxNodes        = shard.MaxNodes // places, and transitions, of a net
)

// Defaults for the amounts of work done at once. Tests use others.
const (
	defaultQuota   = 64   // firings of one instance before the next gets its turn
	defaultBatch   = 16   // pieces of work handled in one visit to an instance
	defaultRunning = 1024 // runs that an instance may have at one time
)

// ErrBinding is wrapped by the errors of New about a binding that does not fit
// its net.
var ErrBinding = errors.New("bad binding")

// Config is the configuration of a shard.
type Config struct {
	Tables   *petri.Tables
	Bindings []Binding // by transition; nil for all immediate, without guards and actions
	// The shard holds Count instances: First, First+Stride and so on; or, if
	// Numbers is not nil, those, in ascending order.
	First, Stride, Count int
	Numbers              []int32
	// Seed makes delays repeatable. If Shuffle is set, the shard chooses at
	// random among the enabled transitions of the highest priority, all equally
	// likely.
	Seed    uint64
	Shuffle bool
	// Weights, by transition, are for Shuffle: a transition is chosen in proportion to its
	// weight, which is above 0. nil is 1 for all.
	Weights []float64
	Running int // runs that an instance may have at one time, at most 65535; 0 for 1024
	// Ended is called when an instance comes to its end; nil for none. It must not call the
	// shard.
	Ended func(i int, now int64)
	// Log makes the shard record what happens: see Ready.
	Log bool
	// Runs includes starts and ends of runs in the log and the state, so that
	// Resume can return the runs that are not over.
	Runs bool
	// Part restricts the shard to one region of the net: see Ready. nil
	// is the whole net. Bindings of other transitions are ignored. A guard must
	// wait for places of the part: changes of others are not visible.
	Part *split.Part

	Dispatch ready.Discipline
	Priority func(number int) ready.Priority // nil: all p0
	Spare    func(number int) bool           // instances that begin by an event only, and are as if they had ended; nil for none
	Bound    int                             // pieces of work that may wait in an instance before it is full; 0 for no limit
	// Merge returns the data of new tokens, given the data of the tokens that
	// were taken and carry some: at most MaxTaken, in the order of places and
	// age. If Merge is nil, new tokens get the data of the first. The same
	// happens if Merge panics or returns more than MaxData bytes; that counts
	// as a failure of the transition, although it fires.
	Merge func(data [][]byte) []byte
}

// Binding specifies how a transition fires. The zero Binding fires at once.
type Binding struct {
	Mode plain.Mode
	// Due returns when a Delayed transition that is enabled since a time is
	// due, instead of Mode.Delay.
	Due func(since int64) int64
	// Until returns when a Delayed transition is due that is enabled since a time with
	// tokens, instead of Mode.Delay. It depends on nothing else. It is called when the
	// transition becomes enabled, and when it would take or test other tokens; not when
	// their data change. An error, or a panic, is an incident: see Ready.
	Until func(tokens []Placed, since int64) (due int64, err error)
	// Event returns an error if the name or the key of the event that the transition throws or
	// catches cannot be determined from tokens: those that it takes or tests. Then the
	// transition is an incident, see Ready: it does not fire, or nothing can reach it. Of a
	// catcher it is called when the transition is enabled with other tokens.
	Event    func(tokens []Placed, now int64) error
	Guard    Guard
	Branches []Guard // in the order of Tables.Branches; nil, or a nil element, always holds
	Action   bool    // firing takes time: Ready hands the action out
	// Idempotent declares that the action may be performed again for the same
	// run: Resume hands out again the runs that the log records as started and
	// not ended.
	Idempotent bool
	Timeout    int64 // the longest time for a run; 0 for no limit. A run over the limit fails, but counts as timed out
	Retry      Retry // after failures of the action, and, if it is not the zero Retry, of a guard or an arc's data that panics
	// Data are the functions for the data of arcs, in the order of
	// Tables.Inscribed.
	Data  []Inscription
	Scope *ScopeFuncs // of a transition that is the petri.Scope.Begin of a scope; nil for others
}

// Retry specifies the waits before retries: First after the first failure, then
// Factor times as long each time, but at most Max.
type Retry struct {
	First, Max int64   // 0 for a second, and for a minute or First if that is longer
	Factor     float64 // 1 or more; 0 for 2
	Attempts   int     // attempts before the transition is an incident; 0 for no limit
}

// after returns how long to wait after a number of failures.
func (r *Retry) after(failures int32) int64 {
	first, factor := r.First, r.Factor
	if first == 0 {
		first = 1e6
	}
	if factor == 0 {
		factor = 2
	}
	longest := r.Max
	if longest == 0 {
		longest = max(60e6, first)
	}
	return int64(min(float64(first)*math.Pow(factor, float64(failures-1)), float64(longest)))
}

// maxWait keeps times far from overflow: about 3,000 years.
const maxWait = 1e17

func (r *Retry) check() error {
	switch {
	case r.First < 0 || r.First > maxWait || r.Max < 0 || r.Max > maxWait:
		return fmt.Errorf("a wait of %d to %d µs before a retry; expected 0 to %d", r.First, r.Max, int64(maxWait))
	case r.Factor != 0 && !(r.Factor >= 1 && r.Factor <= 1e6):
		return fmt.Errorf("a retry factor of %g; expected 1 to 1000000", r.Factor)
	case r.Attempts < 0 || r.Attempts > math.MaxInt32:
		return fmt.Errorf("%d attempts; expected 0 or more", r.Attempts)
	}
	return nil
}

// check returns an error if any part of the configuration is invalid.
func (c *Config) check() error {
	t := c.Tables
	if c.Bound < 0 {
		return fmt.Errorf("net %q: a bound of %d; expected 0 or more", t.Net.ID, c.Bound)
	}
	if c.Running < 0 || c.Running > math.MaxUint16 {
		return fmt.Errorf("net %q: %d runs at one time; expected 0 to %d", t.Net.ID, c.Running, math.MaxUint16)
	}
	if c.Weights != nil && (!c.Shuffle || len(c.Weights) != t.Transitions()) {
		return fmt.Errorf("net %q: %d weights; expected %d, with a random choice", t.Net.ID, len(c.Weights), t.Transitions())
	}
	for tr := range c.Bindings {
		if c.Part != nil && !c.Part.Transitions[tr] {
			continue
		}
		if err := c.checkBinding(tr); err != nil {
			return fmt.Errorf("net %q, transition %q: %w: %w", t.Net.ID, t.Net.Transitions[tr].ID, ErrBinding, err)
		}
	}
	return nil
}

func (c *Config) checkBinding(tr int) error {
	b, t := &c.Bindings[tr], c.Tables
	switch {
	case b.Mode.Kind > plain.Manual:
		return fmt.Errorf("kind %d; expected immediate, delayed or manual", b.Mode.Kind)
	case b.Due != nil && b.Mode.Kind != plain.Delayed:
		return errors.New("a due time for a transition that is not delayed")
	case b.Until != nil && (b.Due != nil || b.Mode.Kind != plain.Delayed):
		return errors.New("a time from tokens for a transition that has another, or is not delayed")
	case b.Guard != nil && t.Source(tr):
		return errors.New("a guard on a transition without inputs, which has no tokens to check")
	case b.Guard == nil && t.Net.Transitions[tr].Guard != "":
		return fmt.Errorf("no function is bound to its guard %q", t.Net.Transitions[tr].Guard)
	case b.Action && !t.TakesInScope(tr):
		return fmt.Errorf("an action that takes no token of scope %q, in which it acts; expected one, so that the run of the scope lasts as long",
			t.Net.Scopes[t.ActsIn(tr)-1].ID)
	case b.Idempotent && !b.Action:
		return errors.New("idempotent without an action")
	case b.Timeout != 0 && !b.Action:
		return errors.New("a time limit without an action")
	case b.Timeout < 0 || b.Timeout > maxWait:
		return fmt.Errorf("a time limit of %d µs; expected 0 to %d", b.Timeout, int64(maxWait))
	case (b.Guard != nil || b.Until != nil || b.Action || b.Branches != nil || b.Data != nil || t.Net.Transitions[tr].Preempts || t.Net.Transitions[tr].Eventful()) && shown(t, tr) > MaxTaken:
		return fmt.Errorf("it takes and tests %d tokens; expected at most %d with a guard, a time, an action, an event, data of arcs or preemption", shown(t, tr), MaxTaken)
	}
	if err := errors.Join(c.checkBranches(tr), c.checkInscriptions(tr), c.checkScope(tr)); err != nil {
		return err
	}
	return b.Retry.check()
}

func (c *Config) checkBranches(tr int) error {
	b, branches := &c.Bindings[tr], c.Tables.Branches(tr)
	if b.Branches != nil && len(b.Branches) != len(branches) {
		return fmt.Errorf("guards for %d branches; expected %d", len(b.Branches), len(branches))
	}
	for k, arc := range branches {
		a, bound := &c.Tables.Net.Arcs[arc.Arc], b.Branches != nil && b.Branches[k] != nil
		if a.Guard != "" && !bound {
			return fmt.Errorf("no function is bound to the guard %q of arc %q", a.Guard, a.ID)
		}
		if arc.Default && bound {
			return fmt.Errorf("a guard for arc %q, which is the default", a.ID)
		}
	}
	return nil
}

// shown returns the largest number of tokens that a guard or an action of a
// transition gets.
func shown(t *petri.Tables, tr int) uint64 {
	var n uint64
	for _, s := range sights(t, tr) {
		n += uint64(s.show)
	}
	return n
}
