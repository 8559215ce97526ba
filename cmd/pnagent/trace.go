// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/petri/trace"
)

// errTraceStuck is what a trace ends with that did not reach an end.
var errTraceStuck = errors.New("the instance is deadlocked")

// trace plays one instance of the one net in the cursor mode, and prints every
// step as CSV. At an exclusive gateway the flows are taken in turn, or by chance
// with a seed.
func (c *engineCmd) trace(s streams, log *slog.Logger) error {
	if len(c.Files) != 1 {
		return cli.Usage(fmt.Errorf("--trace with %d files; expected one", len(c.Files)))
	}
	file, err := cli.ReadNet(c.Files[0], s.in, c.Limit, log)
	if err != nil {
		return err
	}
	if len(file.Nets) != 1 {
		return fmt.Errorf("%s: %d nets in the file; expected one for --trace", c.Files[0], len(file.Nets))
	}
	g, starts, err := file.Graph()
	if err != nil {
		return err
	}
	source, err := c.sourceName()
	if err != nil {
		return err
	}
	steps := c.Firings
	end, err := trace.Run(g, starts, trace.Options{Choose: c.chooser(len(g.Nodes)), Who: source, Steps: steps,
		When: func() int64 { return time.Now().UnixMicro() }}, s.out)
	if errors.Is(err, trace.ErrSteps) && steps > 0 {
		return nil // --firings has ended the run
	}
	if err != nil {
		return err
	}
	if waiting := end.Waiting(); len(waiting) > 0 {
		var ids []string
		for _, n := range waiting {
			ids = append(ids, g.Nodes[n].ID)
		}
		return fmt.Errorf("%w: %s still waits for a token", errTraceStuck, strings.Join(ids, ", "))
	}
	return nil
}

// chooser takes the flows of a choice in turn, or by chance with a seed.
func (c *engineCmd) chooser(nodes int) trace.Choose {
	if c.Seed != nil {
		r := rand.New(rand.NewPCG(*c.Seed, 0))
		return func(_ int, out []int) int { return out[r.IntN(len(out))] }
	}
	visits := make([]int, nodes)
	return func(node int, out []int) int {
		visits[node]++
		return out[(visits[node]-1)%len(out)]
	}
}
