// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/internal/natstest"
)

// ending runs a member until it ends by itself.
func (w *world) ending(cfg region.Config) error {
	w.t.Helper()
	cfg.Conn = natstest.Connect(w.t, w.nats)
	m, err := region.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return m.Run(w.t.Context())
}

// If upstream commits were removed before they were read, their tokens are
// lost. The part is stopped with that reason; the other parts of its process play.
// Once the loss is accepted, the part reads what the log still has.
//
//promise:notempty lostlog
func TestAPartWhoseUpstreamLogWasRemovedTooEarlyIsStopped(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 3, 5)
		x := w.member("x", "one")
		until(t, "x plays", func() bool { return w.logs.Open("one", nil).Last() > 2 })
		x()
		log := w.logs.Open("one", nil)
		if err := log.SaveSnapshot(t.Context(), log.Last(), func(io.Writer) error { return nil }); err != nil {
			t.Fatal(err)
		}
		y := w.member("y", "two")
		until(t, "part two is stopped", func() bool { return w.statuses()["two"].Stopped != "" })
		time.Sleep(10 * time.Second)
		if s := w.statuses()["two"]; s.Owner != "y" || s.Epoch != 1 || s.Stopped != `the log of "one" has lost commits: those after 0 were removed before they were read` {
			t.Errorf("%+v; want y to own the part, which is stopped", s)
		}
		y()
		w.base.Again = true
		w.member("y", "two")
		until(t, "part two is played", func() bool { s := w.statuses()["two"]; return s.Owner == "y" && s.Epoch == 3 && s.Stopped == "" })
	})
}

func TestAMemberWhoseLogCanNeverBeUsedEndsWithThat(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 3, 5)
		cfg := w.base
		cfg.Engine.Source = "x"
		cfg.Open = func(context.Context, string, bool, func() uint64) (region.Log, error) { return nil, region.ErrUnusable }
		if err := w.ending(cfg); !errors.Is(err, region.ErrUnusable) || !strings.Contains(err.Error(), "opening the log") {
			t.Errorf("%v; want an unusable log", err)
		}
	})
}

// unanswered is a log on a server that does not answer.
type unanswered struct {
	region.Log
	asked func()
}

func (l unanswered) Read(ctx context.Context, _ uint64) iter.Seq2[journal.Commit, error] {
	return func(yield func(journal.Commit, error) bool) {
		l.asked()
		<-ctx.Done()
		yield(journal.Commit{}, ctx.Err())
	}
}

func TestAMemberEndsThoughItsLogDoesNotAnswer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 3, 5)
		w.member("x", "one")
		until(t, "x plays", func() bool { return w.logs.Open("one", nil).Last() > 2 })
		asked, once := make(chan struct{}), sync.Once{}
		cfg := w.base
		cfg.Conn, cfg.Engine.Source, cfg.Parts = natstest.Connect(t, w.nats), "z", cfg.Parts[:1]
		cfg.Open = func(ctx context.Context, part string, create bool, keep func() uint64) (region.Log, error) {
			log, err := w.open(ctx, part, create, keep)
			return unanswered{log, func() { once.Do(func() { close(asked) }) }}, err
		}
		stop := run(t, cfg)
		<-asked
		stop() // it ends
	})
}

// counted counts the logged lines.
type counted struct {
	mu    sync.Mutex
	lines []string
}

func (c *counted) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, string(line))
	return len(line), nil
}

func TestALogThatCannotBeOpenedForAWhileIsLoggedOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, 3, 5)
		var lines counted
		tries := make(chan struct{}, 100)
		cfg := w.base
		cfg.Conn, cfg.Engine.Source, cfg.Parts, cfg.Log = natstest.Connect(t, w.nats), "z", cfg.Parts[:1], slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
		cfg.Open = func(context.Context, string, bool, func() uint64) (region.Log, error) {
			tries <- struct{}{}
			return nil, errors.New("away")
		}
		stop := run(t, cfg)
		for range 4 {
			<-tries
		}
		stop()
		lines.mu.Lock()
		defer lines.mu.Unlock()
		if len(lines.lines) != 1 || !strings.Contains(lines.lines[0], "away") {
			t.Errorf("%q; want one line", lines.lines)
		}
	})
}
