// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/pnagent/pnagent/attach/internal/ledger"
)

var errUnknown = errors.New("the first look for queues among all keys has not ended; expected a longer time-out, or the names of the queues")

// Look implements poll.Adapter, as that of ledger.Source.
func (a *Adapter) Look(ctx context.Context, most int) ([]ledger.Standing, error) {
	a.reader.within = a.cfg.Timeout
	all, err := a.Source.Look(ctx, most)
	if err == nil && !a.reader.known() {
		err = errUnknown
	}
	return all, err
}

// Report is what one poll found, and what it cost.
type Report struct {
	Cost
	all []found
}

// Check reads all queues once.
func Check(ctx context.Context, cfg Config) (*Report, error) {
	r := cfg.reader()
	r.within = cfg.Timeout
	all, cost, err := r.poll(ctx, time.Now().UnixMicro())
	if err == nil && !r.known() {
		err = errUnknown
	}
	return &Report{cost, all}, err
}

// Write writes how many tokens are in each place, how many jobs were read, and what that took.
func (r *Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "net\tplace\ttokens\tread\t")
	for _, f := range r.all {
		for i := range f.places {
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t\n", f.queue, f.places[i].id, f.places[i].tokens(), len(f.places[i].jobs))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d queues, and %d that are left out; %d commands in %d round trips, %d bytes, %v; SCAN looked at about %d keys\n",
		r.Queues, r.Refused, r.Commands, r.Rounds, r.Bytes, r.Took.Round(time.Millisecond/10), r.Keys)
	return err
}
