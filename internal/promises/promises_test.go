// SPDX-License-Identifier: Apache-2.0

package promises

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the matrix into docs/promises.md")

const (
	root     = "../.."
	document = root + "/docs/promises.md"
	begin    = "<!-- promises: begin -->\n"
	end      = "<!-- promises: end -->\n"
)

// held is a test of a promise.
type held struct {
	promise  string
	faults   []string
	pkg, fun string
}

func TestTheMatrixIsCurrent(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no lines %q and %q", document, begin, end)
	}
	promises, faults, exempt := declared(t, before)
	tests := tagged(t)
	known := func(what string, all []string, name string, h *held) {
		if !slices.Contains(all, name) {
			t.Errorf("%s %s: %s has no %s %q; it has %s", h.pkg, h.fun, document, what, name, strings.Join(all, ", "))
		}
	}
	for i := range tests {
		known("promise", promises, tests[i].promise, &tests[i])
		for _, f := range tests[i].faults {
			known("fault", faults, f, &tests[i])
		}
	}
	want := before + begin + "\n" + matrix(t, promises, faults, exempt, tests) + end + after
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s is not current: go test ./internal/promises -update", document)
	}
}

var (
	heading      = regexp.MustCompile(`(?m)^## ([a-z]+)$`)
	fault        = regexp.MustCompile(`(?m)^\| ([a-z]+) \| `)
	notConcerned = regexp.MustCompile(`(?m)^Not concerned: (.*)\.$`)
)

// declared returns the promises and faults of the document, and by promise the faults that cannot touch it.
func declared(t *testing.T, text string) (promises, faults []string, exempt map[string][]string) {
	sections, table, _ := strings.Cut(text, "\n## Faults\n")
	for _, m := range fault.FindAllStringSubmatch(table, -1) {
		if m[1] != "fault" {
			faults = append(faults, m[1])
		}
	}
	exempt = map[string][]string{}
	at := heading.FindAllStringSubmatchIndex(sections, -1)
	for i, m := range at {
		name, to := sections[m[2]:m[3]], len(sections)
		if i+1 < len(at) {
			to = at[i+1][0]
		}
		promises = append(promises, name)
		for _, line := range notConcerned.FindAllStringSubmatch(sections[m[1]:to], -1) {
			exempt[name] = strings.Split(line[1], ", ")
		}
		for _, f := range exempt[name] {
			if !slices.Contains(faults, f) {
				t.Errorf("%s: %s is not concerned by %q, which is no fault", document, name, f)
			}
		}
	}
	return promises, faults, exempt
}

// tagged returns the tests of the project that hold a promise, by package and name.
func tagged(t *testing.T) (tests []held) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("\n//promise:")) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg, _ := filepath.Rel(root, filepath.Dir(path))
		n := 0
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			for _, c := range f.Doc.List {
				if line, ok := strings.CutPrefix(c.Text, "//promise:"); ok {
					words := strings.Fields(line)
					tests = append(tests, held{promise: words[0], faults: words[1:], pkg: filepath.ToSlash(pkg), fun: f.Name.Name})
					n++
				}
			}
		}
		if n != bytes.Count(text, []byte("\n//promise:")) {
			t.Errorf("%s: a line //promise: is not in the comment of a test", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(tests, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.fun, b.fun), cmp.Compare(a.promise, b.promise))
	})
	return tests
}

// matrix returns the table of promises and faults, and the tests of each promise.
func matrix(t *testing.T, promises, faults []string, exempt map[string][]string, tests []held) string {
	var out strings.Builder
	fmt.Fprintf(&out, "| promise | %s |\n|---|%s\n", strings.Join(faults, " | "), strings.Repeat("---|", len(faults)))
	for _, p := range promises {
		fmt.Fprintf(&out, "| [%s](#%s) |", p, p)
		total := 0
		for _, f := range faults {
			n := 0
			for i := range tests {
				if tests[i].promise == p && slices.Contains(tests[i].faults, f) {
					n++
				}
			}
			total += n
			isExempt := slices.Contains(exempt[p], f)
			switch {
			case n > 0 && isExempt:
				t.Errorf("%s: %s has a test with %s, and is not concerned by that", document, p, f)
			case n > 0:
				fmt.Fprintf(&out, " %d |", n)
			case isExempt:
				out.WriteString(" – |")
			default:
				out.WriteString(" **open** |")
			}
		}
		out.WriteString("\n")
		if total == 0 {
			t.Errorf("%s: no test holds %s", document, p)
		}
	}
	for _, p := range promises {
		fmt.Fprintf(&out, "\n### Tests of %s\n\n", p)
		for i := range tests {
			if h := &tests[i]; h.promise == p {
				fmt.Fprintf(&out, "- %s: `%s` %s\n", strings.Join(h.faults, ", "), h.pkg, h.fun)
			}
		}
	}
	return out.String() + "\n"
}
