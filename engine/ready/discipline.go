// SPDX-License-Identifier: Apache-2.0

package ready

import (
	"errors"
	"fmt"
	"strconv"
)

// Priorities is the number of priorities.
const Priorities = 8

// Priority ranges from 0, the lowest and the default, to 7, the highest.
type Priority uint8

// Highest is p7.
const Highest Priority = Priorities - 1

// String returns p0 to p7.
func (p Priority) String() string { return "p" + strconv.Itoa(int(p)) }

// Policy is the name of a discipline.
type Policy uint8

// The policies. PolicyDedicated means one goroutine for each priority: it is
// not a discipline of a queue, but has its own row in [Stats].
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

// Quotes holds how many events of each priority are served in a row: Quotes[7]
// is for p7.
type Quotes [Priorities]uint32

// ErrQuote reports a quote of 0, with which a priority would starve forever.
var ErrQuote = errors.New("a quote must be 1 or more")

// Discipline is the rule that chooses the next list. Its zero value is [FIFO].
type Discipline struct {
	policy Policy
	quotes Quotes
}

// FIFO serves in the order of arrival and ignores priorities: everything counts
// as p0.
func FIFO() Discipline { return Discipline{} }

// Strict serves the highest priority that has ready instances, in the order of
// arrival within one priority. A priority can starve behind a higher one.
func Strict() Discipline { return Discipline{policy: PolicyStrict} }

// Quoted serves at most the quote of p7, then that of p6, and so on to p0, and
// starts again. The turn moves on as soon as a quote is used up. A list that
// becomes empty before that keeps the turn and the rest of its quote until the
// next event is requested. A request while all lists are empty changes nothing.
// The error is [ErrQuote].
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
