// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/pnagent/pnagent/internal/atomicfile"
	"github.com/pnagent/pnagent/internal/framed"
)

const (
	putKind  = 1 // an Event, as JSON
	doneKind = 2 // the id of an event that was sent or given up

	maxDone   = 4096     // ids of events that are over and are kept
	maxFile   = 64 << 20 // bytes
	rewriteAt = 1 << 20  // bytes from which a file is written again, if it is four times as large as it was then
)

var queueContent = framed.Content{Name: "notifications", Version: 1}

// queue keeps the events of a sink in their order, in memory and in a file. It is used by one
// goroutine.
type queue struct {
	path   string // "" for none
	most   int
	events []queued
	done   []string // the newest last
	known  map[string]bool

	file   *os.File
	writer framed.Writer
	size   int64 // of the file
	whole  int64 // its size after it was last written as a whole
}

// queued is an event that waits. settle, if it is not nil, is called once with what became of it.
type queued struct {
	Event
	settle func(error)
}

// openQueue reads the queue of an earlier process. A file that cannot be read is kept under
// another name, and damage says why.
func openQueue(path string, most int) (q *queue, damage error) {
	q = &queue{path: path, most: most, known: map[string]bool{}}
	if path == "" {
		return q, nil
	}
	text, err := framed.Load(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return q, nil
	}
	if err == nil {
		err = q.parse(text)
	}
	if err != nil {
		*q = queue{path: path, most: most, known: map[string]bool{}}
		return q, errors.Join(fmt.Errorf("read %s: %w", path, err), atomicfile.Rename(path, path+".damaged"))
	}
	return q, nil
}

func (q *queue) parse(text []byte) error {
	f, err := queueContent.ParseLog(text)
	if err != nil {
		return err
	}
	for _, frame := range f.Frames {
		switch frame.Kind {
		case putKind:
			var e Event
			if err := json.Unmarshal(frame.Payload, &e); err != nil {
				return &framed.DamagedError{At: frame.At, Why: err.Error()}
			}
			q.events, q.known[e.ID] = append(q.events, queued{Event: e}), true
		case doneKind:
			q.over(string(frame.Payload))
		}
	}
	return nil
}

// put appends an event, and returns those that have no room. An event that waits, or was sent, is
// not taken again; the caller learns from settle what became of it.
func (q *queue) put(e queued) (dropped []queued, err error) {
	if q.known[e.ID] {
		i := slices.IndexFunc(q.events, func(old queued) bool { return old.ID == e.ID })
		switch {
		case i < 0:
			e.settled(nil)
		case q.events[i].settle == nil:
			q.events[i].settle = e.settle
		}
		return nil, nil
	}
	if len(q.events) >= q.most {
		i := q.displaced(&e.Event)
		if i < 0 {
			return []queued{e}, nil
		}
		old := q.events[i]
		err = q.remove(old.ID)
		dropped = append(dropped, old)
		if e.What == cleared && old.Alarm != nil && old.Index == e.Index {
			return append(dropped, e), err
		}
	}
	q.events, q.known[e.ID] = append(q.events, e), true
	text, bad := json.Marshal(e.Event)
	return dropped, errors.Join(err, bad, q.append(putKind, text))
}

// displaced returns the index of the event that leaves for another one; -1 for none. A clear and
// an event of its alarm leave together, or the newest event that is no clear leaves.
func (q *queue) displaced(e *Event) (newest int) {
	newest = -1
	for i := 1; i < len(q.events) && e.What == cleared; i++ { // the first one is being sent
		switch o := &q.events[i]; {
		case o.What == cleared:
		case o.Alarm != nil && o.Index == e.Index:
			return i
		default:
			newest = i
		}
	}
	return newest
}

// settled calls settle.
func (e *queued) settled(err error) {
	if e.settle != nil {
		e.settle(err)
	}
}

// remove removes an event that was sent or given up.
func (q *queue) remove(id string) error {
	q.over(id)
	return q.append(doneKind, []byte(id))
}

func (q *queue) over(id string) {
	q.events = slices.DeleteFunc(q.events, func(e queued) bool { return e.ID == id })
	q.done, q.known[id] = append(q.done, id), true
	if len(q.done) > maxDone {
		delete(q.known, q.done[0])
		q.done = slices.Delete(q.done, 0, 1)
	}
}

// append writes a frame to the file, which it opens, or writes as a whole, where needed.
func (q *queue) append(kind byte, payload []byte) error {
	if q.path == "" {
		return nil
	}
	if q.file == nil || q.size > max(rewriteAt, 4*q.whole) {
		return q.rewrite()
	}
	b := q.writer.Frame(nil, kind, payload)
	q.size += int64(len(b))
	_, err := q.file.Write(b)
	if err == nil {
		err = q.file.Sync()
	}
	if err != nil { // the next event writes the whole file
		q.close()
		return fmt.Errorf("write %s: %w", q.path, err)
	}
	return nil
}

// rewrite replaces the file by one with all events.
func (q *queue) rewrite() error {
	q.close()
	b, w := queueContent.Header(nil, uint64(time.Now().UnixNano()))
	for _, id := range q.done {
		b = w.Frame(b, doneKind, []byte(id))
	}
	for i := range q.events {
		text, err := json.Marshal(q.events[i].Event)
		if err != nil {
			return err
		}
		b = w.Frame(b, putKind, text)
	}
	err := atomicfile.Replace(q.path, b, 0o600)
	if err == nil {
		q.file, err = os.OpenFile(q.path, os.O_WRONLY|os.O_APPEND, 0)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", q.path, err)
	}
	q.writer, q.size, q.whole = w, int64(len(b)), int64(len(b))
	return nil
}

func (q *queue) close() {
	if q.file != nil {
		_ = q.file.Close() // what was written is synced
		q.file = nil
	}
}
