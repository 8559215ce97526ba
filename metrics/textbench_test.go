// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
)

// cachedPrefixes is the least that a text encoder does: for each line it appends what does
// not change, from a list, and a number.
type cachedPrefixes struct {
	prefixes [][]byte
	values   []float64
	buf      []byte
}

// newCachedPrefixes takes the lines of a scrape apart. Comments have no number.
func newCachedPrefixes(tb testing.TB, text []byte) *cachedPrefixes {
	tb.Helper()
	c := &cachedPrefixes{}
	var comments []byte
	for line := range bytes.Lines(text) {
		if line[0] == '#' {
			comments = append(comments, line...)
			continue
		}
		at := bytes.LastIndexByte(line, ' ') + 1
		value, err := strconv.ParseFloat(string(line[at:len(line)-1]), 64)
		if err != nil {
			tb.Fatal(err)
		}
		c.prefixes, c.values, comments = append(c.prefixes, append(comments, line[:at]...)), append(c.values, value), nil
	}
	return c
}

func (c *cachedPrefixes) encode() []byte {
	c.buf = c.buf[:0]
	for i, prefix := range c.prefixes {
		c.buf = append(c.buf, prefix...)
		c.buf = append(strconv.AppendFloat(c.buf, c.values[i], 'g', -1, 64), '\n')
	}
	return c.buf
}

// changed returns a View in which some nets have other numbers.
func changed(view *merge.View, every int) *merge.View {
	next := *view
	next.Nets = slices.Clone(view.Nets)
	for i := 0; i < len(next.Nets); i += every {
		net := *next.Nets[i]
		rows := *net.Rows
		rows.Places, rows.Transitions = slices.Clone(rows.Places), slices.Clone(rows.Transitions)
		for k := range rows.Places {
			rows.Places[k].Arrivals += uint64(k)
			rows.Places[k].Tokens++
			rows.Transitions[k].Firings += uint64(k)
		}
		net.Rows = &rows
		next.Nets[i] = &net
	}
	return &next
}

// BenchmarkScrapeText is a whole scrape of a new View as text, and in turn with it an encoder with
// the prefixes of all lines at hand, which writes the same. The times are those that nine of ten
// scrapes exceed: other processes of the machine lengthen the rest.
func BenchmarkScrapeText(b *testing.B) {
	for _, c := range []struct {
		name  string
		view  *merge.View
		every int
	}{
		{"changed=all", plain(100, 50), 1},
		{"changed=1of100", plain(100, 50), 100},
		{"histograms", many(20, 50), 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			views := []*merge.View{changed(c.view, c.every), changed(c.view, c.every)}
			tick := 0
			now := noon
			e := newExporter(b, nil, func(cfg *Config) {
				cfg.View = func() *merge.View { return views[tick%2] }
				cfg.Now = func() time.Time { return now }
			})
			h := e.serve(target{allNets: true})
			base := newCachedPrefixes(b, get(h, "/metrics", "").Body.Bytes())
			if got, want := base.encode(), get(h, "/metrics", "").Body.Bytes(); !bytes.Equal(got, want) {
				b.Fatal("the base writes something else")
			}
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			w := &discarding{header: make(http.Header)}
			var took, baseTook []time.Duration
			for b.Loop() {
				tick, now = tick+1, now.Add(time.Second+137*time.Microsecond)
				before := time.Now()
				h.ServeHTTP(w, r)
				between := time.Now()
				_, _ = w.Write(base.encode())
				took, baseTook = append(took, between.Sub(before)), append(baseTook, time.Since(between))
			}
			slices.Sort(took)
			slices.Sort(baseTook)
			own, least := float64(took[len(took)/10]), float64(baseTook[len(took)/10])
			n := float64(len(base.prefixes))
			b.ReportMetric(own/n, "ns/line")
			b.ReportMetric(least/n, "base-ns/line")
			b.ReportMetric(own/least, "of-base")
			b.ReportMetric(n, "lines")
		})
	}
}
