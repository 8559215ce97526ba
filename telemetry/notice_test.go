// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// After a snapshot that could not be published, the next one is full.
func TestAfterALostPublishTheNextSnapshotIsFull(t *testing.T) {
	story(t, testConfig("a"), func(t *testing.T, _ *Publisher, l *fakeLink) {
		time.Sleep(2500 * time.Millisecond)
		l.take()
		l.set(func() { l.fail = errors.New("refused") })
		time.Sleep(time.Second)
		l.set(func() { l.fail = nil })
		time.Sleep(time.Second)
		if said := l.take(); !strings.HasSuffix(said, " full") {
			t.Errorf("sent %q after a publish that failed", said)
		}
	})
}

// A source logs once a minute that it is rejected, and which process it is.
func TestANoticeIsLoggedAndKept(t *testing.T) {
	var book bytes.Buffer
	cfg := testConfig("a")
	cfg.Log = slog.New(slog.NewTextHandler(&book, nil))
	now := time.UnixMicro(1_790_000_000_000_000)
	p, err := newPublisher(cfg, &fakeLink{t: t, start: now}, now.UnixMicro())
	if err != nil {
		t.Fatal(err)
	}
	for _, payload := range []string{"", "{}", `{"source":"other","reason":"conflict"}`} {
		p.noticed([]byte(payload), now)
	}
	if p.Notice() != nil || book.Len() > 0 {
		t.Errorf("stored %+v, logged %s", p.Notice(), book.String())
	}
	ours := []byte(`{"source":"host-1","net":"a","epoch":1790000000000000,"reason":"counter_fell","text":"arrivals"}`)
	for i := range 70 {
		p.noticed(ours, now.Add(time.Duration(i)*time.Second))
	}
	if n := strings.Count(book.String(), "collector rejects snapshots"); n != 2 {
		t.Errorf("logged %d times in 70 s: %s", n, book.String())
	}
	p.noticed([]byte(`{"source":"host-1","net":"a","epoch":5,"reason":"conflict","text":"two"}`), now)
	if got := p.Notice(); got == nil || got.Reason != Conflict || p.Stats().Refused != 70 || !strings.Contains(book.String(), "another process publishes as this source") {
		t.Errorf("%+v, refused %d, logged %s", got, p.Stats().Refused, book.String())
	}
}

// After rows that could not be read, the next snapshot is full.
func TestAfterRowsThatCouldNotBeReadTheNextSnapshotIsFull(t *testing.T) {
	cfg := testConfig("a")
	rows, failing := cfg.Rows, atomic.Bool{}
	cfg.Rows = func(net int, now int64, into *stats.Rows) error {
		if failing.Load() {
			return errors.New("no rows")
		}
		return rows(net, now, into)
	}
	story(t, cfg, func(t *testing.T, _ *Publisher, l *fakeLink) {
		time.Sleep(2500 * time.Millisecond)
		failing.Store(true)
		time.Sleep(time.Second)
		failing.Store(false)
		l.take()
		time.Sleep(time.Second)
		if said := l.take(); !strings.HasSuffix(said, " full") {
			t.Errorf("sent %q after rows that failed", said)
		}
	})
}
