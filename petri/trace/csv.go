// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// Writer writes the steps of a cursor as CSV (RFC 4180), a header first:
//
//	step     its number, from 0
//	edge     the id of the taken edge; "-" at step 0
//	threads  the ids of the edges in the ring after the step, in order and separated
//	         by spaces; an id with a space or a quote is quoted as in Go
//	pointer  the index of the next thread, from 1; 0 if the ring is empty
//	parent   the step that put the edge into the ring; "-" at step 0
//	who      the user
//	when     UTC, RFC 3339 with six digits of a second
type Writer struct {
	csv    *csv.Writer
	header bool
}

// NewWriter returns a writer.
func NewWriter(w io.Writer) *Writer { return &Writer{csv: csv.NewWriter(w)} }

// Write writes the latest step of a cursor. Rows are buffered until Flush.
func (w *Writer) Write(c *Cursor) error {
	if !w.header {
		w.header = true
		if err := w.csv.Write([]string{"step", "edge", "threads", "pointer", "parent", "who", "when"}); err != nil {
			return fmt.Errorf("write the header of a trace: %w", err)
		}
	}
	e := c.Last()
	edge, parent := "-", "-"
	if e.Edge != None {
		edge, parent = plaintext.Cell(c.graph.Edges[e.Edge].ID), strconv.Itoa(e.Parent)
	}
	err := w.csv.Write([]string{strconv.Itoa(e.Step), edge, plaintext.Guard(c.threads()), strconv.Itoa(c.pointer), parent, plaintext.Cell(e.Who),
		time.UnixMicro(e.When).UTC().Format("2006-01-02T15:04:05.000000Z")})
	if err != nil {
		return fmt.Errorf("write step %d of a trace: %w", e.Step, err)
	}
	return nil
}

// Flush writes the buffered rows.
func (w *Writer) Flush() error {
	w.csv.Flush()
	if err := w.csv.Error(); err != nil {
		return fmt.Errorf("write a trace: %w", err)
	}
	return nil
}

// threads returns the ids of the edges in the ring.
func (c *Cursor) threads() string {
	var b strings.Builder
	for i, t := range c.ring {
		if i > 0 {
			b.WriteByte(' ')
		}
		id := c.graph.Edges[t.edge].ID
		if strings.ContainsFunc(id, func(r rune) bool { return r == '"' || unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
			id = strconv.Quote(id)
		}
		b.WriteString(id)
	}
	return b.String()
}
