// SPDX-License-Identifier: Apache-2.0

package cursor

import (
	"errors"
	"fmt"
	"io"
)

// MaxSteps is how many steps Run makes unless it is told otherwise.
const MaxSteps = 1_000_000

// ErrSteps is returned by Run when threads are left after its last step.
var ErrSteps = errors.New("threads are left")

// Options say how Run goes.
type Options struct {
	Choose Choose       // asked at choices; may be nil where there is none
	When   func() int64 // the time of each step, in microseconds since the Unix epoch
	Who    string
	Steps  int // at most so many after step 0; 0 is MaxSteps
}

// Run walks a graph from its starts until no thread is left, and writes each
// step to w as a Writer does. It returns the cursor where it ended, with an
// error too: what stopped a step, ErrSteps, or a failure to write. Whether the
// end is one is told by Cursor.Waiting.
func Run(g *Graph, starts []int, o Options, w io.Writer) (*Cursor, error) {
	if o.Steps == 0 {
		o.Steps = MaxSteps
	}
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
