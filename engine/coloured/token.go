// SPDX-License-Identifier: Apache-2.0

package coloured

// Token is one token. Its data never changes, so tokens may share it.
type Token struct {
	ID       uint64 // unique in its instance, ascending in the order of creation
	Injected int64
	Data     []byte // nil if it carries none
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

// Guard decides whether a transition may fire with the given tokens: those that
// it would take, and those that its read arcs test, in the order of the places
// in the net, the oldest first. It is called on the goroutine that plays the
// instance, so it must be quick. Its result must depend only on its arguments,
// which it must not keep or change. A panic is an incident of the transition, see Binding.Retry.
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
	// Moved is the id of a taken token that keeps its identity and data; 0
	// makes a new token.
	Moved uint64
}

// OutcomeKind is a kind of Outcome.
type OutcomeKind uint8

// The kinds of outcomes. After all but Fired, the tokens are back in their
// places, with their age.
const (
	Fired   OutcomeKind = iota
	Failed              // counted, tried again with backoff
	Delayed             // tried again After
	Awaits              // tried again when Fire names the transition
)
