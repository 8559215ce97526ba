// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/pnagent/pnagent/attach/lines/replay"
	"github.com/pnagent/pnagent/internal/framed"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// stateContent is what state files contain: one frame of stateKind. In files of version 1 there
// are the bytes of that frame and their checksum behind the first line.
var stateContent = framed.Content{Name: "lines state", Version: 2}

const stateKind = 1

// maxState bounds a state file, in bytes.
const maxState = 4 << 30

// Bounds of a state file's content.
const (
	maxPath  = 1 << 16
	maxFiles = 1 << 16
)

// Save writes the state file, if one is configured. It counts and logs a failure.
func (a *Attachment) Save() {
	if a.cfg.State == "" {
		return
	}
	a.mu.Lock()
	state := a.state()
	a.mu.Unlock()
	a.write(state, a.clock())
}

// saved is a state to write, with its number.
type saved struct {
	bytes  []byte
	number uint64
}

// state returns the present state.
func (a *Attachment) state() saved {
	a.states++
	return saved{a.appendState(nil), a.states}
}

// write writes a state, unless a later one or the same is already written.
func (a *Attachment) write(state saved, now int64) {
	a.saving.Lock()
	defer a.saving.Unlock()
	if state.number < a.written {
		return
	}
	a.written, a.savedAt = state.number, now
	sum := sha256.Sum256(state.bytes)
	if sum == a.inFile {
		return
	}
	a.inFile = sum
	if err := stateContent.Replace(a.cfg.State, 0o600, framed.Frame{Kind: stateKind, Payload: state.bytes}); err != nil {
		a.inFile = [sha256.Size]byte{}
		a.mu.Lock()
		a.counters.SaveFailures++
		a.mu.Unlock()
		a.cfg.Log.Error("save state", "file", a.cfg.State, "err", err)
	}
}

// appendState appends all that the next process needs.
func (a *Attachment) appendState(b []byte) []byte {
	epoch := a.lastEpoch
	if a.epoch != nil {
		epoch = a.epoch()
	}
	b = binary.AppendVarint(b, epoch)
	b = binary.AppendUvarint(b, uint64(len(a.nets)))
	for k := range a.nets {
		b = appendText(b, a.defs[k].ID)
		b = appendText(b, telemetry.Digest(a.defs[k].PNML))
		b = appendText(b, string(a.nets[k].AppendState(nil)))
		b = appendText(b, string(a.unsent(k)))
	}
	b = binary.AppendUvarint(b, uint64(len(a.positions)))
	for _, path := range slices.Sorted(maps.Keys(a.positions)) {
		b = a.positions[path].append(appendText(b, path))
	}
	b = binary.AppendUvarint(b, uint64(len(a.window.events)))
	for i := range a.window.events {
		e := &a.window.events[i].event
		b = binary.AppendUvarint(b, uint64(e.net))
		b = binary.AppendUvarint(b, uint64(e.index))
		b = binary.AppendUvarint(b, uint64(e.kind))
		b = binary.AppendVarint(b, e.tokens)
		b = binary.AppendVarint(b, e.time)
		b = appendText(b, string(e.instance))
	}
	if a.meant != nil {
		if name := a.meant.name.Load(); name != nil {
			b = appendText(b, *name)
		}
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// countedColumns are the columns of counters, which must be published exactly once.
const countedColumns = stats.ColArrivals | stats.ColDepartures | stats.ColDwell | stats.ColFirings | stats.ColInstances | stats.ColLastFiring

// unsent returns the unpublished counts of a net.
func (a *Attachment) unsent(net int) []byte {
	d := &a.defs[net]
	s := telemetry.Snapshot{Source: "state", Epoch: 1, Seq: 1, SentAt: 1, Interval: telemetry.DefaultInterval,
		Net: d.ID, Digest: telemetry.Digest(d.PNML), Full: true, Rows: *stats.NewRows(d.Places, d.Transitions)}
	a.nets[net].Unsent(&s.Rows)
	s.Rows.Columns = countedColumns
	var e telemetry.Encoder
	b, err := e.Append(nil, &s)
	if err != nil {
		return nil
	}
	return b
}

// load reads the state file, if there is one.
func (a *Attachment) load() error {
	if a.cfg.State == "" {
		return nil
	}
	fi, err := os.Stat(a.cfg.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the state: %w", err)
	}
	a.stateOf, a.heard = fi.ModTime(), true
	b, err := framed.Load(a.cfg.State, maxState)
	if err != nil {
		return fmt.Errorf("reading the state: %w", err)
	}
	if err := a.loadState(b); err != nil {
		return fmt.Errorf("%s: %w; expected one that this command wrote; move it away to start from scratch", a.cfg.State, err)
	}
	return nil
}

// loadState takes the content of a state file. The error is a *framed.DamagedError or a
// *framed.VersionError.
func (a *Attachment) loadState(b []byte) error {
	frame, err := stateContent.ParseOne(b, stateKind)
	if err != nil {
		return err
	}
	s := &replay.StateReader{Rest: frame.Payload}
	if err := a.readState(s); err != nil {
		return &framed.DamagedError{At: frame.At + int64(len(frame.Payload)-len(s.Rest)), Why: err.Error()}
	}
	return nil
}

// errBroken reports a state in which something else was expected.
var errBroken = errors.New("a state that cannot be read")

func (a *Attachment) readState(s *replay.StateReader) error {
	a.lastEpoch = s.Varint()
	other := map[int32]int32{} // number of a net in the file: its number here
	for k := range s.Uvarint(maxFiles) {
		id, digest, state, unsent := string(s.Text(maxPath)), string(s.Text(maxPath)), s.Text(maxState), s.Text(maxState)
		ours := slices.IndexFunc(a.defs, func(d telemetry.SourceNet) bool { return d.ID == id && telemetry.Digest(d.PNML) == digest })
		other[int32(k)] = int32(ours)
		if s.Broken {
			return errBroken
		}
		if ours < 0 {
			a.cfg.Log.Warn("the state of a net is dropped, because the net is no longer replayed or has changed", "net", id, "digest", digest)
			continue
		}
		if err := a.loadNet(ours, state, unsent); err != nil {
			return err
		}
	}
	for range s.Uvarint(maxFiles) {
		path := string(s.Text(maxPath))
		a.positions[path] = readPosition(s)
	}
	a.loadWindow(s, other)
	if len(s.Rest) > 0 && !s.Broken { // absent if no event has decided
		if name := string(s.Text(telemetry.MaxName)); a.meant != nil && other[0] == 0 {
			a.meant.name.Store(&name)
		}
	}
	if s.Broken || len(s.Rest) > 0 {
		return errBroken
	}
	return nil
}

func (a *Attachment) loadNet(k int, state, unsent []byte) error {
	if err := a.nets[k].LoadState(state); err != nil {
		return fmt.Errorf("net %q: %w", a.defs[k].ID, err)
	}
	if len(unsent) == 0 {
		return nil
	}
	var snap telemetry.Snapshot
	var d telemetry.Decoder
	if err := d.Decode(unsent, &snap); err != nil {
		return fmt.Errorf("counts of net %q: %w", a.defs[k].ID, err)
	}
	rows := stats.NewRows(a.defs[k].Places, a.defs[k].Transitions)
	if len(snap.Rows.Places) != len(rows.Places) || len(snap.Rows.Transitions) != len(rows.Transitions) {
		return fmt.Errorf("counts of net %q are of another net", a.defs[k].ID)
	}
	rows.Merge(&snap.Rows)
	rows.Columns = 0
	a.nets[k].Resume(rows)
	return nil
}

func (a *Attachment) loadWindow(s *replay.StateReader, other map[int32]int32) {
	now := a.clock()
	for range s.Uvarint(maxState) {
		e := event{net: int32(s.Uvarint(maxFiles)), index: int32(s.Uvarint(telemetry.MaxRows)), kind: kind(s.Uvarint(uint64(ends))),
			tokens: s.Varint(), time: s.Varint(), instance: s.Text(telemetry.MaxName)}
		ours, known := other[e.net]
		if s.Broken || !known || !validName(e.instance) || e.time <= 0 || e.time > telemetry.MaxTime {
			s.Broken = true
			return
		}
		if ours < 0 {
			continue
		}
		e.net = ours
		if e.kind == puts && int(e.index) >= a.defs[ours].Places || e.kind == fires && !a.canFire(&e) {
			s.Broken = true
			return
		}
		a.window.push(&e, now, a.apply)
	}
}

// canFire reports whether an event is that of a transition, or of a label of some.
func (a *Attachment) canFire(e *event) bool {
	k, labels := int(e.index)-a.defs[e.net].Transitions, a.names.labels[e.net]
	return k < 0 || k < len(labels) && len(labels[k].transitions) > 0
}
