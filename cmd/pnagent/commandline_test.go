// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/dashboards"
	"github.com/pnagent/pnagent/integrations"
)

// A command is the same to a parser of it alone as to one of all commands.
func TestACommandAloneIsAsAmongAll(t *testing.T) {
	t.Parallel()
	var allOut bytes.Buffer
	all, parseAll := newLine(t, &allOut, nil)
	if got := len(all.Model.Children); got < 20 {
		t.Fatalf("%d commands; want all", got)
	}
	for _, command := range all.Model.Children {
		var aloneOut bytes.Buffer
		alone, parseAlone := newLine(t, &aloneOut, []string{command.Name})
		if got := len(alone.Model.Children); got != 1 && command.Name != "completion" {
			t.Errorf("%s: the parser has %d commands; want this one alone", command.Name, got)
		}
		for _, arg := range []string{"--help", "--nothing", "--log.level=bad"} {
			got, want := parseAlone(command.Name, arg), parseAll(command.Name, arg)
			if got != want {
				t.Errorf("%s %s: got\n%s\nwant\n%s", command.Name, arg, got, want)
			}
			if arg == "--help" != strings.Contains(got, "Usage: pnagent "+command.Name) {
				t.Errorf("%s %s: got\n%s", command.Name, arg, got)
			}
		}
	}
}

// newLine returns the parser for a command line, and a function that returns what is written where arguments
// are parsed, and the error.
func newLine(t *testing.T, out *bytes.Buffer, args []string) (*kong.Kong, func(args ...string) string) {
	t.Helper()
	parser, err := newCommandLine().parser(args, kong.Name("pnagent"), kong.Writers(out, out), kong.Exit(func(int) {}), settings(&values{}))
	if err != nil {
		t.Fatal(err)
	}
	return parser, func(args ...string) string {
		out.Reset()
		_, err := parser.Parse(args)
		return fmt.Sprintf("%s%v", out, err)
	}
}

// Help texts have constants of packages that a program with the tag slim does not have.
func TestHelpTextsAreOfTheirPackages(t *testing.T) {
	t.Parallel()
	for is, want := range map[string]string{defaultRunbooks: dashboards.DefaultRunbooks, defaultJob: dashboards.DefaultJob, allTools: strings.Join(append(integrations.Tools(), alertingTool), ", ")} {
		if is != want {
			t.Errorf("got %q; want %q", is, want)
		}
	}
}
