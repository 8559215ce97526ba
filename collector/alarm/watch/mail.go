// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/collector/alarm"
)

// ErrBusy is wrapped by the error of Fold if too many pages wait.
var ErrBusy = errors.New("too many pages are waiting")

// inboxLength is the number of pages that may wait.
const inboxLength = 256

// message is a page from another process, or without a page a request to share all alarms
// or all notes.
type message struct {
	page  *alarm.Saved
	notes *alarm.Noted
	ask   bool // request the same from the others
	share bool // all notes
}

// Fold merges a page that another process of the pair passed to Config.Share. Its error
// wraps alarm.ErrState or ErrBusy. Fold is safe for concurrent use.
func (w *Watcher) Fold(page []byte) error {
	s, err := alarm.ParsePage(page)
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
// error wraps alarm.ErrState or ErrBusy. FoldNotes is safe for concurrent use.
func (w *Watcher) FoldNotes(page []byte) error {
	n, err := alarm.ParseNotesPage(page)
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
func (w *Watcher) receive(now int64) (changes []alarm.Change) {
	for len(w.inbox) > 0 {
		m := <-w.inbox
		switch {
		case m.notes != nil:
			w.core.FoldNotes(*m.notes, now)
			continue
		case m.share:
			w.shareAllNotes()
			continue
		case m.page == nil:
			if w.cfg.Share != nil {
				w.cfg.Share(w.core.All(), m.ask)
				w.shareAllNotes()
			}
			continue
		}
		changes = append(changes, w.core.Fold(m.page, now)...)
		w.file.saved, w.stale = false, true
	}
	return changes
}

// share passes the changes of this process to the others.
func (w *Watcher) share() {
	if pages := w.core.News(); pages != nil && w.cfg.Share != nil {
		w.cfg.Share(pages, false)
	}
}

// shareAllNotes passes all notes to the other processes.
func (w *Watcher) shareAllNotes() {
	all := w.core.Noted()
	w.shareNotes(all.Pages())
}
