// SPDX-License-Identifier: Apache-2.0

package plain

import "github.com/pnagent/pnagent/engine/internal/shard"

// MaxNodes is the largest number of places, and of transitions, of a net.
const MaxNodes = shard.MaxNodes

// Errors of a Shard, besides petri.ErrNotEnabled and petri.ErrOverflow. A call
// that returns one of them has changed nothing.
var (
	ErrNoInstance = shard.ErrNoInstance // the shard does not hold it
	ErrElsewhere  = shard.ErrElsewhere  // a place or a transition of another part
	ErrLog        = shard.ErrLog        // of Replay and LoadState, about data that does not fit the shard that reads it
)
