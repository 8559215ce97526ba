// SPDX-License-Identifier: Apache-2.0

package plain

import "github.com/pnagent/pnagent/petri/split"

// Ready is what a shard has done since the last call of [Shard.Ready], each in
// order, for its owner to bring about. The slices are valid until the next call
// that plays.
type Ready struct {
	// Log is what happened, if Config.Log is set: firings, injections, and where
	// instances came to rest. All counters can be derived from that. An owner that
	// keeps a log takes it before time advances: Replay applies a whole log at one
	// time.
	Log []byte
	// Crossings are the tokens that firings put into places of other parts. They
	// have left the shard: Inject takes them in where their place is.
	Crossings []split.Crossing
}

// Ready returns what the shard has done since the last call.
func (s *Shard) Ready() Ready {
	r := Ready{s.log.take(), s.crossings}
	s.crossings = s.crossings[:0]
	return r
}
