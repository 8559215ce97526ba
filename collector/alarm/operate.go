// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// order is what an operator asks for. Run carries it out.
type order struct {
	change func(d *coordinator, now int64) error
	done   chan error // has room for the result
}

// Acknowledge acknowledges active alarms by their indices. If one of them is not active,
// it changes nothing and returns ErrNoAlarm. ErrNote means an invalid name or comment.
// Acknowledge is safe for concurrent use, and needs Run.
func (w *Watcher) Acknowledge(ctx context.Context, indices []uint32, by, comment string) error {
	return w.acknowledge(ctx, indices, Ack{By: by, Comment: comment}, false)
}

// Unacknowledge withdraws acknowledgements, with the errors of Acknowledge.
func (w *Watcher) Unacknowledge(ctx context.Context, indices []uint32, by, comment string) error {
	return w.acknowledge(ctx, indices, Ack{By: by, Comment: comment}, true)
}

func (w *Watcher) acknowledge(ctx context.Context, indices []uint32, ack Ack, withdrawn bool) error {
	if err := checkWords(ack.By, ack.Comment); err != nil {
		return err
	}
	return w.order(ctx, func(d *coordinator, now int64) error {
		var alarms []*Alarm
		for _, index := range indices {
			a := d.machine.alarm(index)
			if a == nil {
				return fmt.Errorf("%w has the index %d", ErrNoAlarm, index)
			}
			alarms = append(alarms, a)
		}
		ack.At = now
		for _, a := range alarms {
			d.notes.acknowledge(a, ack, withdrawn)
		}
		return nil
	})
}

// Silence silences alarms from now on for a time. The error ErrNote is for an invalid
// selection, time, name or comment, and for too many silences. Silence is safe for
// concurrent use, and needs Run.
func (w *Watcher) Silence(ctx context.Context, of Selection, length time.Duration, by, comment string) (Silence, error) {
	if err := checkWords(by, comment); err != nil {
		return Silence{}, err
	}
	random := make([]byte, idLength/2)
	_, _ = rand.Read(random) // never fails
	s := Silence{ID: hex.EncodeToString(random), By: by, Comment: comment, Selection: of}
	err := w.order(ctx, func(d *coordinator, now int64) error {
		s.From, s.Until = now, now+length.Microseconds()
		return d.notes.silence(s)
	})
	return s, err
}

// Unsilence ends a silence before its time. The error is ErrNoSilence if it is not in
// effect. Unsilence is safe for concurrent use, and needs Run.
func (w *Watcher) Unsilence(ctx context.Context, id, by string) error {
	if err := checkWords(by, ""); err != nil {
		return err
	}
	return w.order(ctx, func(d *coordinator, now int64) error { return d.notes.unsilence(id, by, now) })
}

// order makes Run carry out a change, and returns its result.
func (w *Watcher) order(ctx context.Context, change func(d *coordinator, now int64) error) error {
	o := order{change, make(chan error, 1)}
	select {
	case w.orders <- o:
		return <-o.done
	case <-ctx.Done():
		return fmt.Errorf("change the notes of alarms: %w", ctx.Err())
	}
}

// obey carries out an order, and saves and shares it before it answers.
func (w *Watcher) obey(o order, now int64) {
	err := o.change(&w.coordinator, now)
	if err == nil {
		w.takeNotes(false, now)
		w.show()
	}
	o.done <- err
}

// takeNotes drops what is over, and saves and shares the changes of notes.
func (w *Watcher) takeNotes(step bool, now int64) {
	d := &w.coordinator
	d.record(now)
	d.notes.expire(now)
	if step {
		d.notes.forget(now, d.machine.book.active)
	}
	changed := d.notes.version != d.notes.shown
	if changed {
		d.notes.shown, w.stale = d.notes.version, true
	}
	if changed || step && !w.notesFile.saved {
		w.write(&w.notesFile, func() []byte { all := d.notes.all(); return all.file() })
	}
	news := d.notes.news
	d.notes.news = noted{}
	w.shareNotes(news)
}

// shareNotes passes notes to the other processes.
func (w *Watcher) shareNotes(n noted) {
	if pages := n.pages(); pages != nil && w.cfg.ShareNotes != nil {
		w.cfg.ShareNotes(pages)
	}
}

// notesBefore returns the notes of the previous process.
func (w *Watcher) notesBefore() noted {
	if w.cfg.NotesFile == "" {
		return noted{}
	}
	read, err := readNotes(w.cfg.NotesFile)
	switch {
	case errors.Is(err, ErrState):
		w.counters.Damaged.Notes++
		w.keepDamaged(w.cfg.NotesFile, err, false, "the notes of alarms are damaged: starting without earlier acknowledgements and silences")
		return noted{}
	case read.damage != nil:
		w.counters.Damaged.Notes++
		w.keepDamaged(w.cfg.NotesFile, read.damage, true, "")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		w.cfg.Log.Warn("starting without earlier acknowledgements and silences", "err", err)
	}
	return read.value
}
