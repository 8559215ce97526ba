// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrUnknown is wrapped by the error of a request that was executed, but of
// which it is not known whether its commit is in the journal: writing it has
// failed. The engine that continues with the journal knows: see
// UnknownError.Key and Engine.Outcome.
var ErrUnknown = errors.New("the outcome is not known")

// UnknownError is the error of a request whose outcome is not known.
type UnknownError struct {
	Key   string // of the commit, for Engine.Outcome
	cause error
}

func (u *UnknownError) Error() string {
	return fmt.Sprintf("%v: the request was executed, and its commit may be in the journal or not (key %s): %v", ErrUnknown, u.Key, u.cause)
}

// Unwrap returns ErrUnknown and the failure of the journal.
func (u *UnknownError) Unwrap() []error { return []error{ErrUnknown, u.cause} }

// ErrNotExecuted is wrapped by the error of a request that this engine has not
// executed, because its journal had failed before, or it was too busy.
var ErrNotExecuted = errors.New("the request was not executed")

// unwritten is the failure to write one commit, or to confirm it.
type unwritten struct {
	error
	commit uint64
}

func (u unwritten) Unwrap() error { return u.error }

// tenure begins with the first commit of an owner.
type tenure struct {
	Epoch  uint64 `json:"epoch"`
	Commit uint64 `json:"commit"`
}

// maxStarts is how many starts a journal remembers.
const maxStarts = 64

// key returns the name of a commit of this owner; it is unique among all journals.
func (r *recorder) key(commit uint64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%d/%d/%d", r.head.Created, r.owns.Epoch, commit)
}

// outcomeOf returns the error of a request whose commit was not written.
func (e *Engine) outcomeOf(err error, executed bool) error {
	var u unwritten
	if executed && errors.As(err, &u) {
		return &UnknownError{Key: e.recorder.key(u.commit), cause: err}
	}
	return fmt.Errorf("%w: %w", ErrNotExecuted, err)
}

// Outcome reports whether a request was done, by the key of the UnknownError
// that an engine with this journal has returned for it. The error wraps
// ErrUnknown if this engine does not know.
func (e *Engine) Outcome(ctx context.Context, key string) (done bool, err error) {
	r := e.recorder
	if r == nil {
		return false, fmt.Errorf("%w: key %.80q: the engine has no journal", ErrUnknown, key)
	}
	var created int64
	var epoch, commit uint64
	if n, err := fmt.Sscanf(key+"\n", "%d/%d/%d\n", &created, &epoch, &commit); err != nil || n != 3 {
		return false, fmt.Errorf("key %.80q; expected three numbers as an answer has them", key)
	}
	r.mu.Lock()
	began, now, starts := r.head.Created, r.owns.Epoch, r.starts
	r.mu.Unlock()
	switch {
	case created != began:
		return false, fmt.Errorf("%w: key %s is of another journal", ErrUnknown, key)
	case epoch == now:
		if err := r.log.Confirm(ctx, commit); err != nil {
			return false, fmt.Errorf("%w: %w", ErrUnknown, err)
		}
		return true, nil
	}
	for i, s := range starts {
		if s.Epoch <= epoch {
			continue
		}
		// The commits of an owner are those before the first one of the next.
		done = commit < s.Commit
		if done && i == 0 {
			break // owners between the two are forgotten
		}
		return done, nil
	}
	return false, fmt.Errorf("%w: the journal no longer has what key %s is about", ErrUnknown, key)
}

// Public returns the text of an error for other programs: of files it has the
// names, and not where they are.
func Public(err error) string {
	text := err.Error()
	for _, path := range pathsIn(err) {
		if filepath.IsAbs(path) || strings.ContainsRune(path, filepath.Separator) {
			text = strings.ReplaceAll(text, path, filepath.Base(path))
		}
	}
	return text
}

// pathsIn returns the paths in an error and in those that it wraps.
func pathsIn(err error) []string {
	var paths []string
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at
	case *fs.PathError:
		paths = append(paths, e.Path)
	case *os.LinkError:
		paths = append(paths, e.Old, e.New)
	}
	switch e := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			paths = append(paths, pathsIn(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			paths = append(paths, pathsIn(inner)...)
		}
	}
	return paths
}
