// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// ContentTypeHeader and ContentTypeJSON mark a message of the JSON lane.
const (
	ContentTypeHeader = "Content-Type"
	ContentTypeJSON   = "application/json"
)

// jsonDepth is how deep the JSON lane nests: a snapshot needs five levels.
const jsonDepth = 16

// Decoder decodes snapshots and rejects invalid ones; every error has a Reason.
// It reuses its buffers; the zero Decoder is ready. It is for one goroutine.
type Decoder struct {
	// Sums is set if messages hold sums over many sources, whose counts go up
	// to stats.MaxSum. The counts of one source go up to MaxCount.
	Sums bool

	message *message
	zeros   []uint64 // read for a column that is absent; never written
	times   []int64  // the same for times
	token   []byte   // a subject token being compared
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
	if d.message == nil {
		d.message = &message{}
	}
	m, err := d.message.parse(payload)
	if err != nil {
		d.message = nil // release what a bad message made grow
		return fmt.Errorf("snapshot: %w: %w", NotProtobuf, err)
	}
	if err := d.read(m, into); err != nil {
		d.message = nil
		return err
	}
	return nil
}

// DecodeJSON is Decode for the JSON lane.
func (d *Decoder) DecodeJSON(payload []byte, into *Snapshot) error {
	if len(payload) > MaxMessage {
		return fmt.Errorf("snapshot: %w: %d bytes, of at most %d", TooLarge, len(payload), MaxMessage)
	}
	m := &wire.Snapshot{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: jsonDepth}).Unmarshal(payload, m); err != nil {
		return fmt.Errorf("snapshot: %w: %w", NotJSON, err)
	}
	return d.read(m, into)
}

// read checks the message and turns it into rows.
func (d *Decoder) read(m *wire.Snapshot, into *Snapshot) error {
	err := readEnvelope(m, into)
	if err == nil {
		err = within("places", d.readPlaces(m.GetPlaces(), into))
	}
	if err == nil {
		err = within("transitions", d.readTransitions(m.GetTransitions(), into))
	}
	if err == nil {
		err = readNet(m.GetRow(), &into.Rows, d.most())
	}
	if err == nil {
		err = readBlocks(m.Blocks, &into.Rows)
	}
	if err == nil {
		err = readQueues(m, &into.Rows, d.most())
	}
	if err == nil {
		err = readRegion(m, into)
	}
	if err == nil {
		err = readRefused(m, into)
	}
	if err == nil {
		err = within("remnants", readRemnants(m, into))
	}
	if err != nil {
		return fmt.Errorf("snapshot of %q by %q: %w", m.Net, m.Source, err)
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

func readEnvelope(m *wire.Snapshot, into *Snapshot) error {
	if err := cmp.Or(within("source", CheckName(m.Source)), within("net", CheckName(m.Net)),
		within("region", checkText(m.Region, MaxName)), checkDigest(m.Digest)); err != nil {
		return err
	}
	switch {
	case m.Epoch <= 0 || m.Epoch > MaxTime:
		return fmt.Errorf("%w: epoch %d", BadValue, m.Epoch)
	case m.SentAt <= 0 || m.SentAt > MaxTime:
		return fmt.Errorf("%w: sent_at %d", BadValue, m.SentAt)
	case m.Seq == 0 || m.Seq > MaxCount:
		return fmt.Errorf("%w: seq %d", BadValue, m.Seq)
	case m.Interval <= 0 || m.Interval > MaxInterval.Microseconds():
		return fmt.Errorf("%w: interval of %d µs", BadValue, m.Interval)
	}
	into.Source, into.Epoch, into.Seq, into.SentAt = m.Source, m.Epoch, m.Seq, m.SentAt
	into.Interval = time.Duration(m.Interval) * time.Microsecond
	into.Net, into.Digest, into.Region, into.Fence = m.Net, m.Digest, m.Region, m.Fence
	into.Full, into.Bye = m.Full, m.Bye
	into.Rows.Columns = 0
	return nil
}

// readIndex returns the number of rows of a table: the length of the index, or
// in a full snapshot that of the longest column.
func readIndex(index []uint32, full bool, longest int, into *[]uint32) (int, error) {
	n := len(index)
	if full {
		n = longest
	}
	if n > MaxRows {
		return 0, fmt.Errorf("%w: %d rows, of at most %d", TooMany, n, MaxRows)
	}
	if full {
		*into = nil
		if len(index) > 0 {
			return 0, fmt.Errorf("%w: a full snapshot has no index", BadIndex)
		}
		return n, nil
	}
	for i, x := range index {
		if x >= MaxRows || (i > 0 && x <= index[i-1]) {
			return 0, fmt.Errorf("%w: row %d at %d: indices rise and are below %d", BadIndex, x, i, MaxRows)
		}
	}
	*into = append((*into)[:0], index...)
	return n, nil
}

// most returns the largest count of the messages.
func (d *Decoder) most() uint64 {
	if d.Sums {
		return stats.MaxSum
	}
	return MaxCount
}

func readNet(w *wire.NetRow, rows *stats.Rows, most uint64) error {
	rows.Net = stats.NetRow{}
	if w == nil {
		return nil
	}
	if top := max(w.Created, w.Finished, w.Failed, w.Active, w.Deadlocked); top > most {
		return fmt.Errorf("row: %w: %d, of at most %d", BadValue, top, most)
	}
	rows.Net = stats.NetRow{Created: w.Created, Finished: w.Finished, Failed: w.Failed, Active: w.Active, Deadlocked: w.Deadlocked}
	rows.Columns |= stats.ColInstances
	return nil
}
