// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/journal"
)

// A commit that is larger than partSize is written in parts, each a commit of
// the journal: a zero, which no commit begins with because it begins with its
// time, then which part it is, then the bytes. Parts follow on each other; those
// whose last one never came are what a crash has left of a commit that nobody was
// told of, and count for nothing.
const (
	partFirst = 1 + iota
	partMore
	partLast
	partHead = 2 // bytes before each part
)

// partSize is what an entry holds where the log has room for it.
const partSize = 4 << 20

// maxWhole bounds a commit in all its parts, in bytes: what reads it keeps it in
// memory.
const maxWhole = 1 << 30

// append writes one commit.
func (r *recorder) append(ctx context.Context, commit []byte) error {
	return r.appendReaching(ctx, commit, nil)
}

// appendReaching writes one commit that says of upstream parts, by their index,
// up to which commit their tokens are in; 0 where it says nothing.
func (r *recorder) appendReaching(ctx context.Context, commit []byte, reached []uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.writeParts(ctx, commit); err != nil {
		return err
	}
	for up, position := range reached {
		r.cursors[up] = max(r.cursors[up], position)
	}
	return nil
}

// writeParts writes a commit as one entry, or several; the caller holds mu.
func (r *recorder) writeParts(ctx context.Context, commit []byte) error {
	size := min(partSize, r.log.CommitLimit()-partHead)
	if len(commit) <= size {
		return r.write(ctx, commit)
	}
	if len(commit) > maxWhole {
		r.failed = fmt.Errorf("writing the journal: a commit of %d bytes: %w, at most %d", len(commit), journal.ErrTooLarge, maxWhole)
		return r.failed
	}
	for which := byte(partFirst); len(commit) > 0; which = partMore {
		n := min(len(commit), size)
		if n == len(commit) {
			which = partLast
		}
		if err := r.write(ctx, append([]byte{0, which}, commit[:n]...)); err != nil {
			return err
		}
		commit = commit[n:]
	}
	return nil
}

// write is append for one commit of the journal; the caller holds mu.
func (r *recorder) write(ctx context.Context, commit []byte) error {
	if r.failed != nil {
		return r.failed
	}
	last, err := r.log.Append(ctx, r.last, commit)
	if err != nil {
		r.failed = fmt.Errorf("writing the journal: %w", err)
		return r.failed
	}
	r.last = last
	r.grown += len(commit)
	r.link(commit)
	return nil
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

// own writes a commit that says who plays the part. Nothing is written after a
// release.
func (r *recorder) own(ctx context.Context, o ownership, commit []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.writeParts(ctx, commit); err != nil {
		return err
	}
	r.owns = o
	if o.Release {
		r.failed = errReleased
	}
	return nil
}

var errReleased = errors.New("the part was released")

// failure returns why nothing is written any more; nil if there is no reason.
func (r *recorder) failure() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// fail has nothing be written any more.
func (r *recorder) fail(cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = cause
	}
}

// joiner puts parts together again.
type joiner struct{ parts []byte }

// add returns the commit that an entry of the journal is or completes; nil if
// more of it is to come.
func (j *joiner) add(entry []byte) ([]byte, error) {
	if len(entry) < 2 || entry[0] != 0 {
		j.parts = nil
		return entry, nil
	}
	which, begun := entry[1], j.parts != nil
	switch {
	case which == partFirst:
		j.parts = append([]byte{}, entry[2:]...)
		return nil, nil
	case !begun || which > partLast:
		return nil, fmt.Errorf("%w: a part of a commit that has not begun", ErrJournal)
	case len(j.parts)+len(entry) > maxWhole+partHead:
		return nil, fmt.Errorf("%w: a commit of more than %d bytes", ErrJournal, maxWhole)
	}
	j.parts = append(j.parts, entry[2:]...)
	if which == partMore {
		return nil, nil
	}
	whole := j.parts
	j.parts = nil
	return whole, nil
}
