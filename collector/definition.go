// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

// fetch requests a definition and defines the net by it.
func (c *Collector) fetch(ctx context.Context, a merge.Ask) {
	size, net, err := c.definition(ctx, a)
	now := time.Now().UnixMicro()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fetching, a)
	if !c.running {
		return
	}
	var asks []merge.Ask
	defer func() { c.ask(ctx, asks) }()
	if err != nil {
		if telemetry.ReasonOf(err) != "" {
			c.merger.Reject(err, size)
		}
		c.notice(err, a.Net, now)
		return
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
func (c *Collector) definition(ctx context.Context, a merge.Ask) (size int, net *petri.Net, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	def, err := telemetry.RequestDefinition(ctx, c.cfg.Conn, c.cfg.Subjects, a.Net, a.Digest)
	if err != nil {
		return 0, nil, err
	}
	c.reading <- struct{}{}
	defer func() { <-c.reading }()
	net, err = merge.ReadDefinition(def, c.cfg.PNML)
	return len(def.PNML), net, err
}
