// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"errors"
	"fmt"
	"strconv"
)

// Priorities is how many priorities there are.
const Priorities = 8

// Priority is from 0, the lowest and the default, to 7, the highest.
type Priority uint8

// Highest is p7.
const Highest Priority = Priorities - 1

// String returns p0 to p7.
func (p Priority) String() string { return "p" + strconv.Itoa(int(p)) }

// Policy is the name of a discipline.
type Policy uint8

// The policies. PolicyDedicated is a goroutine for each priority: no discipline
// of a queue, but a row of its own in [Stats].
const (
	PolicyFIFO Policy = iota
	PolicyStrict
	PolicyQuoted
	PolicyDedicated
)

// String returns the name in configurations.
func (p Policy) String() string {
	switch p {
	case PolicyFIFO:
		return "fifo"
	case PolicyStrict:
		return "strict"
	case PolicyQuoted:
		return "quoted"
	case PolicyDedicated:
		return "dedicated"
	}
	return "policy " + strconv.Itoa(int(p))
}

// Quotes is how many events of each priority are served in a row, by priority:
// Quotes[7] is for p7.
type Quotes [Priorities]uint32

// ErrQuote reports a quote of 0, which would starve its priority forever.
var ErrQuote = errors.New("a quote must be 1 or more")

// Discipline is the rule that chooses the next list. Its zero value is [FIFO].
type Discipline struct {
	policy Policy
	quotes Quotes
}

// FIFO serves in the order of arrival and ignores priorities: everything counts
// as p0.
func FIFO() Discipline { return Discipline{} }

// Strict serves the highest priority that is there, and in the order of arrival
// inside one priority. A priority can starve behind a higher one.
func Strict() Discipline { return Discipline{policy: PolicyStrict} }

// Quoted serves from p7 down at most its quote of each priority, then the next
// lower, and after p0 p7 again. The turn passes on as soon as a quote is used
// up. A list that is emptied before keeps the turn, and what is left of its
// quote, until the next event is asked for; that nothing is there to serve
// changes nothing. The error is [ErrQuote].
func Quoted(q Quotes) (Discipline, error) {
	for p, n := range q {
		if n == 0 {
			return Discipline{}, fmt.Errorf("quote of %v: %w", Priority(p), ErrQuote)
		}
	}
	return Discipline{policy: PolicyQuoted, quotes: q}, nil
}

// Policy returns the name of the discipline.
func (d Discipline) Policy() Policy { return d.policy }
