// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"strings"
	"testing"
)

// What an engine would have to decide while it plays is refused.
func TestRefusesWhatOnlyARunDecides(t *testing.T) {
	thrown := process(`<startEvent id="s"/><endEvent id="e"><errorEventDefinition/></endEvent><sequenceFlow id="x" sourceRef="s" targetRef="e"/>`)
	called := process(`<startEvent id="s"/><callActivity id="c" calledElement="${which}"/><sequenceFlow id="x" sourceRef="s" targetRef="c"/>`)
	for text, want := range map[string]string{
		thrown: "",
		strings.Replace(thrown, "<process ", `<process isExecutable="true" `, 1): `no code in error end event "e"; expected one, because the process is executable`,
		called: `call activity "c" calls the process "${which}", which is an expression; expected an id`,
		strings.Replace(called, "${which}", "other", 1): "",
	} {
		_, err := Read(strings.NewReader(text), "f", Limits{})
		if got := errorText(err); !strings.HasSuffix(got, want) || (want == "") != (err == nil) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
