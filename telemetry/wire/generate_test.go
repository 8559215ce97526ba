// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

func TestTheCompiledFormIsCurrent(t *testing.T) {
	for _, tool := range []string{"sh", "protoc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: %v", tool, err)
		}
	}
	file := filepath.Join(t.TempDir(), "compiled")
	if out, err := exec.Command("sh", "generate.sh", file).CombinedOutput(); err != nil {
		t.Fatalf("generate: %v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(definition(t, text), definition(t, compiled)) {
		t.Error("the compiled form differs from the output of go generate")
	}
}

// definition parses a compiled form. Versions of protoc may order its bytes differently.
func definition(t *testing.T, text []byte) *descriptorpb.FileDescriptorSet {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(text, set); err != nil {
		t.Fatal(err)
	}
	return set
}
