// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Canvas writes an SVG. It keeps the first error of its writer until Flush.
type Canvas struct{ *bufio.Writer }

// NewCanvas returns a Canvas that writes to w.
func NewCanvas(w io.Writer) Canvas { return Canvas{bufio.NewWriter(w)} }

// Put writes markup.
func (c Canvas) Put(s string) { _, _ = c.WriteString(s) }

// Text writes a text as XML.
func (c Canvas) Text(s string) { _ = xml.EscapeText(c, []byte(s)) }

// Described writes the title and the description of the open element.
func (c Canvas) Described(title, desc string) {
	c.Put("<title>")
	c.Text(title)
	c.Put("</title><desc>")
	c.Text(desc)
	c.Put("</desc>")
}

// Line writes a line of text of a class, which may be "", centred at a height.
func (c Canvas) Line(class string, x, y float64, s string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(c, `<text%s x="%s" y="%s">`, class, Number(x), Number(y))
	c.Text(s)
	c.Put("</text>")
}

// Lines writes a label with its first line centred at a height.
func (c Canvas) Lines(class string, x, y float64, label string) {
	for line := range strings.SplitSeq(label, "\n") {
		c.Line(class, x, y, line)
		y += LineHeight
	}
}
