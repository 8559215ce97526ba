// SPDX-License-Identifier: Apache-2.0

package act

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/internal/ordered"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

// Limits of looking for an instance.
const (
	askTimeout = 2 * time.Second // of one source
	askAtOnce  = 16              // sources
	maxSources = 10000
	maxNamed   = 100 // nets whose definition is read for their name
)

// Owner returns the source that an instance is most likely in: engines name an instance
// SOURCE/NUMBER, and a net in parts NET/NUMBER. "" if the name has no such form.
func Owner(instance string) string {
	return instance[:max(strings.LastIndexByte(instance, '/'), 0)]
}

// holder is a source that has the instance.
type holder struct {
	source string
	found  *telemetry.Instance
}

// sources asks which sources run the net of a request. If the one that its instance is
// named after answers, it is enough.
func (c *Client) sources(ctx context.Context, r *Request) (net string, of []telemetry.Discovered, err error) {
	var all []telemetry.Discovered
	enough := r.Source
	if enough == "" {
		enough = Owner(r.Instance)
	}
	err = telemetry.Discover(ctx, c.Conn, c.Subjects, func(d telemetry.Discovered) bool {
		all = append(all, d)
		if d.Source == enough && d.Nets[r.Net] != "" {
			all = []telemetry.Discovered{d}
			return false
		}
		return len(all) < maxSources
	})
	if err = errors.Join(c.refused(telemetry.SourcesSubject), err); err != nil {
		return "", nil, err
	}
	if net, err = c.netOf(ctx, r.Net, all); err != nil {
		return "", nil, err
	}
	var names []string
	for _, d := range all {
		if d.Nets[net] == "" {
			continue
		}
		names = append(names, d.Source)
		if r.Source == "" || r.Source == d.Source {
			of = append(of, d)
		}
	}
	if len(of) == 0 {
		return "", nil, fmt.Errorf("source %q does not run net %q; %s", r.Source, net, offer(r.Source, names))
	}
	return net, of, nil
}

// netOf returns the id of the net that a word names: the one with that id, or else the
// only one with that name.
func (c *Client) netOf(ctx context.Context, word string, all []telemetry.Discovered) (string, error) {
	digests := map[string]string{}
	for _, d := range all {
		maps.Copy(digests, d.Nets)
	}
	if len(digests) == 0 {
		return "", fmt.Errorf("no source of any net answers below %s", c.Subjects.Prefix())
	}
	if digests[word] != "" {
		return word, nil
	}
	ids := slices.Sorted(maps.Keys(digests))
	var named []string
	for _, id := range ids[:min(len(ids), maxNamed)] {
		if def, err := c.definition(ctx, id, digests[id]); err == nil && def.Name == word {
			named = append(named, id)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return "", fmt.Errorf("no source runs net %q; %s", word, offer(word, ids))
	}
	return "", fmt.Errorf("%d nets are named %q: %s; expected an id", len(named), word, list(named))
}

// definition reads the definition of a net.
func (c *Client) definition(ctx context.Context, net, digest string) (*petri.Net, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	def, err := telemetry.RequestDefinition(ctx, c.Conn, c.Subjects, net, digest)
	if err != nil {
		return nil, errors.Join(c.refused(c.Subjects.Definition(net, digest)), err)
	}
	file, err := pnml.Read(bytes.NewReader(def.PNML), "definition "+digest, pnml.DefaultLimits())
	if err != nil {
		return nil, fmt.Errorf("definition of net %q: %w", net, err)
	}
	for _, n := range file.Nets {
		if n.ID == net {
			return n, nil
		}
	}
	return nil, fmt.Errorf("definition %s has no net %q", digest, net)
}

// holders asks sources for an instance, and returns those that have it.
func (c *Client) holders(ctx context.Context, r *Request, net string, of []telemetry.Discovered) ([]holder, error) {
	found, failed := make([]*telemetry.Instance, len(of)), make([]error, len(of))
	var asking errgroup.Group
	asking.SetLimit(askAtOnce)
	for i, d := range of {
		asking.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, askTimeout)
			defer cancel()
			found[i], failed[i] = telemetry.AskInstance(ctx, c.Conn, c.Subjects, net, d.Source, r.Instance)
			return nil
		})
	}
	_ = asking.Wait() // each has its own error
	var have []holder
	for i, d := range of {
		if found[i] != nil {
			have = append(have, holder{d.Source, found[i]})
		}
	}
	if len(have) == 0 {
		return nil, errors.Join(c.refused(c.Subjects.Instances(net, of[0].Source)), c.missing(r, net, of, failed))
	}
	return pick(r, have)
}

// pick returns the sources to act on: one, or several parts of the net.
func pick(r *Request, have []holder) ([]holder, error) {
	var names []string
	for _, h := range have {
		names = append(names, h.source)
	}
	for _, h := range have {
		if h.found.Acts == "" {
			return nil, adapter(h.source, h.found.Tool, foreign(h.found, "")...)
		}
		if !takesVerb(h.found, r.Verb) {
			return nil, fmt.Errorf("source %q takes only requests to %s", h.source, strings.Join(h.found.Verbs, ", "))
		}
		if part := h.found.Acts != h.source; len(have) > 1 && !part {
			return nil, fmt.Errorf("%d sources have an instance %q: %s; expected one, as --source", len(have), r.Instance, list(names))
		}
	}
	ordered.By(have, func(a, b *holder) int { return strings.Compare(a.source, b.source) })
	return slices.CompactFunc(have, func(a, b holder) bool { return a.found.Acts == b.found.Acts }), nil
}

// ErrAdapter says that the source of an instance takes no requests, because it publishes
// for another engine.
var ErrAdapter = errors.New("takes no requests: it publishes what another engine does")

func adapter(source, tool string, commands ...string) error {
	err := fmt.Errorf("source %q %w; use %s", source, ErrAdapter, cmp.Or(tool, "the tool of that engine"))
	if len(commands) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.Join(commands, "; or: "))
	}
	return err
}

// missing is the error if no source has the instance.
func (c *Client) missing(r *Request, net string, of []telemetry.Discovered, failed []error) error {
	if len(of) == 1 && !errors.Is(failed[0], telemetry.ErrNoInstance) && of[0].Tool != "" {
		return adapter(of[0].Source, of[0].Tool)
	}
	text := fmt.Sprintf("net %q: no source that answers has instance %q", net, r.Instance)
	owner, names := Owner(r.Instance), []string{}
	for i, d := range of {
		names = append(names, d.Source)
		if known := errors.Is(failed[i], telemetry.ErrNoInstance); !known || len(of) == 1 || d.Source == owner {
			text += fmt.Sprintf("; source %q: %v", d.Source, silent(failed[i]))
		}
	}
	if owner != "" && owner != net && !slices.Contains(names, owner) {
		text += fmt.Sprintf("; source %q does not answer; %s", owner, offer(owner, names))
	}
	if owner == "" && len(of) > 1 {
		text += fmt.Sprintf("; expected a name as the page shows it, such as %q", names[0]+"/0")
	}
	return errors.New(text)
}

// silent returns the error of a source that was asked, in words for people.
func silent(err error) error {
	switch cause := errors.Unwrap(err); {
	case errors.Is(err, nats.ErrNoResponders):
		return errors.New("it does not answer: it is away, or reports no instances")
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("it does not answer within %v", askTimeout)
	case cause != nil:
		return cause
	}
	return err
}
