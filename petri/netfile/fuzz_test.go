// SPDX-License-Identifier: Apache-2.0

package netfile

import (
	"strings"
	"testing"
)

// FuzzRead passes any file: it is read as a net, or refused with a message that begins
// with its name.
func FuzzRead(f *testing.F) {
	f.Add("a.pnml", pnmlText)
	f.Add("a.bpmn", bpmnText)
	f.Add("-", bpmnText)
	f.Add("-", "net n tr t p ->")
	f.Add("-", "PLACE p; MARKING;")
	f.Fuzz(func(t *testing.T, name, text string) {
		file, err := Read(strings.NewReader(text), name, limits)
		if (err == nil) != (file != nil) {
			t.Fatalf("got %v, %v", file, err)
		}
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Fatalf("%q is not in %v", name, err)
		}
	})
}
