// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// check shows what was drawn, and all of the net only on request.
func TestCheckShowsWhatWasDrawn(t *testing.T) {
	three, cancel := "../../petri/bpmn/testdata/mi-three.bpmn", "../../petri/bpmn/testdata/mi-transaction-cancel.bpmn"
	for _, c := range []struct {
		rule string
		args []string
		has  string
		not  string
	}{
		{"its size", []string{three}, `net "mi": 5 places, 3 transitions, 6 arcs, 1 token; not drawn: 0 places, 1 transition, 2 arcs, 0 tokens` + "\n", ""},
		{"a task that runs three times", []string{three}, `user task "review": place review/run, transition review (waits for "review")` + "\n", "review/begin"},
		{"the whole size", []string{"--objects=all", three}, `net "mi": 5 places, 4 transitions, 8 arcs, 1 token` + "\n", "; not drawn: 0"},
		{"the whole task", []string{"--objects=all", three}, `transition review (waits for "review"); not drawn: transition review/begin` + "\n", ""},
		{"its size as JSON", []string{"--json", three}, `"places":5,"transitions":3,"arcs":6,"tokens":1,"aside":{"places":0,"transitions":1,"arcs":2,"tokens":0}`, "review/begin"},
		{"the bounds of its places", []string{"--explore=100", cancel}, `"bounds":{"f1":1,"f2":1,"s/start":1,"t1":1,"t2":1,"t3":1,"ts/start":1,"undo/in":1}`, "cancel/compensating\":"},
		{"the bounds of all", []string{"--explore=100", "--objects=all", cancel}, `"onCancel/compensating":1`, ""},
		{"what never fires", []string{"--explore=100", cancel}, `1 transition can never fire: ["tx"]`, ""},
	} {
		code, out, errs := called(t.Context(), append([]string{"check"}, c.args...)...)
		if code != exitDone || errs != "" || !strings.Contains(out, c.has) || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("%s: exit %d, %s\n%s\nwant %s, and not %q", c.rule, code, errs, out, c.has, c.not)
		}
	}
}

// A file without a net is valid, and check says that it has none. As JSON, it has a line a net.
func TestCheckOfAFileWithoutANet(t *testing.T) {
	for name, c := range map[string]struct{ content, warning string }{
		"none.bpmn": {`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><collaboration id="c"/></definitions>`, "no process with flow nodes in the file"},
		"none.pnml": {`<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"/>`, "no net in the file"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		for flag, want := range map[string]string{"--json=true": "", "--json=false": "warning: " + path + ":1:1: " + c.warning + "\n" + path + ": no net\n"} {
			if code, out, errs := called(t.Context(), "check", flag, path); code != exitDone || errs != "" || out != want {
				t.Errorf("%s of %s: exit %d, %q, %q; want %q", flag, name, code, out, errs, want)
			}
		}
	}
}
