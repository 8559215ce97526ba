// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
)

// Ready is what a shard has done since the last call of [Shard.Ready], each in order, for its owner to bring
// about. The next call that plays reuses the slices; the owner may keep the elements of Starts.
type Ready struct {
	// Log is what happened, if Config.Log is set: firings, injections, how instances came to rest, and other
	// counts. An owner that keeps a log takes it before time advances: Replay applies a whole log at one time.
	// Tokens in flight are recorded in their places: they are taken when a run has fired.
	Log []byte
	// Crossings are the tokens that firings put into places of other parts, with their data. They have left
	// the shard, and their identities with it: Arrive takes them in where their place is.
	Crossings []split.Crossing
	Starts    []Start // the actions to perform
	// Stops are the runs that ended without a Done: their actions may be
	// cancelled. Some of them may be in Starts.
	Stops []RunID
	// Thrown are the firings that threw an event. Step returns after each of them,
	// so that the owner can deliver the event before anything else happens but
	// urgent transitions of other instances. A replay throws nothing.
	Thrown []Thrown
	// Faults are the first faults: expressions that could not be evaluated, splits
	// and alternatives of which none can be taken, and places that would overflow.
	Faults []Fault
}

// Ready returns what the shard has done since the last call.
func (s *Shard) Ready() Ready {
	r := s.done
	r.Log, s.log.text = s.log.text, s.log.text[:0]
	s.done = Ready{nil, r.Crossings[:0], r.Starts[:0], r.Stops[:0], r.Thrown[:0], r.Faults[:0]}
	return r
}

// Thrown is a firing of a transition that throws an event, see petri.Transition.Throws.
type Thrown struct {
	Instance   int // its index in the shard
	Transition int32
	// Taken are the tokens that it took, at most MaxTaken, with the data that an
	// action or a call returned for the new tokens, if any.
	Taken []Placed
	// Last is the identity of the instance's last token before the firing.
	Last uint64
}

// threw reports whether an instance has thrown an event that is not delivered.
func (r *Ready) threw(i int) bool {
	return slices.ContainsFunc(r.Thrown, func(x Thrown) bool { return x.Instance == i })
}

// Fault is why a transition that is enabled does not fire by itself.
type Fault struct {
	Instance   int // its index in the shard
	Transition int32
	What       string // in words, for a log: that of which Err is the reason
	Err        error
}

// maxFaults bounds those that a Ready has.
const maxFaults = 64

func (r *Ready) fault(i, t int, what string, err error) {
	if len(r.Faults) < maxFaults {
		r.Faults = append(r.Faults, Fault{i, int32(t), what, err})
	}
}

// unevaluated is where the failure of an evaluation becomes an incident. tokens are those that the transition
// takes or tests. It is evaluated again when a call fires it, and when a place or a variable that it sees
// changes. If it can depend on the time, and the binding has retries, it is first tried again as these say.
func (x *change) unevaluated(f *frame, t int, tokens []Placed, what string, err error, timed bool) {
	err = x.s.located(t, err)
	took, _ := x.s.rules[t].split(tokens)
	x.s.done.fault(x.i, t, what, err)
	if timed && x.s.rules[t].Retry != (Retry{}) {
		x.s.count(opFailed, x.i, t)
		x.setBack(f, t, firstID(took), 0, err.Error())
		return
	}
	x.incident(f, t, firstID(took), stats.NoPlace, err.Error()).again = true
}

// located returns an error with a position in the source of a net, unless it has one.
func located(n *petri.Net, pos petri.Pos, err error) error {
	if errors.As(err, new(*petri.Fault)) {
		return err
	}
	return &petri.Fault{File: n.File, Pos: pos, Msg: err.Error()}
}

// located returns an error with the position of a transition, unless it has one.
func (s *Shard) located(t int, err error) error {
	return located(s.Tables.Net, s.Tables.Net.Transitions[t].Pos, err)
}

// Why a transition that is enabled cannot fire, besides expressions.
var (
	errGuard         = errors.New("its guard is false")
	errNoBranch      = errors.New("none of its branches can be taken")
	errNoAlternative = errors.New("no condition of its alternatives holds, and there is no default")
	errVariables     = fmt.Errorf("%w, and so do the variables of a run", ErrTooLarge)
)

// refusedAll reports each alternative that is refused permanently as a fault, once.
func (x *change) refusedAll() {
	for id := range x.s.notes.each(x.in) {
		if n := &x.s.notes.all[id]; n.kind == noteNo && !n.reported && x.s.refusedForGood(id) {
			n.reported = true
			x.s.done.fault(x.i, int(n.transition), "no alternative can be taken", x.s.located(int(n.transition), errNoAlternative))
		}
	}
}

// refused returns the error of a call that cannot fire a transition, and counts it as a failure
// unless its conditions just do not hold.
func (s *Shard) refused(i, t int, err error) error {
	if !errors.Is(err, errGuard) && !errors.Is(err, errNoBranch) {
		s.count(opFailed, i, t)
	}
	return fmt.Errorf("transition %q: %w: %w", s.Tables.Net.Transitions[t].ID, petri.ErrNotEnabled, err)
}

// Token is one token. Its data never changes, so tokens may share it.
type Token struct {
	ID       uint64 // unique in its instance, ascending in the order of creation
	Injected int64
	Data     []byte // nil if it carries none
	// Fields are those of Data, to functions of a net whose variables are shared. They must not be changed.
	Fields map[string]json.RawMessage
}

// Placed is a token and its place, by the place's index.
type Placed struct {
	Place int32
	Scope uint32 // the number of the run of the place's scope, see petri.Scope; 0 for the instance
	Token Token
}

func (p *Placed) at() spot { return spot{p.Place, p.Scope} }

func (p *Placed) held() held {
	return held{lot{p.Token.ID, p.Token.Injected, p.Token.Data, 1}, p.at()}
}

// Guard decides whether a transition may fire with the given tokens: those that it would take, and those that
// its read arcs test, in the order of the places in the net, the oldest first. It is called on the goroutine
// that plays the instance, so it must be quick. Its result must depend only on its arguments, which it must
// not keep or change. A panic is an incident of the transition, see Binding.Retry.
type Guard func(tokens []Placed, now int64) Verdict

// Verdict is a guard's answer.
type Verdict struct {
	OK bool
	// Again is, if not OK, a time at which the guard must be asked again (in a millisecond at the
	// earliest), or 0. It is also asked when a place of the transition's arcs has changed.
	Again int64
}

// Start is a request to perform the action of a transition. Its tokens are in
// flight until Done is called with the outcome.
type Start struct {
	Run        RunID
	Era        uint64 // see Shard.NameRuns
	Instance   int    // the instance's number
	Transition int32
	Attempt    int      // 1 for the first attempt with these tokens, 2 after a failure, …
	Taken      []Placed // the tokens that it takes, in the order of the places, the oldest first
	Read       []Placed // the tokens that it tests and leaves
	Data       []byte   // the data passed to Fire, if it was fired by a call
	Started    int64
	Deadline   int64 // the time when the run ends in any case; 0 for never
}

// RunID names one run of an action in a shard. It is never used again.
type RunID uint64

// Outcome is how a run ended.
type Outcome struct {
	Kind OutcomeKind
	// Data is carried by the tokens that the output arcs put. nil passes on the
	// data of the tokens that were taken. Not used with Puts.
	Data []byte
	// Puts, if not nil, are the tokens to put instead of those of the output
	// arcs: any number, into places to which the transition has an output arc.
	// The tokens that were taken and are not moved by a Put are destroyed.
	Puts []Put
	// After is the wait before the next attempt, for Delayed and Failed; for
	// Failed, 0 is the binding's backoff.
	After int64
	Err   string // for Failed, for the log
	// Public is Err as others may see it who look at the instance; "" for Err.
	Public string
}

// Put is a token that an action puts.
type Put struct {
	Place int32
	Data  []byte
	// Moved is the id of a taken token that keeps its identity and data; 0 makes a new token.
	Moved uint64
}

// OutcomeKind is a kind of Outcome.
type OutcomeKind uint8

// The kinds of outcomes. After all but Fired, the tokens are back in their places, with their age.
const (
	Fired   OutcomeKind = iota
	Failed              // counted, tried again with backoff
	Delayed             // tried again After
	Awaits              // tried again when Fire names the transition
)
