// SPDX-License-Identifier: Apache-2.0

package regiontest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/engine/journal"
)

// Server keeps logs by name.
type Server struct {
	mu   sync.Mutex
	logs map[string]*kept
}

// kept is one log.
type kept struct {
	commits  [][]byte // from first on
	first    uint64
	snapshot []byte
	upTo     uint64
	gone     bool          // it was removed
	more     chan struct{} // closed and replaced at each commit
}

// NewServer returns a server without logs.
func NewServer() *Server { return &Server{logs: map[string]*kept{}} }

// Open returns a client of a log, and creates the log if it is missing. keep,
// if not nil, returns the first commit that a reader still needs.
func (s *Server) Open(name string, keep func() uint64) *Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs[name] == nil {
		s.logs[name] = &kept{first: 1, more: make(chan struct{})}
	}
	l := &Log{server: s, kept: s.logs[name], keep: keep}
	l.last = l.kept.end()
	return l
}

// Exists reports whether there is a log.
func (s *Server) Exists(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logs[name] != nil
}

// Remove removes a log with its snapshot. Its clients can read and write nothing
// more.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(name)
}

// remove does what Remove does; the caller holds mu.
func (s *Server) remove(name string) {
	k := s.logs[name]
	delete(s.logs, name)
	k.gone = true
	close(k.more)
	k.more = make(chan struct{})
}

// Purge removes the commits of a log, and no snapshot takes their place.
func (s *Server) Purge(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.logs[name]
	k.first, k.commits = k.end()+1, nil
	close(k.more)
	k.more = make(chan struct{})
}

// Copy returns a function that puts a log, as it is now, in the place of what
// the server has later under its name. That function returns the like for what it replaces.
func (s *Server) Copy(name string) (restore Restore) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copied(name)
}

// Restore puts a copy of a log in the place of what the server has. undo puts that back as it was
// at that moment: no commit is between the two.
type Restore func() (undo Restore)

// copied returns what Copy does; the caller holds mu.
func (s *Server) copied(name string) Restore {
	k := *s.logs[name]
	k.commits = slices.Clone(k.commits)
	return func() Restore {
		s.mu.Lock()
		defer s.mu.Unlock()
		var undo Restore
		if s.logs[name] != nil {
			undo = s.copied(name)
			s.remove(name)
		}
		again := k
		again.commits, again.gone, again.more = slices.Clone(k.commits), false, make(chan struct{})
		s.logs[name] = &again
		return undo
	}
}

// First returns the number of the first commit that a log still has.
func (s *Server) First(name string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs[name] == nil {
		return 0
	}
	return s.logs[name].first
}

// Covered returns the last commit in the newest snapshot of a log.
func (s *Server) Covered(name string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs[name] == nil {
		return 0
	}
	return s.logs[name].upTo
}

// Lose makes a log lose the commits after last, as a server does in a power
// loss: their numbers are assigned again. It wakes the readers that wait for
// the next commit.
func (s *Server) Lose(name string, last uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.logs[name]
	if last+1 < k.first { // and the removal of earlier ones is lost, too
		k.first, k.commits = last+1, nil
	}
	k.commits = k.commits[:last+1-k.first]
	close(k.more)
	k.more = make(chan struct{})
}

func (k *kept) end() uint64 { return k.first + uint64(len(k.commits)) - 1 }

// Log is a client of a log: a journal.Log that can be followed. It accepts or
// rejects a commit at once.
type Log struct {
	server  *Server
	kept    *kept
	keep    func() uint64
	last    uint64
	stopped error
	// Refuse, if not nil, is called before each commit is accepted. If it
	// returns an error, the commit is rejected with it.
	Refuse func() error
	// Lose, if not nil, is called after a commit was accepted. If it returns an
	// error, the caller gets that error although the log holds the commit.
	Lose  func() error
	Limit int // largest size of a commit in bytes; 0 for journal.MaxCommit
}

var errGone = fmt.Errorf("it was removed: %w", journal.ErrMissing)

// Append implements journal.Log.
func (l *Log) Append(_ context.Context, last uint64, commits ...[]byte) (uint64, error) {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	if l.stopped != nil {
		return 0, l.stopped
	}
	end := l.kept.end()
	err := error(nil)
	if l.Refuse != nil {
		err = l.Refuse()
	}
	if l.kept.gone {
		err = errGone
	}
	if err == nil && last != end {
		err = journal.ErrNotLast
	}
	if err != nil {
		l.stopped = fmt.Errorf("%w: commit %d, the last is %d: %w", journal.ErrStopped, last+1, end, err)
		return end, l.stopped
	}
	for _, c := range commits {
		l.kept.commits = append(l.kept.commits, bytes.Clone(c))
	}
	l.last = l.kept.end()
	close(l.kept.more)
	l.kept.more = make(chan struct{})
	if l.Lose != nil {
		if err := l.Lose(); err != nil {
			l.stopped = fmt.Errorf("%w: commit %d: %w", journal.ErrStopped, l.last, err)
			return l.last, l.stopped
		}
	}
	return l.last, nil
}

// Confirm implements journal.Log.
func (l *Log) Confirm(_ context.Context, upTo uint64) error {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	if upTo > l.last && l.stopped != nil {
		return l.stopped
	}
	return nil
}

// CommitLimit implements journal.Log.
func (l *Log) CommitLimit() int {
	if l.Limit > 0 {
		return l.Limit
	}
	return journal.MaxCommit
}

// Sync implements journal.Log.
func (l *Log) Sync(context.Context, int64) error {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	return l.stopped
}

// Last implements journal.Log.
func (l *Log) Last() uint64 {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	return l.last
}

// Durable implements journal.Log.
func (l *Log) Durable() uint64 { return l.Last() }

// Read implements journal.Log.
func (l *Log) Read(ctx context.Context, from uint64) iter.Seq2[journal.Commit, error] {
	return func(yield func(journal.Commit, error) bool) {
		for {
			c, _, err := l.next(from)
			if c.Payload == nil && err == nil {
				return
			}
			if !yield(c, err) || err != nil || ctx.Err() != nil {
				return
			}
			from++
		}
	}
}

// next returns a commit, or a channel that is closed when there is one.
func (l *Log) next(from uint64) (c journal.Commit, more <-chan struct{}, err error) {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	switch end := l.kept.end(); {
	case l.kept.gone:
		return c, nil, errGone
	case from < l.kept.first:
		return c, nil, fmt.Errorf("commit %d: %w", from, journal.ErrCovered)
	case from > end+1:
		return c, nil, fmt.Errorf("commit %d: %w", from, journal.ErrAhead)
	case from == end+1:
		return c, l.kept.more, nil
	}
	l.last = max(l.last, from)
	return journal.Commit{Sequence: from, Payload: l.kept.commits[from-l.kept.first]}, nil, nil
}

// Follow calls each with the commits from a number on, as they arrive.
func (l *Log) Follow(ctx context.Context, from uint64, each func(journal.Commit) error) error {
	for {
		c, more, err := l.next(from)
		if err == nil && more == nil {
			err = each(c)
			from++
		}
		if err != nil {
			return err
		}
		if more == nil {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// SaveSnapshot implements journal.Log.
func (l *Log) SaveSnapshot(_ context.Context, upTo uint64, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	covered := upTo
	if l.keep != nil {
		covered = min(upTo, l.keep()-1)
	}
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	if k := l.kept; upTo > k.upTo && l.stopped == nil {
		k.snapshot, k.upTo = b.Bytes(), upTo
		if covered >= k.first {
			k.commits, k.first = k.commits[covered+1-k.first:], covered+1
		}
	}
	return l.stopped
}

// LoadSnapshot implements journal.Log.
func (l *Log) LoadSnapshot(_ context.Context, read func(io.Reader) error) (uint64, error) {
	l.server.mu.Lock()
	state, upTo := l.kept.snapshot, l.kept.upTo
	l.server.mu.Unlock()
	if upTo == 0 {
		return 0, nil
	}
	return upTo, read(bytes.NewReader(state))
}

// Close implements journal.Log.
func (l *Log) Close() error { return nil }

// First returns the number of the first commit that the log still has.
func (l *Log) First(context.Context) (uint64, error) {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	return l.kept.first, nil
}

// Renew makes the log end with its snapshot.
func (l *Log) Renew(context.Context) error {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.kept.first, l.kept.commits = l.kept.upTo+1, nil
	return nil
}

// Doubt does nothing: there is one replica.
func (*Log) Doubt() {}
