// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

// What bash offers after some words; the last one is what is being typed.
func TestBashCompletesCommandsFlagsAndFiles(t *testing.T) {
	t.Parallel()
	bash := kit.Need(t, "bash", "bash")
	script := kit.Write(t, "completion.bash", kit.Pnagent(t, "completion", "bash").Out)
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"se"}, "serve"},
		{[]string{"attach", ""}, "lines scrape dipen sql temporal camunda8 redis kubernetes"},
		{[]string{"attach", "li"}, "lines"},
		{[]string{"attach", "scrape", "--mapp"}, "--mapping"},
		{[]string{"serve", "--agentx.pri"}, "--agentx.priority"},
		{[]string{"attach", "lines", "--agentx.pri"}, ""},
		{[]string{"check", "/etc/hostna"}, "/etc/hostname"},
	} {
		words := `"pnagent" "` + strings.Join(c.words, `" "`) + `"`
		r := kit.Tool(t, nil, bash, "--norc", "-c", `source "$0"; COMP_WORDS=(`+words+`); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _pnagent; echo "${COMPREPLY[*]}"`, script)
		if got := strings.TrimSpace(r.Out); got != c.want || r.Code != 0 {
			t.Errorf("after %q: %q, want %q; %s", c.words, got, c.want, r.Err)
		}
	}
}
