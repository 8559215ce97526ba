// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/csv"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pnagent/pnagent/web/api"
)

// incomplete is the header of a table that lacks rows. Its value is the reason.
const incomplete = "Pnagent-Incomplete"

// csvAnswer is a table as comma-separated values (RFC 4180), for download. It is written
// row by row.
type csvAnswer struct{ *csv.Writer }

// newCSV starts the answer: its file has a name of the net ("" for none), what the rows
// are, and the moment that they are of.
func newCSV(w http.ResponseWriter, net, what string, at api.Time, head ...string) csvAnswer {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(viewTimeout)) // see limited
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(net, what, at) + ".csv"}))
	h.Set("Cache-Control", "no-store")
	c := csvAnswer{csv.NewWriter(w)}
	c.UseCRLF = true
	c.row(head...)
	return c
}

// row writes one row. An error stays until the end, and then means that the client is gone.
func (c csvAnswer) row(cells ...string) { _ = c.Write(cells) }

// numberCell returns a number as a cell, which is empty for a number that is not known.
func numberCell[T uint64 | float64](n *T) string {
	if n == nil {
		return ""
	}
	if count, ok := any(*n).(uint64); ok {
		return strconv.FormatUint(count, 10)
	}
	return strconv.FormatFloat(float64(*n), 'f', -1, 64)
}

// timeCell returns a time as a cell, which is empty for none.
func timeCell(t api.Time) string {
	if t == 0 {
		return ""
	}
	text, _ := t.MarshalText() // never fails
	return string(text)
}

// sinceCell returns the seconds since a time as a cell: 0 if there is nothing to be
// since then, and empty if that is not known.
func sinceCell(since api.Time, count *uint64, now api.Time) string {
	if since == 0 && (count == nil || *count > 0) {
		return ""
	}
	return numberCell(new(ageAt(int64(since), int64(now))))
}

// longestName is the largest number of characters of a net's id in a file name.
const longestName = 64

// fileName returns a name for a file, without its extension. Of the id of a net it has
// letters, digits, dots and hyphens.
func fileName(net, what string, at api.Time) string {
	id := []rune(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.L, unicode.M, unicode.N) || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToValidUTF8(net, "-")))
	name := strings.Trim(string(id[:min(len(id), longestName)]), "-.")
	if name != "" {
		name += "-"
	}
	return name + what + "-" + at.Time().Format("20060102T150405Z")
}
