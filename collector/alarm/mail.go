// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"fmt"
)

// ErrBusy is wrapped by the error of Fold if too many pages wait.
var ErrBusy = errors.New("too many pages are waiting")

// inboxLength is the number of pages that may wait.
const inboxLength = 256

// message is a page from another process, or without a page a request to share all alarms
// or all notes.
type message struct {
	page  *Saved
	notes *noted
	ask   bool // request the same from the others
	share bool // all notes
}

// Fold merges a page that another process of the pair passed to Config.Share. Its error
// wraps ErrState or ErrBusy. Fold is safe for concurrent use.
func (w *Watcher) Fold(page []byte) error {
	s, err := parsePage(page)
	if err != nil {
		return err
	}
	if !w.post(message{page: &s}) {
		return fmt.Errorf("%w: %d", ErrBusy, inboxLength)
	}
	return nil
}

// ShareAll makes Run pass all alarms to Config.Share, and request those of the other
// processes if ask is set. It is safe for concurrent use.
func (w *Watcher) ShareAll(ask bool) { w.post(message{ask: ask}) }

// FoldNotes merges a page that another process of the pair passed to Config.ShareNotes. Its
// error wraps ErrState or ErrBusy. FoldNotes is safe for concurrent use.
func (w *Watcher) FoldNotes(page []byte) error {
	if len(page) > MaxPage {
		return fmt.Errorf("%w: a page of %d bytes; expected at most %d", ErrState, len(page), MaxPage)
	}
	n, err := parseNotes(page)
	if err != nil {
		return err
	}
	if !w.post(message{notes: &n}) {
		return fmt.Errorf("%w: %d", ErrBusy, inboxLength)
	}
	return nil
}

// ShareAllNotes makes Run pass all notes to Config.ShareNotes. It is safe for concurrent use.
func (w *Watcher) ShareAllNotes() { w.post(message{share: true}) }

// NotesDigest returns a text that is equal in two processes that have the same
// acknowledgements and silences. It is safe for concurrent use.
func (w *Watcher) NotesDigest() string { return *w.notesDigest.Load() }

// Digest returns a text that is equal in two processes that have the same alarms, with
// the same indices and phases. It is safe for concurrent use.
func (w *Watcher) Digest() string { return *w.digest.Load() }

// post queues a message, and reports whether there was room.
func (w *Watcher) post(m message) bool {
	select {
	case w.inbox <- m:
	default:
		return false
	}
	select {
	case w.wake <- struct{}{}:
	default: // Run is already woken
	}
	return true
}

// receive handles all waiting messages, and returns the changes to notify.
func (w *Watcher) receive(now int64) (changes []Change) {
	for len(w.inbox) > 0 {
		m := <-w.inbox
		switch {
		case m.notes != nil:
			w.coordinator.notes.merge(*m.notes, now, w.coordinator.machine.book.active)
			continue
		case m.share:
			w.shareNotes(w.coordinator.notes.all())
			continue
		case m.page == nil:
			if w.cfg.Share != nil {
				w.cfg.Share(w.coordinator.all(), m.ask)
				w.shareNotes(w.coordinator.notes.all())
			}
			continue
		}
		changes = append(changes, w.coordinator.fold(m.page, now)...)
		w.file.saved, w.stale = false, true
	}
	return changes
}

// share passes the changes of this process to the others.
func (w *Watcher) share() {
	if pages := w.coordinator.news(); pages != nil && w.cfg.Share != nil {
		w.cfg.Share(pages, false)
	}
}
