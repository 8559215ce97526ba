// SPDX-License-Identifier: Apache-2.0

package coloured

// Token is one token. Its data is never changed once it is made, so tokens may
// share it.
type Token struct {
	ID       uint64 // unique in its instance, rising in the order of creation
	Injected int64
	Data     []byte // nil if it carries none
}

// Placed is a token in its place, by the place's index.
type Placed struct {
	Place int32
	Token Token
}

// Guard decides whether a transition may fire with some tokens: those that it
// would take, and those that its read arcs test, in the order of the places in
// the net, the oldest first. It is called on the goroutine that plays the
// instance, so it must be quick. Its result must depend only on its arguments,
// which it must not keep or change. A panic is a failure of the transition.
type Guard func(tokens []Placed, now int64) Verdict

// Verdict is a guard's answer.
type Verdict struct {
	OK bool
	// If not OK: the place that it waits for, or stats.NoPlace (-1), and a time
	// at which it must be asked again (in a millisecond at the earliest), or 0.
	// It is also asked again whenever a place of its arcs, or that place, has
	// changed.
	WaitsFor int32
	Again    int64
}

// Start is a request to perform the action of a transition. Its tokens are in
// flight until Done is called with the outcome.
type Start struct {
	Run        RunID
	Era        uint64 // see Shard.NameRuns
	Instance   int    // number
	Transition int32
	Attempt    int      // 1 for the first try with these tokens, 2 after a failure, …
	Taken      []Placed // what it takes, in the order of the places, the oldest first
	Read       []Placed // what it tests and leaves
	Data       []byte   // that Fire gave, if it was fired from outside
	Started    int64
	Deadline   int64 // when the run is over whatever it does; 0 for never
}

// RunID names one run of an action in a shard. It is never used again.
type RunID uint64

// Outcome is how a run ended.
type Outcome struct {
	Kind OutcomeKind
	// Data is what tokens that the output arcs put carry. nil passes on the data
	// of what was taken. Not used with Puts.
	Data []byte
	// Puts are the tokens to put instead of what the output arcs say, if it is
	// not nil: any number, into places that the transition has an output arc to.
	// What was taken and is not among them is destroyed.
	Puts []Put
	// After is how long to wait before it is tried again, of Delayed; 0 of
	// Failed is the binding's backoff.
	After int64
	Err   string // of Failed, for the log
}

// Put is a token that an action puts.
type Put struct {
	Place int32
	Data  []byte
	// Moved is the id of a taken token that continues with its identity and
	// data; 0 makes a new one.
	Moved uint64
}

// OutcomeKind is a kind of Outcome.
type OutcomeKind uint8

// The kinds of outcomes. After all but Fired the tokens are where they came
// from, as old as they were.
const (
	Fired   OutcomeKind = iota
	Failed              // counted, tried again with backoff
	Delayed             // tried again After
	Awaits              // tried again when the transition is fired from outside
)
