// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
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
	p := &explore.Progress{Out: s.err, Net: net, Every: 5 * time.Second, End: "\n", Now: time.Now}
	if file, ok := raw(s.err).(*os.File); ok && term.IsTerminal(file.Fd()) {
		p.Out, p.Every, p.Begin, p.End = file, time.Second, "\r\x1b[K", ""
	}
	return explore.Options{Markings: limit, Memory: int64(f.Memory), Continue: func(visited, found int) bool {
		select {
		case <-ctx.Done():
			return false
		default:
		}
		p.Print(visited, found)
		return true
	}}, p.Clear
}
