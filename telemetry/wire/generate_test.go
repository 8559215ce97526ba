// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGeneratedFileIsCurrent(t *testing.T) {
	for _, tool := range []string{"sh", "go", "protoc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	dir := t.TempDir()
	if out, err := exec.Command("sh", "generate.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("generate: %v\n%s", err, out)
	}
	const name = "petrinet_telemetry_v1.pb.go"
	if d := cmp.Diff(generated(t, filepath.Join(dir, name)), generated(t, name)); d != "" {
		t.Errorf("%s differs from the output of go generate (-generated +here):\n%s", name, d)
	}
}

// generated reads a generated file without the version of protoc, which only
// parses and may differ.
func generated(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^//\s+protoc\s+v.*$`).ReplaceAllString(string(text), "")
}
