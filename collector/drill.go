// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// askingAtOnce is how many sources are asked for their tokens at the same time.
const askingAtOnce = 16

// ErrNoAnswer means that no source could be asked, or none answered.
var ErrNoAnswer = errors.New("no source answered")

// respondent is a source that can be asked for tokens.
type respondent struct {
	source, digest string
	place          int     // index in the source's own definition
	rows           columns // of that definition; immutable
	shift          int64   // of its clock
}

// Oldest asks the sources of a net that are up for tokens of a place, an index in the net's
// Def. Waits of the answer are indices of Def too; its times, and those of q, are by the
// collector's clock. The error wraps ErrNoAnswer if no source with tokens in the place
// answered.
func (c *Collector) Oldest(ctx context.Context, net string, place int, q *stats.Query) (stats.Found, error) {
	asked := c.respondents(net, place)
	if len(asked) == 0 {
		return stats.Found{}, nil
	}
	answers := make([]stats.Found, len(asked))
	errs := c.each(len(asked), func(i int) (err error) {
		a, own := &asked[i], q.Shifted(-asked[i].shift)
		answers[i], err = telemetry.AskOldest(ctx, c.cfg.Conn, c.cfg.Subjects, net, a.source, a.digest, a.place, &own)
		if err == nil {
			err = a.translate(answers[i].Tokens)
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
		if s.Net == net && s.State == Up {
			names = append(names, s.Name)
		}
	}
	return names
}

// respondents returns the sources that are up and may have tokens in a place.
func (c *Collector) respondents(net string, place int) []respondent {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.merger.nets[net]
	if n == nil {
		return nil
	}
	var out []respondent
	for _, s := range n.order {
		cols := n.known[s.digest]
		if s.state != Up || s.rows == nil || cols == nil {
			continue
		}
		at := slices.Index(cols.places, int32(place))
		if at < 0 || place >= len(s.rows.Places) || s.columns.Has(stats.ColTokens) && s.rows.Places[place].Tokens == 0 {
			continue
		}
		out = append(out, respondent{source: s.name, digest: s.digest, place: at, rows: *cols, shift: s.clock.shift})
	}
	return out
}

// translate converts tokens from a source's definition and clock to the union and
// the collector's clock.
func (a *respondent) translate(tokens []stats.FoundToken) error {
	for i := range tokens {
		t := &tokens[i]
		t.Injected = max(t.Injected+a.shift, 1)
		for j := range t.Waits {
			w := &t.Waits[j]
			if int(w.Transition) >= len(a.rows.transitions) || int(w.Place) >= len(a.rows.places) {
				return fmt.Errorf("%w: source %q waits outside its definition", telemetry.BadIndex, a.source)
			}
			w.Transition = a.rows.transitions[w.Transition]
			if w.Place >= 0 {
				w.Place = a.rows.places[w.Place]
			}
			if w.Until != 0 {
				w.Until = max(w.Until+a.shift, 1)
			}
		}
	}
	return nil
}
