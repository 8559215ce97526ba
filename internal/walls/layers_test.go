// SPDX-License-Identifier: Apache-2.0

package walls

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// layer is a line of the picture of layers in ARCHITECTURE.md.
var layer = regexp.MustCompile(`(?m)^ (\d)  ([a-z0-9 ]+)$`)

// layersOf returns the layer of each room.
func layersOf(text string) map[string]int {
	layers := map[string]int{}
	for _, line := range layer.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(line[1]) // a digit
		for _, room := range strings.Fields(line[2]) {
			layers[room] = n
		}
	}
	return layers
}

// upward returns the imports of a package that do not go down to a room of a lower layer.
func upward(layers map[string]int, name string, imports []string) (faults []string) {
	from, _, _ := strings.Cut(name, "/")
	if layers[from] == 0 {
		return []string{fmt.Sprintf("room %s is in no layer of ARCHITECTURE.md", from)}
	}
	for _, path := range imports {
		ours, is := strings.CutPrefix(path, module)
		if to, _, _ := strings.Cut(ours, "/"); is && to != from && layers[to] >= layers[from] {
			faults = append(faults, fmt.Sprintf("package %s of layer %d imports %s of layer %d; expected a lower one", name, layers[from], ours, layers[to]))
		}
	}
	return faults
}

// No import runs back up in the picture of ARCHITECTURE.md, which fits one screen.
func TestImportsGoDownTheLayers(t *testing.T) {
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	layers := layersOf(string(text))
	unused := map[string]bool{}
	for room := range layers {
		unused[room] = true
	}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		room, _, _ := strings.Cut(name, "/")
		delete(unused, room)
		for _, fault := range upward(layers, name, p.Imports) {
			t.Error(fault)
		}
	}
	for room := range unused {
		t.Errorf("ARCHITECTURE.md has room %s in a layer, and there is none", room)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) > 50 {
		t.Errorf("ARCHITECTURE.md has %d lines; expected at most 50", len(lines))
	}
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > 160 {
			t.Errorf("ARCHITECTURE.md:%d: %d columns; expected at most 160", i+1, n)
		}
	}
}

func TestImportsThatGoUpAreSeen(t *testing.T) {
	layers := layersOf("```\n 2  web  mib\n 1  stats\n```\n")
	for _, c := range []struct {
		from, to string
		faults   int
	}{{"web", "stats", 0}, {"web", "web/api", 0}, {"stats", "web/api", 1}, {"mib/smi", "web", 1}, {"top", "stats", 1}, {"web", "stats/x", 0}} {
		if got := upward(layers, c.from, []string{"fmt", module + c.to}); len(got) != c.faults {
			t.Errorf("%s imports %s: %q", c.from, c.to, got)
		}
	}
}
