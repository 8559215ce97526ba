// SPDX-License-Identifier: Apache-2.0

package dashboards

// Dashboard is one page of Grafana.
type Dashboard struct {
	UID         string // never changes, because links and bookmarks contain it
	File        string // name of its JSON file
	Title       string
	Description string
	Variables   []Variable // in addition to datasource, job and instance
	Rows        []Row
}

// Variable is a variable whose choices are the values of a label.
type Variable struct {
	Name  string // of the variable, and of the label
	Title string
	// From is the selector of the label's values.
	From  string
	Multi bool // several may be chosen, or all
}

// Row is a heading and its panels. A folded row shows its panels after a click.
type Row struct {
	Title  string
	Panels []Panel
	Folded bool
}

// Kind is how a panel shows the results of its queries.
type Kind uint8

// The kinds of panels.
const (
	Stat    Kind = iota // one number, the last
	Lines               // a line a series, over time
	Heatmap             // a row of cells a query or bucket, over time; the first is at the bottom
	Table               // a row for each set of labels, now
)

// Panel is one picture or table.
type Panel struct {
	Title       string
	Description string
	Kind        Kind
	Unit        string // Grafana's id of the unit, such as s, short or each
	Queries     []Query
	Width       uint32 // of 24
	Height      uint32
	Steps       []Step   // colours by value; none is the colour of the series
	Columns     []Column // of a table, in order
	Buckets     bool     // of a heatmap: the query returns buckets, by le or native
	Stacked     bool     // of lines: on top of each other
	Rare        bool     // of lines: they have gaps, where nothing was counted, so that the last value is not the present one
	Named       bool     // of a number: its legend is shown, not the number
}

// Query is one expression.
type Query struct {
	Expr   string // PromQL with Grafana's variables; see Variables.Expand
	Legend string // of a series, with {{label}}; in a table, the column of the value
}

// Step colours values from From upwards.
type Step struct {
	From   float64
	Colour string // Grafana's name, such as green
}

// Column is a column of a table: a label, or the value of the query with its legend.
type Column struct {
	Label string // or
	Value string
	Title string
	Unit  string
	Steps []Step            // colours by value; calm is not shown
	Names map[string]string // colours by text
	Blank bool              // a 0 is not shown
	Width uint32            // in pixels; 0 shares what is left
	Link  string            // UID of the dashboard that a click opens, with the label as variable
}

// Instant reports whether the panel shows only current values.
func (p *Panel) Instant() bool { return p.Kind == Table }

// All returns every dashboard, in the order of their links.
func All() []Dashboard {
	return []Dashboard{overview(), oneNet(), onePlace(), sidecar(), dispatch()}
}
