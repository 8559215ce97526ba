// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
)

// MaxSteps is the default of Options.Steps.
const MaxSteps = 1_000_000

// ErrSteps is Run's error if threads are left after the last step.
var ErrSteps = errors.New("threads are left")

// Options configure Run.
type Options struct {
	Choose Choose       // may be nil if the graph has no choices
	When   func() int64 // the time of each step, in microseconds since the Unix epoch
	Who    string
	Steps  int // the maximum number after step 0; 0 is MaxSteps
}

// Run walks a graph from its starts until no thread is left, and writes each step to
// w as a Writer does. It returns the final cursor, also with an error: that of a
// step, ErrSteps, or that of w. Cursor.Waiting returns whether the end is a deadlock.
func Run(g *Graph, starts []int, o Options, w io.Writer) (*Cursor, error) {
	o.Steps = cmp.Or(o.Steps, MaxSteps)
	c, err := New(g, starts, Stamp{o.When(), o.Who})
	if err != nil {
		return nil, err
	}
	rows := NewWriter(w)
	err = c.run(o, rows)
	return c, errors.Join(err, rows.Flush())
}

func (c *Cursor) run(o Options, rows *Writer) error {
	for {
		if err := rows.Write(c); err != nil {
			return err
		}
		if c.pointer == 0 {
			return nil
		}
		if c.Last().Step >= o.Steps {
			return fmt.Errorf("after %d steps: %w", o.Steps, ErrSteps)
		}
		if _, err := c.Step(o.Choose, Stamp{o.When(), o.Who}); err != nil {
			return fmt.Errorf("step %d: %w", c.Last().Step+1, err)
		}
	}
}
