// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// Frames have a row for each place and transition, and are written once a second.
// encoding/json needs ten times as long for them.

// AppendJSON appends the frame as JSON, as json.Marshal writes it.
func (f *Frame) AppendJSON(dst []byte) []byte {
	dst = append(appendAny(append(dst, `{"net":`...), f.Net), `,"drawing":`...)
	dst = append(appendAny(dst, f.Drawing), `,"generation":`...)
	dst = append(strconv.AppendUint(dst, f.Generation, 10), `,"at":`...)
	dst = f.At.appendJSON(dst)
	if f.Archive {
		dst = append(dst, `,"archive":true`...)
	}
	if len(f.Resting) > 0 {
		dst = appendAny(append(dst, `,"resting":`...), f.Resting)
	}
	dst = append(dst, `,"places":[`...)
	for i := range f.Places {
		dst = appendRow(dst, i, f.Places[i].appendFields)
	}
	dst = append(dst, `],"transitions":[`...)
	for i := range f.Transitions {
		dst = appendRow(dst, i, f.Transitions[i].appendFields)
	}
	return append(dst, "]}"...)
}

// AppendJSON appends the difference as JSON, as json.Marshal writes it.
func (d *Diff) AppendJSON(dst []byte) []byte {
	dst = append(strconv.AppendUint(append(dst, `{"generation":`...), d.Generation, 10), `,"at":`...)
	dst = append(d.At.appendJSON(dst), `,"places":[`...)
	for i := range d.Places {
		p := &d.Places[i]
		dst = appendRow(dst, i, func(dst []byte) []byte { return p.appendFields(appendIndex(dst, p.Index)) })
	}
	dst = append(dst, `],"transitions":[`...)
	for i := range d.Transitions {
		t := &d.Transitions[i]
		dst = appendRow(dst, i, func(dst []byte) []byte { return t.appendFields(appendIndex(dst, t.Index)) })
	}
	return append(dst, "]}"...)
}

// appendRow appends the i-th object of a list. Each of its fields begins with a comma.
func appendRow(dst []byte, i int, fields func(dst []byte) []byte) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	begin := len(dst)
	if dst = fields(dst); len(dst) == begin {
		return append(dst, "{}"...)
	}
	dst[begin] = '{'
	return append(dst, '}')
}

func appendIndex(dst []byte, i int) []byte {
	return strconv.AppendInt(append(dst, `,"index":`...), int64(i), 10)
}

func (p *PlaceNow) appendFields(dst []byte) []byte {
	dst = appendCount(dst, `,"tokens":`, p.Tokens)
	dst = appendCount(dst, `,"instances":`, p.Instances)
	dst = appendTime(dst, `,"oldest_since":`, p.OldestSince)
	return appendRate(dst, `,"arrival_rate":`, p.ArrivalRate)
}

func (t *TransitionNow) appendFields(dst []byte) []byte {
	dst = appendRate(dst, `,"rate":`, t.Rate)
	dst = appendCount(dst, `,"enabled":`, t.Enabled)
	dst = appendTime(dst, `,"enabled_since":`, t.EnabledSince)
	dst = appendCount(dst, `,"running":`, t.Running)
	dst = appendCount(dst, `,"blocked":`, t.Blocked)
	return appendCount(dst, `,"failures":`, t.Failures)
}

func appendCount(dst []byte, name string, v *uint64) []byte {
	if v == nil {
		return dst
	}
	return strconv.AppendUint(append(dst, name...), *v, 10)
}

func appendTime(dst []byte, name string, v Time) []byte {
	if v == 0 {
		return dst
	}
	return v.appendJSON(append(dst, name...))
}

func appendRate(dst []byte, name string, v *float64) []byte {
	switch {
	case v == nil:
		return dst
	case *v == 0 || *v >= 1e-6 && *v < 1e21:
		return strconv.AppendFloat(append(dst, name...), *v, 'f', -1, 64)
	}
	return appendAny(append(dst, name...), *v)
}

func appendAny(dst []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("api: " + err.Error()) // all numbers are finite
	}
	return append(dst, plaintext.Lines(text)...)
}

func (t Time) appendJSON(dst []byte) []byte { return append(t.appendTo(append(dst, '"')), '"') }

// appendTo appends the time in its layout. Package time is quick for its own layouts
// only, and a frame has a time for each place and transition.
func (t Time) appendTo(dst []byte) []byte {
	at := t.Time()
	dst = at.AppendFormat(dst, time.RFC3339)
	dst[len(dst)-1] = '.' // for Z
	for micro, unit := at.Nanosecond()/1000, 100_000; unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+micro/unit%10))
	}
	return append(dst, 'Z')
}
