// SPDX-License-Identifier: Apache-2.0

//go:build peers

package cachetest_test

import (
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/internal/cachetest"
)

// A program is built once, and starts.
func TestAProgramIsBuiltOnce(t *testing.T) {
	for _, p := range []cachetest.Program{cachetest.Temporal(), cachetest.Telegraf(), cachetest.Alertmanager(), cachetest.Amtool(), cachetest.SNMPExporter()} {
		t.Run(p.Command, func(t *testing.T) {
			program := p.Path(t)
			if again := p.Path(t); again != program {
				t.Errorf("%s, then %s", program, again)
			}
			out, err := exec.CommandContext(t.Context(), program, "--version").CombinedOutput()
			if err != nil || !strings.HasPrefix(strings.ToLower(string(out)), path.Base(p.Command)) {
				t.Errorf("%s, %v", out, err)
			}
		})
	}
}
