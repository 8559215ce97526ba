// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"io"
	"time"
)

// Progress prints how far a visit is.
type Progress struct {
	Out        io.Writer
	Net        string
	Begin, End string // of a line; a Begin that is not empty also removes the line before it
	Every      time.Duration
	Now        func() time.Time

	last    time.Time
	seen    int // visited when it printed last
	printed bool
}

// Print prints a line if Every has passed since the last one or, for the first line, since
// the first call. visited and found are numbers of markings, as of Options.Continue.
func (p *Progress) Print(visited, found int) {
	now := p.Now()
	if p.last.IsZero() {
		p.last = now
	}
	if d := now.Sub(p.last); d >= p.Every {
		fmt.Fprintf(p.Out, "%snet %q: %d markings visited, %d waiting, %.0f a second%s", p.Begin, p.Net, visited, found-visited,
			float64(visited-p.seen)/d.Seconds(), p.End)
		p.last, p.seen, p.printed = now, visited, true
	}
}

// Clear removes the line, if Begin does.
func (p *Progress) Clear() {
	if p.printed && p.Begin != "" {
		fmt.Fprint(p.Out, p.Begin)
	}
}
