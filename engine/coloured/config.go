// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

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

// ErrBinding is wrapped by the errors of New about a binding that does not fit its net.
var ErrBinding = errors.New("bad binding")

// Config is the configuration of a shard.
type Config struct {
	Tables   *petri.Tables
	Bindings []Binding // by transition; nil for all immediate, without guards and actions
	// The shard holds Count instances: First, First+Stride and so on; or, if
	// Numbers is not nil, those, in ascending order.
	First, Stride, Count int
	Numbers              []int32
	// Seed makes delays repeatable. If Shuffle is set, the shard chooses at random among the enabled
	// transitions of the highest priority, all equally likely.
	Seed    uint64
	Shuffle bool
	// Weights, by transition, are for Shuffle: a transition is chosen in proportion to its
	// weight, which is above 0. nil is 1 for all.
	Weights []float64
	Running int // runs that an instance may have at one time, at most 65535; 0 for 1024
	// Ended is called when an instance comes to its end; nil for none. It must not call the shard.
	Ended func(i int, now int64)
	// Log makes the shard record what happens: see Ready.
	Log bool
	// Part restricts the shard to one region of the net: see Ready. nil
	// is the whole net. Bindings of other transitions are ignored.
	Part *split.Part

	Dispatch ready.Discipline
	Priority func(number int) ready.Priority // nil: all p0
	Spare    func(number int) bool           // instances that begin by an event only, and are as if they had ended; nil for none
	Bound    int                             // pieces of work that may wait in an instance before it is full; 0 for no limit
	// Merge returns the data of new tokens, given the data of the tokens that were taken and carry some: at
	// most MaxTaken, in the order of places and age. If Merge is nil, new tokens get the data of the first.
	// The same happens if Merge panics or returns more than MaxData bytes; that counts as a failure of the
	// transition, although it fires.
	Merge func(data [][]byte) []byte
}

// Binding specifies how a transition fires. The zero Binding fires at once.
type Binding struct {
	Mode plain.Mode
	// Due returns when a Delayed transition that is enabled since a time is due, instead of Mode.Delay.
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
	// Idempotent declares that the action may be performed again for the same run: Resume hands out again the
	// runs that the log records as started and not ended.
	Idempotent bool
	Timeout    int64       // the longest time for a run; 0 for no limit. A run over the limit fails, but counts as timed out
	Retry      Retry       // after failures of the action, and, if it is not the zero Retry, of a guard that panics
	Scope      *ScopeFuncs // of a transition that is the petri.Scope.Begin of a scope; nil for others
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
	first, factor := cmp.Or(r.First, 1e6), cmp.Or(r.Factor, 2)
	longest := cmp.Or(r.Max, max(60e6, first))
	return int64(min(float64(first)*math.Pow(factor, float64(failures-1)), float64(longest)))
}

// maxWait keeps times far from overflow: about 3,000 years.
const maxWait = 1e17

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
		if found := c.Bindings[tr].Faults(t, tr); found != nil {
			return fmt.Errorf("net %q, transition %q: %w: %s", t.Net.ID, t.Net.Transitions[tr].ID, ErrBinding, strings.Join(found, "; "))
		}
	}
	return nil
}

// Faults returns everything that is wrong with the binding of a transition of a net, for people.
func (b *Binding) Faults(t *petri.Tables, tr int) (found []string) {
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	n := &t.Net.Transitions[tr]
	looks := b.Guard != nil || b.Until != nil || b.Action || b.Branches != nil || n.Preempts || n.Eventful()
	fault(b.Mode.Kind > plain.Manual, "kind %d; expected immediate, delayed or manual", b.Mode.Kind)
	fault(b.Due != nil && b.Mode.Kind != plain.Delayed, "a due time, but not delayed; expected both or none")
	fault(b.Until != nil && (b.Due != nil || b.Mode.Kind != plain.Delayed), "a time from tokens, but not delayed, or with another due time; expected delayed and one of them")
	fault(!b.Mode.Delay.Valid(), "a delay of %g and %g µs; expected 0 or more", b.Mode.Delay.A, b.Mode.Delay.B)
	fault(b.Guard != nil && t.Source(tr), "a guard, but no input arc; expected inputs, whose tokens a guard looks at")
	fault(b.Guard == nil && n.Guard != "", "no function is bound to its guard %q", n.Guard)
	fault(b.Idempotent && !b.Action, "idempotent without an action; expected one with an action only")
	fault(b.Action && !t.TakesInScope(tr), "an action, but it takes no token of its scope; expected one, so that the run of the scope lasts as long")
	fault(b.Timeout < 0 || b.Timeout > maxWait, "a time limit of %s; expected 0 or more", inWords(b.Timeout))
	fault(b.Timeout > 0 && !b.Action, "a time limit without an action; expected one with an action only")
	fault(looks && shown(t, tr) > MaxTaken,
		"it takes and tests %d tokens; expected at most %d with a guard, a time, an action, an event or preemption", shown(t, tr), MaxTaken)
	b.Retry.check(fault)
	b.checkBranches(t, tr, fault)
	b.checkScope(t, tr, fault)
	return found
}

// report adds a fault if something is wrong.
type report func(wrong bool, format string, args ...any)

// inWords returns a number of microseconds as a duration.
func inWords(micros int64) string { return (time.Duration(micros) * time.Microsecond).String() }

func (r *Retry) check(fault report) {
	fault(r.First < 0 || r.Max < 0 || r.First > maxWait || r.Max > maxWait, "retries after %s to %s; expected 0 or more", inWords(r.First), inWords(r.Max))
	fault(r.Max > 0 && r.Max < r.First, "retries after at most %s, but first after %s; expected that to be longer", inWords(r.Max), inWords(r.First))
	fault(r.Factor != 0 && !(r.Factor >= 1 && r.Factor <= 1e6), "a retry factor of %g; expected 1 to 1000000", r.Factor)
	fault(r.Attempts < 0 || r.Attempts > math.MaxInt32, "%d attempts; expected 1 or more, or 0 for any number", r.Attempts)
}

func (b *Binding) checkBranches(t *petri.Tables, tr int, fault report) {
	branches := t.Branches(tr)
	if b.Branches != nil && len(b.Branches) != len(branches) {
		fault(true, "%d guards of branches; expected %d, one for each branch arc", len(b.Branches), len(branches))
		return
	}
	for k, arc := range branches {
		a, bound := &t.Net.Arcs[arc.Arc], b.Branches != nil && b.Branches[k] != nil
		fault(a.Guard != "" && !bound, "no function is bound to the guard %q of %s", a.Guard, a.Name())
		fault(a.Default && bound, "a guard of %s, which is the default; expected none", a.Name())
	}
}

// shown returns the largest number of tokens that a guard or an action of a transition gets.
func shown(t *petri.Tables, tr int) uint64 {
	var n uint64
	for _, s := range sights(t, tr) {
		n += uint64(s.show)
	}
	return n
}
