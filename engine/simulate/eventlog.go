// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/petri/xes"
)

// MaxEvents is how many events a Log may have.
const MaxEvents = 5_000_000

// Log is an event log: what happened when in the cases of a process.
type Log struct {
	File    string
	cases   [][]logged // each with one event or more, in the order of time
	events  int
	leftOut int // events without a name or a time
}

// logged is one event of a case.
type logged struct {
	activity string
	at       int64 // microseconds since the Unix epoch
	begins   bool  // the activity; otherwise it completes it
}

// ReadLog reads a log in XES, plain or gzip. Of the phases of an activity, start and complete
// count. The file's name is used in messages only.
func ReadLog(r io.Reader, file string) (*Log, error) {
	in, err := xes.NewReader(r, file)
	if err != nil {
		return nil, err
	}
	l, names := &Log{File: file}, map[string]string{}
	var events []logged
	for {
		i, err := in.Next()
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		switch {
		case i.Kind == xes.End && len(events) > 0:
			slices.SortStableFunc(events, func(a, b logged) int { return cmp.Compare(a.at, b.at) })
			l.cases, events = append(l.cases, events), nil
		case i.Kind == xes.Event && l.events == MaxEvents:
			return nil, in.Fault("more than %d events", MaxEvents)
		case i.Kind == xes.Event:
			e, ok, err := eventOf(i, names)
			if err != nil {
				return nil, in.Fault("%v", err)
			}
			if ok {
				events = append(events, e)
				l.events++
			} else {
				l.leftOut++
			}
		}
	}
}

// eventOf returns an event, if it has a name, a time and a phase that counts. names holds the names
// so far, so that equal ones are kept once.
func eventOf(i *xes.Item, names map[string]string) (e logged, ok bool, err error) {
	phase := strings.ToLower(string(i.Phase))
	if len(i.Name) == 0 || len(i.Time) == 0 || phase != "" && phase != "complete" && phase != "start" {
		return e, false, nil
	}
	text := string(i.Time)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05", text) // without a zone
	}
	if err != nil {
		return e, false, fmt.Errorf("the time %.100q of an event; expected one such as 2030-01-31T08:00:00+01:00", text)
	}
	name, known := names[string(i.Name)]
	if !known {
		name = string(i.Name)
		names[name] = name
	}
	return logged{activity: name, at: at.UnixMicro(), begins: phase == "start"}, true, nil
}
