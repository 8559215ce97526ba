// SPDX-License-Identifier: Apache-2.0

// Timetable writes how long the tests of each package take into a document. It reads what
// go test -json printed, files of a folder, named after the run that printed them, such
// as test-1.json:
//
//	go run ./internal/timetable FOLDER docs/design/tests.md
//
// The table is in the place of the one before, between two comments of the document.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// module is the part of a package's path that is not shown.
const module = "github.com/pnagent/pnagent/"

// Comments of the document between which the table is.
const (
	begin = "<!-- times -->\n"
	end   = "<!-- end of times -->\n"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "timetable:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("expected a folder with JSON files and a document")
	}
	files, err := filepath.Glob(filepath.Join(args[0], "*.json"))
	if err != nil {
		return err
	}
	t := table{}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		kind, _, _ := strings.Cut(filepath.Base(path), "-")
		err = t.read(kind, f)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	text, err = replace(text, t.markdown())
	if err != nil {
		return fmt.Errorf("%s: %w", args[1], err)
	}
	return os.WriteFile(args[1], text, 0o644) //nolint:gosec // a document that others read
}

// replace puts a text between the two comments of a document.
func replace(document []byte, text string) ([]byte, error) {
	head, rest, found := bytes.Cut(document, []byte(begin))
	_, tail, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return nil, fmt.Errorf("no lines %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return slices.Concat(head, []byte(begin+text+end), tail), nil
}

// row is what one run says of a package.
type row struct {
	tests, skipped int     // with subtests
	seconds        float64 // from its first test to its last
}

// key names a row: the run, such as test or peers, and the package.
type key struct{ kind, pkg string }

type table map[key]*row

// event is a line of go test -json, as go doc test2json describes it.
type event struct {
	Action, Package, Test string
	Elapsed               float64 // seconds
}

// read adds the events of a run.
func (t table) read(kind string, r io.Reader) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	for n := 1; s.Scan(); n++ {
		var e event
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			t.add(kind, e)
		}
	}
	return s.Err()
}

func (t table) add(kind string, e event) {
	k := key{kind, strings.TrimPrefix(e.Package, module)}
	if t[k] == nil {
		t[k] = &row{}
	}
	r := t[k]
	switch {
	case e.Test == "":
		r.seconds += e.Elapsed
	case e.Action == "skip":
		r.skipped++
	default:
		r.tests++
	}
}

// markdown returns the table: packages that take a second or more by their time, and the
// sum of the others.
func (t table) markdown() string {
	var b strings.Builder
	b.WriteString("| run | package | tests | skipped | seconds |\n|---|---|---|---|---|\n")
	keys := slices.SortedFunc(maps.Keys(t), func(x, y key) int {
		return cmp.Or(-cmp.Compare(x.kind, y.kind), -cmp.Compare(t[x].seconds, t[y].seconds), cmp.Compare(x.pkg, y.pkg))
	})
	for i := 0; i < len(keys); {
		kind, others, n := keys[i].kind, row{}, 0
		for ; i < len(keys) && keys[i].kind == kind; i++ {
			r := t[keys[i]]
			switch {
			case r.seconds >= 1:
				fmt.Fprintf(&b, "| %s | `%s` | %d | %d | %.0f |\n", kind, keys[i].pkg, r.tests, r.skipped, r.seconds)
			case r.tests > 0:
				others, n = row{others.tests + r.tests, others.skipped + r.skipped, others.seconds + r.seconds}, n+1
			}
		}
		if n > 0 {
			fmt.Fprintf(&b, "| %s | %d others | %d | %d | %.0f |\n", kind, n, others.tests, others.skipped, others.seconds)
		}
	}
	return b.String()
}
