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
	switch e.Name.Local {
	case "textAnnotation":
		if t := e.Kid("text"); t != nil {
			return oneLine(t.Text)
		}
	case "group":
		if v := f.byID[ref(e, "categoryValueRef")]; v != nil {
			return oneLine(v.Attr("value"))
		}
	case "dataObjectReference", "dataStoreReference", "dataObject":
		name := oneLine(e.Attr("name"))
		if state := e.Kid("dataState"); state != nil && state.Attr("name") != "" {
			name = strings.TrimSpace(name + " [" + oneLine(state.Attr("name")) + "]")
		}
		return name
	}
	return oneLine(e.Attr("name"))
}

// traits returns what the model says of an element.
func (f *File) traits(e *elem) Traits {
	t := Traits{
		Compensation: e.Attr("isForCompensation") == "true",
		AdHoc:        e.Name.Local == "adHocSubProcess",
		ByEvent:      e.Attr("triggeredByEvent") == "true",
		Instantiates: e.Attr("instantiate") == "true",
		ParallelGate: e.Attr("eventGatewayType") == "Parallel",
		Several:      e.Attr("isCollection") == "true" || e.Kid("participantMultiplicity") != nil,
	}
	if isEvent(e.Name.Local) {
		t.Event = f.event(e)
		t.Continues = e.Attr("cancelActivity") == "false" || e.Attr("isInterrupting") == "false"
	}
	if m := e.Kid("multiInstanceLoopCharacteristics"); m != nil {
		t.Loop = "parallel"
		if m.Attr("isSequential") == "true" {
			t.Loop = "sequential"
		}
	} else if e.Kid("standardLoopCharacteristics") != nil {
		t.Loop = "loop"
	}
	if of := f.byID[ref(e, "dataObjectRef")]; of != nil {
		t.Several = t.Several || of.Attr("isCollection") == "true"
	}
	if called := f.byID[ref(e, "calledElement")]; e.Name.Local == "callActivity" {
		t.CallsTask = called != nil && strings.HasPrefix(called.Name.Local, "global")
	}
	if e.Name.Local == "participant" {
		t.BlackBox = f.byID[ref(e, "processRef")] == nil
	}
	return t
}

// event returns the kind of an event: that of its definition.
func (f *File) event(e *elem) string {
	kinds := []string{}
	for _, k := range e.Kids {
		if k.Name.Local == "eventDefinitionRef" {
			if of := f.byID[local(k.Text)]; of != nil {
				k = of.elem
			}
		}
		if kind, is := strings.CutSuffix(k.Name.Local, "EventDefinition"); is && slices.Contains(eventKinds(), kind) {
			kinds = append(kinds, kind)
		}
	}
	switch {
	case len(kinds) == 0:
		return "none"
	case len(kinds) == 1:
		return kinds[0]
	case e.Attr("parallelMultiple") == "true":
		return "parallelMultiple"
	}
	return "multiple"
}

func eventKinds() []string {
	return []string{"message", "timer", "signal", "conditional", "error", "escalation", "link", "terminate", "compensate", "cancel"}
}
