// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/iotest"
)

// chain returns n processes, each of which calls the next one twice.
func chain(n int) string {
	var b strings.Builder
	b.WriteString(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">`)
	for i := range n {
		p, next := "p"+itoa(i), "p"+itoa(i+1)
		b.WriteString(`<process id="` + p + `">`)
		for _, id := range []string{p + "a", p + "b"} {
			b.WriteString(`<callActivity id="` + id + `" calledElement="` + next + `"/>`)
		}
		b.WriteString(`</process>`)
	}
	return b.String() + `</definitions>`
}

// ends returns a sub-process in which n terminate end events empty n places
// each.
func ends(n int) string {
	var b strings.Builder
	b.WriteString(`<startEvent id="s"/>`)
	for i := range n {
		id := "e" + itoa(i)
		b.WriteString(`<endEvent id="` + id + `"><terminateEventDefinition/></endEvent><sequenceFlow id="f` + id + `" sourceRef="s" targetRef="` + id + `"/>`)
	}
	return process(b.String())
}

// choices returns an exclusive gateway with n conditions, each of which is part
// of all later guards.
func choices(n int) string {
	var b strings.Builder
	b.WriteString(`<startEvent id="s"/><exclusiveGateway id="g"/><endEvent id="e"/><sequenceFlow id="f" sourceRef="s" targetRef="g"/>`)
	for i := range n {
		b.WriteString(`<sequenceFlow id="f` + itoa(i) + `" sourceRef="g" targetRef="e"><conditionExpression>` + strings.Repeat("x", 100) + `</conditionExpression></sequenceFlow>`)
	}
	return process(b.String())
}

// nested returns n processes with long ids, each of which calls the next one.
func nested(n int) string {
	var b strings.Builder
	b.WriteString(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">`)
	for i := range n {
		b.WriteString(`<process id="p` + itoa(i) + `"><callActivity id="c` + itoa(i) + strings.Repeat("x", 200) + `" calledElement="p` + itoa(i+1) + `"/></process>`)
	}
	return b.String() + `</definitions>`
}

func TestReadLimits(t *testing.T) {
	small := process(`<task id="t"/>`)
	tests := []struct {
		rule, xml string
		lim       Limits
		want      string // "" if it is within
	}{
		{"as many bytes as allowed", small, Limits{Bytes: int64(len(small))}, ""},
		{"one byte more", small, Limits{Bytes: int64(len(small)) - 1}, "bytes in the file"},
		{"a token that is too long", process(`<task id="t" name="` + strings.Repeat("x", 10_000) + `"/>`), Limits{Token: 1000}, "bytes in one tag, text or comment"},
		{"as deep as allowed", small, Limits{Depth: 3}, ""},
		{"one deeper", small, Limits{Depth: 2}, "elements inside each other"},
		{"as many elements as allowed", small, Limits{Elements: 3}, ""},
		{"one more element", small, Limits{Elements: 2}, "elements"},
		{"fields that are not positive mean the default", small, Limits{-1, -1, -1, -1, -1}, ""},
		{"the largest limits", small, Limits{math.MaxInt64, math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt}, ""},
		{"the deepest limit", process(strings.Repeat("<subProcess id='a'>", maxDepth)), Limits{Depth: math.MaxInt}, "elements inside each other"},
		{"calls that grow with every level", chain(40), Limits{}, "places, transitions and arcs"},
		{"arcs that grow with the square", ends(2000), Limits{}, "places, transitions and arcs"},
		{"guards that grow with the square", choices(3000), Limits{}, "places, transitions and arcs"},
		{"ids that grow with the square", nested(3000), Limits{}, "places, transitions and arcs"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			_, err := Read(strings.NewReader(tt.xml), "f", tt.lim)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want == "":
			case !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), tt.want+"; expected at most"):
				t.Errorf("error %v, want a limit of %s", err, tt.want)
			}
		})
	}
}

func TestReadPassesOnAFailingReader(t *testing.T) {
	failed := errors.New("the disk is gone")
	if _, err := Read(iotest.ErrReader(failed), "f", Limits{}); !errors.Is(err, failed) {
		t.Errorf("error %v", err)
	}
}
