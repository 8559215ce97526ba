// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/journal/journaltest"
	"github.com/pnagent/pnagent/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m, goleak.IgnoreTopFunction(ofClient)) }

// ofClient is a goroutine of nats.go v1.55.0 that a Put into an object store
// starts. It waits forever if the Put ends before the goroutine has begun,
// because the channel that it reads is gone by then.
const ofClient = "github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"

// patience is how long a test waits for an event.
const patience = 60 * time.Second

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// openLog opens a log that is closed at the end of the test. A test that checks
// the error of Close calls Close itself.
func openLog(t testing.TB, c Config) *Log {
	t.Helper()
	l, err := Open(soon(t), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// oneServer returns a new server and a log on it.
func oneServer(t testing.TB) (*server.Server, *Log) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	return s, openLog(t, Config{Conn: natstest.Connect(t, s), Name: "a log"})
}

func mustAppend(t testing.TB, l *Log, texts ...string) {
	t.Helper()
	n := l.Last()
	for _, text := range texts {
		var err error
		if n, err = l.Append(soon(t), n, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Confirm(soon(t), n); err != nil {
		t.Fatal(err)
	}
}

// list returns the texts of the commits from a number on.
func list(t testing.TB, l *Log, from uint64) []string {
	t.Helper()
	var texts []string
	for c, err := range l.Read(soon(t), from) {
		if err != nil {
			t.Fatal(err)
		}
		if want := from + uint64(len(texts)); c.Sequence != want {
			t.Fatalf("commit %d, want %d", c.Sequence, want)
		}
		texts = append(texts, string(c.Payload))
	}
	return texts
}

// chain is a digest over commits in their order.
type chain struct {
	last uint64
	sum  [sha256.Size]byte
}

func (c *chain) add(sequence uint64, payload []byte) error {
	if sequence != c.last+1 {
		return fmt.Errorf("received commit %d after %d", sequence, c.last)
	}
	c.last = sequence
	c.sum = sha256.Sum256(append(c.sum[:], payload...))
	return nil
}

var errEnough = errors.New("enough")

// followTo follows the log from the first commit to upTo.
func followTo(ctx context.Context, l *Log, upTo uint64) (chain, error) {
	var c chain
	err := l.Follow(ctx, 1, func(j journal.Commit) error {
		if err := c.add(j.Sequence, j.Payload); err != nil {
			return err
		}
		if c.last == upTo {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return c, err
}

func TestLaws(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	nc := natstest.Connect(t, s)
	places := 0
	for _, w := range []Window{{}, {Commits: 1}, {Bytes: 1}} {
		t.Run(fmt.Sprintf("window %+v", w), func(t *testing.T) {
			journaltest.Run(t, func(t testing.TB) func() journal.Log {
				places++
				c := Config{Conn: nc, Name: fmt.Sprintf("place %d", places), Window: w}
				return func() journal.Log { return openLog(t, c) }
			})
		})
	}
}

func save(l *Log, upTo uint64, state string) error {
	return l.SaveSnapshot(context.Background(), upTo, func(w io.Writer) error { _, err := io.WriteString(w, state); return err })
}

// load returns the newest snapshot and the last commit in it.
func load(t testing.TB, l *Log) (state string, upTo uint64) {
	t.Helper()
	upTo, err := l.LoadSnapshot(soon(t), func(r io.Reader) error {
		b, err := io.ReadAll(r)
		state = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state, upTo
}
