// SPDX-License-Identifier: Apache-2.0

package xes

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// Bounds of a log.
const (
	maxBytes = 1 << 40 // unpacked
	maxToken = 1 << 20 // bytes of one tag
	maxDepth = 200     // elements inside each other
	buffer   = 64 << 10
)

// Kind is the kind of an Item.
type Kind uint8

// The kinds.
const (
	Event Kind = iota // of a trace
	End               // of a trace
	Stray             // an event outside of traces
)

// Item is what Next returns. Its texts are valid until the next call.
type Item struct {
	Kind  Kind
	Trace []byte // its concept:name, or "trace" and its number
	// Of an Event; empty if it has none.
	Name  []byte // concept:name
	Time  []byte // time:timestamp
	Phase []byte // lifecycle:transition
}

// Reader reads one log.
type Reader struct {
	scan   *xmlscan.Scanner
	item   Item
	begun  bool // the root element is open
	inside bool // a trace is open
	traces int
}

// NewReader returns a reader of a log; the file's name is used in messages only.
func NewReader(r io.Reader, file string) (*Reader, error) {
	unpacked, err := Unpack(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return &Reader{scan: xmlscan.New(unpacked, file, xmlscan.Limits{Bytes: maxBytes, Token: maxToken, Depth: maxDepth})}, nil
}

// Unpack decompresses gzip, and returns other input as it is.
func Unpack(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, buffer)
	magic, _ := b.Peek(2) // shorter input is not gzip; an error is repeated by the next read
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return gzip.NewReader(b)
}

// Fault returns a fault at the last item.
func (r *Reader) Fault(format string, args ...any) error {
	return &petri.Fault{File: r.scan.File, Pos: r.scan.At, Msg: fmt.Sprintf(format, args...)}
}

// Next returns the next item, or io.EOF at the end of the log.
func (r *Reader) Next() (*Item, error) {
	for {
		kind, err := r.scan.Next()
		if err != nil {
			return nil, r.ended(err)
		}
		switch {
		case kind == xmlscan.EndTag && r.inside:
			r.inside, r.item.Kind = false, End
			return &r.item, nil
		case kind != xmlscan.StartTag:
			continue
		}
		found, err := r.element()
		if found || err != nil {
			return &r.item, err
		}
	}
}

// element reads the element that begins here, or only its start tag if it is the log or a trace.
func (r *Reader) element() (found bool, err error) {
	name := r.scan.Name.Local
	switch {
	case !r.begun && name != "log":
		return false, r.scan.Fatal(r.scan.At, "the element <%s>; expected <log>", xmlscan.Clip(name, 60))
	case !r.begun:
		r.begun = true
		return false, nil
	case r.inside && name == "event":
		return true, r.event()
	case r.inside:
		if key, value := r.attribute(); string(key) == "concept:name" && len(value) > 0 {
			r.item.Trace = append(r.item.Trace[:0], value...)
		}
	case name == "trace":
		r.inside = true
		r.traces++
		r.item.Trace = strconv.AppendInt(append(r.item.Trace[:0], "trace "...), int64(r.traces), 10)
		return false, nil
	case name == "event":
		r.item.Kind = Stray
		return true, r.ended(r.scan.Skip())
	}
	return false, r.ended(r.scan.Skip())
}

// event reads to the end of an event.
func (r *Reader) event() error {
	i := &r.item
	i.Kind, i.Name, i.Time, i.Phase = Event, i.Name[:0], i.Time[:0], i.Phase[:0]
	for {
		kind, err := r.scan.Next()
		switch {
		case err != nil:
			return r.ended(err)
		case kind == xmlscan.EndTag:
			return nil
		case kind != xmlscan.StartTag:
			continue
		}
		switch key, value := r.attribute(); string(key) {
		case "concept:name":
			i.Name = append(i.Name[:0], value...)
		case "time:timestamp":
			i.Time = append(i.Time[:0], value...)
		case "lifecycle:transition":
			i.Phase = append(i.Phase[:0], value...)
		}
		if err := r.scan.Skip(); err != nil {
			return r.ended(err)
		}
	}
}

// ended returns a fault for the end of the file inside an element.
func (r *Reader) ended(err error) error {
	if errors.Is(err, io.EOF) && r.inside {
		return r.scan.Fatal(r.scan.At, "the file ends here; expected the end of the open elements")
	}
	return err
}

// attribute returns the key and the value of the attribute of a trace or an event that begins
// here.
func (r *Reader) attribute() (key, value []byte) {
	for _, a := range r.scan.Attrs {
		switch a.Name.Local {
		case "key":
			key = a.Value
		case "value":
			value = a.Value
		}
	}
	return key, value
}
