// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/internal/framed"
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

// The files have one frame of textKind: a page of any size, as processes exchange them.
var (
	alarmsContent = framed.Content{Name: "alarms", Version: 1}
	notesContent  = framed.Content{Name: "notes of alarms", Version: 1}
)

const (
	textKind = 1
	// unframed begins the files of earlier versions, which are the pages alone.
	unframed = "pnagent-"
)

// readState returns the content of a state file. The error wraps fs.ErrNotExist if there is
// none, and is one of isDamage if it is damaged; the text is valid then.
func readState(path string) (stored[alarm.Saved], error) {
	return readFile(path, alarmsContent, alarm.ParseSaved)
}

// readNotes returns the content of a file of notes, and the errors of readState.
func readNotes(path string) (stored[alarm.Noted], error) {
	return readFile(path, notesContent, alarm.ParseNoted)
}

func readFile[T any](path string, content framed.Content, parse func([]byte) (T, error)) (s stored[T], err error) {
	info, err := os.Stat(path)
	if err == nil {
		s.at = info.ModTime().UnixMicro()
		s.text, err = framed.Load(path, alarm.MaxStateSize)
	}
	if err == nil {
		s.value, s.damage, err = parseFile(s.text, content, parse)
	}
	if err != nil {
		err = fmt.Errorf("read the %s %s: %w", content.Name, path, err)
	}
	return s, err
}

// parseFile returns what a file holds. If one bit of it is wrong, that is mended, and damage is
// the error without that.
func parseFile[T any](text []byte, content framed.Content, parse func([]byte) (T, error)) (v T, damage, err error) {
	page := framed.Frame{Payload: text}
	if !bytes.HasPrefix(text, []byte(unframed)) {
		page, err = content.ParseOne(text, textKind)
		if whole, ok := content.Mend(text); ok {
			damage = err
			page, err = content.ParseOne(whole, textKind)
		}
		if err != nil {
			return v, nil, err
		}
	}
	v, err = parse(page.Payload)
	if err != nil {
		return v, nil, &framed.DamagedError{At: page.At, Why: err.Error()}
	}
	return v, damage, nil
}

// isDamage reports whether an error is about the content of a file.
func isDamage(err error) bool {
	var damage *framed.DamagedError
	var version *framed.VersionError
	return errors.As(err, &damage) || errors.As(err, &version)
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
	case isDamage(err):
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
	case isDamage(err):
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
