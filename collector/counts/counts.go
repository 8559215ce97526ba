// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/internal/dirlock"
)

// The files of a directory.
const (
	stateFile = "counters.state"
	shownFile = "counters.shown"
	aside     = ".damaged"
)

// Config configures a Dir.
type Config struct {
	Path     string      // of the directory, which Open creates; "" keeps nothing
	Subjects string      // the subject space of the sources
	Share    merge.Share // of its sources; the zero Share is all
	Up       string      // the subject space of a collector above; "" without one
	Source   string      // the name there

	// FromZero counts, if the directory is empty, also the work of sources before their
	// first message. That is correct if no process has shown it before.
	FromZero bool

	Log *slog.Logger
}

// Dir keeps the counters of one process.
type Dir struct {
	cfg     Config
	head    Header // of this process
	state   []byte // of the previous process; nil without one
	shown   []byte
	release func()
	write   func(path string, content []byte) error

	disk    atomicfile.Saver
	whole   bool // this process has written a state
	failing bool // the last write failed, and was logged

	saves, failures, bytes atomic.Uint64
}

// Open locks a directory and reads the state of the previous process. It logs an unusable
// state. The error wraps dirlock.ErrHeld if another process holds the directory.
func Open(cfg Config, now int64) (*Dir, error) {
	d := &Dir{cfg: cfg, release: func() {}, write: func(path string, content []byte) error {
		return atomicfile.Replace(path, content, 0o600)
	}}
	if cfg.Path == "" {
		d.begin(nil, nil, now, cfg.FromZero)
		return d, nil
	}
	err := atomicfile.MkdirAll(cfg.Path, 0o750)
	if err == nil {
		d.release, err = dirlock.TryHold(cfg.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("directory of the counters: %w", err)
	}
	state, shown, err := d.read()
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		d.begin(state, shown, now, cfg.FromZero)
	default:
		d.refuse(err, now)
	}
	return d, nil
}

// read reads both files. The shown file may be missing or empty: the state then has all
// counters shown.
func (d *Dir) read() (state, shown *file, err error) {
	if state, err = read(d.path(stateFile)); err != nil {
		return nil, nil, err
	}
	shown, err = read(d.path(shownFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotKept) {
		return state, &file{Header: state.Header}, nil
	}
	return state, shown, err
}

func (d *Dir) path(name string) string { return filepath.Join(d.cfg.Path, name) }

// begin sets the header of this process and the state that it continues from. The fence is
// in seconds, which fits into SNMP, and larger than that of all earlier processes, even if
// their state is lost.
func (d *Dir) begin(state, shown *file, now int64, fromZero bool) {
	h := Header{Subjects: d.cfg.Subjects, Share: d.cfg.Share.String(), Up: d.cfg.Up, Source: d.cfg.Source,
		Since: now, Before: now, Epoch: now, Fence: uint64(now / 1e6)}
	if state != nil {
		h.Epoch, h.Fence = max(h.Epoch, state.Epoch+1), max(h.Fence, state.Fence+1)
	}
	log := d.cfg.Log.With("dir", d.cfg.Path)
	switch {
	case state == nil && fromZero:
		h.Before = 0
	case state == nil:
		log.Info("counters begin at 0; running engines count from their first message")
	case state.Subjects != h.Subjects || state.Source != h.Source || state.Up != h.Up:
		log.Info("counters begin at 0, because the kept ones are of other subjects or another name above; running engines count from their first message",
			"kept", state.Header, "own", h)
	case state.Share != h.Share:
		log.Info("counters continue; sources new in the share count from their first message", "from", state.Share, "to", h.Share)
		h.Since, d.state, d.shown = state.Since, state.counted, shown.of(state)
	default:
		log.Info("counters continue", "since", time.UnixMicro(state.Since))
		h.Since, h.Before, d.state, d.shown = state.Since, state.Before, state.counted, shown.of(state)
	}
	d.head = h
}

// of returns the counters shown, if they began with those of the state.
func (f *file) of(state *file) []byte {
	if f.Since != state.Since {
		return nil
	}
	return f.counted
}

// refuse begins without a state, and renames the unusable one. Its counters may have been
// shown, so engines count from their first message.
func (d *Dir) refuse(why error, now int64) {
	err := why
	if !errors.Is(why, errNotKept) {
		for _, name := range []string{stateFile, shownFile} {
			if moved := atomicfile.Rename(d.path(name), d.path(name+aside)); !errors.Is(moved, fs.ErrNotExist) {
				err = errors.Join(err, moved)
			}
		}
	}
	d.cfg.Log.Error("cannot use the kept counters: counters begin at 0, and running engines count from their first message",
		"dir", d.cfg.Path, "err", err)
	d.begin(nil, nil, now, false)
}

// Header returns the header of this process.
func (d *Dir) Header() Header { return d.head }

// Collector returns a collector that continues from the kept counters and keeps its own.
// If the collector rejects the state, it is logged and renamed.
func (d *Dir) Collector(cfg collector.Config) (*collector.Collector, error) {
	cfg.State, cfg.Shown, cfg.Rules.CountedBefore = d.state, d.shown, d.head.Before
	if d.cfg.Path != "" {
		cfg.Keep = d.keep
	}
	c, err := collector.New(cfg)
	if errors.Is(err, merge.ErrState) {
		d.refuse(err, d.head.Epoch)
		cfg.State, cfg.Shown, cfg.Rules.CountedBefore = nil, nil, d.head.Before
		c, err = collector.New(cfg)
	}
	d.state, d.shown = nil, nil
	return c, err
}

// keep writes a file, and reports whether the directory has what it was given. If a write
// fails it leaves no usable file: the next process must not begin below the counters shown.
func (d *Dir) keep(counted []byte, whole bool) bool {
	name := shownFile
	if whole {
		name = stateFile
	} else if !d.whole {
		return false // of no use without a state
	}
	content := (&file{d.head, counted}).append(nil)
	err := d.disk.Save(func() error { return d.replace(name, content) })
	if err == nil {
		d.saves.Add(1)
		d.bytes.Store(uint64(len(content)))
		d.whole, d.failing = true, false
		return true
	}
	d.failures.Add(1)
	d.whole = d.whole && errors.Is(err, atomicfile.ErrSlow)
	if !d.failing {
		d.cfg.Log.Error("cannot keep the counters; after a restart they would begin at 0", "dir", d.cfg.Path, "err", err)
	}
	d.failing = true
	return false
}

// replace replaces a file, or truncates both if that fails.
func (d *Dir) replace(name string, content []byte) error {
	err := d.write(d.path(name), content)
	if err == nil {
		return nil
	}
	for _, name := range []string{stateFile, shownFile} {
		if emptied := os.Truncate(d.path(name), 0); !errors.Is(emptied, fs.ErrNotExist) {
			err = errors.Join(err, emptied)
		}
	}
	return err
}

// Close releases the directory.
func (d *Dir) Close() { d.release() }

// Stats counts the work of a Dir since Open.
type Stats struct {
	Saves, Failures uint64
	Bytes           uint64 // of the file that was written last
}

// Stats returns the statistics. It is safe for concurrent use.
func (d *Dir) Stats() Stats {
	return Stats{Saves: d.saves.Load(), Failures: d.failures.Load(), Bytes: d.bytes.Load()}
}
