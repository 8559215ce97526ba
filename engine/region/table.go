// SPDX-License-Identifier: Apache-2.0

package region

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable writes a table of parts, then a line for each part that has stopped.
func WriteTable(w io.Writer, parts []Status) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PART\tOWNER\tEPOCH\tCOMMITS\tSTANDBYS (LAG)\tAWAY")
	for _, p := range parts {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\n", p.Part, cmp.Or(p.Owner, "none"), p.Epoch, p.Commits, standbysOf(p), orNone(p.Away))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Stopped != "" {
			fmt.Fprintf(w, "%s has stopped: %s\n", p.Part, p.Stopped)
		}
	}
	return nil
}

func standbysOf(p Status) string {
	var all []string
	for _, s := range p.Standbys {
		text := fmt.Sprintf("%s (%d)", s.Source, s.Lag)
		if s.Agrees != nil && !*s.Agrees {
			text += " HAS ANOTHER LOG"
		}
		all = append(all, text)
	}
	return orNone(all)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
