// SPDX-License-Identifier: Apache-2.0

package alarm

import "fmt"

// Acknowledge acknowledges active alarms by their indices, or withdraws that. If one of them is
// not active, it changes nothing and returns ErrNoAlarm. ErrNote means an invalid name or
// comment.
func (d *Coordinator) Acknowledge(indices []uint32, ack Ack, withdrawn bool) error {
	if err := checkWords(ack.By, ack.Comment); err != nil {
		return err
	}
	var alarms []*Alarm
	for _, index := range indices {
		a := d.machine.alarm(index)
		if a == nil {
			return fmt.Errorf("%w has the index %d", ErrNoAlarm, index)
		}
		alarms = append(alarms, a)
	}
	for _, a := range alarms {
		d.notes.acknowledge(a, ack, withdrawn)
	}
	return nil
}

// Silence silences alarms. The error ErrNote is for an invalid selection, time, name or comment,
// and for too many silences.
func (d *Coordinator) Silence(s Silence) error {
	if err := checkWords(s.By, s.Comment); err != nil {
		return err
	}
	return d.notes.silence(s)
}

// Unsilence ends a silence before its time. The error is ErrNoSilence if it is not in effect.
func (d *Coordinator) Unsilence(id, by string, now int64) error {
	if err := checkWords(by, ""); err != nil {
		return err
	}
	return d.notes.unsilence(id, by, now)
}

// FoldNotes merges notes of another process of the pair.
func (d *Coordinator) FoldNotes(n Noted, now int64) { d.notes.merge(n, now, d.machine.book.active) }

// TakeNotes drops what is over, and reports whether notes have changed since the last call. The
// changes of this process are on the pages, for the others. With judged, a View was judged since.
func (d *Coordinator) TakeNotes(judged bool, now int64) (changed bool, pages [][]byte) {
	d.record(now)
	n := d.notes
	n.expire(now)
	if judged {
		n.forget(now, d.machine.book.active)
	}
	changed = n.version != n.shown
	n.shown = n.version
	pages = n.news.Pages()
	n.news = Noted{}
	return changed, pages
}

// Noted returns all notes.
func (d *Coordinator) Noted() Noted { return d.notes.all() }

// NotesDigest returns a text that is equal for the same acknowledgements and silences.
func (d *Coordinator) NotesDigest() string { return d.notes.digest() }
