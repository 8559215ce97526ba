// SPDX-License-Identifier: Apache-2.0

//go:build peers

package pagetest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pnagent/pnagent/internal/npmtest"
)

// TypeScript finds no error in the types that the comments of the page's modules give.
func TestTheTypesOfThePageAreRight(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed (Debian package nodejs)")
	}
	tsc := filepath.Join(npmtest.Install(t, "npm"), "node_modules", "typescript", "bin", "tsc")
	modules, err := filepath.Glob("../page/*.js")
	if err != nil || len(modules) == 0 {
		t.Fatalf("%d modules, %v", len(modules), err)
	}
	// bpmn-js has no types, and is not ours.
	args := append([]string{tsc, "--noEmit", "--allowJs", "--checkJs", "--strict", "--noResolve", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2024,dom,dom.iterable"}, modules...)
	if out, err := exec.CommandContext(t.Context(), node, args...).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
