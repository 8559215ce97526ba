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
	// maxBackoff has a master that returns be served again within 2 s. An
	// attempt costs nothing to speak of: there is one sidecar, or a few.
	maxBackoff = 1500 * time.Millisecond
	// watchEvery is how often a wait looks whether a new socket is there.
	watchEvery = 250 * time.Millisecond
)

// backoff is how long to wait before the attempt after failures failed ones:
// half of a ceiling of 1 s, or 1.5 s after the first, and up to half more by
// chance, so that subagents which lost the same master do not come back in
// step.
func backoff(failures int, rng *rand.Rand) time.Duration {
	ceiling := maxBackoff
	if failures == 0 {
		ceiling = 2 * minBackoff
	}
	return ceiling/2 + time.Duration(rng.Int64N(int64(ceiling/2)+1))
}

// await waits for d, or until another socket is at address than when it
// began: a snmpd that comes back makes its unix socket anew, and need not wait
// for the backoff to pass. It tells whether that was so.
func await(ctx context.Context, address address, d time.Duration) (fresh bool) {
	before := address.identity()
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-deadline.C:
			return false
		case <-watch.C:
			if now := address.identity(); now != nil && !sameSocket(before, now) {
				return true
			}
		}
	}
}

// identity is what tells one unix socket from the next at the same path; nil
// for TCP and where there is no socket.
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

// sameSocket looks at the time as well, because a file system may give the
// number of a deleted file to the next one.
func sameSocket(before, now os.FileInfo) bool {
	return before != nil && os.SameFile(before, now) && before.ModTime().Equal(now.ModTime())
}
