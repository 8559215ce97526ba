// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// ContentTypeHeader and ContentTypeJSON mark a message of the JSON lane.
const (
	ContentTypeHeader = "Content-Type"
	ContentTypeJSON   = "application/json"
)

// The fields of a snapshot's envelope, and of its tables.
const (
	fieldSource = 1 + iota
	fieldEpoch
	fieldSeq
	fieldSentAt
	fieldInterval
	fieldNet
	fieldDigest
	fieldRegion
	fieldFence
	fieldFull
	fieldPlaces
	fieldTransitions
	fieldBye = 15
)

// maxNames bounds the names that a Decoder keeps so that messages of one source share strings.
const maxNames = 4096

// Decoder decodes snapshots and rejects invalid ones; every error has a Reason.
// It reuses its buffers; the zero Decoder is ready. It is for one goroutine.
type Decoder struct {
	// Sums is set if messages hold sums over many sources, whose counts go up
	// to stats.MaxSum. The counts of one source go up to MaxCount.
	Sums bool

	fields  fields            // of the message that is read
	names   map[string]string // texts that many messages hold
	numbers [6][]uint64       // columns that are being read
	token   []byte            // a subject token being compared

	overlong bool // a number of the message does not fit 64 bits
}

// DecodeMsg decodes a message of a Snapshot or Bye subject in the lane that its
// header names. It checks that the subject is that of the source and net in the
// message.
func (d *Decoder) DecodeMsg(subjects Subjects, msg *nats.Msg, into *Snapshot) error {
	decode := d.Decode
	if lane, _, _ := strings.Cut(msg.Header.Get(ContentTypeHeader), ";"); lane == ContentTypeJSON { // "; charset=…"
		decode = d.DecodeJSON
	}
	if err := decode(msg.Data, into); err != nil {
		return err
	}
	kind := ".snapshot."
	if into.Bye {
		kind = ".bye."
	}
	d.token = append(append(d.token[:0], subjects.Prefix()...), kind...)
	d.token = append(appendEscaped(d.token, into.Net), '.')
	d.token = appendEscaped(d.token, into.Source)
	if string(d.token) != msg.Subject {
		return fmt.Errorf("%w: %q for a message of source %q about net %q (bye %t)",
			BadSubject, msg.Subject, into.Source, into.Net, into.Bye)
	}
	return nil
}

// Decode decodes the protobuf form. It overwrites all of into and reuses its
// memory, but keeps no reference to payload. After an error the content of into
// is undefined.
//
// Age ladders are cut for SentAt. Indices are checked against MaxRows, not
// against the net, which a Decoder does not have.
func (d *Decoder) Decode(payload []byte, into *Snapshot) error {
	if len(payload) > MaxMessage {
		return fmt.Errorf("snapshot: %w: %d bytes, of at most %d", TooLarge, len(payload), MaxMessage)
	}
	return d.decode(payload, into)
}

// DecodeJSON is Decode for the JSON lane.
func (d *Decoder) DecodeJSON(payload []byte, into *Snapshot) error {
	if len(payload) > MaxMessage {
		return fmt.Errorf("snapshot: %w: %d bytes, of at most %d", TooLarge, len(payload), MaxMessage)
	}
	b, err := wire.FromJSON("Snapshot", payload)
	if err != nil {
		return fmt.Errorf("snapshot: %w: %w", NotJSON, err)
	}
	return d.decode(b, into)
}

// decode reads a message in two steps. The first one finds where the columns are. The second one reads the
// columns into rows: what places them, the index, may come last. Both check that the bytes are protobuf.
func (d *Decoder) decode(b []byte, into *Snapshot) error {
	if d.fields == nil {
		d.fields, d.names = snapshotFields(), map[string]string{}
	}
	err := d.fields.scan(b, outer)
	if err == nil {
		err = d.read(d.fields, into)
	}
	if err == nil && !d.overlong {
		d.fields.reset()
		return nil
	}
	d.fields, d.numbers, d.overlong = nil, [6][]uint64{}, false // release what a bad message made grow
	if first := snapshotFields().scan(b, exact); first != nil {
		return fmt.Errorf("snapshot: %w: %w", NotProtobuf, first)
	}
	return err
}

// read checks the message and turns it into rows.
func (d *Decoder) read(f fields, into *Snapshot) error {
	rows := &into.Rows
	err := d.readEnvelope(f, into)
	if err == nil {
		err = within("places", d.readPlaces(f[fieldPlaces].fields, into))
	}
	if err == nil {
		err = within("transitions", d.readTransitions(f[fieldTransitions].fields, into))
	}
	if err == nil {
		err = readNet(&f[fieldRow], rows, d.most())
	}
	if err == nil {
		err = readBlocks(&f[fieldBlocks], rows)
	}
	if err == nil {
		err = readWaiting(&f[fieldWaiting], rows, d.most())
	}
	if err == nil {
		err = readQueues(&f[fieldQueues], rows, d.most())
	}
	if err == nil {
		err = readRegion(f, into)
	}
	if err == nil {
		err = readRefused(&f[fieldRefused], into)
	}
	if err == nil {
		err = within("remnants", d.readRemnants(&f[fieldRemnants], into))
	}
	if err != nil {
		return fmt.Errorf("snapshot of %q by %q: %w", f[fieldNet].bytes, f[fieldSource].bytes, err)
	}
	return nil
}

// within names the part of a message that an error is about.
func within(part string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", part, err)
	}
	return nil
}

func (d *Decoder) readEnvelope(f fields, into *Snapshot) error {
	into.Source, into.Net, into.Digest, into.Region = d.name(&f[fieldSource]), d.name(&f[fieldNet]), d.name(&f[fieldDigest]), d.name(&f[fieldRegion])
	into.Epoch, into.Seq, into.SentAt = int64(f[fieldEpoch].number), f[fieldSeq].number, int64(f[fieldSentAt].number)
	into.Fence, into.Full, into.Bye = f[fieldFence].number, f[fieldFull].number != 0, f[fieldBye].number != 0
	into.Rows.Columns = 0
	interval := int64(f[fieldInterval].number)
	into.Interval = time.Duration(interval) * time.Microsecond
	err := within("source", CheckName(into.Source))
	if err == nil {
		err = within("net", CheckName(into.Net))
	}
	if err == nil {
		err = within("region", checkText(into.Region, MaxName))
	}
	if err == nil {
		err = checkDigest(into.Digest)
	}
	if err != nil {
		return err
	}
	switch {
	case into.Epoch <= 0 || into.Epoch > MaxTime:
		return fmt.Errorf("%w: epoch %d", BadValue, into.Epoch)
	case into.SentAt <= 0 || into.SentAt > MaxTime:
		return fmt.Errorf("%w: sent_at %d", BadValue, into.SentAt)
	case into.Seq == 0 || into.Seq > MaxCount:
		return fmt.Errorf("%w: seq %d", BadValue, into.Seq)
	case interval <= 0 || interval > MaxInterval.Microseconds():
		return fmt.Errorf("%w: interval of %d µs", BadValue, interval)
	}
	return nil
}

func (d *Decoder) readPlaces(f fields, into *Snapshot) error {
	t := table{d: d, f: f, known: &into.Rows.Columns}
	columns := max(longest(f, placeNumbers), f[fieldAges].fields[ladderLen].count, f[fieldDurations].fields[histLen].count)
	err := t.readIndex(into.Full, columns, &into.PlaceIndex)
	if err != nil {
		return err
	}
	rows := resize(into.Rows.Places, t.n)
	into.Rows.Places = rows
	err = readColumns(&t, placeNumbers, rows)
	if err == nil {
		err = within("ages", t.readAges(rows, into.SentAt/stats.SlotWidth))
	}
	if err == nil {
		d := dwells(rows)
		err = d.read(&t)
	}
	if err == nil {
		err = within("stuck", t.readStuck(rows))
	}
	return err
}

func (d *Decoder) readTransitions(f fields, into *Snapshot) error {
	t := table{d: d, f: f, known: &into.Rows.Columns}
	columns := max(longest(f, transitionNumbers), f[fieldDurations].fields[histLen].count)
	err := t.readIndex(into.Full, columns, &into.TransitionIndex)
	if err != nil {
		return err
	}
	rows := resize(into.Rows.Transitions, t.n)
	into.Rows.Transitions = rows
	err = readColumns(&t, transitionNumbers, rows)
	if err == nil {
		d := durationsOf(rows)
		err = d.read(&t)
	}
	return err
}

// most returns the largest count of the messages.
func (d *Decoder) most() uint64 {
	if d.Sums {
		return stats.MaxSum
	}
	return MaxCount
}

// unpacked reads a column into one of the buffers.
func (d *Decoder) unpacked(buffer int, f *field) []uint64 {
	into := resize(d.numbers[buffer], f.count)
	d.numbers[buffer] = into
	d.readPacked(f, stripOf(into, func(v *uint64) *uint64 { return v }))
	return into
}

// readPacked reads a column, and returns all bits of its numbers.
func (d *Decoder) readPacked(f *field, into strip[uint64]) uint64 {
	all, ok := readPacked(f.bytes, into)
	d.overlong = d.overlong || !ok
	return all
}

func (d *Decoder) name(f *field) string { return d.shared(f.bytes) }

// shared returns a name as a string, shared by all messages that hold it.
func (d *Decoder) shared(b []byte) string {
	if s, ok := d.names[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(s) <= MaxName {
		if len(d.names) >= maxNames {
			clear(d.names)
		}
		d.names[s] = s
	}
	return s
}
