// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"slices"
	"strings"
)

func isSub(kind string) bool {
	return kind == "subProcess" || kind == "transaction" || kind == "adHocSubProcess"
}

func isTask(kind string) bool {
	return kind == "task" || strings.HasSuffix(kind, "Task") && !strings.HasPrefix(kind, "global")
}

func isActivity(kind string) bool { return isTask(kind) || isSub(kind) || kind == "callActivity" }

func isEvent(kind string) bool { return strings.HasSuffix(kind, "Event") }

func isGateway(kind string) bool { return strings.HasSuffix(kind, "Gateway") }

// isNode reports whether an element is a flow node.
func isNode(kind string) bool { return isActivity(kind) || isEvent(kind) || isGateway(kind) }

// nameOf returns the name of an element for people, on one line.
func (f *File) nameOf(e *elem) string {
	switch e.name {
	case "textAnnotation":
		if t := e.kid(modelSpace, "text"); t != nil {
			return oneLine(t.text)
		}
	case "group":
		if v := f.byID[e.ref("categoryValueRef")]; v != nil {
			return oneLine(v.attr("value"))
		}
	case "dataObjectReference", "dataStoreReference", "dataObject":
		name := oneLine(e.attr("name"))
		if state := e.kid(modelSpace, "dataState"); state != nil && state.attr("name") != "" {
			name = strings.TrimSpace(name + " [" + oneLine(state.attr("name")) + "]")
		}
		return name
	}
	return oneLine(e.attr("name"))
}

// traits returns what the model says of an element.
func (f *File) traits(e *elem) Traits {
	t := Traits{
		Compensation: e.attr("isForCompensation") == "true",
		AdHoc:        e.name == "adHocSubProcess",
		ByEvent:      e.attr("triggeredByEvent") == "true",
		Instantiates: e.attr("instantiate") == "true",
		ParallelGate: e.attr("eventGatewayType") == "Parallel",
		Several:      e.attr("isCollection") == "true" || e.kid(modelSpace, "participantMultiplicity") != nil,
	}
	if isEvent(e.name) {
		t.Event = f.event(e)
		t.Continues = e.attr("cancelActivity") == "false" || e.attr("isInterrupting") == "false"
	}
	if m := e.kid(modelSpace, "multiInstanceLoopCharacteristics"); m != nil {
		t.Loop = "parallel"
		if m.attr("isSequential") == "true" {
			t.Loop = "sequential"
		}
	} else if e.kid(modelSpace, "standardLoopCharacteristics") != nil {
		t.Loop = "loop"
	}
	if of := f.byID[e.ref("dataObjectRef")]; of != nil {
		t.Several = t.Several || of.attr("isCollection") == "true"
	}
	if called := f.byID[e.ref("calledElement")]; e.name == "callActivity" {
		t.CallsTask = called != nil && strings.HasPrefix(called.name, "global")
	}
	if e.name == "participant" {
		t.BlackBox = f.byID[e.ref("processRef")] == nil
	}
	return t
}

// event returns the kind of an event: that of its definition.
func (f *File) event(e *elem) string {
	kinds := []string{}
	for _, k := range e.kids {
		if k.name == "eventDefinitionRef" {
			if of := f.byID[local(k.text)]; of != nil {
				k = of.elem
			}
		}
		if kind, is := strings.CutSuffix(k.name, "EventDefinition"); is && slices.Contains(eventKinds(), kind) {
			kinds = append(kinds, kind)
		}
	}
	switch {
	case len(kinds) == 0:
		return "none"
	case len(kinds) == 1:
		return kinds[0]
	case e.attr("parallelMultiple") == "true":
		return "parallelMultiple"
	}
	return "multiple"
}

func eventKinds() []string {
	return []string{"message", "timer", "signal", "conditional", "error", "escalation", "link", "terminate", "compensate", "cancel"}
}
