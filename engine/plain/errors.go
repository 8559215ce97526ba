// SPDX-License-Identifier: Apache-2.0

package plain

import "github.com/pnagent/pnagent/engine/internal/shard"

// MaxNodes is how many places, and how many transitions, a net that is played
// may have.
const MaxNodes = shard.MaxNodes

// What a Shard refuses, besides petri.ErrNotEnabled and petri.ErrOverflow, and
// then nothing has changed.
var (
	ErrNoInstance = shard.ErrNoInstance // the shard does not hold it
	ErrElsewhere  = shard.ErrElsewhere  // a place or a transition of another part
	ErrLog        = shard.ErrLog        // Replay and LoadState: what was written down does not fit the shard that reads it
)
