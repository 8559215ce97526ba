// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
)

// written is the log of an owner. It reports what is appended to confirm.
type written struct {
	Log
	conn *nats.Conn
	over uint64        // how often conn was made again when the log was last compared
	some chan struct{} // has an element after an Append
}

func newWritten(log Log, conn *nats.Conn, some chan struct{}) *written {
	return &written{Log: log, conn: conn, over: conn.Stats().Reconnects, some: some}
}

// Append implements journal.Log. If the connection was made again, it first compares the log with
// what was read and written: a server that was restarted may have lost the end of the log, and
// another owner may have used its numbers.
func (l *written) Append(ctx context.Context, last uint64, commits ...[]byte) (uint64, error) {
	if over := l.conn.Stats().Reconnects; over != l.over {
		before, _, _ := engine.Linked(commits[0])
		ok, err := fits(ctx, l.Log, engine.Cursor{Position: last, Mark: before})
		if err == nil && !ok {
			err = engine.ErrRewritten
		}
		if err != nil {
			return last, fmt.Errorf("the log up to commit %d, over another connection: %w", last, err)
		}
		l.over = over
	}
	n, err := l.Log.Append(ctx, last, commits...)
	wake(l.some)
	return n, err
}

// Idle is that of the log, if it has one.
func (l *written) Idle() bool {
	log, ok := l.Log.(interface{ Idle() bool })
	return ok && log.Idle()
}
