// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// ErrNothing reports a scrape without any metric of the mapping.
var ErrNothing = errors.New("the scrape has no metric of the mapping")

// ExplainURL is Explain for a scrape of a URL.
func ExplainURL(ctx context.Context, w io.Writer, m *Mapping, client *http.Client, url string) error {
	all, at, err := fetch(ctx, client, url)
	if err != nil {
		return fmt.Errorf("scraping %s: %w", url, err)
	}
	return explain(w, m, all, at.UnixMicro())
}

// Explain writes the result of a mapping for one scrape, in any of the text
// formats, as a table for each net. It shows counters as the target counted
// them; a running adapter would count from there on. The error is ErrNothing,
// or about the scrape.
func Explain(w io.Writer, m *Mapping, scraped io.Reader, at time.Time) error {
	body, err := read(scraped)
	if err != nil {
		return fmt.Errorf("reading the scrape: %w", err)
	}
	all, err := parse(body, "", MaxSeries)
	if err != nil {
		return fmt.Errorf("reading the scrape: %w", err)
	}
	return explain(w, m, all, at.UnixMicro())
}

func explain(w io.Writer, m *Mapping, all families, at int64) error {
	s := newState(m)
	s.scrapes = 1 // so that counters are shown as they are
	s.apply(all, at)
	found := false
	for _, n := range s.nets {
		fmt.Fprintf(w, "net %q\n", n.id)
		for of := range n.rows {
			if len(n.rows[of]) > 0 {
				n.explain(w, table(of), all)
			}
		}
		found = found || n.columns() != 0
	}
	s.explainRest(w, all)
	if !found {
		return ErrNothing
	}
	return nil
}

// explain writes one table of a net.
func (n *netState) explain(w io.Writer, of table, all families) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  %s", map[table]string{places: "place", transitions: "transition"}[of])
	var columns []column
	for c := range numColumns {
		if n.rows[of][0].m.values[c] != nil && c != end {
			columns = append(columns, c)
			fmt.Fprintf(t, "\t%s", specOf(c).key)
		}
	}
	fmt.Fprintln(t)
	for _, r := range n.rows[of] {
		fmt.Fprintf(t, "  %s", r.id)
		for _, c := range columns {
			fmt.Fprintf(t, "\t%s", r.show(c, n.at, all))
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush()
	missing := n.missing(all)
	for _, c := range columns {
		if k := missing[tableName(of)+"."+specOf(c).key]; k > 0 {
			fmt.Fprintf(w, "  %s is absent: %d of %d rows have none\n", specOf(c).key, k, len(n.rows[of]))
		}
	}
}

// show returns one cell as text; ? is an unknown one.
func (r *rowState) show(c column, at int64, all families) string {
	cell, v := &r.cells[c], r.m.values[c]
	switch {
	case v == nil:
		return "-"
	case !r.knows(c, all):
		return "?"
	case v.never:
		return "never"
	case v.observed && cell.n == 0:
		return "observed"
	}
	switch specOf(c).kind {
	case counter:
		return strconv.FormatUint(cell.total, 10)
	case histogram:
		return strconv.FormatUint(cell.hist.Count(), 10) + " durations"
	case gauge:
		return strconv.FormatFloat(math.Floor(cell.now), 'f', -1, 64)
	}
	if cell.n == 0 {
		return "-"
	}
	return (time.Duration(at-int64(cell.now)) * time.Microsecond).Round(time.Millisecond).String() + " ago"
}

// explainRest writes the metrics of the mapping that are missing, and the
// series that could not be used.
func (s *state) explainRest(w io.Writer, all families) {
	var asked []string
	for i := range s.mapping.nets {
		for _, rows := range s.mapping.nets[i].rows {
			for _, r := range rows {
				asked = append(asked, r.unfound(all)...)
			}
		}
	}
	for i := range s.mapping.nets {
		if ids := s.mapping.nets[i].unended(); len(ids) > 0 {
			fmt.Fprintf(w, "net %q: no transition takes tokens from %s, so they count as waiting; expected a transition with from, or end: true\n",
				s.mapping.nets[i].id.text, strings.Join(ids, ", "))
		}
	}
	slices.Sort(asked)
	for _, name := range slices.Compact(asked) {
		fmt.Fprintf(w, "not in the scrape: %s\n", name)
	}
	for r := range numReasons {
		if n := s.dropped[r]; n > 0 {
			fmt.Fprintf(w, "%d series not used: %s\n", n, r)
		}
	}
}

// unfound returns the metrics of columns for which the scrape has none.
func (r *rowMap) unfound(all families) []string {
	var out []string
	for _, v := range r.values {
		if v == nil || len(v.selectors) == 0 {
			continue
		}
		var names []string
		for _, sel := range v.selectors {
			if fam, _ := all.find(sel.name); fam == nil {
				names = append(names, sel.name)
			}
		}
		if len(names) == len(v.selectors) {
			out = append(out, strings.Join(names, " or "))
		}
	}
	return out
}
