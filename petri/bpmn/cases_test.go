// SPDX-License-Identifier: Apache-2.0

package bpmn_test

import (
	"os"
	"path/filepath"
	"testing"
)

// cases is the folder of small files that were once read or played wrongly, beside the project.
const cases = "../../../shared/cases"

func TestCases(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(cases, "*.bpmn"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skipf("the files are not at %s", cases)
	}
	tried := map[string]bool{}
	for _, c := range []struct{ file, rule, data, steps, want string }{
		{"adhoc-completion", "the condition is asked after an activity that leads on", `{}`, `A/begins A,{"done":true}`, "f2"},
		{"adhoc-completion", "which goes on if it does not hold", `{}`, `A/begins A,{"done":false} A2,{"done":true}`, "f2"},
		{"catch-key", "a message with the key is caught", `{"orderId":17}`, "message:paid:17", "e/end"},
		{"catch-name", "a message with the computed name is caught", `{"orderId":17}`, "message:paid-17:", "e/end"},
		{"comp-handler-forks", "both branches of the handler run, and the event awaits them", `{}`, "check a b", "e/end trip/end"},
		{"mi-data-input-association", "a run for each element of the variable", `{}`, `U,{"list":["a","b"]} T,{"y":1} T,{"y":2}`, "e/end"},
		{"mi-input-id", "the element has the id of the item", `{}`, `U,{"list":["a","b"]}`, "T/active T/run×2 i1 i2"},
		{"mi-output-id", "the results are collected", `{"list":["a","b"]}`, `T,{"y":1} T,{"y":2}`, "e/end"},
		{"mi-three", "three runs", `{}`, "", "review/run×3"},
		{"mi-transaction-cancel", "each run is compensated", `{}`, "confirm", "onCancel/compensating trips/active tx/active tx/run×3 undo/in×3"},
		{"mi-transaction-cancel", "and then the event leads on", `{}`, "confirm undo undo undo", "f2 trips/active"},
		{"orjoin-boundary", "the join awaits what can still come", `{}`, "A B", "C/active a"},
		{"sigend-name", "a signal with a computed name is caught", `{"v":7}`, "work", "f4"},
	} {
		tried[c.file] = true
		xml, err := os.ReadFile(filepath.Join(cases, c.file+".bpmn"))
		if err != nil {
			t.Error(err)
			continue
		}
		scenario{c.file + ": " + c.rule, string(xml), c.data, c.steps, c.want}.run(t)
	}
	nightly, err := os.ReadFile(filepath.Join(cases, "timer-start-beside-none.bpmn"))
	if err != nil {
		t.Fatal(err)
	}
	tried["timer-start-beside-none"] = true
	started{"", string(nightly), 102, 2, "+150m", "A/in | …", "102 0"}.run(t, false)
	for _, path := range found {
		name := filepath.Base(path)
		if !tried[name[:len(name)-len(".bpmn")]] {
			t.Errorf("%s is not tried", name)
		}
	}
}
