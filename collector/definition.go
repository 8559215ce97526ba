// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

// fetch requests a definition and defines the net by it.
func (c *Collector) fetch(ctx context.Context, a Ask) {
	size, net, err := c.definition(ctx, a)
	now := time.Now().UnixMicro()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fetching, a)
	if !c.running {
		return
	}
	var asks []Ask
	defer func() { c.ask(ctx, asks) }()
	if err != nil {
		if telemetry.ReasonOf(err) != "" {
			c.merger.Reject(err, size)
		}
		c.notice(err, a.Net, now)
		return
	}
	if c.saving != nil {
		c.saving.finish()
	}
	asks, err = c.merger.Define(a.Digest, net, now)
	if err != nil {
		c.notice(err, a.Net, now)
		return
	}
	c.cfg.Log.Info("net defined", "net", a.Net, "digest", a.Digest, "places", len(net.Places), "transitions", len(net.Transitions))
}

// definition requests a definition and reads it. The error has a telemetry.Reason
// if an answer arrived and was wrong.
func (c *Collector) definition(ctx context.Context, a Ask) (size int, net *petri.Net, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	def, err := telemetry.RequestDefinition(ctx, c.cfg.Conn, c.cfg.Subjects, a.Net, a.Digest)
	if err != nil {
		return 0, nil, err
	}
	c.reading <- struct{}{}
	defer func() { <-c.reading }()
	net, err = ReadDefinition(def, c.cfg.PNML)
	return len(def.PNML), net, err
}

// ReadDefinition reads the net of a definition from its PNML. The error is
// telemetry.WrongDigest if the digest of the bytes is another one, or
// BadDefinition if the PNML is invalid or does not hold the net.
func ReadDefinition(def telemetry.Definition, lim pnml.Limits) (*petri.Net, error) {
	if got := telemetry.Digest(def.PNML); got != def.Digest {
		return nil, fmt.Errorf("%w: %s, expected %s", telemetry.WrongDigest, got, def.Digest)
	}
	file, err := pnml.Read(bytes.NewReader(def.PNML), "definition "+def.Digest, lim)
	if err != nil {
		return nil, fmt.Errorf("%w of net %q: %w", BadDefinition, def.Net, err)
	}
	for _, n := range file.Nets {
		if n.ID == def.Net {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%w: %d nets in definition %s; expected one with the id %q", BadDefinition, len(file.Nets), def.Digest, def.Net)
}
