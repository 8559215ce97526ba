// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/pnagent/pnagent/petri"
)

// maxFaults bounds how many faults of a file are kept: what Validate reports
// for one net, and as many of other kinds or other nets.
const maxFaults = 2 * petri.MaxFaults

// faults collects mistakes up to maxFaults and counts the rest.
type faults struct {
	file string
	list []*petri.Fault
	more int
}

func (f *faults) add(pos petri.Pos, format string, args ...any) {
	if len(f.list) == maxFaults {
		f.more++
		return
	}
	f.list = append(f.list, &petri.Fault{File: f.file, Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// addAll adds the faults of err, which is one or several joined.
func (f *faults) addAll(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			f.addAll(e)
		}
		return
	}
	var fault *petri.Fault
	if errors.As(err, &fault) {
		f.add(fault.Pos, "%s", fault.Msg)
	}
}

// take moves the faults of g to f.
func (f *faults) take(g *faults) {
	room := min(len(g.list), maxFaults-len(f.list))
	f.list = append(f.list, g.list[:room]...)
	f.more += g.more + len(g.list) - room
}

// join returns the faults in source order, then those without a position, with
// the fatal error, if any, last.
func (f *faults) join(fatal error) error {
	slices.SortStableFunc(f.list, func(a, b *petri.Fault) int {
		if (a.Pos.Line == 0) != (b.Pos.Line == 0) {
			return cmp.Compare(b.Pos.Line, a.Pos.Line)
		}
		return comparePos(a.Pos, b.Pos)
	})
	errs := make([]error, 0, len(f.list)+2)
	for _, fault := range f.list {
		errs = append(errs, fault)
	}
	if f.more > 0 {
		errs = append(errs, &petri.Fault{File: f.file, Msg: fmt.Sprintf("%d more faults not shown", f.more)})
	}
	if fatal != nil {
		errs = append(errs, fatal)
	}
	return errors.Join(errs...)
}

// limitError is a fault that the caller can cure by raising a limit.
type limitError struct{ fault *petri.Fault }

func (e *limitError) Error() string   { return e.fault.Error() }
func (e *limitError) Unwrap() []error { return []error{e.fault, ErrLimit} }

// maxWarnings bounds how many different warnings one file gets.
const maxWarnings = 100

// warnings collects what was passed over: each different message once, with
// its first position and a count.
type warnings struct {
	file  string
	list  []warning
	index map[string]int // message to place in list
	more  int
}

type warning struct {
	pos   petri.Pos
	msg   string
	times int
}

func (w *warnings) add(pos petri.Pos, msg string) {
	if i, known := w.index[msg]; known {
		w.list[i].times++
		return
	}
	if len(w.list) == maxWarnings {
		w.more++
		return
	}
	if w.index == nil {
		w.index = make(map[string]int)
	}
	w.index[msg] = len(w.list)
	w.list = append(w.list, warning{pos, msg, 1})
}

func (w *warnings) faults() []petri.Fault {
	slices.SortStableFunc(w.list, func(a, b warning) int { return comparePos(a.pos, b.pos) })
	var out []petri.Fault
	for _, x := range w.list {
		if x.times > 1 {
			x.msg += fmt.Sprintf(" (%d times, first here)", x.times)
		}
		out = append(out, petri.Fault{File: w.file, Pos: x.pos, Msg: x.msg})
	}
	if w.more > 0 {
		out = append(out, petri.Fault{File: w.file, Msg: fmt.Sprintf("%d more warnings not shown", w.more)})
	}
	return out
}

func comparePos(a, b petri.Pos) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// clip shortens what a message repeats of the file.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func quote(s string) string { return strconv.Quote(clip(s, 60)) }

// tag returns a tag of that name, for messages.
func tag(name string) string { return "<" + clip(name, 60) + ">" }
