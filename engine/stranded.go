// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Stranded returns an engine of a part in the state of the newest snapshot of
// its log. It is for a log that has lost commits that are in that snapshot: the
// engine cannot play or follow, only Show uses it. It returns ErrReplay if
// there is no snapshot.
func Stranded(ctx context.Context, cfg Config) (*Engine, error) {
	log := &snapshotAlone{Log: cfg.Journal}
	cfg.Journal = log
	e, err := read(ctx, cfg)
	if err == nil && log.upTo == 0 {
		err = fmt.Errorf("%w: it has no snapshot", ErrReplay)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// snapshotAlone is a log reduced to its newest snapshot.
type snapshotAlone struct {
	journal.Log
	upTo uint64 // of the snapshot, once it was loaded
}

// Last is not 0: nothing may be written into such a log.
func (l *snapshotAlone) Last() uint64 { return max(l.Log.Last(), 1) }

func (l *snapshotAlone) LoadSnapshot(ctx context.Context, read func(io.Reader) error) (upTo uint64, err error) {
	l.upTo, err = l.Log.LoadSnapshot(ctx, read)
	return l.upTo, err
}

func (l *snapshotAlone) Read(ctx context.Context, from uint64) iter.Seq2[journal.Commit, error] {
	if l.upTo == 0 {
		return l.Log.Read(ctx, from)
	}
	return func(func(journal.Commit, error) bool) {}
}

// Show publishes the state of a part whose engine does not run, as Serve does,
// and takes no requests. epoch is the last one in which this process owned the
// part; 0 if that is unknown. Call the returned function before the connection
// is closed.
func Show(e *Engine, epoch uint64, nc *nats.Conn, subjects telemetry.Subjects, interval time.Duration, log *slog.Logger) (end func(context.Context) error, err error) {
	e.recorder.owns.Epoch = max(e.recorder.owns.Epoch, epoch)
	rows := func(_ int, _ int64, into *stats.Rows) error {
		e.Followed(e.cfg.Clock(), into)
		return nil
	}
	publisher, err := e.publish(telemetry.Config{Conn: nc, Subjects: subjects, Interval: interval, Log: log, Rows: rows})
	if err != nil {
		return nil, err
	}
	return publisher.Leave, nil
}
