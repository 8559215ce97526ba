// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const before = "# Tests\n\n<!-- times -->\nold\n<!-- end of times -->\n\nThe end.\n"

// write makes a folder with the output of two runs, and a document.
func write(t *testing.T, document string) (folder, path string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range map[string]string{
		"test-1.json": `{"Action":"start","Package":"github.com/pnagent/pnagent/engine"}
{"Action":"pass","Package":"github.com/pnagent/pnagent/engine","Test":"TestA","Elapsed":1}
{"Action":"pass","Package":"github.com/pnagent/pnagent/engine","Test":"TestA/one","Elapsed":1}
{"Action":"skip","Package":"github.com/pnagent/pnagent/engine","Test":"TestB","Elapsed":0}
{"Action":"pass","Package":"github.com/pnagent/pnagent/engine","Elapsed":12.4}
{"Action":"pass","Package":"github.com/pnagent/pnagent/stats","Test":"TestC","Elapsed":0}
{"Action":"pass","Package":"github.com/pnagent/pnagent/stats","Elapsed":0.3}
{"Action":"skip","Package":"github.com/pnagent/pnagent/mibs","Elapsed":0}
`,
		"peers-1.json": `{"Action":"fail","Package":"github.com/pnagent/pnagent/e2e/page","Test":"TestD","Elapsed":40}
{"Action":"fail","Package":"github.com/pnagent/pnagent/e2e/page","Elapsed":41}
`,
		"document.md": document,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, filepath.Join(folder, "document.md")
}

func TestTheTableReplacesTheOneBefore(t *testing.T) {
	folder, path := write(t, before)
	if err := run([]string{folder, path}); err != nil {
		t.Fatal(err)
	}
	const want = `# Tests

<!-- times -->
| run | package | tests | skipped | seconds |
|---|---|---|---|---|
| test | ` + "`engine`" + ` | 2 | 1 | 12 |
| test | 1 others | 1 | 0 | 0 |
| peers | ` + "`e2e/page`" + ` | 1 | 0 | 41 |
<!-- end of times -->

The end.
`
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
}

func TestWhatIsNoTableIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		args func(folder, path string) []string
		text string
		want string
	}{
		"no document": {func(folder, _ string) []string { return []string{folder} }, before, "expected a folder"},
		"no comments": {func(folder, path string) []string { return []string{folder, path} }, "# Tests\n", "no lines"},
		"one comment": {func(folder, path string) []string { return []string{folder, path} }, begin, "no lines"},
		"absent":      {func(folder, path string) []string { return []string{folder, path + "x"} }, before, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, path := write(t, c.text)
			if err := run(c.args(folder, path)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
	folder, path := write(t, before)
	if err := os.WriteFile(filepath.Join(folder, "test-2.json"), []byte("FAIL\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{folder, path}); err == nil || !strings.Contains(err.Error(), "test-2.json: line 1") {
		t.Errorf("%v; want the file and its line", err)
	}
}
