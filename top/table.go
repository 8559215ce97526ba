// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/web/api"
)

// kind is how a column's figures are written.
type kind int

const (
	kindText     kind = iota
	kindSentence      // text that is cut at its end
	kindWaits         // likewise
	kindCount
	kindRate
	kindAge // grows between Views
	kindDuration
)

// column is one column of a table.
type column struct {
	title string
	kind  kind
	width int  // cells; for a text column, the least
	rank  int  // columns with the highest rank are omitted first; 0 stays
	down  bool // the largest comes first
}

// cell is one figure or text. NaN is an unknown figure. Infinity means that there
// is nothing to measure, for which text may be set.
type cell struct {
	num   float64
	text  string     // not clean
	token *api.Token // of kindWaits; nil for none
}

// subject identifies what a row or a page shows. It stays the same over Views.
type subject struct {
	tab     Tab
	net, id string
}

// row is one line of a table.
type row struct {
	subject
	cells []cell
}

// table is one tab's rows, in the order of the screen.
type table struct {
	columns []column
	rows    []row
	at      clock // when texts are measured
}

// order is how a table is sorted.
type order struct {
	column  int
	reverse bool
}

// narrow keeps the rows of a net, or of all nets for "", that contain a text, in
// upper or lower case.
func (t *table) narrow(net, filter string) {
	filter = strings.ToLower(filter)
	has := func(c cell) bool { return strings.Contains(strings.ToLower(c.text), filter) }
	t.rows = slices.DeleteFunc(t.rows, func(r row) bool {
		return net != "" && r.net != net || filter != "" && !slices.ContainsFunc(r.cells, has)
	})
}

// sort sorts rows. Unknown figures are last in both directions, and equal rows are
// in the order of their names.
func (t *table) sort(o order) {
	c := t.columns[o.column]
	slices.SortStableFunc(t.rows, func(a, b row) int {
		if n := compareCells(c, a.cells[o.column], b.cells[o.column], c.down != o.reverse); n != 0 {
			return n
		}
		return cmp.Or(cmp.Compare(a.net, b.net), cmp.Compare(a.id, b.id))
	})
}

func compareCells(c column, a, b cell, down bool) int {
	if c.flexible() {
		if down {
			a, b = b, a
		}
		return cmp.Compare(a.text, b.text)
	}
	known := func(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }
	switch {
	case !known(a.num) && !known(b.num):
		return 0
	case !known(a.num):
		return 1
	case !known(b.num):
		return -1
	case down:
		return cmp.Compare(b.num, a.num)
	}
	return cmp.Compare(a.num, b.num)
}

// show returns the text of a cell at a time.
func (c column) show(v cell, t clock) string {
	switch {
	case c.kind == kindText, c.kind == kindSentence:
		return clean(v.text)
	case v.token != nil && len(v.token.Waits) > 0:
		return strings.Join(formatWaits(v.token.Waits, t.now), "; ")
	case v.token != nil:
		return unknown
	case math.IsNaN(v.num):
		return unknown
	case math.IsInf(v.num, 0):
		return cmp.Or(v.text, nothing)
	case c.kind == kindRate:
		return formatRate(v.num)
	case c.kind == kindAge:
		return formatAge(v.num + t.drift)
	case c.kind == kindDuration:
		return formatDuration(v.num)
	}
	return formatCount(v.num)
}

// clock is the time at which figures are shown.
type clock struct {
	now   time.Time // by the sidecar's clock
	drift float64   // seconds that ages have grown since the View arrived
}

// flexible reports whether a column takes part of the remaining width.
func (c column) flexible() bool { return c.kind <= kindWaits }

// fit returns the text of a cell in exactly w cells.
func (c column) fit(s string, w int) string {
	if (c.kind == kindSentence || c.kind == kindWaits) && width(s) > w {
		s = prefix(s, w-1) + "…"
	}
	return fit(s, w, !c.flexible())
}

// slot is a column with its width on a screen.
type slot struct{ column, width int }

// measured is how many rows determine the preferred width of a text column.
const measured = 200

// layout returns the columns and widths for a screen with gap cells between
// columns. It never omits the column by which the table is sorted.
func (t *table) layout(room, gap, sorted int) []slot {
	var slots []slot
	for i, c := range t.columns {
		slots = append(slots, slot{i, c.width})
	}
	for len(slots) > 1 && total(slots, gap) > room {
		worst := -1
		for i, s := range slots {
			rank := t.columns[s.column].rank
			if rank > 0 && s.column != sorted && (worst < 0 || rank >= t.columns[slots[worst].column].rank) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		slots = slices.Delete(slots, worst, worst+1)
	}
	t.stretch(slots, room-total(slots, gap))
	return slots
}

func total(slots []slot, gap int) int {
	n := gap * (len(slots) - 1)
	for _, s := range slots {
		n += s.width
	}
	return n
}

// stretch divides the remaining cells evenly among the text columns, up to the
// width of their texts.
func (t *table) stretch(slots []slot, left int) {
	want := make([]int, len(slots))
	for i, s := range slots {
		if c := t.columns[s.column]; c.flexible() {
			for _, r := range t.rows[:min(len(t.rows), measured)] {
				want[i] = max(want[i], width(c.show(r.cells[s.column], t.at)))
			}
		}
	}
	for left > 0 {
		given := false
		for i := range slots {
			if left > 0 && slots[i].width < want[i] {
				slots[i].width++
				left--
				given = true
			}
		}
		if !given {
			return
		}
	}
}
