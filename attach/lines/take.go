// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/pnagent/pnagent/telemetry"
)

// Feed parses the lines of one input for an Attachment. It is for one goroutine.
type Feed struct {
	a      *Attachment
	form   format
	fields fields
	events []event
	// Values of the present chunk, until it is delivered.
	count Counters
	taken Counters // of the last chunk
}

// Feed returns a Feed for one more input.
func (a *Attachment) Feed() *Feed { return &Feed{a: a, form: a.format()} }

// futureAfter bounds how far an event may be ahead of the clock, in microseconds.
const futureAfter = 60_000_000

// Take applies whole lines; the last may lack its line end, and empty ones are
// skipped. At a bounded speed it waits for the time of each event. If ctx ends
// meanwhile, Take returns its error, with some lines not applied. If done is
// not nil, Take calls it with the Attachment's lock whenever it has applied
// lines, and passes the number of bytes left in the chunk. So done can advance
// a position together with them.
func (f *Feed) Take(ctx context.Context, chunk []byte, done func(left int)) error {
	if f.a.pace.speed > 0 {
		return f.takeSlowly(ctx, chunk, done)
	}
	now := f.a.clock()
	f.read(chunk, now)
	f.deliver(now, done, 0)
	return nil
}

// takeSlowly applies each line at its time.
func (f *Feed) takeSlowly(ctx context.Context, chunk []byte, done func(left int)) error {
	if len(chunk) == 0 {
		f.deliver(f.a.clock(), done, 0)
	}
	for len(chunk) > 0 {
		line, rest, _ := bytes.Cut(chunk, []byte("\n"))
		chunk = rest
		f.read(line, f.a.clock())
		if len(f.events) > 0 {
			if err := f.a.pace.wait(ctx, f.events[0].time); err != nil {
				f.events, f.count = f.events[:0], Counters{}
				return err
			}
			for k := range f.events {
				if f.a.cfg.AsNow {
					f.events[k].time = f.a.clock()
				}
			}
		}
		f.deliver(f.a.clock(), done, len(chunk))
	}
	return nil
}

// read parses lines into events.
func (f *Feed) read(chunk []byte, now int64) {
	f.count.Bytes += uint64(len(chunk))
	for len(chunk) > 0 {
		end := bytes.IndexByte(chunk, '\n')
		line := chunk
		if end < 0 {
			chunk = nil
		} else {
			line, chunk = chunk[:end], chunk[end+1:]
		}
		if line = bytes.TrimSuffix(line, []byte("\r")); len(line) == 0 {
			continue
		}
		f.count.Lines++
		if why := f.line(line, now); why != Taken {
			f.count.Dropped[why]++
			f.a.show(why, line)
		}
	}
}

func (f *Feed) line(line []byte, now int64) Reason {
	if why := f.form.read(line, &f.fields); why != Taken {
		return why
	}
	if f.fields.dropped != nil {
		if n, err := strconv.ParseUint(string(f.fields.dropped), 10, 64); err == nil {
			f.count.Unwritten = max(f.count.Unwritten, n)
		}
	}
	e, why := f.resolve(now)
	if why != Taken {
		return why
	}
	f.events = append(f.events, e)
	if f.fields.end && e.kind != ends { // the event is the last one of the instance
		e.kind = ends
		f.events = append(f.events, e)
	}
	return Taken
}

// deliver passes the events to the window and clears them.
func (f *Feed) deliver(now int64, done func(left int), left int) {
	a := f.a
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := range f.events {
		if a.window.push(&f.events[k], now, a.apply) {
			f.count.Hurried++
		}
	}
	a.counters.add(&f.count)
	a.heard = a.heard || len(f.events) > 0
	if done != nil {
		done(left)
	}
	f.taken = f.count
	f.events, f.count = f.events[:0], Counters{}
}

func (c *Counters) add(o *Counters) {
	c.Lines, c.Bytes, c.Future, c.Undated = c.Lines+o.Lines, c.Bytes+o.Bytes, c.Future+o.Future, c.Undated+o.Undated
	c.Hurried, c.Rotated, c.SaveFailures = c.Hurried+o.Hurried, c.Rotated+o.Rotated, c.SaveFailures+o.SaveFailures
	c.Unwritten = max(c.Unwritten, o.Unwritten)
	for k := range o.Dropped {
		c.Dropped[k] += o.Dropped[k]
	}
}

// resolve resolves the names of a line.
func (f *Feed) resolve(now int64) (e event, why Reason) {
	in, names, meant := &f.fields, f.a.names, f.a.meant
	e.net = names.only
	another := false // in.net is not one of the names of a net
	if in.net != nil {
		k, ok := find(names.nets, in.net)
		another = !ok
		switch {
		case !another:
			e.net = k
			if meant != nil {
				meant.own()
			}
		case meant == nil:
			e.net = names.others
		}
	}
	switch {
	case e.net < 0:
		return e, UnknownNet
	case len(in.instance) == 0:
		return e, NoInstance
	case !validName(in.instance):
		return e, BadInstance
	}
	e.instance = in.instance
	why = f.what(&e)
	if another && meant != nil && !meant.by(in.net, why == Taken && e.kind != ends) {
		return e, UnknownNet
	}
	if why != Taken {
		return e, why
	}
	return e, f.when(&e, now)
}

// what sets the effect of an event.
func (f *Feed) what(e *event) Reason {
	in := &f.fields
	switch {
	case in.transition != nil:
		i, ok := find(f.a.names.transitions[e.net], in.transition)
		if !ok {
			return UnknownTransition
		}
		if i == ignored {
			return Ignored
		}
		e.kind, e.index = fires, i
	case in.place != nil:
		i, ok := find(f.a.names.places[e.net], in.place)
		if !ok {
			return UnknownPlace
		}
		e.kind, e.index, e.tokens = puts, i, 1
		if in.tokens != nil {
			n, err := strconv.ParseInt(string(in.tokens), 10, 64)
			if err != nil || n < -math.MaxUint32 || n > math.MaxUint32 {
				return BadTokens
			}
			e.tokens = n
		}
	case in.end:
		e.kind = ends
	default:
		return NoTransition
	}
	return Taken
}

// when sets the time of an event.
func (f *Feed) when(e *event, now int64) Reason {
	in, slow := &f.fields, f.a.pace.speed > 0
	switch {
	case in.time == nil:
		f.count.Undated++
		e.time = now
		return Taken
	case f.a.cfg.AsNow && !slow:
		e.time = now
		return Taken
	}
	at, ok := f.a.cfg.Times.read(in.time, in.textual)
	if !ok {
		return BadTime
	}
	e.time = at
	if at > now+futureAfter && !slow {
		f.count.Future++
		e.time = now
	}
	return Taken
}

// validName is telemetry.CheckName for bytes, for an instance.
func validName(name []byte) bool {
	if len(name) > telemetry.MaxName {
		return false
	}
	for _, c := range name {
		if c >= utf8.RuneSelf {
			return telemetry.CheckName(string(name)) == nil
		}
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// pacer delays events by their recorded times.
type pacer struct {
	speed float64 // recorded seconds a second

	mu    sync.Mutex
	first int64 // time of the first event; 0 before
	begin time.Time
}

func (p *pacer) wait(ctx context.Context, at int64) error {
	p.mu.Lock()
	if p.first == 0 {
		p.first, p.begin = at, time.Now()
	}
	due := p.begin.Add(time.Duration(float64(at-p.first) / p.speed * float64(time.Microsecond)))
	p.mu.Unlock()
	return sleep(ctx, time.Until(due))
}

// sleep waits for d, or returns the error of ctx if that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
