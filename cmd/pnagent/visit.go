// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"context"
	"os"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/pnagent/pnagent/petri/explore"
)

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
