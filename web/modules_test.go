// SPDX-License-Identifier: Apache-2.0

package web

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostLines is how long a file of the page may be.
const mostLines = 500

// modules returns which modules of the page each module imports, and fails the test for one that is too long.
func modules(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	from := regexp.MustCompile(`(?m)^(?:import|export)\b[^;']*'\./([\w-]+\.js)';`)
	for name, text := range folder(t, "page") {
		if lines := strings.Count(text, "\n"); lines > mostLines {
			t.Errorf("page/%s has %d lines; want at most %d", name, lines, mostLines)
		}
		if path.Ext(name) != ".js" {
			continue
		}
		all[name] = []string{}
		for _, match := range from.FindAllStringSubmatch(text, -1) {
			all[name] = append(all[name], match[1])
		}
	}
	return all
}

// An import leads down: no module needs itself to be there before it.
func TestModulesImportInNoCircle(t *testing.T) {
	all := modules(t)
	done := map[string]bool{}
	var visit func(name string, way []string)
	visit = func(name string, way []string) {
		if i := slices.Index(way, name); i >= 0 {
			t.Errorf("modules import in a circle: %s", strings.Join(append(way[i:], name), " → "))
			return
		}
		if done[name] {
			return
		}
		done[name] = true
		if all[name] == nil {
			t.Errorf("%s imports %s, which is not in page", way[len(way)-1], name)
		}
		for _, imported := range all[name] {
			visit(imported, append(slices.Clone(way), name))
		}
	}
	for name := range all {
		visit(name, nil)
	}
	if len(all["main.js"]) < 20 {
		t.Errorf("main.js imports %q; want the parts of the page", all["main.js"])
	}
}

// The page for frames has no module that acts.
func TestThePageForFramesHasNothingThatActs(t *testing.T) {
	all := modules(t)
	reached, next := map[string]bool{}, []string{"embed.js"}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if !reached[name] {
			reached[name] = true
			next = append(next, all[name]...)
		}
	}
	for _, acts := range []string{"act.js", "confirm.js", "notes.js", "alarms.js", "panel.js", "main.js", "share.js"} {
		if reached[acts] || all[acts] == nil {
			t.Errorf("embed.js imports %s, or there is no such module: %t", acts, reached[acts])
		}
	}
	if !reached["stage.js"] || !reached["format.js"] {
		t.Errorf("embed.js imports only %q", slices.Sorted(maps.Keys(reached)))
	}
}

// folder returns the files of a folder, without those of folders in it.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}
