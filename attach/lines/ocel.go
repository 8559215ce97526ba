// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/petri/xes"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// TakeOCEL reads a whole object-centric event log in OCEL 2.0 JSON
// (ocel-standard.org), plain or gzip. Each object of the given type is an instance,
// named by its id, and ends with its last event. An event counts for each object of
// that type that it is related to, in the order of time; one without such an object
// is ignored. The log is read into memory. Speed and state file are as in TakeXES.
func (a *Attachment) TakeOCEL(ctx context.Context, path, objectType string) error {
	return a.takeLog(ctx, path, "ocel:"+objectType+":"+path, func(x *logReader, ctx context.Context, r io.Reader, file string) error {
		return x.readOCEL(ctx, r, file, objectType)
	})
}

// objectLog is what is read of an object-centric log.
type objectLog struct {
	times  *Times
	types  map[string]string // by id of an object
	events []objectEvent
}

type objectEvent struct {
	Type          string `json:"type"`
	Time          string `json:"time"`
	Relationships []struct {
		Object string `json:"objectId"`
	} `json:"relationships"`

	at int64 // Time
}

func (x *logReader) readOCEL(ctx context.Context, r io.Reader, file, objectType string) error {
	unpacked, err := xes.Unpack(r)
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	log := objectLog{times: &x.a.cfg.Times, types: map[string]string{}}
	d := json.NewDecoder(io.LimitReader(unpacked, maxLog))
	if err := log.read(ctx, d); err != nil {
		if ctx.Err() == nil {
			x.feed.count.Dropped[NotJSON]++
		}
		return fmt.Errorf("reading %s: at byte %d: %w; expected an event log in OCEL 2.0 JSON", file, d.InputOffset(), err)
	}
	if err := log.hasType(objectType); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	return x.objects(ctx, &log, objectType)
}

// read reads the objects and the events of a log, which may be in any order.
func (l *objectLog) read(ctx context.Context, d *json.Decoder) error {
	if err := expect(d, '{'); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "objects":
			err = each(ctx, d, l.object)
		case "events":
			err = each(ctx, d, l.event)
		default:
			err = d.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	return expect(d, '}')
}

func (l *objectLog) object(d *json.Decoder) error {
	var o struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	}
	err := d.Decode(&o)
	l.types[o.ID] = o.Type
	return err
}

func (l *objectLog) event(d *json.Decoder) error {
	if len(l.events) >= maxSorted {
		return fmt.Errorf("more than %d events", maxSorted)
	}
	var e objectEvent
	err := d.Decode(&e)
	e.at, _ = l.times.read([]byte(e.Time), true)
	l.events = append(l.events, e)
	return err
}

// each reads the elements of a list.
func each(ctx context.Context, d *json.Decoder, read func(*json.Decoder) error) error {
	if err := expect(d, '['); err != nil {
		return err
	}
	for d.More() {
		if err := errors.Join(ctx.Err(), read(d)); err != nil {
			return err
		}
	}
	return expect(d, ']')
}

func expect(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err == nil && got != want {
		err = fmt.Errorf("the value %.20v", got)
	}
	return err
}

// hasType returns an error that names the types if no object has the given one.
func (l *objectLog) hasType(objectType string) error {
	known := map[string]bool{}
	var all []string
	for _, t := range l.types {
		if !known[t] {
			known[t], all = true, append(all, t)
		}
	}
	if known[objectType] {
		return nil
	}
	slices.Sort(all)
	return fmt.Errorf("no object has the type %s; expected one of: %s", xmlscan.Quote(objectType), xmlscan.Clip(strings.Join(all, ", "), shownBytes))
}

// objects takes the events of each object of a type, in the order of the objects'
// first events in the log.
func (x *logReader) objects(ctx context.Context, log *objectLog, objectType string) error {
	var order []string
	of := map[string][]int{} // events by object
	for k, e := range log.events {
		x.feed.count.Lines++
		related := false
		for _, r := range e.Relationships {
			if log.types[r.Object] != objectType {
				continue
			}
			events := of[r.Object]
			related = true
			if events == nil {
				order = append(order, r.Object)
			}
			if len(events) == 0 || events[len(events)-1] != k { // once, whatever the number of its relationships
				of[r.Object] = append(events, k)
			}
		}
		if !related {
			x.feed.count.Dropped[Ignored]++
		}
	}
	for _, id := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		slices.SortStableFunc(of[id], func(a, b int) int { return cmp.Compare(log.events[a].at, log.events[b].at) })
		x.object(id, log, of[id])
	}
	return nil
}

// object takes the events of one object, by their numbers, and its end.
func (x *logReader) object(id string, log *objectLog, numbers []int) {
	x.last = 0
	name := []byte(id)
	for _, k := range numbers {
		e := &log.events[k]
		in := fields{instance: name, transition: []byte(e.Type), textual: true}
		if e.Time != "" {
			in.time = []byte(e.Time)
		}
		x.take(in)
	}
	if x.last > 0 {
		x.take(fields{instance: name, end: true})
	}
	x.endTrace()
}
