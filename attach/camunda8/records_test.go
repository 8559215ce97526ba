// SPDX-License-Identifier: Apache-2.0

//go:build peers

package camunda8

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// kill closes the server and its connections. again starts it at the same address.
func (e *emulation) kill() (again func()) {
	e.CloseClientConnections()
	e.Close()
	return e.start
}

// active returns the tokens by what the API answers to a client of its own: element
// instances that are active, without bodies that have no incident.
func (e *emulation) active() (out []enginetest.Held) {
	e.t.Helper()
	ask := func(path string, state ...string) (items []map[string]string) {
		q, _ := json.Marshal(item{"filter": item{"state": in(state...)}, "page": item{"limit": 10_000}}) // has no other types than JSON's
		resp, err := http.Post(e.URL+"/v2"+path+"/search", "application/json", bytes.NewReader(q))
		if err != nil {
			e.t.Fatal(err)
		}
		defer resp.Body.Close()
		var answer struct{ Items []map[string]any }
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
			e.t.Fatal(resp.Status, err)
		}
		for _, x := range answer.Items {
			one := map[string]string{}
			for k, v := range x {
				one[k] = fmt.Sprint(v)
			}
			items = append(items, one)
		}
		return items
	}
	failed := map[string]bool{}
	for _, x := range ask(incidentsPath, "ACTIVE") {
		failed[x["elementInstanceKey"]] = true
	}
	for _, x := range ask(elementsPath, "ACTIVE") {
		if body := x["type"] == "SUB_PROCESS" || x["type"] == "MULTI_INSTANCE_BODY"; body && !failed[x["elementInstanceKey"]] {
			continue
		}
		at, err := time.Parse(time.RFC3339, x["startDate"])
		if err != nil {
			e.t.Fatal(err)
		}
		out = append(out, enginetest.Held{Net: x["processDefinitionId"], Instance: x["processInstanceKey"], Node: x["elementId"], Since: at.UnixMilli()})
	}
	return out
}

// record is a record of the engine.
type record struct {
	ValueType, Intent string
	Key               json.Number
	Timestamp         int64
	Value             struct {
		BpmnProcessID            string `json:"bpmnProcessId"`
		ProcessDefinitionKey     json.Number
		ProcessInstanceKey       json.Number
		ElementInstanceKey       json.Number
		ParentElementInstanceKey json.Number
		ElementID                string `json:"elementId"`
		BpmnElementType          string
		TenantID                 string `json:"tenantId"`
		Resource                 []byte
		Version                  int64
		ErrorType, ErrorMessage  string
		Type, Worker, JobKind    string
		JobListenerEventType     string
		Retries, Deadline        int64
		Assignee                 string
		UserTaskKey              json.Number
		MessageName              string
		CorrelationKey           string
		TargetElementID          string `json:"targetElementId"`
		DueDate                  any
		CatchEventID             string `json:"catchEventId"`
		CatchEventInstanceKey    json.Number
		SignalName               string
	}
}

// take takes a record as Camunda's exporter does.
func (e *emulation) take(line string) {
	var r record
	d := json.NewDecoder(strings.NewReader(line))
	if err := d.Decode(&r); err != nil {
		e.t.Fatalf("%v: %s", err, line)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	v := &r.Value
	common := item{"processDefinitionId": v.BpmnProcessID, "processDefinitionKey": v.ProcessDefinitionKey.String(), "processInstanceKey": v.ProcessInstanceKey.String(),
		"elementId": v.ElementID, "elementInstanceKey": v.ElementInstanceKey.String(), "tenantId": v.TenantID}
	with := func(more item) item {
		for k, x := range common {
			if _, has := more[k]; !has {
				more[k] = x
			}
		}
		return more
	}
	key := r.Key.String()
	switch r.ValueType {
	case "PROCESS":
		if r.Intent == "CREATED" {
			e.put(definitionsPath, key, item{"processDefinitionId": v.BpmnProcessID, "name": nil, "version": v.Version, "tenantId": v.TenantID})
			e.xml[key] = v.Resource
		}
	case "PROCESS_INSTANCE":
		e.element(&r, key, with)
	case "INCIDENT":
		e.put(incidentsPath, key, with(item{"errorType": v.ErrorType, "errorMessage": v.ErrorMessage,
			"state": map[string]string{"CREATED": "ACTIVE", "RESOLVED": "RESOLVED", "MIGRATED": "MIGRATED"}[r.Intent]}))
	case "JOB":
		if slices.Contains([]string{"CREATED", "COMPLETED", "TIMED_OUT", "FAILED", "RETRIES_UPDATED", "CANCELED", "ERROR_THROWN", "MIGRATED"}, r.Intent) {
			more := with(item{"state": r.Intent, "type": v.Type, "worker": v.Worker, "retries": v.Retries, "errorMessage": v.ErrorMessage, "kind": v.JobKind, "listenerEventType": v.JobListenerEventType})
			if r.Intent == "FAILED" || r.Intent == "ERROR_THROWN" {
				delete(more, "elementId")
			}
			e.put(jobsPath, key, more)
		}
	case "USER_TASK":
		e.put(tasksPath, key, with(item{"state": cmp.Or(map[string]string{"ASSIGNED": "CREATED", "UPDATED": "CREATED"}[r.Intent], r.Intent), "assignee": v.Assignee, "creationDate": date(r.Timestamp)}))
	case "PROCESS_MESSAGE_SUBSCRIPTION":
		if state := map[string]string{"CREATED": "CREATED", "CORRELATED": "CORRELATED", "DELETED": "DELETED", "MIGRATED": "MIGRATED"}[r.Intent]; state != "" {
			e.put(subscriptionsPath, key, with(item{"messageSubscriptionState": state, "messageName": v.MessageName, "correlationKey": v.CorrelationKey}))
		}
	case "TIMER":
		e.waiting(key, r.Intent == "CREATED", item{"elementInstanceKey": v.ElementInstanceKey.String(), "elementId": v.TargetElementID, "waitStateType": "TIMER",
			"details": item{"waitStateType": "TIMER", "dueDate": v.DueDate}})
	case "SIGNAL_SUBSCRIPTION":
		e.waiting(key, r.Intent == "CREATED", item{"elementInstanceKey": v.CatchEventInstanceKey.String(), "elementId": v.CatchEventID, "waitStateType": "SIGNAL",
			"details": item{"waitStateType": "SIGNAL", "signalName": v.SignalName}})
	}
}

// element takes a record of a process instance or an element instance.
func (e *emulation) element(r *record, key string, with func(item) item) {
	v := &r.Value
	state := map[string]string{"ELEMENT_ACTIVATING": "ACTIVE", "ELEMENT_COMPLETED": "COMPLETED", "ELEMENT_TERMINATED": "TERMINATED", "ELEMENT_MIGRATED": "ACTIVE"}[r.Intent]
	if state == "" || v.BpmnElementType == "SEQUENCE_FLOW" {
		return
	}
	more := with(item{"state": state, "type": v.BpmnElementType, "elementInstanceKey": key})
	switch r.Intent {
	case "ELEMENT_ACTIVATING":
		more["startDate"], more["endDate"] = date(r.Timestamp), nil
	case "ELEMENT_COMPLETED", "ELEMENT_TERMINATED":
		more["endDate"] = date(r.Timestamp)
	}
	if v.BpmnElementType != "PROCESS" {
		e.put(elementsPath, key, more)
		return
	}
	if parent := v.ParentElementInstanceKey.String(); parent != "-1" {
		more["parentElementInstanceKey"] = parent
	}
	e.put(instancesPath, key, more)
}

// waiting puts or removes a wait state. Those of boundary events are not kept: the
// element instance is not that of the event.
func (e *emulation) waiting(key string, created bool, x item) {
	host := e.items[elementsPath][x["elementInstanceKey"].(string)]
	switch {
	case !created:
		delete(e.items[waitStatesPath], key)
	case host != nil && (host["elementId"] == x["elementId"] || host["type"] == "EVENT_BASED_GATEWAY"):
		e.put(waitStatesPath, key, x)
	}
}
