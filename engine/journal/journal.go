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
	// Append adds commits behind the commit numbered last and returns the
	// number of the last one now. If last is not the log's last commit, nothing
	// is written, and it returns ErrNotLast and the right number. The commits
	// are not retained.
	//
	// When it returns, the commits have their place in the order. A file has
	// them then. A log on a server may only be sending them: Confirm waits
	// until they are stored, and until then the death of this process can lose
	// them from the end backwards. If one was not stored, none behind it is,
	// the log stops, and this or a later call returns an ErrStopped that wraps
	// the cause; ErrNotLast if there was another writer.
	Append(ctx context.Context, last uint64, commits ...[]byte) (uint64, error)

	// Confirm waits until the death of this process alone can not lose the
	// commits up to a number any more. A file has them when Append has
	// returned, so it does not wait. A log on a server waits for the server's
	// answers. The error is that of a commit that was not taken, ErrStopped
	// with its cause, or ErrAhead if upTo is after Last. An error of ctx leaves
	// open what becomes of the commits.
	Confirm(ctx context.Context, upTo uint64) error

	// CommitLimit is how many bytes one commit may have. A longer one is
	// ErrTooLarge at Append, and nothing of its group is written.
	CommitLimit() int

	// Sync makes durable what is due at now, in microseconds since the Unix
	// epoch, and returns an error if the log has stopped. It waits for no
	// answer of a server. The writer calls it about once in the interval of its
	// mode.
	Sync(ctx context.Context, now int64) error

	// Last is the number of the last commit that Append has accepted or that
	// was found there, 0 if there never was one.
	Last() uint64

	// Durable is the number of the last commit that is as safe as the log makes
	// it: a file has synced it, a server has acknowledged it. What that is worth
	// in a power loss is the mode of the file or of the server.
	Durable() uint64

	// Read returns the commits from a number up to those that are there when
	// the iteration starts. Commits that a snapshot has replaced are ErrCovered;
	// a number more than one behind the last is ErrAhead. After an error the
	// iteration ends.
	Read(ctx context.Context, from uint64) iter.Seq2[Commit, error]

	// SaveSnapshot stores what write writes as the fold of all commits up to
	// and including upTo. When that is durable, the commits and the snapshots
	// before may be removed. An error of write or of ctx leaves all as it was.
	// upTo is neither 0, nor before the newest snapshot, nor after Last.
	SaveSnapshot(ctx context.Context, upTo uint64, write func(io.Writer) error) error

	// LoadSnapshot calls read with the newest snapshot and returns the number
	// of the last commit in it; if there is none, it returns 0 and does not
	// call read.
	LoadSnapshot(ctx context.Context, read func(io.Reader) error) (upTo uint64, err error)

	// Close makes everything durable, in the sense of Durable, and releases the
	// log. Only a Close that returns nil has done so.
	Close() error
}

// Commit is one entry of a log.
type Commit struct {
	Sequence uint64 // from 1, without gaps
	Payload  []byte // until the next commit is read

	// Where it was read, by a log in files: the name of the file in the journal's
	// directory, and the offset of its record in bytes.
	File   string
	Offset int64
}

// Place names a commit for people, with where it was read.
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

// What callers decide on.
var (
	ErrNotLast  = errors.New("not the last commit")           // another writer has appended
	ErrTooLarge = errors.New("too large")                     // CommitLimit or MaxGroup
	ErrCovered  = errors.New("replaced by a snapshot")        // load the snapshot first
	ErrAhead    = errors.New("not in the journal")            // behind the last commit
	ErrStopped  = errors.New("journal stopped")               // after an error of the disk or the server, which is wrapped too
	ErrClosed   = errors.New("journal closed")                // by Close
	ErrLocked   = errors.New("in use by another process")     // at Open
	ErrVersion  = errors.New("unknown version of the format") // at Open
)

// CorruptError is damage that no crash leaves.
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

// Warning is what Open has put up with.
type Warning struct {
	File   string // its name in the journal's directory
	Offset int64  // of the damage, in bytes
	Reason string
	Cut    int64 // bytes that were cut off there
	// First is the first commit that is lost, if there was one. Last is the
	// highest number that could be read in what was cut, 0 if none could; there
	// may have been higher ones.
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
