// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
)

// Acknowledge acknowledges active alarms by their indices, see alarm.Coordinator. It is safe for
// concurrent use, and needs Run.
func (w *Watcher) Acknowledge(ctx context.Context, indices []uint32, by, comment string) error {
	return w.acknowledge(ctx, indices, by, comment, false)
}

// Unacknowledge withdraws acknowledgements, with the errors of Acknowledge.
func (w *Watcher) Unacknowledge(ctx context.Context, indices []uint32, by, comment string) error {
	return w.acknowledge(ctx, indices, by, comment, true)
}

func (w *Watcher) acknowledge(ctx context.Context, indices []uint32, by, comment string, withdrawn bool) error {
	return w.order(ctx, func(d *alarm.Coordinator, now int64) error {
		return d.Acknowledge(indices, alarm.Ack{At: now, By: by, Comment: comment}, withdrawn)
	})
}

// Silence silences alarms for a time, from now on, from s.From on, or whenever s.Recurs; see
// alarm.Coordinator. A silence that recurs has no other length; without s.Until it does so for alarm.MaxSeries. It is
// safe for concurrent use, and needs Run.
func (w *Watcher) Silence(ctx context.Context, s alarm.Silence, length time.Duration) (shown alarm.Silence, err error) {
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails
	s.ID = hex.EncodeToString(random)
	err = w.order(ctx, func(d *alarm.Coordinator, now int64) error {
		s.From = max(s.From, now)
		switch {
		case s.Recurs.Cron == "":
			s.Until = s.From + length.Microseconds()
		case s.Until == 0:
			s.Until = s.From + alarm.MaxSeries.Microseconds()
		}
		if s.Recurs.Cron != "" {
			s.Recurs.For = length
		}
		shown = s.Shown(now)
		return d.Silence(s)
	})
	return shown, err
}

// Unsilence ends a silence before its time, see alarm.Coordinator. It is safe for concurrent
// use, and needs Run.
func (w *Watcher) Unsilence(ctx context.Context, id, by string) error {
	return w.order(ctx, func(d *alarm.Coordinator, now int64) error { return d.Unsilence(id, by, now) })
}

// Close ends alarms of which it is not known whether they hold, see alarm.Coordinator. It is
// safe for concurrent use, and needs Run.
func (w *Watcher) Close(ctx context.Context, indices []uint32, of alarm.Selection, by, comment string) (done alarm.Closed, err error) {
	err = w.order(ctx, func(d *alarm.Coordinator, now int64) (err error) {
		done, err = d.Close(indices, of, by, comment, now)
		w.file.saved = w.file.saved && err != nil
		return err
	})
	return done, err
}

// order makes Run carry out a change, and returns its result. Run saves and shares the change before.
func (w *Watcher) order(ctx context.Context, change func(d *alarm.Coordinator, now int64) error) error {
	done := make(chan error, 1)
	obey := func(now int64) {
		err := change(w.core, now)
		if err == nil {
			w.takeNotes(false, now)
			w.show()
		}
		done <- err
	}
	select {
	case w.orders <- obey:
		return <-done
	case <-ctx.Done():
		return fmt.Errorf("change the notes of alarms: %w", ctx.Err())
	}
}

// takeNotes drops what is over, and saves and shares the changes of notes.
func (w *Watcher) takeNotes(step bool, now int64) {
	changed, pages := w.core.TakeNotes(step, now)
	w.stale = w.stale || changed
	if changed || step && !w.notesFile.saved {
		w.write(&w.notesFile, func() []byte { all := w.core.Noted(); return all.File() })
	}
	w.shareNotes(pages)
}

// shareNotes passes pages of notes to the other processes.
func (w *Watcher) shareNotes(pages [][]byte) {
	if pages != nil && w.cfg.ShareNotes != nil {
		w.cfg.ShareNotes(pages)
	}
}
