// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/netfile"
)

var update = flag.Bool("update", false, "write testdata")

// claims is the net of the example.
func claims(t *testing.T) *petri.Net {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "examples", "claim.bpmn"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tables, _, err := netfile.Compile([]netfile.Source{{Name: "claim.bpmn", Reader: f}}, netfile.Limits{Bytes: 1 << 20, Depth: 100, Nodes: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	return tables[0].Net
}

// options are those of a site with the given nets.
func options(t *testing.T, root string, nets ...*petri.Net) Options {
	t.Helper()
	oid, err := mib.ParseRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	lock := mib.NewLock()
	for _, net := range nets {
		if _, _, err := lock.Assign(net.ID, net); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Root: oid, Nets: nets, Lock: lock, Base: fstest.MapFS{"SNMPv2-SMI": &fstest.MapFile{Data: []byte("stub")}}}
}

// roots are the roots of the committed files.
func roots() []string { return []string{mib.DefaultRoot, "1.3.6.1.4.1.32473.7"} }

func TestCommittedFilesAreCurrent(t *testing.T) {
	for _, root := range roots() {
		all, err := Files(All, options(t, root, claims(t)))
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, f := range all {
			if strings.HasPrefix(f.Path, "mibs/") {
				continue
			}
			path := filepath.Join("testdata", root, filepath.FromSlash(f.Path))
			paths = append(paths, path)
			if *update {
				err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Content, 0o644))
				if err != nil {
					t.Fatal(err)
				}
			}
			is, err := os.ReadFile(path)
			if err != nil {
				t.Errorf("%v; go test ./integrations -update writes it", err)
				continue
			}
			if d := cmp.Diff(string(is), string(f.Content)); d != "" {
				t.Errorf("%s is not what go test ./integrations -update writes (-committed +generated)\n%.2000s", path, d)
			}
		}
		err = filepath.WalkDir(filepath.Join("testdata", root), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !slices.Contains(paths, path) {
				t.Errorf("%s is not generated; want no file beside the generated ones", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The page of a tool fits on a screen, and names the root.
func TestEveryToolHasAPageOfAtMost40Lines(t *testing.T) {
	for _, tool := range Tools() {
		all, err := Files(tool, options(t, mib.DefaultRoot))
		if err != nil {
			t.Fatal(err)
		}
		page := text(t, all, tool+"/README.md")
		if n := strings.Count(page, "\n"); n < 5 || n > 40 {
			t.Errorf("the page of %s has %d lines; want 5 to 40", tool, n)
		}
		if strings.Contains(page, "ROOT") || !strings.Contains(page, mib.DefaultRoot) {
			t.Errorf("the page of %s does not name the root:\n%s", tool, page)
		}
		for _, f := range all {
			if !strings.HasPrefix(f.Path, tool+"/") && !strings.HasPrefix(f.Path, "mibs/") {
				t.Errorf("%s is of %s", f.Path, tool)
			}
		}
	}
}

// text returns the content of a file.
func text(t *testing.T, all []File, path string) string {
	t.Helper()
	for _, f := range all {
		if f.Path == path {
			return string(f.Content)
		}
	}
	t.Fatalf("%s was not written", path)
	return ""
}

// written returns the content of a file of a tool.
func written(t *testing.T, o Options, path string) string {
	t.Helper()
	tool, _, _ := strings.Cut(path, "/")
	all, err := Files(tool, o)
	if err != nil {
		t.Fatal(err)
	}
	return text(t, all, path)
}

// What tools show is in the module, and nothing was misspelt.
func TestTheSelectionIsInTheModule(t *testing.T) {
	objects := newSite(Options{Root: smi.OID{1, 3}}).objects
	is := func(name string) {
		if _, is := objects[name]; !is {
			t.Errorf("the selection has %s, which the module has not", name)
		}
	}
	for _, name := range scalars() {
		is(name)
	}
	sections := map[string]bool{}
	for _, s := range mib.Describe(nil).Sections {
		sections[s.Name] = true
	}
	for _, table := range tables() {
		if !sections[table.Section] {
			t.Errorf("the selection has %s, which the module has not", table.Section)
		}
		for _, name := range append(table.names(), table.Columns...) {
			is(name)
		}
		if table.Final != "" {
			is(table.Final)
		}
	}
	for _, name := range exporterTables() {
		if !sections[name] {
			t.Errorf("snmp_exporter walks %s, which the module has not", name)
		}
	}
}

func TestGenerateTouchesOnlyWhatChanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	first, err := Generate(dir, All, options(t, mib.DefaultRoot))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(first[0].Path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	second, err := Generate(dir, All, options(t, mib.DefaultRoot))
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		if !first[i].Changed || second[i].Changed != (i == 0) {
			t.Errorf("%s: changed %v at first, %v then", first[i].Path, first[i].Changed, second[i].Changed)
		}
	}
}

func TestAnUnknownToolIsRefused(t *testing.T) {
	if _, err := Files("abacus", options(t, mib.DefaultRoot)); !errors.Is(err, ErrTool) || !strings.Contains(err.Error(), "snmp-exporter") {
		t.Errorf("the error is %v", err)
	}
}
