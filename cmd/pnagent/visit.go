// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/pnagent/pnagent/petri/explore"
)

// byteSize is a number of bytes as a flag: 512MiB, 2GiB or 1000000.
type byteSize int64

// UnmarshalText reads the value of the flag.
func (b *byteSize) UnmarshalText(text []byte) error {
	digits, unit := string(text), int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if rest, ok := strings.CutSuffix(digits, suffix); ok {
			digits, unit = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return fmt.Errorf("invalid size %q; expected a whole number of bytes, KiB, MiB, GiB or TiB, as in 2GiB", text)
	}
	*b = byteSize(n * unit)
	return nil
}

// visitFlags bound the visits of markings.
type visitFlags struct {
	Memory byteSize `name:"explore.memory" default:"2GiB" help:"Maximum memory for the markings of --explore, --deadlocks or --query, such as 512MiB; 0 for no bound. A visit that reaches it is not complete."`
}

// options returns the options of a visit of at most limit markings, with progress on
// standard error until the context ends. The caller calls done after the visit.
func (f visitFlags) options(ctx context.Context, s streams, net string, limit int) (o explore.Options, done func()) {
	p := &progress{ctx: ctx, out: s.err, net: net, every: 5 * time.Second, start: time.Now()}
	if file, ok := raw(s.err).(*os.File); ok && term.IsTerminal(file.Fd()) {
		p.out = file
		p.every, p.begin, p.end = time.Second, "\r\x1b[K", ""
	} else {
		p.end = "\n"
	}
	p.last = p.start
	return explore.Options{Markings: limit, Memory: int64(f.Memory), Continue: p.next}, p.clear
}

// progress prints how far a visit is, on one line at a terminal.
type progress struct {
	ctx         context.Context
	out         io.Writer
	net         string
	begin, end  string
	every       time.Duration
	start, last time.Time
	seen        int // visited when it printed last
	printed     bool
}

// next is the Continue of a visit. It returns false once the context has ended.
func (p *progress) next(visited, found int) bool {
	select {
	case <-p.ctx.Done():
		return false
	default:
	}
	now := time.Now()
	if d := now.Sub(p.last); d >= p.every {
		fmt.Fprintf(p.out, "%snet %q: %d markings visited, %d waiting, %.0f a second%s", p.begin, p.net, visited, found-visited,
			float64(visited-p.seen)/d.Seconds(), p.end)
		p.last, p.seen, p.printed = now, visited, true
	}
	return true
}

// clear removes the line from a terminal.
func (p *progress) clear() {
	if p.printed && p.begin != "" {
		fmt.Fprint(p.out, p.begin)
	}
}
