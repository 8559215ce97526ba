// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"testing"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
)

func TestALogThatMustExistIsNotCreated(t *testing.T) {
	nc := natstest.Connect(t, natstest.Start(t, natstest.JetStream(t.TempDir())))
	c := Config{Conn: nc, Name: "a log", Existing: true}
	if l, err := Open(soon(t), c); !errors.Is(err, journal.ErrMissing) {
		t.Fatalf("%v, %v; want that it does not exist", l, err)
	}
	openLog(t, Config{Conn: nc, Name: "a log"})
	openLog(t, c)
}

// A log that lost commits ends with its newest snapshot when it is renewed, and
// continues from there.
func TestARenewedLogEndsWithItsNewestSnapshot(t *testing.T) {
	remove := func(t *testing.T, l *Log) { // and another process has opened it
		if err := l.js.DeleteStream(soon(t), l.name); err != nil {
			t.Fatal(err)
		}
		openLog(t, l.config)
	}
	purge := func(t *testing.T, l *Log) {
		if err := l.stream.Purge(soon(t)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		snapshot uint64
		lose     func(*testing.T, *Log)
	}{
		"the stream was removed":             {3, remove},
		"the stream was purged":              {3, purge},
		"it was removed, without a snapshot": {0, remove},
		"it was purged, without a snapshot":  {0, purge},
		"with the last commit in a snapshot": {5, purge},
	} {
		t.Run(name, func(t *testing.T) {
			_, l := oneServer(t)
			mustAppend(t, l, "1", "2", "3", "4", "5")
			if c.snapshot > 0 {
				if err := save(l, c.snapshot, "state"); err != nil {
					t.Fatal(err)
				}
			}
			c.lose(t, l)
			other := openLog(t, l.config)
			if err := other.Renew(soon(t)); err != nil {
				t.Fatal(err)
			}
			renewed := openLog(t, l.config)
			if first, err := renewed.First(soon(t)); err != nil || first != c.snapshot+1 || renewed.Last() != c.snapshot {
				t.Fatalf("the log has commits from %d to %d, %v; want it to end with %d", first, renewed.Last(), err, c.snapshot)
			}
			if _, upTo := load(t, renewed); upTo != c.snapshot {
				t.Errorf("the snapshot is up to %d; want %d", upTo, c.snapshot)
			}
			mustAppend(t, renewed, "a", "b")
			if got := list(t, renewed, c.snapshot+1); len(got) != 2 || got[0] != "a" {
				t.Errorf("%q; want what was appended then", got)
			}
		})
	}
}

// The settings that an operator has added to a stream are those of the one in
// its place.
func TestARenewedLogKeepsItsSettings(t *testing.T) {
	_, l := oneServer(t)
	mustAppend(t, l, "1", "2")
	changed := l.stream.CachedInfo().Config
	changed.MaxBytes = 1 << 20
	if _, err := l.js.UpdateStream(soon(t), changed); err != nil {
		t.Fatal(err)
	}
	if err := l.stream.Purge(soon(t)); err != nil {
		t.Fatal(err)
	}
	if err := openLog(t, l.config).Renew(soon(t)); err != nil {
		t.Fatal(err)
	}
	s, err := l.js.Stream(soon(t), l.name)
	if err != nil || s.CachedInfo().Config.MaxBytes != 1<<20 {
		t.Errorf("%+v, %v; want the limit of bytes", s.CachedInfo().Config, err)
	}
}
