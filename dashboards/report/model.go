// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"html/template"
	"time"
)

// Bounds on what a report holds. What is beyond is counted in it.
const (
	maxNets   = 20 // with pictures of their own
	maxLines  = 10 // in one picture
	maxRows   = 20 // of a table
	maxAlarms = 40 // each with a lane
	maxStats  = 6  // numbers of one panel
)

// The errors of a report.
var (
	// ErrNothing is returned where there is nothing to report.
	ErrNothing = errors.New("no data could be fetched")
	// ErrNoNet is returned where the net that was asked for is not there.
	ErrNoNet = errors.New("no such net")
)

// Options say what a report is about.
type Options struct {
	Now      time.Time                          // the end of the report; its zone is that of all times
	Since    time.Duration                      // how much before Now it begins
	Net      string                             // id of the only net, "" for all
	Progress func(done, total int, what string) // called from one goroutine at a time; may be nil
}

func (o *Options) progress(done, total int, what string) {
	if o.Progress != nil {
		o.Progress(done, total, what)
	}
}

// Report is what is on the page.
type Report struct {
	From, To time.Time
	Source   string   // what it was drawn from
	About    string   // instead of From, To and Source
	Notes    []string // what this source does not have, and what is left out
	Headline []string // sentences
	Summary  []Part   // what is wrong and what is old
	Sections []Section
}

// Section is a chapter: all nets, one net, the sidecar.
type Section struct {
	ID    string // of the element, for links
	Title string
	About string
	Mark  string // class of how it is: "calm", "burnt" or ""
	Parts []Part
}

// Part is a heading with figures.
type Part struct {
	Title   string
	Figures []*Figure
}

// Figure is one picture or table with what is said about it. One that has
// nothing to show says why in Fault or Empty.
type Figure struct {
	Title   string
	About   string
	Size    string // class: stat, third, half or whole
	Numbers []Number
	Picture template.HTML // SVG of report/plot
	Legend  []Entry
	Table   *Table
	Notes   []string
	Empty   string
	Fault   string
}

// Number is a large one, with what it is of.
type Number struct {
	Text, Of, Class string
	Spark           template.HTML
}

// Entry is a line of a legend.
type Entry struct {
	Class, Name, Last, Most string
}

// Table is a table. Rows are as long as Head.
type Table struct {
	Head []Cell
	Rows [][]Cell
}

// Cell is one of a table.
type Cell struct {
	Text  string
	Class string // of its colour, or num
	Link  string // of a section, or ""
	Spark template.HTML
}

// words are cells that have only text.
func words(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, t := range texts {
		cells[i].Text = t
	}
	return cells
}

// drawn reports whether there is something to see.
func (f *Figure) drawn() bool { return f.Fault == "" && f.Empty == "" }
