// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"compress/flate"
	"strconv"
	"sync"
)

// event is one server-sent event, as text and packed. It is made once and sent
// to every viewer as the same bytes.
type event struct {
	text   []byte
	packed func() []byte
}

// newEvent returns an event with JSON of one line.
func newEvent(kind string, generation uint64, text []byte) *event {
	out := make([]byte, 0, len(text)+64)
	out = append(append(out, "event: "...), kind...)
	out = strconv.AppendUint(append(out, "\nid: "...), generation, 10)
	out = append(append(append(out, "\ndata: "...), text...), "\n\n"...)
	return &event{text: out, packed: sync.OnceValue(func() []byte { return packChunk(out) })}
}

// bytes returns the event as a viewer takes it.
func (e *event) bytes(packed bool) []byte {
	if packed {
		return e.packed()
	}
	return e.text
}

// gzipHeader begins the stream of a viewer that takes gzip (RFC 1952): no name,
// no time, an unknown system. The chunks of packChunk follow.
var gzipHeader = string([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255})

// packChunk deflates text as blocks that refer to nothing before them and end
// on a byte, so that any sequence of chunks is one stream (RFC 1951, 3.2.4).
// That is what lets viewers share them, whatever each was sent before.
func packChunk(text []byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		panic("web: deflating into memory: " + err.Error()) // the level is right and a Buffer takes all
	}
	return out.Bytes()
}
