// SPDX-License-Identifier: Apache-2.0

//go:build peers

package dashboards

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/npmtest"
)

// TestGrafanaTakesTheDashboards holds the files against the types of Grafana and
// runs Grafana's own transformations and overrides over each panel, of the oldest
// version that is supported and of a new one. So that it is known to notice what
// is wrong, it has to find what is wrong in broken ones, too.
func TestGrafanaTakesTheDashboards(t *testing.T) {
	t.Parallel()
	node, root := grafanaPackages(t)
	files, err := filepath.Glob("grafana/*.json")
	if err != nil || len(files) != len(All()) {
		t.Fatalf("%d dashboards, %v", len(files), err)
	}
	dir := t.TempDir()
	expected := map[string]string{}
	for _, b := range broken() {
		name := strings.ReplaceAll(b.what, " ", "-") + ".json"
		expected[name] = b.found
		files = append(files, filepath.Join(dir, name))
		writeBroken(t, files[len(files)-1], b.breakIt)
	}
	out, err := exec.CommandContext(t.Context(), node, append([]string{"grafanatest/check.cjs", root}, files...)...).Output()
	if err != nil {
		t.Fatalf("checking: %v\n%s", err, stderrOf(err))
	}
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		version, rest, _ := strings.Cut(line, ": ")
		file, _, _ := strings.Cut(rest, ",")
		if _, ok := expected[file]; !ok {
			t.Error(strings.TrimSpace(line))
		}
		found[file+" "+version] += rest
	}
	for file, want := range expected {
		for _, version := range []string{"Grafana 10", "Grafana 12"} {
			if got := found[file+" "+version]; !strings.Contains(got, want) {
				t.Errorf("%s finds in %s\n%sexpected %q", version, file, got, want)
			}
		}
	}
}

// breakage is something wrong with a dashboard, and what is said of it.
type breakage struct {
	what, found string
	breakIt     func(dashboard, table, stat map[string]any)
}

// broken dashboards have a table with the override of one column, and a number.
func broken() []breakage {
	at := func(v any, path ...any) map[string]any {
		for _, step := range path {
			switch step := step.(type) {
			case string:
				v = v.(map[string]any)[step]
			case int:
				v = v.([]any)[step]
			}
		}
		return v.(map[string]any)
	}
	override := func(table map[string]any) map[string]any { return at(table, "fieldConfig", "overrides", 1) } // of Enabled for
	return []breakage{
		{"an override without a list", "Cannot read properties of null (reading 'filter')", func(_, table, _ map[string]any) { override(table)["properties"] = nil }},
		{"an override of no column", "is of none of", func(_, table, _ map[string]any) { at(override(table), "matcher")["options"] = "Nothing" }},
		{"an override of nothing", "sets unti, which there is not", func(_, table, _ map[string]any) { at(override(table), "properties", 0)["id"] = "unti" }},
		{"a unit that is none", "has the unit furlongs", func(_, table, _ map[string]any) { at(override(table), "properties", 0)["value"] = "furlongs" }},
		{"a cell that cannot be read", "text on the colour orange of Enabled for has the contrast 2.0 in the dark theme", func(_, table, _ map[string]any) {
			at(override(table), "properties", 1, "value", "steps", 1)["color"] = "orange"
		}},
		{"a column that is none", "renameByName has the column Value #Q", func(_, table, _ map[string]any) {
			at(table, "transformations", 1, "options", "renameByName")["Value #Q"] = "Queue"
		}},
		{"a transformation that is none", "there is no transformation mrege", func(_, table, _ map[string]any) { at(table, "transformations", 0)["id"] = "mrege" }},
		{"sorted by no column", "it is sorted by Nothing", func(_, table, _ map[string]any) { at(table, "options", "sortBy", 0)["displayName"] = "Nothing" }},
		{"a height that is none", `"tiny"' is not assignable`, func(_, table, _ map[string]any) { at(table, "options")["cellHeight"] = "tiny" }},
		{"a calculation that is none", "there is no calculation final", func(_, _, stat map[string]any) { at(stat, "options", "reduceOptions")["calcs"] = []any{"final"} }},
		{"a colour that is none", "has the colour gren", func(_, _, stat map[string]any) {
			at(stat, "fieldConfig", "defaults", "thresholds", "steps", 0)["color"] = "gren"
		}},
		{"a number that is a text", "'string' is not assignable", func(dashboard, _, _ map[string]any) { dashboard["graphTooltip"] = "crosshair" }},
		{"tags that are null", "'null' is not assignable", func(dashboard, _, _ map[string]any) { at(dashboard, "links", 0)["tags"] = nil }},
	}
}

// writeBroken writes the dashboard of a net with two of its panels, broken.
func writeBroken(t *testing.T, path string, breakIt func(dashboard, table, stat map[string]any)) {
	t.Helper()
	net := oneNet()
	text, err := net.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var dashboard map[string]any
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	titled := func(title string) map[string]any {
		panels := dashboard["panels"].([]any)
		return panels[slices.IndexFunc(panels, func(p any) bool { return p.(map[string]any)["title"] == title })].(map[string]any)
	}
	table, stat := titled("Transitions"), titled("Deadlocked")
	dashboard["panels"] = []any{table, stat}
	breakIt(dashboard, table, stat)
	if text, err = json.Marshal(dashboard); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// grafanaPackages returns Node and a directory where the packages of Grafana are
// installed.
func grafanaPackages(t *testing.T) (node, root string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed (Debian package nodejs)")
	}
	return node, npmtest.Install(t, "grafanatest")
}

func stderrOf(err error) []byte {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}
