// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two tokens come to a task with a boundary event. The game keeps no runs of the task apart, so
// it refuses the second until the first is done, and changes nothing.
func TestPlayRefusesASecondRunOfAScope(t *testing.T) {
	net := filepath.Join(t.TempDir(), "net.bpmn")
	text := `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="P" isExecutable="true">
		<startEvent id="s"/><parallelGateway id="p"/><exclusiveGateway id="j"/><userTask id="u"/><userTask id="h"/>
		<boundaryEvent id="b" attachedToRef="u" cancelActivity="false"><timerEventDefinition><timeDuration>PT10S</timeDuration></timerEventDefinition></boundaryEvent>
		<sequenceFlow id="sp" sourceRef="s" targetRef="p"/><sequenceFlow id="f" sourceRef="p" targetRef="j"/><sequenceFlow id="g" sourceRef="p" targetRef="j"/>
		<sequenceFlow id="ju" sourceRef="j" targetRef="u"/><sequenceFlow id="bh" sourceRef="b" targetRef="h"/></process></definitions>`
	if err := os.WriteFile(net, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := "fire s\nfire p\nfire j/f\nfire j/g\nfire u/begin\nfire u/begin\ninject 1 u/active\nstate\nfire u\nfire u/begin"
	var out, log bytes.Buffer
	code := run(t.Context(), []string{"play", net}, streams{strings.NewReader(commands), &out, &log})
	const why = `it would open a second run of scope \"u\", and play keeps no runs apart; expected a net without two runs at one time, or pnagent engine"}`
	want := []string{
		`{"marking":{"b/armed":1,"ju":1,"u/active":1},"enabled":["b","u","u/begin"]}`,
		`{"error":"transition \"u/begin\": ` + why,
		`{"error":"place \"u/active\": ` + why,
		`{"marking":{"b/armed":1,"ju":1,"u/active":1},"enabled":["b","u","u/begin"]}`,
		`{"marking":{"ju":1,"u/end":1},"enabled":["u/begin"]}`,
		`{"marking":{"b/armed":1,"u/active":1,"u/end":1},"enabled":["b","u"]}`,
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if code != exitFailed || len(got) != 11 || strings.Join(got[5:], "\n") != strings.Join(want, "\n") {
		t.Errorf("%d: %s\nwant the last to be\n%s\n%s", code, out.String(), strings.Join(want, "\n"), log.String())
	}
}
