// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"context"
	"math/rand/v2"
	"os"
	"time"
)

const (
	minBackoff = 500 * time.Millisecond
	// maxBackoff lets a master that returns be served within 2 s. An attempt is cheap:
	// a master has one sidecar, or a few.
	maxBackoff = 1500 * time.Millisecond
	// watchEvery is the time between two checks for a new socket.
	watchEvery = 250 * time.Millisecond
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

// await waits for d, or until the unix socket at address is replaced, as by a restart of
// snmpd. It reports whether the socket was replaced.
func await(ctx context.Context, address address, d time.Duration) (fresh bool) {
	before := address.identity()
	deadline := time.After(d)
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-deadline:
			return false
		case <-watch.C:
			if now := address.identity(); now != nil && !sameSocket(before, now) {
				return true
			}
		}
	}
}

// identity identifies a unix socket among later ones at the same path; nil for TCP or
// without a socket.
func (a address) identity() os.FileInfo {
	if a.network != "unix" {
		return nil
	}
	file, err := os.Stat(a.address)
	if err != nil {
		return nil
	}
	return file
}

// sameSocket compares the time as well, because a file system may give the number of a
// deleted file to the next one.
func sameSocket(before, now os.FileInfo) bool {
	return before != nil && os.SameFile(before, now) && before.ModTime().Equal(now.ModTime())
}
