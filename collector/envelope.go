// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"strings"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/telemetry"
)

// The fields of a snapshot that an envelope has, see telemetry/wire.
const (
	fieldEpoch  = 2
	fieldSeq    = 3
	fieldDigest = 7
	fieldRegion = 8
	fieldFence  = 9
	fieldFull   = 10
	fieldBye    = 15
	fieldSince  = 18
)

// envelope is what says whose counters a message has, and when.
type envelope struct {
	series
	seq       uint64
	full, bye bool
}

// series is what messages with the same counters have in common.
type series struct {
	epoch, fence, since uint64
	digest, region      string
}

// envelopeOf reads the envelope of a message, if that is protobuf. It skips the rows, and fields
// of another wire type than theirs.
func envelopeOf(m *nats.Msg) (e envelope, ok bool) {
	if strings.HasPrefix(m.Header.Get(telemetry.ContentTypeHeader), telemetry.ContentTypeJSON) {
		return e, false
	}
	for b := m.Data; len(b) > 0; {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return e, false
		}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			var number uint64
			number, n = protowire.ConsumeVarint(b)
			e.setNumber(field, number)
		case protowire.BytesType:
			var text []byte
			text, n = protowire.ConsumeBytes(b)
			e.setText(field, text)
		default:
			n = protowire.ConsumeFieldValue(field, kind, b)
		}
		if n < 0 {
			return e, false
		}
		b = b[n:]
	}
	return e, true
}

func (e *envelope) setText(field protowire.Number, text []byte) {
	switch field {
	case fieldDigest:
		e.digest = string(text)
	case fieldRegion:
		e.region = string(text)
	}
}

func (e *envelope) setNumber(field protowire.Number, number uint64) {
	switch field {
	case fieldEpoch:
		e.epoch = number
	case fieldSeq:
		e.seq = number
	case fieldFence:
		e.fence = number
	case fieldFull:
		e.full = number != 0
	case fieldBye:
		e.bye = number != 0
	case fieldSince:
		e.since = number
	}
}

// replaces reports whether a full message has all that an earlier one has. The first one of a
// process also says that no other collector has counted the process, and a bye that it ended.
func (e *envelope) replaces(earlier *envelope) bool {
	return e.series == earlier.series && earlier.seq > 1 && e.seq > earlier.seq && !e.bye && !earlier.bye
}
