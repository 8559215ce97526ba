// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// First returns the number of the first commit that the stream still has; one
// more than the last if it has none.
func (l *Log) First(ctx context.Context) (uint64, error) {
	state, err := l.state(ctx, l.config.AckWait)
	if err != nil {
		return 0, fmt.Errorf("stream %s: %w", l.name, err)
	}
	first, _ := bounds(state)
	return first, nil
}

// Renew makes the stream end with the newest snapshot, or without a commit if
// there is none. It is for a stream that cannot be read, because it ends before
// its snapshot or has lost commits after it; the commits that it still has are
// removed. The log must be opened again.
func (l *Log) Renew(ctx context.Context) error {
	if err := l.renew(ctx); err != nil {
		return fmt.Errorf("renew stream %s: %w", l.name, err)
	}
	return nil
}

func (l *Log) renew(ctx context.Context) error {
	var upTo uint64
	there, err := l.snapshots(ctx)
	if err != nil {
		return err
	}
	if len(there) > 0 {
		upTo = there[0].upTo
	}
	state, err := l.state(ctx, l.config.AckWait)
	if err != nil {
		return err
	}
	if state.LastSeq > upTo { // a stream does not go back
		want := l.stream.CachedInfo().Config
		maps.DeleteFunc(want.Metadata, func(key, _ string) bool { return strings.HasPrefix(key, "_nats.") }) // the server's own
		if err := l.js.DeleteStream(ctx, l.name); err != nil {
			return err
		}
		l.stream, err = openStream(ctx, l.js, want, &Config{})
		if err != nil {
			return err
		}
	}
	if upTo == 0 {
		return nil
	}
	// A purge up to a commit that the stream does not have yet makes the stream
	// end there.
	return l.stream.Purge(ctx, jetstream.WithPurgeSequence(upTo+1))
}
