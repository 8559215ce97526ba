// SPDX-License-Identifier: Apache-2.0

package walls

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	root            = "../.."
	troubleshooting = "docs/troubleshooting.md"
)

// The messages of docs/troubleshooting.md are those of the programs: each part between … occurs in
// the source, outside of tests. Its flags are those of the commands.
func TestTroubleshootingNamesMessagesThatExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, troubleshooting))
	if err != nil {
		t.Fatal(err)
	}
	commands, err := os.ReadFile(filepath.Join(root, "docs/reference/command-line.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range regexp.MustCompile(`--[a-z][a-z.-]+`).FindAllString(string(text), -1) {
		if !regexp.MustCompile("`" + flag + "[` ]").Match(commands) {
			t.Errorf("%s names %s, which no command has", troubleshooting, flag)
		}
	}
	source := sources(t)
	code := regexp.MustCompile("`([^`]+)`")
	messages, kind := 0, ""
	for i, line := range strings.Split(string(text), "\n") {
		first, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !isRow {
			continue
		}
		if first == "message" || first == "symptom" {
			kind = first
			continue
		}
		for _, m := range code.FindAllStringSubmatch(first, -1) {
			if kind != "message" {
				continue
			}
			messages++
			for part := range strings.SplitSeq(m[1], "…") {
				if part = strings.TrimSpace(part); len(part) > 4 && !strings.Contains(source, part) {
					t.Errorf("%s:%d: %q is in no source", troubleshooting, i+1, part)
				}
			}
		}
	}
	if messages < 50 {
		t.Errorf("%s has %d messages; expected at least 50", troubleshooting, messages)
	}
}

// sources returns the text of all programs and of the page, with quotes as they are printed.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata", "e2e"}, e.Name()) {
			return fs.SkipDir
		}
		isGo := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
		if e.IsDir() || !isGo && !strings.HasPrefix(path, "web/page/") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		all.WriteString(strings.ReplaceAll(string(text), `\"`, `"`))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
