// SPDX-License-Identifier: Apache-2.0

// Package completion writes scripts for shells that complete the commands and flags of
// pnagent, from the model of its command line.
package completion

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

// A script completes a command, the command below it if there are any, then flags and files.
var (
	//go:embed bash.tmpl
	bash string
	//go:embed fish.tmpl
	fish string
)

// Write writes the script for a shell: bash, zsh or fish.
func Write(w io.Writer, shell string, app *kong.Application) error {
	script, known := map[string]string{"bash": bash, "zsh": "autoload -U +X bashcompinit && bashcompinit\n" + bash, "fish": fish}[shell]
	if !known {
		return fmt.Errorf("no completion for shell %q; expected bash, zsh or fish", shell)
	}
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }
	functions := template.FuncMap{"flags": flagsOf, "names": namesOf, "quote": quote}
	return template.Must(template.New(shell).Funcs(functions).Parse(script)).Execute(w, app)
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
