// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/internal/dirlock"
	"github.com/pnagent/pnagent/internal/framed"
)

// The files of a directory.
const (
	stateFile = "counters.state"
	shownFile = "counters.shown" // of earlier releases
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
	head    Header   // of this process
	state   [][]byte // the frames of the previous process; nil without them
	release func()
	log     log

	disk    atomicfile.Saver
	failing bool // the last write failed, and was logged

	saves, failures, bytes atomic.Uint64
}

// Open locks a directory and reads the state of the previous process. It logs an unusable
// state. The error wraps dirlock.ErrHeld if another process holds the directory.
func Open(cfg Config, now int64) (*Dir, error) {
	d := &Dir{cfg: cfg, release: func() {}, log: log{files: system{}, path: filepath.Join(cfg.Path, stateFile)}}
	if cfg.Path == "" {
		d.begin(nil, now, cfg.FromZero)
		return d, nil
	}
	err := atomicfile.MkdirAll(cfg.Path, 0o750)
	if err == nil {
		d.release, err = dirlock.TryHold(cfg.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("directory of the counters: %w", err)
	}
	kept, err := d.read()
	var later *framed.VersionError
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		d.begin(kept, now, cfg.FromZero)
	case errors.As(err, &later):
		d.release()
		return nil, fmt.Errorf("%w; start that release, or remove the directory to begin at 0", err)
	default:
		d.refuse(err, now)
	}
	return d, nil
}

// read reads the files of the directory.
func (d *Dir) read() (*kept, error) {
	text, err := framed.Load(d.path(stateFile), maxState)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(text, []byte(earlierMagic)) {
		return d.readEarlier(text)
	}
	k, torn, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", stateFile, err)
	}
	if torn != nil {
		d.cfg.Log.Info("the last write of the counters was not complete, and nothing of it was shown", "dir", d.cfg.Path, "reason", torn)
	}
	return k, nil
}

// readEarlier reads the files of an earlier release. The shown file may be missing or empty: the
// state then has all counters shown.
func (d *Dir) readEarlier(text []byte) (*kept, error) {
	k, err := parseEarlier(text)
	if err != nil {
		return nil, err
	}
	text, err = framed.Load(d.path(shownFile), maxState)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return k, nil
	}
	if err != nil {
		return nil, err
	}
	shown, err := parseEarlier(text)
	if err != nil {
		return nil, err
	}
	if shown.Since == k.Since { // they began with those of the state
		k.frames = append(k.frames, shown.frames...)
	}
	return k, nil
}

func (d *Dir) path(name string) string { return filepath.Join(d.cfg.Path, name) }

// begin sets the header of this process and the state that it continues from. The fence is
// in seconds, which fits into SNMP, and larger than that of all earlier processes, even if
// their state is lost.
func (d *Dir) begin(state *kept, now int64, fromZero bool) {
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
		h.Since, d.state = state.Since, state.frames
	default:
		log.Info("counters continue", "since", time.UnixMicro(state.Since))
		h.Since, h.Before, d.state = state.Since, state.Before, state.frames
	}
	d.head = h
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
	d.begin(nil, now, false)
}

// Header returns the header of this process.
func (d *Dir) Header() Header { return d.head }

// Collector returns a collector that continues from the kept counters and keeps its own.
// If the collector rejects the state, it is logged and renamed.
func (d *Dir) Collector(cfg collector.Config) (*collector.Collector, error) {
	cfg.State, cfg.Rules.CountedBefore = d.state, d.head.Before
	if d.cfg.Path != "" {
		cfg.Keep = d.keep
	}
	c, err := collector.New(cfg)
	if errors.Is(err, merge.ErrState) {
		d.refuse(err, d.head.Epoch)
		cfg.State, cfg.Rules.CountedBefore = nil, d.head.Before
		c, err = collector.New(cfg)
	}
	d.state = nil
	return c, err
}

// keep adds a frame to the log, and reports whether the directory has it. If a write fails it
// leaves no usable log: the next process must not begin below the counters shown.
func (d *Dir) keep(frame merge.Frame) bool {
	err := d.disk.Save(func() error { return d.log.add(d.head, frame) })
	if err == nil {
		d.saves.Add(1)
		d.bytes.Store(uint64(d.log.size))
		d.failing = false
		return true
	}
	d.failures.Add(1)
	if !d.failing {
		d.cfg.Log.Error("cannot keep the counters; after a restart they would begin at 0", "dir", d.cfg.Path, "err", err)
	}
	d.failing = true
	return false
}

// Close releases the directory.
func (d *Dir) Close() {
	_ = d.disk.Save(func() error { d.log.close(); return nil }) // all of it is synced
	d.release()
}

// Stats counts the work of a Dir since Open.
type Stats struct {
	Saves, Failures uint64
	Bytes           uint64 // of the file
}

// Stats returns the statistics. It is safe for concurrent use.
func (d *Dir) Stats() Stats {
	return Stats{Saves: d.saves.Load(), Failures: d.failures.Load(), Bytes: d.bytes.Load()}
}
