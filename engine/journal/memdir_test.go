// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
)

// memDir is a directory in memory that simulates a power loss. Any part of the
// data that was not synced survives, in any order, or none of it.
type memDir struct {
	files   map[string]*inode // as processes see them
	durable map[string]*inode // as of the last sync
	pending []naming          // since then
	held    bool
	// fault is called before everything that changes the disk. If it returns an
	// error, the operation returns that error.
	fault func(op string) error
}

// naming is one change of names. A rename is one change.
type naming struct {
	name, gone string // name is "" for a removal
	of         *inode
}

// inode is the content of a file.
type inode struct {
	now   []byte  // as processes see it
	disk  []byte  // as of the last sync
	dirty []write // since then
}

// write is one change of content: bytes, or a new size.
type write struct {
	at    int64
	bytes []byte
	cut   bool
}

func newMemDir() *memDir {
	return &memDir{files: map[string]*inode{}, durable: map[string]*inode{}, fault: func(string) error { return nil }}
}

func (w write) apply(b []byte) []byte {
	if w.cut {
		return b[:min(int64(len(b)), w.at)]
	}
	if grow := w.at + int64(len(w.bytes)) - int64(len(b)); grow > 0 {
		b = append(b, make([]byte, grow)...)
	}
	copy(b[w.at:], w.bytes)
	return b
}

// some applies some of the dirty writes, as a disk does without a sync: each
// sector of 16 bytes independently with the probability p.
func (i *inode) some(rng *rand.Rand, p float64) {
	b := slices.Clone(i.disk)
	for _, w := range i.dirty {
		if w.cut {
			if rng.Float64() < p {
				b = w.apply(b)
			}
			continue
		}
		for k := 0; k < len(w.bytes); k += 16 {
			if rng.Float64() < p {
				b = write{at: w.at + int64(k), bytes: w.bytes[k:min(k+16, len(w.bytes))]}.apply(b)
			}
		}
	}
	i.disk, i.dirty = b, nil
}

func (n naming) apply(names map[string]*inode) {
	delete(names, n.gone)
	if n.name != "" {
		names[n.name] = n.of
	}
}

// powerLoss returns the directory as the system finds it after the next boot.
func (d *memDir) powerLoss(rng *rand.Rand) *memDir {
	next := newMemDir()
	names := maps.Clone(d.durable)
	p := []float64{0, 0.5, 0.9, 1}[rng.IntN(4)]
	for _, n := range d.pending {
		if rng.Float64() < p {
			n.apply(names)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		i := names[name]
		i.some(rng, []float64{0, 0.5, 0.9, 1}[rng.IntN(4)])
		next.files[name] = &inode{now: slices.Clone(i.disk), disk: i.disk}
	}
	next.durable = maps.Clone(next.files)
	return next
}

// kill returns the directory as the next process finds it: with all that was
// written, synced or not.
func (d *memDir) kill() *memDir {
	return &memDir{files: d.files, durable: d.durable, pending: d.pending, fault: func(string) error { return nil }}
}

// clone returns a directory with the same files, all durable.
func (d *memDir) clone() *memDir {
	next := newMemDir()
	for name, i := range d.files {
		next.files[name] = &inode{now: slices.Clone(i.now), disk: slices.Clone(i.now)}
	}
	next.durable = maps.Clone(next.files)
	return next
}

func (d *memDir) lock() error {
	if d.held {
		return ErrLocked
	}
	d.held = true
	return nil
}

func (d *memDir) Close() error {
	d.held = false
	return nil
}

func (d *memDir) names() ([]string, error) { return slices.Collect(maps.Keys(d.files)), nil }

func (d *memDir) change(op string, n naming) error {
	if err := d.fault(op); err != nil {
		return err
	}
	n.apply(d.files)
	d.pending = append(d.pending, n)
	return nil
}

func (d *memDir) create(name string) (file, error) {
	i := &inode{}
	if err := d.change("create", naming{name: name, of: i}); err != nil {
		return nil, err
	}
	return &memFile{dir: d, inode: i}, nil
}

func (d *memDir) open(name string) (file, error) {
	i, ok := d.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return &memFile{dir: d, inode: i, reading: true}, nil
}

func (d *memDir) edit(name string) (file, error) {
	f, err := d.open(name)
	if err == nil {
		f.(*memFile).reading = false
	}
	return f, err
}

func (d *memDir) rename(from, to string) error {
	i, ok := d.files[from]
	if !ok {
		return fs.ErrNotExist
	}
	return d.change("rename", naming{name: to, gone: from, of: i})
}

func (d *memDir) remove(name string) error {
	if _, ok := d.files[name]; !ok {
		return fs.ErrNotExist
	}
	return d.change("remove", naming{gone: name})
}

func (d *memDir) sync() error {
	if err := d.fault("syncdir"); err != nil {
		return err
	}
	for _, n := range d.pending {
		n.apply(d.durable)
	}
	d.pending = nil
	return nil
}

// memFile is an open file of a memDir.
type memFile struct {
	dir     *memDir
	inode   *inode
	reading bool
	closed  bool
}

// errDropped is the error of a sync that failed as on Linux: the pages that
// could not be written are dropped, and the next sync succeeds.
var errDropped = errors.New("input/output error, pages dropped")

// errFull is returned by a full disk, which has written half of the bytes.
var errFull = errors.New("no space left on device")

func (f *memFile) ReadAt(b []byte, at int64) (int, error) {
	if f.closed {
		return 0, fs.ErrClosed
	}
	if at >= int64(len(f.inode.now)) {
		return 0, io.EOF
	}
	n := copy(b, f.inode.now[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) change(w write) {
	w.bytes = slices.Clone(w.bytes)
	f.inode.now = w.apply(f.inode.now)
	f.inode.dirty = append(f.inode.dirty, w)
}

func (f *memFile) WriteAt(b []byte, at int64) (int, error) {
	if f.closed || f.reading {
		return 0, fs.ErrClosed
	}
	err := f.dir.fault("write")
	if errors.Is(err, errFull) || errors.Is(err, errPower) {
		b = b[:len(b)/2]
	} else if err != nil {
		return 0, err
	}
	f.change(write{at: at, bytes: b})
	return len(b), err
}

func (f *memFile) Truncate(size int64) error {
	if err := f.dir.fault("truncate"); err != nil {
		return err
	}
	f.change(write{at: size, cut: true})
	return nil
}

func (f *memFile) Sync() error {
	if f.closed {
		return fs.ErrClosed
	}
	if err := f.dir.fault("sync"); err != nil {
		if errors.Is(err, errDropped) {
			f.inode.some(rand.New(rand.NewPCG(1, uint64(len(f.inode.now)))), 0.5)
		}
		return err
	}
	for _, w := range f.inode.dirty {
		f.inode.disk = w.apply(f.inode.disk)
	}
	f.inode.dirty = nil
	return nil
}

func (f *memFile) Close() error {
	f.closed = true
	return nil
}

func (f *memFile) size() (int64, error) { return int64(len(f.inode.now)), nil }
