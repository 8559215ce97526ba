// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func allCommands(t *testing.T) []*kong.Node {
	t.Helper()
	parser, err := kong.New(newCommandLine(), kong.Name("pnagent"), settings(&values{}))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model.Leaves(false)
}

// Each command is in a group of the help, and has an example that its parser takes.
func TestEachCommandHasAnExample(t *testing.T) {
	t.Parallel()
	left := maps.Clone(examplesByCommand())
	for _, command := range allCommands(t) {
		path := strings.TrimPrefix(command.FullPath(), "pnagent ")
		example, ok := left[path]
		delete(left, path)
		if !ok || !strings.Contains(command.Detail, "Example: pnagent "+path+example) {
			t.Errorf("%s: no example in %q", path, command.Detail)
			continue
		}
		top := command
		for top.Parent.Type == kong.CommandNode {
			top = top.Parent
		}
		if top.Group == nil || top.Group.Title == "" {
			t.Errorf("%s is in no group", path)
		}
		var out bytes.Buffer
		args := strings.Fields(path + example)
		if _, parse := newLine(t, &out, args); parse(args...) != "<nil>" {
			t.Errorf("%s: %s", path, parse(args...))
		}
	}
	for path := range left {
		t.Errorf("an example of %s, which is no command", path)
	}
}

// Each help text says how the environment sets flags.
func TestHelpNamesTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}, {"help", "alarms", "ack"}, {}} {
		code, out, errs := called(t.Context(), args...)
		if code != exitDone || errs != "" || !strings.Contains(out, "PNAGENT_LOG_LEVEL for --log.level") {
			t.Errorf("%q: exit status %d, %s%s", args, code, out, errs)
		}
	}
	_, version, _ := called(t.Context(), "version")
	if code, out, errs := called(t.Context(), "--version"); code != exitDone || out != version || errs != "" {
		t.Errorf("--version: exit status %d, %q, %q; want %q", code, out, errs, version)
	}
}

// called runs pnagent and returns its exit code and what it wrote.
func called(ctx context.Context, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = run(ctx, args, streams{strings.NewReader(""), &stdout, &stderr})
	return code, stdout.String(), stderr.String()
}
