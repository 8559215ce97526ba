// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the list of mappings into docs/attach/sql.md, as make generate does")

// The page lists the mappings by their files. So a new one is a file and a test that names it.
func TestTheListOfMappingsIsCurrent(t *testing.T) {
	all, err := Mappings.All()
	if err != nil {
		t.Fatal(err)
	}
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range tests {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(text)
	}
	list := "| mapping | engine | people act on instances with |\n|---|---|---|\n"
	for _, m := range all {
		list += fmt.Sprintf("| `%s` | %s | %s |\n", m.Name, m.About, m.Tool)
		if !strings.Contains(code.String(), `"`+m.Name+`"`) {
			t.Errorf("no test names the mapping %s", m.Name)
		}
	}
	const path = "../../docs/attach/sql.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, head := strings.Cut(string(page), "## Mappings that come with pnagent\n\n")
	is, after, end := strings.Cut(rest, "\n\n")
	if !head || !end {
		t.Fatalf("%s has no list of the mappings", path)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+"## Mappings that come with pnagent\n\n"+list+"\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(list, is+"\n"); d != "" {
		t.Errorf("the list of mappings in %s is not current; run make generate:\n%s", path, d)
	}
}
