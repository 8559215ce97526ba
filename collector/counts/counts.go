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
	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/internal/dirlock"
)

// The files of a directory.
const (
	stateFile = "counters.state"
	shownFile = "counters.shown"
	aside     = ".damaged"
)

// Config is where counts are kept, and whose they are.
type Config struct {
	Path     string          // of the directory, which is made if there is none; "" keeps nothing
	Subjects string          // the subject space that is heard
	Share    collector.Share // of its sources; the zero Share is all
	Up       string          // the subject space of a collector above; "" without one
	Source   string          // the name there

	// FromZero counts, where the directory is empty, also what sources had
	// counted before they were first heard: right where no process has shown
	// that before.
	FromZero bool

	Log *slog.Logger
}

// Dir keeps the counts of one process.
type Dir struct {
	cfg     Config
	head    Header // of this process
	state   []byte // of the process before; nil without one
	shown   []byte
	release func()
	write   func(path string, content []byte) error

	disk    atomicfile.Saver
	whole   bool // there is a state of this process
	failing bool // logged already

	saves, failures, bytes atomic.Uint64
}

// Open takes a directory and reads what the process before kept. What cannot be
// used is logged. The error wraps dirlock.ErrHeld if another process has the
// directory.
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
	case err == nil, errors.Is(err, fs.ErrNotExist): // without a state there is none to go on from
		d.begin(state, shown, now, cfg.FromZero)
	default:
		d.refuse(err, now)
	}
	return d, nil
}

// read reads both files. What was shown is missing or empty where nothing was
// shown that is not in the state.
func (d *Dir) read() (state, shown *file, err error) {
	if state, err = read(d.path(stateFile)); err != nil {
		return nil, nil, err
	}
	shown, err = read(d.path(shownFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotKept) {
		return state, state.empty(), nil
	}
	return state, shown, err
}

func (d *Dir) path(name string) string { return filepath.Join(d.cfg.Path, name) }

// begin has a process begin after one that left files. Its fence is in seconds,
// which faces have room for, and higher than that of any process before, also of
// one whose state is lost.
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
		log.Info("counters begin at 0; engines that run already count from where they are first heard")
	case state.Subjects != h.Subjects || state.Source != h.Source || state.Up != h.Up:
		log.Info("counters begin at 0, for those that were kept are of other subjects or another name above; engines that run already count from where they are first heard",
			"kept", state.Header, "own", h)
	case state.Share != h.Share:
		log.Info("counters go on; what comes into the share counts from where it is first heard", "from", state.Share, "to", h.Share)
		h.Since, d.state, d.shown = state.Since, state.counted, shown.of(state)
	default:
		log.Info("counters go on", "since", time.UnixMicro(state.Since))
		h.Since, h.Before, d.state, d.shown = state.Since, state.Before, state.counted, shown.of(state)
	}
	d.head = h
}

// empty returns a file of the same process that has nothing.
func (f *file) empty() *file { return &file{Header: f.Header} }

// of returns what was shown, if those are the counters of a state.
func (f *file) of(state *file) []byte {
	if f.Since != state.Since {
		return nil
	}
	return f.counted
}

// refuse begins without a state, and keeps the one that there is aside. It may
// have been shown, so nothing counts that sources did before.
func (d *Dir) refuse(why error, now int64) {
	err := why
	if !errors.Is(why, errNotKept) {
		for _, name := range []string{stateFile, shownFile} {
			if moved := atomicfile.Rename(d.path(name), d.path(name+aside)); !errors.Is(moved, fs.ErrNotExist) {
				err = errors.Join(err, moved)
			}
		}
	}
	d.cfg.Log.Error("what was counted is not used: counters begin at 0, and engines that run already count from where they are first heard",
		"dir", d.cfg.Path, "err", err)
	d.begin(nil, nil, now, false)
}

// Header returns whose counts these are, as of this process.
func (d *Dir) Header() Header { return d.head }

// Collector returns a collector that goes on from what was kept, and keeps what
// it counts. A state that it cannot read is logged and kept aside.
func (d *Dir) Collector(cfg collector.Config) (*collector.Collector, error) {
	cfg.State, cfg.Shown, cfg.Rules.CountedBefore = d.state, d.shown, d.head.Before
	if d.cfg.Path != "" {
		cfg.Keep = d.keep
	}
	c, err := collector.New(cfg)
	if errors.Is(err, collector.ErrState) {
		d.refuse(err, d.head.Epoch)
		cfg.State, cfg.Shown, cfg.Rules.CountedBefore = nil, nil, d.head.Before
		c, err = collector.New(cfg)
	}
	d.state, d.shown = nil, nil
	return c, err
}

// keep writes a file. Where that fails no file is left that could be used: a
// next process must not begin below what is shown.
func (d *Dir) keep(counted []byte, whole bool) {
	name := shownFile
	if whole {
		name = stateFile
	} else if !d.whole {
		return // of no use without a state
	}
	content := (&file{d.head, counted}).append(nil)
	err := d.disk.Save(func() error { return d.replace(name, content) })
	if err == nil {
		d.saves.Add(1)
		d.bytes.Store(uint64(len(content)))
		d.whole, d.failing = true, false
		return
	}
	d.failures.Add(1)
	d.whole = d.whole && errors.Is(err, atomicfile.ErrSlow)
	if !d.failing {
		d.cfg.Log.Error("keep what was counted; after a restart counters would begin at 0", "dir", d.cfg.Path, "err", err)
	}
	d.failing = true
}

// replace replaces a file, or makes all empty.
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

// Close gives the directory to another process.
func (d *Dir) Close() { d.release() }

// Stats is what a Dir did, cumulative since it was opened.
type Stats struct {
	Saves, Failures uint64
	Bytes           uint64 // of the file that was written last
}

// Stats returns what was done so far. It may be called by any goroutine.
func (d *Dir) Stats() Stats {
	return Stats{Saves: d.saves.Load(), Failures: d.failures.Load(), Bytes: d.bytes.Load()}
}
