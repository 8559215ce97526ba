// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"github.com/pnagent/pnagent/stats"
)

// follow makes the shards keep the stays of the instances that Config.Follow chooses, from now on.
func (e *Engine) follow() {
	if e.cfg.Follow == nil {
		return
	}
	for _, w := range e.workers {
		for net, shard := range w.shards {
			id := e.cfg.Nets[net].Tables.Net.ID
			shard.Follow(func(number int) bool { return e.cfg.Follow(id, e.InstanceName(number)) }, w.now())
		}
	}
}

// Stays appends the stays of a net, by its index in the Config, since the last call, in no order.
// They are those of the instances that Config.Follow chose, by their numbers; a stay of no time is
// not among them. lost is how many did not fit: a worker keeps stats.MaxStays of each net.
func (e *Engine) Stays(ctx context.Context, net int, to []stats.Stay) (_ []stats.Stay, lost uint64, err error) {
	for _, w := range e.workers {
		err := e.look(ctx, w, func(int64) {
			var more uint64
			to, more = w.shards[net].TakeStays(to)
			lost += more
		})
		if err != nil {
			return to, lost, err
		}
	}
	return to, lost, nil
}
