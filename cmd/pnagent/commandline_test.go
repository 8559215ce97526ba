// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
)

// A command is the same where a parser knows it alone, as behind another flag, where it knows
// all of them.
func TestACommandAloneIsAsAmongAll(t *testing.T) {
	var c cli
	all, err := c.parser(nil, settings())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(all.Model.Children); got < 20 {
		t.Fatalf("%d commands; want all", got)
	}
	for _, command := range all.Model.Children {
		alone, err := new(cli).parser([]string{command.Name}, settings())
		if err != nil {
			t.Fatal(err)
		}
		if got := len(alone.Model.Children); got != 1 && command.Name != "completion" {
			t.Errorf("%s: the parser knows %d commands; want this one alone", command.Name, got)
		}
		for _, args := range []string{"--help", "--nothing", "--log.level=bad"} {
			var first, behind bytes.Buffer
			code := run(t.Context(), []string{command.Name, args}, streams{nil, &first, &first})
			if want := run(t.Context(), []string{"--log.format=text", command.Name, args}, streams{nil, &behind, &behind}); code != want || first.String() != behind.String() {
				t.Errorf("%s %s: got %d and\n%s\nwant %d and\n%s", command.Name, args, code, &first, want, &behind)
			}
			if !strings.Contains(first.String(), "pnagent") {
				t.Errorf("%s %s: got %q", command.Name, args, &first)
			}
		}
	}
}
