// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Exit codes of the command, by the findings.
const (
	AllOK    = 0
	SomeFail = 1
	NotTold  = 2 // none fails, and something could not be looked at
)

// Code returns the exit code of findings.
func Code(all []Finding) int {
	code := AllOK
	for i := range all {
		switch all[i].Outcome {
		case Fails:
			return SomeFail
		case Unknown:
			code = NotTold
		}
	}
	return code
}

// Print writes the findings for people, those that are not ok with their hints.
func Print(w io.Writer, all []Finding) {
	count := map[Outcome]int{}
	for i := range all {
		f := &all[i]
		count[f.Outcome]++
		fmt.Fprintf(w, "%-8s %-24s %s\n", f.Outcome, f.Check, f.Looked)
		if f.Cause != "" {
			fmt.Fprintf(w, "         %s\n", f.Cause)
		}
		for _, h := range f.Hints {
			fmt.Fprintf(w, "         > %s: %s\n", h.File, strings.ReplaceAll(h.Line, "\n", "\n           "))
		}
	}
	fmt.Fprintf(w, "%d ok, %d fail, %d unknown\n", count[OK], count[Fails], count[Unknown])
}

// PrintJSON writes the findings as one JSON array.
func PrintJSON(w io.Writer, all []Finding) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(all)
}

// PrintHints writes the lines to add alone, once each, by file.
func PrintHints(w io.Writer, all []Finding) {
	var files []string
	lines, seen := map[string][]string{}, map[Hint]bool{}
	for i := range all {
		for _, h := range all[i].Hints {
			if seen[h] {
				continue
			}
			seen[h] = true
			if lines[h.File] == nil {
				files = append(files, h.File)
			}
			lines[h.File] = append(lines[h.File], h.Line)
		}
	}
	for _, file := range files {
		fmt.Fprintf(w, "# %s\n%s\n", file, strings.Join(lines[file], "\n"))
	}
}
