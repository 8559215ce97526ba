// SPDX-License-Identifier: Apache-2.0

package petri

// Loop says how often an activity runs: a multi-instance activity with Number or List, otherwise
// a standard loop. The engine keeps the list, how many runs there are, and the results.
//
// Scope.Begin begins the activity: it opens the first run, or all if Parallel is set, and
// what it puts into the scope it puts into each. Scope.End ends a run. Only if that is
// the last one, it also does what it does outside of the scope; before, it begins the next run.
// With no run at all, Begin puts what End puts. An analysis without data sees one run.
type Loop struct {
	Number   Expression // of multi-instance: its value is the number of runs
	List     Expression // of multi-instance: its value is a list, with a run for each element
	Parallel bool       // of multi-instance: all runs begin at once
	Until    Expression // of multi-instance: no run continues after a run with which it holds

	While  Expression // of a standard loop: another run begins if it holds after a run
	Before bool       // and also before the first run
	Most   uint32     // of a standard loop: the maximum number of runs; 0 for none

	First   int        // the value of LoopCounter in the first run
	Element string     // the variable with the element of the list; "" for none
	Result  Expression // of a run that ends
	Into    string     // the variable with the list of the results; "" for none
}

// Expression is an expression of a source.
type Expression struct {
	Text string // as in Transition.Guard; "" for none
	Of   string // what has it in the source, for messages
	Pos  Pos
}

// The variables that the engine sets: LoopCounter in each run, the others where Until is evaluated.
const (
	LoopCounter  = "loopCounter"
	LoopRuns     = "nrOfInstances"
	LoopEnded    = "nrOfCompletedInstances"
	LoopContinue = "nrOfActiveInstances"
)

// Multi reports whether the loop is that of a multi-instance activity.
func (l *Loop) Multi() bool { return l.Number.Text != "" || l.List.Text != "" }

// Expressions returns the expressions of the loop.
func (l *Loop) Expressions() []*Expression {
	return []*Expression{&l.Number, &l.List, &l.Until, &l.While, &l.Result}
}
