// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/internal/atomicfile"
)

// damagedSuffix is appended to the name of a damaged file, which is kept.
const damagedSuffix = ".damaged"

// stored is what a file holds.
type stored[T any] struct {
	value  T
	text   []byte
	at     int64 // of the last write, in microseconds since the Unix epoch
	damage error // of a file whose damage was one bit; value is as it was written
}

// readState returns the content of a state file. The error wraps fs.ErrNotExist if there is
// none, and alarm.ErrState if it is damaged; the text is valid then.
func readState(path string) (stored[alarm.Saved], error) {
	s, err := readFile(path, alarm.RecoverSaved)
	if err != nil {
		err = fmt.Errorf("read the alarm state %s: %w", path, err)
	}
	return s, err
}

// readNotes returns the content of a file of notes, and the errors of readState.
func readNotes(path string) (stored[alarm.Noted], error) {
	n, err := readFile(path, alarm.RecoverNoted)
	if err != nil {
		err = fmt.Errorf("read the notes of alarms %s: %w", path, err)
	}
	return n, err
}

// readFile returns what a file holds.
func readFile[T any](path string, parse func([]byte) (v T, damage, err error)) (s stored[T], err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s, err
	}
	s.at = info.ModTime().UnixMicro()
	s.text, err = io.ReadAll(io.LimitReader(f, alarm.MaxStateSize+1))
	if err != nil {
		return s, err
	}
	s.value, s.damage, err = parse(s.text)
	return s, err
}

// writeState replaces a file atomically, also with respect to a crash.
func writeState(path string, text []byte) error {
	err := atomicfile.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = atomicfile.Replace(path, text, 0o600)
	}
	return err
}

// keepDamaged renames a damaged file, so that the next write does not replace it, and logs
// what that means.
func (w *Watcher) keepDamaged(path string, why error, mended bool, meaning string) {
	kept := path + damagedSuffix
	log := w.cfg.Log.With("file", kept, "err", why)
	if err := atomicfile.Rename(path, kept); err != nil {
		log = w.cfg.Log.With("file", path, "err", fmt.Errorf("%w; it could not be renamed to %s: %w", why, kept, err))
	}
	if mended {
		log.Warn("a file of the alarms was damaged in one bit; the checksum shows which, so nothing is lost")
		return
	}
	log.Error(meaning)
}

// before returns the alarms of the previous process. noted is the largest index that its
// notes have.
func (w *Watcher) before(noted uint32) alarm.Saved {
	now := time.Now().UnixMicro()
	fresh := alarm.Saved{Last: max(alarm.FirstIndex(now), noted)}
	if w.cfg.StateFile == "" {
		return fresh
	}
	read, err := readState(w.cfg.StateFile)
	saved := read.value
	switch {
	case errors.Is(err, alarm.ErrState):
		fresh.Last = max(fresh.Last, alarm.LastIn(read.text))
		w.counters.Damaged.State++
		w.keepDamaged(w.cfg.StateFile, err, false, fmt.Sprintf("the alarm state is damaged: starting without earlier alarms; those that still hold are raised again from index %d on", fresh.Last+1))
		return fresh
	case errors.Is(err, fs.ErrNotExist):
		return fresh
	case err != nil:
		w.cfg.Log.Warn("starting without earlier alarms", "err", err, "index", fresh.Last+1)
		return fresh
	case read.damage != nil:
		w.counters.Damaged.State++
		w.keepDamaged(w.cfg.StateFile, read.damage, true, "")
	}
	saved.Last = max(saved.Last, noted)
	if w.cfg.Share != nil {
		saved.Last = alarm.LastOfAll(saved.Last, read.at, now)
	}
	return saved
}

// notesBefore returns the notes of the previous process.
func (w *Watcher) notesBefore() alarm.Noted {
	if w.cfg.NotesFile == "" {
		return alarm.Noted{}
	}
	read, err := readNotes(w.cfg.NotesFile)
	switch {
	case errors.Is(err, alarm.ErrState):
		w.counters.Damaged.Notes++
		w.keepDamaged(w.cfg.NotesFile, err, false, "the notes of alarms are damaged: starting without earlier acknowledgements and silences")
		return alarm.Noted{}
	case read.damage != nil:
		w.counters.Damaged.Notes++
		w.keepDamaged(w.cfg.NotesFile, read.damage, true, "")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		w.cfg.Log.Warn("starting without earlier acknowledgements and silences", "err", err)
	}
	return read.value
}
