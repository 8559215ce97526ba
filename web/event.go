// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"strconv"
	"sync"
)

// event is one server-sent event, as text and compressed. It is made once, and
// every viewer receives the same bytes.
type event struct {
	text   []byte
	packed func() []byte
}

func newText(text []byte) *event {
	return &event{text: text, packed: sync.OnceValue(func() []byte { return packChunk(text) })}
}

// newEvent returns an event with JSON of one line.
func newEvent(kind string, generation uint64, text []byte) *event {
	out := make([]byte, 0, len(text)+64)
	out = append(append(out, "event: "...), kind...)
	out = strconv.AppendUint(append(out, "\nid: "...), generation, 10)
	out = append(append(append(out, "\ndata: "...), text...), "\n\n"...)
	return newText(out)
}

// gzipHeader begins the stream of a viewer that accepts gzip (RFC 1952): no name,
// no time, an unknown system. The chunks of packChunk follow.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// gzipEnd returns the end of such a stream: an empty last block, the checksum and
// the length of all text.
func gzipEnd(sum uint32, length uint64) []byte {
	out := []byte{1, 0, 0, 0xff, 0xff}
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(out, sum), uint32(length))
}

// packChunk deflates text as blocks that do not refer to earlier ones and end on a
// byte, so that any sequence of chunks is one stream (RFC 1951, 3.2.4). So viewers
// can share them, whatever each received before.
func packChunk(text []byte) []byte {
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	var out bytes.Buffer
	w.Reset(&out)
	_, err := w.Write(text)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		panic("web: deflating into memory: " + err.Error()) // a Buffer never fails
	}
	return out.Bytes()
}

// packers are writers to use again: a new one takes four times as long as what it
// packs.
var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic("web: " + err.Error()) // the level is valid
	}
	return w
}}
