// SPDX-License-Identifier: Apache-2.0

package colour

import (
	"errors"
	"fmt"
	"math"

	"github.com/pnagent/pnagent/game"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/pool"
)

// What is bounded.
const (
	MaxData         = 1 << 20        // bytes that a token carries
	MaxTaken        = 1024           // tokens that a transition with a guard or an action, or that preempts, takes and tests, and that an outcome puts
	MaxCombinations = 256            // of tokens about which a guard is asked until something changes
	MaxNodes        = math.MaxUint16 // places, and transitions, of a net
)

// The defaults of Config.
const (
	defaultBatch   = 16
	defaultRunning = 1024
)

// ErrBinding is wrapped by the errors of New about a binding that does not fit
// its net.
var ErrBinding = errors.New("bad binding")

// Config says what a shard plays.
type Config struct {
	Tables   *petri.Tables
	Bindings []Binding // by transition; nil for all immediate, without guards and actions
	// The shard holds instances First, First+Stride, … , Count of them; or, if
	// Numbers is not nil, those, which must rise.
	First, Stride, Count int
	Numbers              []int32
	// Seed makes delays repeatable. If Shuffle is set, chance decides between
	// the enabled transitions of the highest priority, each as likely as another.
	Seed    uint64
	Shuffle bool
	// Log has the shard write down what happens, for TakeLog.
	Log bool
	// Runs has the log and the state tell of runs that start and are over, so that
	// Resume knows of those that go on.
	Runs bool
	// Part has the shard play one region of the net only: see TakeCrossings. nil
	// is all of it. Bindings of other transitions are not looked at. A guard must
	// wait for places of the part: from others nothing is heard.
	Part *split.Part

	Dispatch pool.Discipline
	Priority func(number int) pool.Priority // nil: all p0
	Bound    int                            // pieces of work that may wait in an instance before it is full; 0 for any
	Batch    int                            // pieces that one visit to an instance takes; 0 for 16
	Running  int                            // runs that an instance may have at once; 0 for 1024
	// Merge makes the data of new tokens from those of several that were taken
	// and carry some, at most MaxTaken, in the order of places and age. nil is
	// the data of the first. So it is if Merge panics or makes more than MaxData
	// bytes, which counts as a failure of the transition, though it fires.
	Merge func(data [][]byte) []byte
}

// Binding says how a transition fires. The zero Binding fires at once.
type Binding struct {
	Mode game.Mode
	// Due says when a Delayed transition is due that is enabled since a time,
	// instead of Mode.Delay.
	Due      func(since int64) int64
	Guard    Guard
	Branches []Guard // in the order of Tables.Branches; nil for all, or one, that always hold
	Action   bool    // firing it is work, which Starts hands out
	// Idempotent says that the action may be performed again for the same run:
	// Resume hands out anew what the log says has started and not ended.
	Idempotent bool
	Timeout    int64 // how long a run may take; 0 for ever. Then it is as if it had failed, but counts as timed out
	Retry      Retry // after failures of the action, and of a guard that panics
}

// Retry says when a transition that failed is tried again: First after the
// first failure, each time Factor times as long, but not longer than Max.
type Retry struct {
	First, Max int64   // 0 for a second, and for a minute or First if that is longer
	Factor     float64 // 1 or more; 0 for 2
	Attempts   int     // how often it is tried before it is an incident; 0 for ever
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

// check finds everything that can be wrong before the first token moves.
func (c *Config) check() error {
	t := c.Tables
	if t.Places() > MaxNodes || t.Transitions() > MaxNodes {
		return fmt.Errorf("net %q has %d places and %d transitions; expected at most %d of each",
			t.Net.ID, t.Places(), t.Transitions(), MaxNodes)
	}
	if err := c.checkInstances(); err != nil {
		return fmt.Errorf("net %q: %w", t.Net.ID, err)
	}
	if len(c.Bindings) != t.Transitions() {
		return fmt.Errorf("net %q: %w: %d bindings; expected %d, one for each transition", t.Net.ID, ErrBinding, len(c.Bindings), t.Transitions())
	}
	if c.Part != nil {
		if err := c.Part.Check(t); err != nil {
			return err
		}
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

func (c *Config) checkInstances() error {
	if c.Bound < 0 || c.Batch < 0 || c.Running < 0 {
		return fmt.Errorf("a bound of %d, a batch of %d, %d running; expected 0 or more", c.Bound, c.Batch, c.Running)
	}
	if c.Numbers == nil {
		if c.First < 0 || c.Stride < 1 || c.Count < 0 || c.Count > math.MaxInt32 || c.First > math.MaxInt32 || c.Stride > math.MaxInt32 {
			return fmt.Errorf("%d instances from %d in steps of %d; expected no negative number and a step", c.Count, c.First, c.Stride)
		}
		return nil
	}
	last := int32(-1)
	for _, n := range c.Numbers {
		if n <= last {
			return fmt.Errorf("instance %d after %d; expected numbers from 0 that rise", n, last)
		}
		last = n
	}
	return nil
}

func (c *Config) checkBinding(tr int) error {
	b, t := &c.Bindings[tr], c.Tables
	switch {
	case b.Mode.Kind > game.Manual:
		return fmt.Errorf("kind %d; expected immediate, delayed or manual", b.Mode.Kind)
	case b.Due != nil && b.Mode.Kind != game.Delayed:
		return errors.New("a due time for a transition that is not delayed")
	case b.Guard != nil && t.Source(tr):
		return errors.New("a guard on a transition without inputs, which has no tokens to look at")
	case b.Guard == nil && t.Net.Transitions[tr].Guard != "":
		return fmt.Errorf("nothing is bound to its guard %q", t.Net.Transitions[tr].Guard)
	case b.Idempotent && !b.Action:
		return errors.New("idempotent without an action")
	case b.Timeout != 0 && !b.Action:
		return errors.New("a time limit without an action")
	case b.Timeout < 0 || b.Timeout > maxWait:
		return fmt.Errorf("a time limit of %d µs; expected 0 to %d", b.Timeout, int64(maxWait))
	case (b.Guard != nil || b.Action || b.Branches != nil || t.Net.Transitions[tr].Preempts) && shown(t, tr) > MaxTaken:
		return fmt.Errorf("it takes and tests %d tokens; expected at most %d with a guard, an action or preemption", shown(t, tr), MaxTaken)
	}
	if err := c.checkBranches(tr); err != nil {
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
			return fmt.Errorf("nothing is bound to the guard %q of arc %q", a.Guard, a.ID)
		}
		if arc.Default && bound {
			return fmt.Errorf("a guard for arc %q, which is the default", a.ID)
		}
	}
	return nil
}

// shown returns how many tokens a guard or an action of a transition sees at
// most.
func shown(t *petri.Tables, tr int) uint64 {
	var n uint64
	for _, s := range sights(t, tr) {
		n += uint64(s.show)
	}
	return n
}
