// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine/journal"
)

// ErrSettings is wrapped by the error of Open for an existing stream whose
// settings could lose or repeat commits.
var ErrSettings = errors.New("the stream's settings are not those of a log")

// Config is the configuration of a log. Conn and Name are required.
type Config struct {
	// Conn is the connection to the servers. The caller chooses how it
	// reconnects (best without a limit) and closes it after the log.
	Conn *nats.Conn
	// Name is any text; see NameOf.
	Name string
	// Replicas is the number of servers that keep the stream and its snapshots
	// when Open creates them; 0 means 1. If Replicas is not 0, an existing
	// stream must have as many.
	Replicas int
	// Window bounds the commits that are sent and not yet acknowledged. On a
	// server before 2.14 it is one commit.
	Window Window
	// AckWait is how long an answer may be missing before the log stops; 0
	// means 5 s. For the same time a follower asks again about a stream that
	// seems to be missing, or shorter than what the follower has read of it.
	AckWait time.Duration
	// Existing makes Open return journal.ErrMissing instead of creating a stream
	// that is missing.
	Existing bool
	// Keep returns the number of the first commit that some reader still needs;
	// SaveSnapshot removes only commits before it. Nil is no limit.
	Keep func() uint64
	// Servers records which servers have replicas. All logs of the process
	// should share it. Nil gives this log its own.
	Servers *Servers
	// Log receives reports of problems that the log has overcome: a follower
	// that starts again, a damaged snapshot. Nil logs nothing.
	Log *slog.Logger

	few bool // for tests: few answers from the first commit on, whether or not a caller waits
}

// Window bounds the commits on their way to the server. One commit of any size
// is always allowed.
type Window struct {
	Commits int // 0 is 1024; at most 65536
	Bytes   int // 0 is 4 MiB
}

const (
	defaultWindow  = 1024
	maxWindow      = 1 << 16
	defaultBytes   = 4 << 20
	defaultAckWait = 5 * time.Second
)

// checked returns the config with the defaults filled in.
func (c Config) checked() (Config, error) {
	switch {
	case c.Conn == nil:
		return c, errors.New("no connection")
	case c.Replicas < 0 || c.Window.Commits < 0 || c.Window.Bytes < 0 || c.AckWait < 0:
		return c, errors.New("negative replicas, window or wait for an answer; expected 0 or more")
	case c.Window.Commits > maxWindow:
		return c, fmt.Errorf("window of %d commits; expected at most %d", c.Window.Commits, maxWindow)
	}
	c.Window.Commits = cmp.Or(c.Window.Commits, defaultWindow)
	c.Window.Bytes = cmp.Or(c.Window.Bytes, defaultBytes)
	c.AckWait = cmp.Or(c.AckWait, defaultAckWait)
	c.Servers = cmp.Or(c.Servers, &Servers{})
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c, nil
}

// settings are those of a log's stream. Sizes and numbers have no limit: see differences.
func settings(stream, subject string, replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              stream,
		Description:       "log of commits, written by pnagent",
		Subjects:          []string{subject},
		Retention:         jetstream.LimitsPolicy,
		Storage:           jetstream.FileStorage,
		Discard:           jetstream.DiscardNew, // a full stream rejects new commits and keeps the old ones
		Replicas:          max(replicas, 1),
		DenyDelete:        true, // no commit in the middle can be deleted
		AllowDirect:       true,
		AllowBatchPublish: true, // where the server supports it: see batch.go
	}
}

// openStream returns the stream. If it is missing, it creates it, unless it must exist.
func openStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig, c *Config) (jetstream.Stream, error) {
	s, err := js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if c.Existing {
			return nil, journal.ErrMissing
		}
		s, err = js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was faster
			s, err = js.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return nil, err
	}
	if wrong := differences(s.CachedInfo().Config, want, c.Replicas); len(wrong) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrSettings, strings.Join(wrong, "; "))
	}
	return s, nil
}

// differences returns which settings of a stream are invalid for a log.
func differences(got, want jetstream.StreamConfig, replicas int) []string {
	var wrong []string
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	check(slices.Equal(got.Subjects, want.Subjects), "subjects %q, expected %q", got.Subjects, want.Subjects)
	check(got.Retention == want.Retention, "retention %v, expected %v", got.Retention, want.Retention)
	check(got.Storage == want.Storage, "storage %v, expected %v", got.Storage, want.Storage)
	check(got.Discard == want.Discard, "discard %v, expected %v", got.Discard, want.Discard)
	check(got.MaxAge == 0, "max age %v, expected none", got.MaxAge)
	check(got.MaxMsgsPerSubject <= 0, "%d messages a subject at most, expected no limit", got.MaxMsgsPerSubject)
	check(got.MaxMsgSize <= 0, "%d bytes a message at most, expected no limit", got.MaxMsgSize)
	check(got.FirstSeq <= 1, "first sequence %d, expected 1", got.FirstSeq)
	check(got.PersistMode == jetstream.DefaultPersistMode, "persist mode %v, expected the default", got.PersistMode)
	check(got.Mirror == nil && len(got.Sources) == 0, "a mirror or sources, expected none")
	check(got.SubjectTransform == nil, "a subject transform, expected none")
	check(!got.Sealed && !got.DenyPurge && !got.NoAck, "sealed, deny purge or no ack, expected none of them")
	check(replicas == 0 || got.Replicas == replicas, "%d replicas, expected %d", got.Replicas, replicas)
	return wrong
}
