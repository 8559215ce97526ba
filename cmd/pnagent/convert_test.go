// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	lolaNet = "PLACE a, b; MARKING a: 2; TRANSITION t CONSUME a: 2; PRODUCE b;"
	tinaNet = "net n\npl a (2)\npl b\ntr t a*2 -> b\n"
)

// A net goes from each format to each, and back to what it was.
func TestConvertWritesEveryFormat(t *testing.T) {
	dir := t.TempDir()
	lola, pnml, back := filepath.Join(dir, "n.lola"), filepath.Join(dir, "n.pnml"), filepath.Join(dir, "back.net")
	if err := os.WriteFile(lola, []byte(lolaNet), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-o", pnml, lola}, {"-o", back, pnml}} {
		if code, out, errs := called(t.Context(), append([]string{"convert"}, args...)...); code != exitDone || out+errs != "" {
			t.Fatalf("%v: exit %d, %s%s", args, code, out, errs)
		}
	}
	got, err := os.ReadFile(back)
	if d := cmp.Diff(tinaNet, string(got)); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	if code, out, _ := called(t.Context(), "convert", "--to", "dot", back); code != exitDone || !strings.HasPrefix(out, "digraph \"n\" {\n") || !strings.Contains(out, `"a" -> "t" [label="2"];`) {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, out, _ := called(t.Context(), "check", back, lola); code != exitDone || strings.Count(out, `net "n": 2 places, 1 transition, 2 arcs, 2 tokens`) != 2 {
		t.Errorf("exit %d, %s", code, out)
	}
}

func TestConvertNamesWhatAFormatCannotCarry(t *testing.T) {
	code, out, errs := called(t.Context(), "convert", "--to", "net", "../../examples/backup-window.pnml")
	if code != exitDone || !strings.HasPrefix(out, "net {backup-window}\n") || !strings.Contains(out, "tr submit : Submit queued?-50 -> queued\n") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if want := `documentation (15), ids of arcs (26), positions (19), the name of the net (1)`; !strings.Contains(errs, want) {
		t.Errorf("%s; want %s", errs, want)
	}
}

func TestConvertRefuses(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pnml")
	if err := os.WriteFile(empty, []byte(`<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"></pnml>`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"convert", "../../examples/backup-window.pnml"}, exitUsage, "--to: no format; expected pnml, net or dot"},
		{[]string{"convert", "--to", "net", "../../examples/claim.bpmn"}, exitFailed, `claim.bpmn:16:5: the reset arc from "nobody/armed" to "approve"; expected normal, read and inhibitor arcs, for Tina's .net`},
		{[]string{"convert", "--to", "net", "--net", "nope", "../../examples/claim.bpmn"}, exitUsage, `the nets are ["claim"]; expected one, or --net with one of them`},
		{[]string{"convert", "--to", "net", empty}, exitUsage, "empty.pnml: no net in the file; expected one"},
		{[]string{"convert", "--to", "svg", "x"}, exitUsage, "--to must be one of"},
	} {
		if code, out, errs := called(t.Context(), c.args...); code != c.code || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d, %q, %s\nwant %s", c.args, code, out, errs, c.want)
		}
	}
}
