// SPDX-License-Identifier: Apache-2.0

// Package completion writes scripts for shells that complete the commands and flags of
// pnagent, from the model of its command line.
package completion

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Write writes the script for a shell: bash, zsh or fish.
func Write(w io.Writer, shell string, app *kong.Application) error {
	switch shell {
	case "bash":
		return writeBash(w, app)
	case "zsh":
		fmt.Fprintln(w, "autoload -U +X bashcompinit && bashcompinit")
		return writeBash(w, app)
	case "fish":
		return writeFish(w, app)
	}
	return fmt.Errorf("no completion for shell %q; expected bash, zsh or fish", shell)
}

// flagsOf returns the flags of a command and those of all commands.
func flagsOf(command *kong.Node) []*kong.Flag {
	var all []*kong.Flag
	for _, group := range command.AllFlags(true) {
		all = append(all, group...)
	}
	return all
}

// namesOf returns the names of the commands in a list.
func namesOf(nodes []*kong.Node) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	return strings.Join(names, " ")
}

// writeBash writes a function that completes a command, the command below it if
// there are any, then flags and files.
func writeBash(w io.Writer, app *kong.Application) error {
	var cases strings.Builder
	for _, n := range app.Children {
		if len(n.Children) > 0 {
			fmt.Fprintf(&cases, "    %s) below=%q ;;\n", n.Name, namesOf(n.Children))
		}
	}
	cases.WriteString("  esac\n  case \"${COMP_WORDS[1]} ${below:+${COMP_WORDS[2]}}\" in\n")
	for _, n := range app.Leaves(true) {
		var flags []string
		for _, f := range flagsOf(n) {
			flags = append(flags, "--"+f.Name)
		}
		pattern := n.Name + " "
		if n.Parent != nil && n.Parent.Type == kong.CommandNode {
			pattern = n.Parent.Name + " " + n.Name
		}
		fmt.Fprintf(&cases, "    %q) words=%q ;;\n", pattern, strings.Join(flags, " "))
	}
	_, err := fmt.Fprintf(w, `_pnagent() {
  local cur=${COMP_WORDS[COMP_CWORD]} words= below=
  case ${COMP_WORDS[1]} in
%s  esac
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W %q -- "$cur"))
  elif [ "$COMP_CWORD" = 2 ] && [ -n "$below" ]; then
    COMPREPLY=($(compgen -W "$below" -- "$cur"))
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _pnagent pnagent
`, cases.String(), namesOf(app.Children))
	return err
}

func writeFish(w io.Writer, app *kong.Application) error {
	var out strings.Builder
	for _, n := range app.Children {
		fmt.Fprintf(&out, "complete -c pnagent -n __fish_use_subcommand -a %s -d %s\n", n.Name, fishQuote(n.Help))
		seen := "__fish_seen_subcommand_from " + n.Name
		for _, c := range n.Children {
			fmt.Fprintf(&out, "complete -c pnagent -n '%s; and not __fish_seen_subcommand_from %s' -a %s -d %s\n", seen, namesOf(n.Children), c.Name, fishQuote(c.Help))
			fishFlags(&out, seen+"; and __fish_seen_subcommand_from "+c.Name, c)
		}
		if len(n.Children) == 0 {
			fishFlags(&out, seen, n)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func fishFlags(out *strings.Builder, when string, command *kong.Node) {
	for _, f := range flagsOf(command) {
		fmt.Fprintf(out, "complete -c pnagent -n '%s' -l %s -d %s\n", when, f.Name, fishQuote(f.Help))
	}
}

func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
