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

// The keys of the numbers of frames.
var (
	placeKeys      = []string{`,"tokens":`, `,"instances":`, `,"oldest_since":`, `,"arrival_rate":`}
	transitionKeys = []string{`,"rate":`, `,"enabled":`, `,"enabled_since":`, `,"running":`, `,"blocked":`, `,"failures":`}
)

// Numbers returns where the numbers are, in the order of JSON: a **uint64 for a count, a **float64 for
// a rate, and a *Time.
func (p *PlaceNow) Numbers() []any {
	return []any{&p.Tokens, &p.Instances, &p.OldestSince, &p.ArrivalRate}
}

// Numbers is as of a place.
func (t *TransitionNow) Numbers() []any {
	return []any{&t.Rate, &t.Enabled, &t.EnabledSince, &t.Running, &t.Blocked, &t.Failures}
}

// Equal reports whether the numbers are the same.
func (p *PlaceNow) Equal(b *PlaceNow) bool {
	return p.OldestSince == b.OldestSince && same(p.Tokens, b.Tokens) && same(p.Instances, b.Instances) && same(p.ArrivalRate, b.ArrivalRate)
}

// Equal is as of a place.
func (t *TransitionNow) Equal(b *TransitionNow) bool {
	return t.EnabledSince == b.EnabledSince && same(t.Rate, b.Rate) && same(t.Enabled, b.Enabled) && same(t.Running, b.Running) &&
		same(t.Blocked, b.Blocked) && same(t.Failures, b.Failures)
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// Own copies numbers to memory of their own.
func Own(numbers []any) {
	var own struct {
		counts [6]uint64
		rate   float64
	}
	for i, n := range numbers {
		switch n := n.(type) {
		case **uint64:
			*n = copied(*n, &own.counts[i])
		case **float64:
			*n = copied(*n, &own.rate)
		}
	}
}

// copied copies a number to a place and returns that; nil stays nil.
func copied[T any](n, to *T) *T {
	if n == nil {
		return nil
	}
	*to = *n
	return to
}

func (p *PlaceNow) appendFields(dst []byte) []byte { return appendNumbers(dst, placeKeys, p.Numbers()) }

func (t *TransitionNow) appendFields(dst []byte) []byte {
	return appendNumbers(dst, transitionKeys, t.Numbers())
}

func appendNumbers(dst []byte, keys []string, numbers []any) []byte {
	for i, n := range numbers {
		switch n := n.(type) {
		case **uint64:
			dst = appendCount(dst, keys[i], *n)
		case **float64:
			dst = appendRate(dst, keys[i], *n)
		case *Time:
			dst = appendTime(dst, keys[i], *n)
		}
	}
	return dst
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
