// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Log is a log of commits with one writer. The methods may be called from
// several goroutines.
type Log interface {
	// Append adds commits after the commit numbered last and returns the number
	// of the new last commit. If last is not the log's last commit, Append
	// writes nothing and returns the right number and ErrNotLast. It does not
	// retain the commits.
	//
	// When Append returns, the commits have their place in the order. A file
	// holds them then. A log on a server may still be sending them: Confirm
	// waits until the server has stored them, and until then the death of this
	// process can lose the last of them. If a commit was not stored, none after
	// it is, and the log stops: this call or a later one returns an ErrStopped
	// that wraps the cause, or ErrNotLast if there was another writer.
	Append(ctx context.Context, last uint64, commits ...[]byte) (uint64, error)

	// Confirm waits until the death of this process alone can no longer lose
	// the commits up to a number. A file holds them when Append returns, so it
	// does not wait. A log on a server waits for the server's answers. The
	// error is ErrStopped with its cause if a commit was rejected, or ErrAhead
	// if upTo is after Last. After an error of ctx the fate of the commits is
	// unknown.
	Confirm(ctx context.Context, upTo uint64) error

	// CommitLimit returns the largest size of a commit in bytes. Append returns
	// ErrTooLarge for a longer one, and writes nothing of its group.
	CommitLimit() int

	// Sync makes durable what is due at now, in microseconds since the Unix
	// epoch, and returns an error if the log has stopped. It does not wait for
	// a server. The writer calls it about once in the interval of its mode.
	Sync(ctx context.Context, now int64) error

	// Last returns the number of the last commit that Append has accepted or
	// that the log held when it was opened, 0 if there never was one.
	Last() uint64

	// Durable returns the number of the last commit that is as safe as the log
	// can make it: a file has synced it, a server has acknowledged it. Whether
	// it survives a power loss depends on the mode of the file or of the
	// server.
	Durable() uint64

	// Read returns the commits from a number up to the last one at the start of
	// the iteration. It returns ErrCovered for commits that a snapshot has
	// replaced, and ErrAhead for a number more than one after the last. After
	// an error the iteration ends.
	Read(ctx context.Context, from uint64) iter.Seq2[Commit, error]

	// SaveSnapshot stores the bytes that write writes as the fold of all
	// commits up to and including upTo. Once they are durable, those commits
	// and older snapshots may be removed. An error of write or of ctx changes
	// nothing. upTo is from 1 to Last, and not before the newest snapshot.
	SaveSnapshot(ctx context.Context, upTo uint64, write func(io.Writer) error) error

	// LoadSnapshot calls read with the newest snapshot and returns the number
	// of the last commit in it; if there is none, it returns 0 and does not
	// call read.
	LoadSnapshot(ctx context.Context, read func(io.Reader) error) (upTo uint64, err error)

	// Close makes everything durable, in the sense of Durable, and releases the
	// log. If it returns an error, it has not done so.
	Close() error
}

// Commit is one entry of a log.
type Commit struct {
	Sequence uint64 // 1, 2, 3 and so on, without gaps
	Payload  []byte // valid until the next commit is read

	// A log in files sets these: the name of the file in the journal's
	// directory, and the offset of the record in bytes.
	File   string
	Offset int64
}

// Place describes a commit for people: its number, and its file and offset if
// known.
func (c Commit) Place() string {
	if c.File == "" {
		return fmt.Sprintf("commit %d", c.Sequence)
	}
	return fmt.Sprintf("commit %d (%s, offset %d)", c.Sequence, c.File, c.Offset)
}

// Bounds in bytes.
const (
	MaxCommit = 16 << 20 // of a commit in any log; a log's own CommitLimit may be lower
	MaxGroup  = 64 << 20 // of what one Append takes
)

// Errors that callers decide on.
var (
	ErrNotLast  = errors.New("not the last commit")           // another writer has appended
	ErrTooLarge = errors.New("too large")                     // CommitLimit or MaxGroup
	ErrCovered  = errors.New("no longer in the log")          // removed; a snapshot that is not older holds it, or it is lost
	ErrAhead    = errors.New("not in the journal")            // after the last commit
	ErrMissing  = errors.New("the log does not exist")        // and was not to be created
	ErrStopped  = errors.New("journal stopped")               // after an error of the disk or the server, which is wrapped too
	ErrClosed   = errors.New("journal closed")                // by Close
	ErrLocked   = errors.New("in use by another process")     // at Open
	ErrVersion  = errors.New("unknown version of the format") // at Open
)

// CorruptError is damage that a crash cannot cause.
type CorruptError struct {
	File     string // its name in the journal's directory
	Offset   int64  // of the damaged record or header, in bytes
	Sequence uint64 // of the commit expected there; 0 in a header or a snapshot
	Reason   string
}

func (e *CorruptError) Error() string {
	at := fmt.Sprintf("%s: offset %d", e.File, e.Offset)
	if e.Sequence != 0 {
		at += fmt.Sprintf(", commit %d", e.Sequence)
	}
	return at + ": " + e.Reason
}

// Warning is what Open tolerated.
type Warning struct {
	File   string // its name in the journal's directory
	Offset int64  // of the damage, in bytes
	Reason string
	Cut    int64 // bytes that Open cut off there
	// First is the first commit that is lost, if any. Last is the highest
	// commit number found in the bytes that were cut, 0 if none was; there may
	// have been higher ones.
	First, Last uint64
}

func (w Warning) String() string {
	s := fmt.Sprintf("%s: offset %d: %s", w.File, w.Offset, w.Reason)
	switch {
	case w.Cut == 0:
		return s
	case w.Last == 0:
		return s + fmt.Sprintf("; %d bytes are cut, where commit %d would be", w.Cut, w.First)
	default:
		return s + fmt.Sprintf("; %d bytes are cut, with commits %d to %d or more", w.Cut, w.First, w.Last)
	}
}
