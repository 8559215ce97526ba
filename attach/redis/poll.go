// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

// Bounds of one poll.
const (
	maxQueues  = 1000
	maxDepth   = 10   // jobs of a list or a set that are read
	maxRunning = 100  // jobs of a queue that workers have: those of a worker that is gone may be young
	allDepths  = 2500 // jobs of one list or set of all queues together
	maxRounds  = 8    // round trips
)

// laterScans is how long a poll looks for new queues, after the first look.
const laterScans = 10 * time.Millisecond

// server is what a reader needs of Redis.
type server interface {
	begin()
	read() (bytes int64) // since begin
	next(ctx context.Context, s *scan) (end bool, err error)
	do(ctx context.Context, commands [][]string) ([]any, error)
}

// Cost is what a poll took.
type Cost struct {
	Queues   int // that were read
	Refused  int // queues that were left out: see readable
	Commands int // that were sent to read jobs
	Rounds   int // round trips for these
	Keys     int // that SCAN looked at, about
	Bytes    int64
	Took     time.Duration
}

// reader reads the queues of a system.
type reader struct {
	server server
	system *System
	prefix string
	detail bool
	only   []string      // queues; empty for all
	within time.Duration // that a poll may look for queues
	log    *slog.Logger

	scanning *scan
	names    []string // that the last scan has found
	complete bool     // a scan has ended
}

// poll reads all queues as of now. It returns none before all queues are known.
func (r *reader) poll(ctx context.Context, now int64) (all []found, cost Cost, err error) {
	begin := time.Now()
	r.server.begin()
	err = r.find(ctx, &cost, begin.Add(r.within))
	if err == nil && r.known() {
		v := &view{reads: newReads(), prefix: r.prefix, now: now, detail: r.detail}
		all, err = r.rounds(ctx, v, &cost)
	}
	cost.Bytes, cost.Took = r.server.read(), time.Since(begin)
	return all, cost, err
}

// known reports whether all queues are known, or will be with the first commands.
func (r *reader) known() bool { return len(r.only) > 0 || r.system.keys == "" || r.complete }

// find looks for queues by their keys, if the system has no list of them: first until all keys were
// looked at, then at some in each poll.
func (r *reader) find(ctx context.Context, cost *Cost, until time.Time) error {
	if len(r.only) > 0 || r.system.keys == "" {
		return nil
	}
	if r.complete {
		until = time.Now().Add(laterScans)
	}
	for time.Now().Before(until) {
		if r.scanning == nil {
			r.scanning = &scan{pattern: glob(r.prefix) + r.system.keys}
		}
		end, err := r.server.next(ctx, r.scanning)
		if err != nil {
			return err
		}
		cost.Keys += keysPerScan
		if end {
			r.took(r.scanning.found)
			return nil
		}
	}
	if !r.complete {
		r.log.Info("the first look for queues takes more than one poll; nothing is published before it is complete", "queues", len(r.scanning.found))
	}
	return nil
}

// took takes over the queues that a scan has found.
func (r *reader) took(keys map[string]bool) {
	before, after, _ := strings.Cut(r.system.keys, "*")
	r.names, r.scanning, r.complete = nil, nil, true
	for key := range keys {
		name := strings.TrimSuffix(strings.TrimPrefix(key, r.prefix+before), after)
		r.names = append(r.names, name)
	}
}

// glob returns a pattern of SCAN for a text.
func glob(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}

// rounds runs the function of the system until it has all answers.
func (r *reader) rounds(ctx context.Context, v *view, cost *Cost) ([]found, error) {
	for cost.Rounds < maxRounds {
		all := r.once(v, cost)
		wanted := v.take()
		if len(wanted) == 0 {
			return all, nil
		}
		answers, err := r.server.do(ctx, wanted)
		if err != nil {
			return nil, err
		}
		for i, command := range wanted {
			v.answers[commandKey(command)] = answers[i]
		}
		cost.Commands += len(wanted)
		cost.Rounds++
	}
	return nil, fmt.Errorf("the system %s asks for more in each of %d rounds; expected an end", r.system.Name, maxRounds)
}

// once runs the function of the system once.
func (r *reader) once(v *view, cost *Cost) []found {
	queues := r.only
	switch {
	case len(queues) > 0:
	case r.system.names != "":
		queues = v.texts("SMEMBERS", v.prefix+r.system.names)
	case r.system.queues == nil:
		queues = r.names
	default:
		queues = r.system.queues(v.reads, v.prefix, r.names)
	}
	read := readable(queues)
	cost.Queues, cost.Refused = len(read), len(queues)-len(read)
	v.depth = min(maxDepth, max(1, allDepths/max(1, len(read))))
	return r.system.read(v, read)
}

// readable returns the queues that a poll reads, sorted: the first ones whose names can be published.
func readable(queues []string) []string {
	out := slices.DeleteFunc(slices.Sorted(slices.Values(queues)), func(q string) bool { return telemetry.CheckName(q) != nil || q == allQueues })
	return out[:min(len(out), maxQueues)]
}

// allQueues is the net of what a system keeps for all queues together.
const allQueues = "all-queues"
