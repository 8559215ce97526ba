// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/petri/split"
)

// pending is what the shard of a net has done that the worker has still to bring
// about: events reach their catchers at once, the rest is in the next commit.
// Actions and faults are of the stage.
type pending struct {
	thrown    []coloured.Thrown
	log       []byte
	crossings []split.Crossing
}

// take takes over what the shard of a net has done.
func (w *worker) take(net int, now int64) *pending {
	r, p := w.shards[net].Ready(), &w.pending[net]
	p.thrown = append(p.thrown, r.Thrown...)
	if w.recorder != nil {
		p.log, p.crossings = append(p.log, r.Log...), append(p.crossings, r.Crossings...)
	}
	w.stage.take(net, &r, now)
	return p
}

// takeAll is take of all nets.
func (w *worker) takeAll(now int64) {
	for net := range w.shards {
		w.take(net, now)
	}
}
