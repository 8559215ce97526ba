// SPDX-License-Identifier: Apache-2.0

package act

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/telemetry"
)

// A shell reads the names of a command line as they are, whatever they hold.
func TestAShellReadsTheNamesOfALine(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	letters := []rune("ab0 '\"\\$`!*?[]{}()<>|&;#~=%^-,./:@+äß大\u202e\u2066\u200f\u2028€😀")
	r := rand.New(rand.NewPCG(1, 2))
	var names []string
	for range 300 {
		name := make([]rune, 1+r.IntN(8))
		for i := range name {
			name[i] = letters[r.IntN(len(letters))]
		}
		if telemetry.CheckName(string(name)) == nil {
			names = append(names, string(name))
		}
	}
	for batch := range slices.Chunk(names[:len(names)/3*3], 3) {
		line := Line(Fire, batch[0], batch[1], batch[2], 0)
		words := strings.TrimPrefix(strings.TrimPrefix(line, "pnagent fire "), "-- ")
		out, err := exec.CommandContext(t.Context(), bash, "-c", `printf '%s\0' `+words).Output()
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, batch) {
			t.Errorf("%s\nis read as %q, %v; want %q", line, got, err, batch)
		}
	}
}
