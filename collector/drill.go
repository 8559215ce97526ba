// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// askingAtOnce is how many sources are asked for their tokens at the same time.
const askingAtOnce = 16

// ErrNoAnswer means that no source could be asked, or none answered.
var ErrNoAnswer = errors.New("no source answered")

// Oldest asks the sources of a net that are up for tokens of a place, an index in the net's
// Def. Waits of the answer are indices of Def too; its times, and those of q, are by the
// collector's clock. The error wraps ErrNoAnswer if no source with tokens in the place
// answered.
func (c *Collector) Oldest(ctx context.Context, net string, place int, q *stats.Query) (stats.Found, error) {
	c.mu.Lock()
	asked := c.merger.Respondents(net, place)
	c.mu.Unlock()
	if len(asked) == 0 {
		return stats.Found{}, nil
	}
	answers := make([]stats.Found, len(asked))
	errs := c.each(len(asked), func(i int) (err error) {
		a := &asked[i]
		own := q.Shifted(-a.Shift)
		answers[i], err = telemetry.AskOldest(ctx, c.cfg.Conn, c.cfg.Subjects, net, a.Source, a.Digest, a.Place, &own)
		if err == nil {
			err = a.Translate(answers[i].Tokens)
		}
		if err != nil {
			answers[i] = stats.Found{}
		}
		return err
	})
	if failed := errors.Join(errs...); failed != nil && !slices.Contains(errs, nil) {
		return stats.Found{}, fmt.Errorf("tokens of place %d of net %q: %w: %w", place, net, ErrNoAnswer, failed)
	}
	return stats.MergeFound(answers, q.Limit), nil
}

// Instance asks the sources of a net that are up for an instance. Of the sources
// that have it, Instance returns the answer of the first by name, with times by
// that source's clock. The error wraps telemetry.ErrNoInstance if all sources
// answered and none has it, and ErrNoAnswer if a source did not answer.
func (c *Collector) Instance(ctx context.Context, net, name string) (*telemetry.Instance, error) {
	sources := c.upIn(net)
	answers := make([]*telemetry.Instance, len(sources))
	errs := c.each(len(sources), func(i int) (err error) {
		answers[i], err = telemetry.AskInstance(ctx, c.cfg.Conn, c.cfg.Subjects, net, sources[i], name)
		if errors.Is(err, telemetry.ErrNoInstance) {
			return nil
		}
		return err
	})
	for _, found := range answers {
		if found != nil {
			return found, nil
		}
	}
	if failed := errors.Join(errs...); failed != nil {
		return nil, fmt.Errorf("instance %q of net %q: %w: %w", name, net, ErrNoAnswer, failed)
	}
	return nil, fmt.Errorf("instance %q of net %q: %w", name, net, telemetry.ErrNoInstance)
}

// each calls ask for 0 … n-1, askingAtOnce of them at the same time, and returns
// the errors.
func (c *Collector) each(n int, ask func(int) error) []error {
	errs := make([]error, n)
	var asking errgroup.Group
	asking.SetLimit(askingAtOnce)
	for i := range n {
		asking.Go(func() error {
			errs[i] = ask(i)
			return nil
		})
	}
	_ = asking.Wait() // errors are in errs
	return errs
}

// upIn returns the names of the sources of a net that are up.
func (c *Collector) upIn(net string) []string {
	var names []string
	for _, s := range c.View().Sources {
		if s.Net == net && s.State == merge.Up {
			names = append(names, s.Name)
		}
	}
	return names
}
