// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/engine/journal"
)

// A commit that is larger than partSize is written in parts, each an entry of
// the journal: a zero, which no commit begins with because it begins with its
// time, then the number of the part, then the bytes. Parts follow each other
// directly. Parts without a last one are left from a crash before the commit
// was confirmed, and are ignored. With linked added to the number, the mark of
// the entry before precedes the bytes. Each commit of a part's log is written
// so, and one in a single entry has the number linked.
const (
	partFirst = 1 + iota
	partMore
	partLast
	linked
	partHead = 2 // bytes before each part, and its mark
)

// partSize is what an entry holds where the log has room for it.
const partSize = 4 << 20

// maxWhole bounds a commit in all its parts, in bytes: readers keep it in
// memory.
const maxWhole = 1 << 30

// appendReaching writes one commit of now with the cursors into upstream logs
// that it records, by index; a cursor of 0 is none. It returns the number of the
// commit.
func (r *recorder) appendReaching(ctx context.Context, commit []byte, reached []reach, now int64) (number uint64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.writeParts(ctx, commit); err != nil {
		return 0, err
	}
	for up, to := range reached {
		if to.cursor.Position > 0 {
			r.readings[up].move(to, now)
		}
	}
	return r.last, nil
}

// writeParts writes a commit as one entry, or several; the caller holds mu.
func (r *recorder) writeParts(ctx context.Context, commit []byte) error {
	if r.failed != nil {
		return r.failed
	}
	head, kind := partHead, byte(0)
	if r.hash != nil && r.last > 0 { // the first one is the header
		head, kind = head+linkSize, linked
	}
	size := min(partSize, r.log.CommitLimit()-head)
	r.whose = r.last + uint64(max((len(commit)+size-1)/size, 1))
	if len(commit) <= size {
		return r.write(ctx, kind, commit)
	}
	if len(commit) > maxWhole {
		r.failed = fmt.Errorf("writing the journal: a commit of %d bytes: %w, at most %d", len(commit), journal.ErrTooLarge, maxWhole)
		wake(r.written)
		return r.failed
	}
	for which := byte(partFirst); len(commit) > 0; which = partMore {
		n := min(len(commit), size)
		if n == len(commit) {
			which = partLast
		}
		if err := r.write(ctx, kind|which, commit[:n]); err != nil {
			return err
		}
		commit = commit[n:]
	}
	return nil
}

// write appends one entry to the journal; kind is 0 if it is a whole commit
// without a mark. The caller holds mu.
func (r *recorder) write(ctx context.Context, kind byte, entry []byte) error {
	if kind != 0 {
		r.entry = append(r.entry[:0], 0, kind)
		if kind&linked != 0 {
			r.entry = append(r.entry, r.chain[:linkSize]...)
		}
		r.entry = append(r.entry, entry...)
		entry = r.entry
	}
	last, err := r.log.Append(ctx, r.last, entry)
	wake(r.written)
	if err != nil {
		r.failed = fmt.Errorf("writing the journal: %w", err)
		return unwritten{r.failed, r.whose}
	}
	r.last = last
	r.grown += len(entry)
	r.link(entry)
	if cap(r.entry) > partSize/4 {
		r.entry = nil
	}
	return nil
}

// wake wakes the receiver of a channel, which holds one element if that is awake.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// confirm waits until what was written so far cannot be lost with this process.
// Without a journal there is nothing to wait for.
func (r *recorder) confirm(ctx context.Context) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	return r.log.Confirm(ctx, last)
}

// own writes a commit with a new ownership. Nothing is written after a release.
func (r *recorder) own(ctx context.Context, o ownership, commit []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.writeParts(ctx, commit); err != nil {
		return err
	}
	r.owned(o)
	if o.Release {
		r.failed = errReleased
	}
	return nil
}

// owned makes an ownership the current one; the caller holds mu.
func (r *recorder) owned(o ownership) {
	if o.Epoch > r.owns.Epoch {
		r.starts = append(r.starts, tenure{o.Epoch, r.last})
		r.starts = r.starts[max(len(r.starts)-maxStarts, 0):]
	}
	r.owns = o
	if r.head.Part == nil && r.head.First == "" {
		r.head.First = o.Owner
	}
}

var errReleased = errors.New("the part was released")

// failure returns the reason why nothing more is written; nil if there is none.
func (r *recorder) failure() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// fail stops all further writing.
func (r *recorder) fail(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = cause
	}
	wake(r.written)
}

// joiner joins the parts of commits.
type joiner struct{ parts []byte }

// add returns the commit that an entry of the journal holds or completes; nil
// if more of it is to come.
func (j *joiner) add(entry []byte) ([]byte, error) {
	which, body, err := cutEntry(entry)
	switch {
	case err != nil:
		return nil, err
	case which == 0:
		j.parts = nil
		return body, nil
	case which == partFirst:
		j.parts = append([]byte{}, body...)
		return nil, nil
	case j.parts == nil:
		return nil, fmt.Errorf("%w: a part of a commit that has not begun", ErrReplay)
	case len(j.parts)+len(body) > maxWhole:
		return nil, fmt.Errorf("%w: a commit of more than %d bytes", ErrReplay, maxWhole)
	}
	j.parts = append(j.parts, body...)
	if which == partMore {
		return nil, nil
	}
	whole := j.parts
	j.parts = nil
	return whole, nil
}

// cutEntry returns which part of a commit an entry is, 0 for all of it, and its
// bytes.
func cutEntry(entry []byte) (which byte, body []byte, err error) {
	if len(entry) < partHead || entry[0] != 0 {
		return 0, entry, nil
	}
	which, body = entry[1], entry[partHead:]
	switch {
	case which >= partFirst && which <= partLast:
		return which, body, nil
	case which >= linked && which <= linked|partLast && len(body) >= linkSize:
		return which &^ linked, body[linkSize:], nil
	}
	return 0, nil, fmt.Errorf("%w: an invalid part of a commit", ErrReplay)
}
