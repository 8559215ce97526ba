// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the page's template and style
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"time"
	"unicode/utf8"

	"github.com/pnagent/pnagent/dashboards/report/plot"
)

//go:embed page.html
var pageText string

//go:embed page.css
var styleText string

// HTML writes the page: one file that needs no other.
func (r *Report) HTML(w io.Writer) error {
	sum := sha256.Sum256([]byte(styleText))
	page, err := template.New("page").Funcs(template.FuncMap{
		"clock":  func(t time.Time) string { return plot.Clock(t, r.To) },
		"date":   func(t time.Time) string { return t.Format("Monday, 2 January 2006, 15:04 MST") },
		"length": func() string { return plot.Format("s", r.To.Sub(r.From).Seconds()) },
		"style":  func() template.CSS { return template.CSS(styleText) }, //nolint:gosec // our own
		"csp": func() string {
			return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
		},
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("reading the page's template: %w", err)
	}
	var text bytes.Buffer
	if err := page.Execute(&text, r); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	_, err = w.Write(visible(text.Bytes()))
	return err
}

// visible replaces what no text of a page may have: control characters, which
// are not HTML, and those that turn the direction of what follows. Names may
// have all of them.
func visible(page []byte) []byte {
	return bytes.Map(func(c rune) rune {
		switch {
		case c < ' ' && c != '\n' && c != '\t', c >= 0x7f && c < 0xa0,
			c >= 0x202a && c <= 0x202e, c >= 0x2066 && c <= 0x2069, c == 0x200e, c == 0x200f, c == 0x061c,
			c == 0xfffe, c == 0xffff:
			return utf8.RuneError
		}
		return c
	}, page)
}

// Blank reports whether no figure of a section has anything to show.
func (s *Section) Blank() bool {
	for _, p := range s.Parts {
		for _, f := range p.Figures {
			if f.Empty == "" {
				return false
			}
		}
	}
	return true
}
