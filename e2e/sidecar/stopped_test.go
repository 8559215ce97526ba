// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// promised is the interval that sources announce. They publish once a second, so that a busy
// machine makes none of them stale.
const promised = 3 * time.Second

// crowd is many sources of one net that publish once a second, as engines do.
type crowd struct {
	conn    *nats.Conn
	stopped context.CancelFunc
	tasks   sync.WaitGroup
}

func startCrowd(t *testing.T, url string, sources int) *crowd {
	t.Helper()
	c := &crowd{conn: kit.Connect(t, url)}
	ctx, cancel := context.WithCancel(t.Context())
	c.stopped = cancel
	// One of them is a real one: it answers what its net is.
	real, err := telemetry.Start(telemetry.Config{Conn: c.conn, Source: "real", Interval: promised, Log: slog.New(slog.DiscardHandler),
		Nets: []telemetry.SourceNet{{ID: "claims", PNML: []byte(kit.StuckNet), Places: 4, Transitions: 4}},
		Rows: func(_ int, _ int64, into *stats.Rows) error { into.Columns = stats.ColTokens; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	c.tasks.Go(func() { c.publish(ctx, t, sources-1) })
	t.Cleanup(func() {
		c.stop()
		if err := real.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// stop silences all but the real one, without a last word.
func (c *crowd) stop() {
	c.stopped()
	c.tasks.Wait()
}

// publish sends a snapshot of each source a second, evenly over the second.
func (c *crowd) publish(ctx context.Context, t *testing.T, sources int) {
	var enc telemetry.Encoder
	msg := telemetry.Snapshot{Net: "claims", Digest: telemetry.Digest([]byte(kit.StuckNet)), Epoch: time.Now().UnixMicro(), Interval: promised,
		Full: true, Rows: *stats.NewRows(4, 4)}
	msg.Rows.Columns = stats.ColTokens
	const turns = 20
	tick := time.NewTicker(time.Second / turns)
	defer tick.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		for i := turn % turns; i < sources; i += turns {
			msg.Source, msg.Seq, msg.SentAt = fmt.Sprintf("engine-%04d", i), uint64(turn/turns+1), time.Now().UnixMicro()
			text, err := enc.Append(nil, &msg)
			if err == nil {
				err = c.conn.Publish(telemetry.Subjects{}.Snapshot(msg.Net, msg.Source), text)
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	}
}

// A sidecar is stopped, as on a machine that is migrated, and continues: the messages
// that it missed do not make sources stale. A source that is silent after that is lost.
//
//promise:evidence pause
func TestASidecarThatWasStoppedCallsNoSourceLost(t *testing.T) {
	t.Parallel()
	const sources = 1000
	url := kit.StartNATS(t)
	side := kit.Serve(t, url)
	c := startCrowd(t, url, sources)
	up := func() error { return side.Has("pnagent_sources", sources, "state", "up") }
	kit.Until(t, "all are up", up)
	side.Pause(t)
	pause := time.NewTimer(12 * time.Second) // what is tested is that four times the promised interval goes by
	<-pause.C
	side.Resume(t)
	goesOn := time.Now()
	for time.Since(goesOn) < 5*time.Second {
		if err := side.Has("pnagent_sources", 0, "state", "stale"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * kit.PollEvery)
	}
	kit.Until(t, "all are received again", func() error {
		for _, s := range side.View(t).Sources {
			if s.LastMessage.Time().Before(goesOn) {
				return fmt.Errorf("%s was last received at %s", s.Name, s.LastMessage.Time())
			}
		}
		return up()
	})
	if err := side.Has("pnagent_alarms_raised_total", 0, "alarm", "sourceLost"); err != nil {
		t.Error(err)
	}
	c.stop()
	kit.Until(t, "those that are silent are lost", func() error {
		return side.Has("pnagent_alarms_raised_total", sources-1, "alarm", "sourceLost")
	})
}
