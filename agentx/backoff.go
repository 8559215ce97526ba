// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	minBackoff = 500 * time.Millisecond
	// maxBackoff lets a master that returns be served within 2 s. An attempt is cheap:
	// a master has one sidecar, or a few.
	maxBackoff = 1500 * time.Millisecond
	// listensWithin is the wait after a socket was made: a master makes the file, and then
	// listens.
	listensWithin = 20 * time.Millisecond
)

// backoff returns the wait before the attempt after failures failed ones: half of a
// ceiling of 1 s, or 1.5 s after the first, plus a random part of the other half, so that
// subagents that lost the same master do not reconnect in step.
func backoff(failures int, rng *rand.Rand) time.Duration {
	ceiling := maxBackoff
	if failures == 0 {
		ceiling = 2 * minBackoff
	}
	return ceiling/2 + time.Duration(rng.Int64N(int64(ceiling/2)+1))
}

// await waits for d, or until the unix socket at address is made, as by a restart of snmpd.
// It reports whether the socket was made. Only Linux reports when.
func await(ctx context.Context, address address, d time.Duration) (fresh bool) {
	var made <-chan struct{}
	if address.network == "unix" {
		var end func()
		made, end = watchFile(address.address)
		defer end()
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return false
	case <-made:
	}
	select {
	case <-ctx.Done():
	case <-time.After(listensWithin):
	}
	return true
}
