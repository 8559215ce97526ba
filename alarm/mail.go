// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"fmt"
)

// ErrBusy is wrapped by the error of Fold where too many pages wait to be read.
var ErrBusy = errors.New("too busy to take a page")

// inboxLength is how many pages wait to be read, of all other processes.
const inboxLength = 256

// message is a page from another process, or, without one, that all there is here
// is to be shared.
type message struct {
	page *Saved
	ask  bool // ask the others for the same
}

// Fold takes a page that another process of the pair gave to Config.Share. Its
// error wraps ErrState, or says that too many pages wait. It may be called by any
// goroutine.
func (w *Watcher) Fold(page []byte) error {
	s, err := parsePage(page)
	if err != nil {
		return err
	}
	if !w.post(message{page: &s}) {
		return fmt.Errorf("%w: %d pages wait", ErrBusy, inboxLength)
	}
	return nil
}

// ShareAll has all alarms given to Config.Share, and asks the other processes for
// theirs if ask is set. It may be called by any goroutine.
func (w *Watcher) ShareAll(ask bool) { w.post(message{ask: ask}) }

// Digest returns a text that is equal in two processes that know the same alarms,
// with the same indices, and the same of what was notified. It may be called by any
// goroutine.
func (w *Watcher) Digest() string { return *w.digest.Load() }

// post reports whether there was room for a message.
func (w *Watcher) post(m message) bool {
	select {
	case w.inbox <- m:
	default:
		return false
	}
	select {
	case w.wake <- struct{}{}:
	default: // it wakes up already
	}
	return true
}

// receive acts on all messages that wait, and returns what is to be notified.
func (w *Watcher) receive(now int64) (changes []Change) {
	for len(w.inbox) > 0 {
		m := <-w.inbox
		if m.page == nil {
			if w.cfg.Share != nil {
				w.cfg.Share(w.desk.all(), m.ask)
			}
			continue
		}
		changes = append(changes, w.desk.fold(m.page, now)...)
		w.saved, w.stale = false, true
	}
	return changes
}

// share gives the other processes what changed here.
func (w *Watcher) share() {
	if pages := w.desk.news(); pages != nil && w.cfg.Share != nil {
		w.cfg.Share(pages, false)
	}
}
