// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/collector/alarm"
)

// ErrBusy is wrapped by the error of Fold if too many pages wait.
var ErrBusy = errors.New("too many pages are waiting")

// inboxLength is the number of pages and requests that may wait.
const inboxLength = 256

// mail is what Run does for another goroutine. It returns the changes to notify.
type mail func(now int64) []alarm.Change

// Fold merges a page that another process of the pair passed to Config.Share. Its error
// wraps alarm.ErrState or ErrBusy. Fold is safe for concurrent use.
func (w *Watcher) Fold(page []byte) error {
	s, err := alarm.ParsePage(page)
	if err != nil {
		return err
	}
	return w.post(func(now int64) []alarm.Change {
		w.file.saved, w.stale = false, true
		return w.core.Fold(&s, now)
	})
}

// ShareAll makes Run pass all alarms to Config.Share, and request those of the other
// processes if ask is set. It is safe for concurrent use.
func (w *Watcher) ShareAll(ask bool) {
	_ = w.post(func(int64) []alarm.Change { // the others ask again
		if w.cfg.Share != nil {
			w.cfg.Share(w.core.All(), ask)
			w.shareAllNotes()
			w.shareSent(w.core.Escalations())
		}
		return nil
	})
}

// FoldNotes merges a page that another process of the pair passed to Config.ShareNotes. Its
// error wraps alarm.ErrState or ErrBusy. FoldNotes is safe for concurrent use.
func (w *Watcher) FoldNotes(page []byte) error {
	n, err := alarm.ParseNotesPage(page)
	if err != nil {
		return err
	}
	return w.post(func(now int64) []alarm.Change {
		w.core.FoldNotes(n, now)
		return nil
	})
}

// maxSent bounds a page of escalations, in bytes of JSON.
const maxSent = 64 << 10

// FoldSent merges a page that another process of the pair passed to Config.ShareSent. It is safe for
// concurrent use.
func (w *Watcher) FoldSent(page []byte) error {
	var sent []alarm.Escalated
	if len(page) > maxSent {
		return fmt.Errorf("%w: a page of escalations of %d bytes; expected at most %d", alarm.ErrState, len(page), maxSent)
	}
	if err := json.Unmarshal(page, &sent); err != nil {
		return fmt.Errorf("%w: a page of escalations: %w", alarm.ErrState, err)
	}
	return w.post(func(int64) []alarm.Change {
		for _, c := range sent {
			w.core.ConfirmEscalation(c)
		}
		return nil
	})
}

// shareSent passes escalations that were taken to the other processes. If the message is lost, one of them
// may send an escalation again, with its id.
func (w *Watcher) shareSent(sent []alarm.Escalated) {
	const most = 200 // on a page
	for len(sent) > 0 && w.cfg.ShareSent != nil {
		n := min(len(sent), most)
		page, _ := json.Marshal(sent[:n]) // never fails for these fields
		w.cfg.ShareSent(page)
		sent = sent[n:]
	}
}

// ShareAllNotes makes Run pass all notes to Config.ShareNotes. It is safe for concurrent use.
func (w *Watcher) ShareAllNotes() {
	_ = w.post(func(int64) []alarm.Change { // as in ShareAll
		w.shareAllNotes()
		return nil
	})
}

// NotesDigest returns a text that is equal in two processes that have the same
// acknowledgements and silences. It is safe for concurrent use.
func (w *Watcher) NotesDigest() string { return *w.notesDigest.Load() }

// Digest returns a text that is equal in two processes that have the same alarms, with
// the same indices and phases. It is safe for concurrent use.
func (w *Watcher) Digest() string { return *w.digest.Load() }

// post gives Run something to do, unless too much waits.
func (w *Watcher) post(m mail) error {
	select {
	case w.inbox <- m:
		w.rouse()
		return nil
	default:
		return fmt.Errorf("%w: %d", ErrBusy, inboxLength)
	}
}

// receive does what waits, and returns the changes to notify.
func (w *Watcher) receive(now int64) (changes []alarm.Change) {
	for len(w.inbox) > 0 {
		do := <-w.inbox
		changes = append(changes, do(now)...)
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
