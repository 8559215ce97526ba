// SPDX-License-Identifier: Apache-2.0

package completion

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func TestScriptsNameEachCommandAndFlag(t *testing.T) {
	var cli struct {
		Run struct {
			Speed int `help:"It's how fast."`
		} `cmd:"" help:"Run it."`
		Wire struct {
			Check struct {
				For string `help:"How long."`
			} `cmd:"" help:"Check it."`
		} `cmd:"" help:"About the wire."`
	}
	k, err := kong.New(&cli)
	if err != nil {
		t.Fatal(err)
	}
	bash := []string{`wire) below="check" ;;`, `"run ") words="--help --speed" ;;`, `"wire check") words="--help --for" ;;`, `compgen -W "run wire"`, "complete -o filenames -F _pnagent pnagent"}
	for shell, wants := range map[string][]string{
		"bash": bash,
		"zsh":  append([]string{"autoload -U +X bashcompinit && bashcompinit\n_pnagent() {"}, bash...),
		"fish": {"-n __fish_use_subcommand -a run -d 'Run it.'", `-n '__fish_seen_subcommand_from run' -l speed -d 'It\'s how fast.'`,
			"-n '__fish_seen_subcommand_from wire; and not __fish_seen_subcommand_from check' -a check -d 'Check it.'",
			"-n '__fish_seen_subcommand_from wire; and __fish_seen_subcommand_from check' -l for -d 'How long.'"},
	} {
		var out strings.Builder
		if err := Write(&out, shell, k.Model); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in:\n%s", shell, want, out.String())
			}
		}
	}
	if err := Write(new(strings.Builder), "tcsh", k.Model); err == nil {
		t.Error("a script for tcsh")
	}
}
