// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help says how to use what is printed.
func (*completionCmd) Help() string {
	return "For bash and zsh: source <(pnagent completion bash). For fish: pnagent completion fish | source."
}

// Run prints a completion script of all commands and flags.
func (c *completionCmd) Run(s streams, k *kong.Kong) error {
	if c.Shell == "fish" {
		return writeFish(s.out, k.Model)
	}
	if c.Shell == "zsh" {
		fmt.Fprintln(s.out, "autoload -U +X bashcompinit && bashcompinit")
	}
	return writeBash(s.out, k.Model)
}

// flagsOf returns the flags of a command and those of all commands.
func flagsOf(command *kong.Node) []*kong.Flag {
	var all []*kong.Flag
	for _, group := range command.AllFlags(true) {
		all = append(all, group...)
	}
	return all
}

func writeBash(w io.Writer, app *kong.Application) error {
	var commands []string
	var cases strings.Builder
	for _, n := range app.Children {
		commands = append(commands, n.Name)
		var flags []string
		for _, f := range flagsOf(n) {
			flags = append(flags, "--"+f.Name)
		}
		fmt.Fprintf(&cases, "    %s) words=%q ;;\n", n.Name, strings.Join(flags, " "))
	}
	_, err := fmt.Fprintf(w, `_pnagent() {
  local cur=${COMP_WORDS[COMP_CWORD]} words=
  case ${COMP_WORDS[1]} in
%s  esac
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W %q -- "$cur"))
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _pnagent pnagent
`, cases.String(), strings.Join(commands, " "))
	return err
}

func writeFish(w io.Writer, app *kong.Application) error {
	for _, n := range app.Children {
		if _, err := fmt.Fprintf(w, "complete -c pnagent -n __fish_use_subcommand -a %s -d %s\n", n.Name, fishQuote(n.Help)); err != nil {
			return err
		}
		for _, f := range flagsOf(n) {
			if _, err := fmt.Fprintf(w, "complete -c pnagent -n '__fish_seen_subcommand_from %s' -l %s -d %s\n", n.Name, f.Name, fishQuote(f.Help)); err != nil {
				return err
			}
		}
	}
	return nil
}

func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
