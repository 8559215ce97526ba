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
		{"the bounds of all", []string{"--explore=100", "--objects=all", cancel}, `"cancel/compensating":1`, ""},
		{"what never fires", []string{"--explore=100", cancel}, `1 transition can never fire: ["tx"]`, ""},
	} {
		code, out, errs := called(t.Context(), append([]string{"check"}, c.args...)...)
		if code != exitDone || errs != "" || !strings.Contains(out, c.has) || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("%s: exit %d, %s\n%s\nwant %s, and not %q", c.rule, code, errs, out, c.has, c.not)
		}
	}
}

// A file without a net is an error, as where nets are played; one with decisions has what is checked.
func TestCheckOfAFileWithoutANet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.bpmn")
	if err := os.WriteFile(path, []byte(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><collaboration id="c"/></definitions>`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--json=true", "--json=false"} {
		code, _, errs := called(t.Context(), "check", flag, path, "../../petri/bpmn/testdata/mi-three.bpmn")
		if code != exitFailed || errs != "pnagent: "+path+": no net in the file; expected one or more\n" {
			t.Errorf("%s: exit %d, %q", flag, code, errs)
		}
	}
}
