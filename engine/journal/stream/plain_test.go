// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/journal/journaltest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// withoutBatches creates the stream of a log as for a server before 2.14.
func withoutBatches(t testing.TB, nc *nats.Conn, name string) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := NameOf(name)
	if err != nil {
		t.Fatal(err)
	}
	c := settings(stream, subjectPrefix+stream[len(streamPrefix):], 1)
	c.AllowBatchPublish = false
	if _, err := js.CreateStream(soon(t), c); err != nil {
		t.Fatal(err)
	}
}

func TestLawsInAStreamWithoutBatches(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	nc := natstest.Connect(t, s)
	places := 0
	journaltest.Run(t, func(t testing.TB) func() journal.Log {
		places++
		c := Config{Conn: nc, Name: fmt.Sprintf("place %d", places)}
		withoutBatches(t, nc, c.Name)
		return func() journal.Log { return openLog(t, c) }
	})
}

// In a stream without batches, a writer that another one has replaced sends no
// more commits, and the server rejects those that it has sent.
//
//promise:owner pause
func TestAWriterIsFencedInAStreamWithoutBatches(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	nc := natstest.Connect(t, s)
	c := Config{Conn: nc, Name: "log"}
	withoutBatches(t, nc, c.Name)
	old, next := openLog(t, c), openLog(t, c)
	mustAppend(t, old, "1", "2")
	for range 50 {
		from := next.Last()
		if err := next.Refresh(soon(t)); err != nil {
			t.Fatal(err)
		}
		from = max(from, next.Last())
		mustAppend(t, next, fmt.Sprint("after ", from))
		n, err := old.Append(soon(t), old.Last(), []byte("a"), []byte("b"), []byte("c"))
		if err == nil {
			err = old.Confirm(soon(t), n)
		}
		if !errors.Is(err, journal.ErrNotLast) {
			t.Fatalf("the old writer gets %v", err)
		}
		if err := old.Refresh(soon(t)); err != nil {
			t.Fatal(err)
		}
		old, next = next, old
	}
	for _, text := range list(t, next, 3) {
		if !strings.HasPrefix(text, "after ") {
			t.Errorf("%q is in the stream", text)
		}
	}
}

// oldServer returns a connection to an old server, if one is installed.
func oldServer(t *testing.T) *nats.Conn {
	t.Helper()
	path, err := exec.LookPath("nats-server")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/nats-server") // Debian's, which is not in the PATH of each user
	}
	if err != nil {
		t.Skip("no nats-server is installed")
	}
	out, err := exec.Command(path, "--version").Output()
	if version := string(out); err != nil || !strings.Contains(version, " v2.9.") && !strings.Contains(version, " v2.10.") {
		t.Skipf("the nats-server that is installed is not an old one: %s", version)
	}
	port := porttest.Port(t)
	cmd := exec.Command(path, "-js", "-sd", t.TempDir(), "-a", "127.0.0.1", "-p", port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	nc, err := nats.Connect("nats://127.0.0.1:"+port, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if err := nc.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
	return nc
}

func TestReadersFarBehindOnAnOldServer(t *testing.T) {
	nc := oldServer(t)
	allSizes(t, openLog(t, Config{Conn: nc, Name: "a log"}), openLog(t, Config{Conn: nc, Name: "a log"}))
}

func TestLawsOnAnOldServer(t *testing.T) {
	nc := oldServer(t)
	places := 0
	journaltest.Run(t, func(t testing.TB) func() journal.Log {
		places++
		c := Config{Conn: nc, Name: fmt.Sprintf("place %d", places)}
		return func() journal.Log { return openLog(t, c) }
	})
}
