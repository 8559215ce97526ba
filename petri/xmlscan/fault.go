// SPDX-License-Identifier: Apache-2.0

package xmlscan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/pnagent/pnagent/petri"
)

// MaxFaults bounds the faults of a file: those of Validate for one net, and as many
// others.
const MaxFaults = 2 * petri.MaxFaults

// Faults collects faults up to MaxFaults and counts the rest.
type Faults struct {
	File string // for the messages
	list []*petri.Fault
	more int
}

// Add adds a fault at a position.
func (f *Faults) Add(pos petri.Pos, format string, args ...any) {
	if len(f.list) == MaxFaults {
		f.more++
		return
	}
	f.list = append(f.list, &petri.Fault{File: f.File, Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// Len returns the number of faults.
func (f *Faults) Len() int { return len(f.list) + f.more }

// AddAll adds the faults of err, which is one fault or several joined.
func (f *Faults) AddAll(err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			f.AddAll(e)
		}
		return
	}
	var fault *petri.Fault
	if errors.As(err, &fault) {
		f.Add(fault.Pos, "%s", fault.Msg)
	}
}

// Take moves the faults of g to f.
func (f *Faults) Take(g *Faults) {
	room := min(len(g.list), MaxFaults-len(f.list))
	f.list = append(f.list, g.list[:room]...)
	f.more += g.more + len(g.list) - room
}

// Join returns the faults in source order, then those without a position, then the
// fatal error, if any.
func (f *Faults) Join(fatal error) error {
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
		errs = append(errs, &petri.Fault{File: f.File, Msg: fmt.Sprintf("%d more faults not shown", f.more)})
	}
	if fatal != nil {
		errs = append(errs, fatal)
	}
	return errors.Join(errs...)
}

// MaxWarnings bounds the different warnings of a file.
const MaxWarnings = 100

// Warnings collects each different message once, with its first position and a
// count.
type Warnings struct {
	File  string // for the messages
	list  []warning
	index map[string]int // index in list by message
	more  int
}

type warning struct {
	pos   petri.Pos
	msg   string
	times int
}

// Add adds a warning.
func (w *Warnings) Add(pos petri.Pos, msg string) {
	if i, known := w.index[msg]; known {
		w.list[i].times++
		return
	}
	if len(w.list) == MaxWarnings {
		w.more++
		return
	}
	if w.index == nil {
		w.index = make(map[string]int)
	}
	w.index[msg] = len(w.list)
	w.list = append(w.list, warning{pos, msg, 1})
}

// Faults returns the warnings in source order.
func (w *Warnings) Faults() []petri.Fault {
	slices.SortStableFunc(w.list, func(a, b warning) int { return comparePos(a.pos, b.pos) })
	var out []petri.Fault
	for _, x := range w.list {
		if x.times > 1 {
			x.msg += fmt.Sprintf(" (%d times, first here)", x.times)
		}
		out = append(out, petri.Fault{File: w.File, Pos: x.pos, Msg: x.msg})
	}
	if w.more > 0 {
		out = append(out, petri.Fault{File: w.File, Msg: fmt.Sprintf("%d more warnings not shown", w.more)})
	}
	return out
}

func comparePos(a, b petri.Pos) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// Clip shortens a quotation to at most n bytes and "…".
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Quote shortens and quotes a part of the file.
func Quote(s string) string { return strconv.Quote(Clip(s, 60)) }

// Tag returns a tag of that name, for messages.
func Tag(name string) string { return "<" + Clip(name, 60) + ">" }
