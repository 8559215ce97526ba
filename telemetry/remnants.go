// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// Remnants are what a process that publishes sums over other sources knows of those that do
// not report what they last held.
type Remnants struct {
	Lost    []Remnant
	Answers []Answer
}

// Remnant is what a source last held and does not report any more: nothing says that it is over.
type Remnant struct {
	// Path has the names of the processes below the one that publishes which lead to the
	// source, and its own. It is empty for further sources, which may have held any row.
	Path        []string
	Region      string   // that the source had; "" for none
	Left        int64    // when it left the sums; 0: it is in them, and grows old
	SilentSince int64    // 0: messages of the source arrive
	Places      []uint32 // that held tokens, strictly rising; nil if Left is 0
	Enabled     []uint32 // transitions, likewise
	Fired       []uint32 // transitions that have fired, strictly rising
	Deadlocked  bool     // instances of it were; false if Left is 0
}

// Answer is a source that came back, or said goodbye, in the last minutes.
type Answer struct {
	Path    []string
	Region  string
	Bye     bool
	Columns stats.Columns // of those in answerColumns
}

// answerColumns are the columns that an Answer may have, in the order of its fields.
var answerColumns = [...]stats.Columns{stats.ColOldest, stats.ColEnabled | stats.ColLastFiring, stats.ColInstances, stats.ColFirings, stats.ColFailures}

// readRemnants sets the remnants from a message.
func readRemnants(m *wire.Snapshot, into *Snapshot) error {
	into.Remnants = nil
	w := m.GetRemnants()
	if w == nil {
		return nil
	}
	if n := len(w.Lost) + len(w.Answers); n > MaxRemnants {
		return fmt.Errorf("%w: %d, of at most %d", TooMany, n, MaxRemnants)
	}
	r := &Remnants{}
	for _, l := range w.Lost {
		one := Remnant{Path: l.Path, Region: l.Region, Left: l.Left, SilentSince: l.SilentSince,
			Places: l.Places, Enabled: l.Enabled, Fired: l.Fired, Deadlocked: l.Deadlocked}
		if err := one.check(); err != nil {
			return err
		}
		r.Lost = append(r.Lost, one)
	}
	for _, a := range w.Answers {
		one := Answer{Path: a.Path, Region: a.Region, Bye: a.Bye}
		for i, has := range [...]bool{a.Oldest, a.Enabled, a.Instances, a.Firings, a.Failures} {
			if has {
				one.Columns |= answerColumns[i]
			}
		}
		if len(one.Path) == 0 {
			return fmt.Errorf("%w: an answer without a path", BadName)
		}
		if err := checkPath(one.Path, one.Region); err != nil {
			return err
		}
		r.Answers = append(r.Answers, one)
	}
	into.Remnants = r
	return nil
}

func checkPath(path []string, region string) error {
	if len(path) > MaxPath {
		return fmt.Errorf("%w: a path of %d names, of at most %d", TooMany, len(path), MaxPath)
	}
	for _, name := range path {
		if err := CheckName(name); err != nil {
			return err
		}
	}
	return checkText(region, MaxName)
}

func (r *Remnant) check() error {
	for _, index := range [...][]uint32{r.Places, r.Enabled, r.Fired} {
		for i, x := range index {
			if x >= MaxRows || i > 0 && x <= index[i-1] {
				return fmt.Errorf("%w: row %d at %d: indices rise and are below %d", BadIndex, x, i, MaxRows)
			}
		}
	}
	switch {
	case r.Left < 0 || r.Left > MaxTime || r.SilentSince < 0 || r.SilentSince > MaxTime:
		return fmt.Errorf("%w: left at %d, silent since %d", BadValue, r.Left, r.SilentSince)
	case r.Left == 0 && (len(r.Places)+len(r.Enabled) > 0 || r.Deadlocked):
		return fmt.Errorf("%w: tokens, enabled transitions or deadlocks of a source that did not leave the sums", BadValue)
	}
	return checkPath(r.Path, r.Region)
}

// wire returns the form on the wire; nil for nil.
func (r *Remnants) wire() *wire.Remnants {
	if r == nil {
		return nil
	}
	w := &wire.Remnants{}
	for i := range r.Lost {
		l := &r.Lost[i]
		w.Lost = append(w.Lost, &wire.Remnant{Path: l.Path, Region: l.Region, Left: l.Left, SilentSince: l.SilentSince,
			Places: l.Places, Enabled: l.Enabled, Fired: l.Fired, Deadlocked: l.Deadlocked})
	}
	for i := range r.Answers {
		a := &r.Answers[i]
		one := &wire.Answer{Path: a.Path, Region: a.Region, Bye: a.Bye}
		for i, has := range [...]*bool{&one.Oldest, &one.Enabled, &one.Instances, &one.Firings, &one.Failures} {
			*has = a.Columns.Has(answerColumns[i])
		}
		w.Answers = append(w.Answers, one)
	}
	return w
}

func (m *message) readRemnants(b []byte) error {
	if m.snapshot.Remnants == nil {
		m.snapshot.Remnants = &wire.Remnants{}
	}
	r := m.snapshot.Remnants
	return m.read(b, fields{
		takeBytes(func(b []byte) error {
			w := &wire.Remnant{}
			r.Lost = append(r.Lost, w)
			return m.read(b, fields{m.readPath(&w.Path), (*name)(&w.Region), &w.Left, &w.SilentSince, &w.Places, &w.Enabled, &w.Fired, &w.Deadlocked})
		}),
		takeBytes(func(b []byte) error {
			w := &wire.Answer{}
			r.Answers = append(r.Answers, w)
			return m.read(b, fields{m.readPath(&w.Path), (*name)(&w.Region), &w.Bye, &w.Oldest, &w.Enabled, &w.Instances, &w.Firings, &w.Failures})
		})})
}

func (m *message) readPath(path *[]string) takeBytes {
	return func(b []byte) error {
		*path = append(*path, m.shared(b))
		return nil
	}
}
