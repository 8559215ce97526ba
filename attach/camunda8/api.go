// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"strings"
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

// The items of the searches, as in the API's published specification. Fields that
// are not used are left out. A field that is null or absent is "" or 0.

type processDefinition struct {
	Key     string `json:"processDefinitionKey"`
	ID      string `json:"processDefinitionId"`
	Name    string `json:"name"`
	Version int64  `json:"version"`
}

type elementInstance struct {
	Key        string `json:"elementInstanceKey"`
	Instance   string `json:"processInstanceKey"`
	Definition string `json:"processDefinitionKey"`
	Process    string `json:"processDefinitionId"`
	Element    string `json:"elementId"`
	Type       string `json:"type"`
	State      string `json:"state"`
	Start      string `json:"startDate"`
	End        string `json:"endDate"`
}

type incident struct {
	Element  string `json:"elementId"`
	Instance string `json:"elementInstanceKey"`
	Type     string `json:"errorType"`
	Message  string `json:"errorMessage"`
}

type job struct {
	Element  string `json:"elementId"`
	Instance string `json:"elementInstanceKey"`
	Type     string `json:"type"`
	Kind     string `json:"kind"`
	Listener string `json:"listenerEventType"`
	State    string `json:"state"`
	Worker   string `json:"worker"`
	Left     int64  `json:"retries"` // retries left
	Message  string `json:"errorMessage"`
}

type userTask struct {
	Element  string `json:"elementId"`
	Instance string `json:"elementInstanceKey"`
	Assignee string `json:"assignee"`
}

type messageSubscription struct {
	Element     string `json:"elementId"`
	Instance    string `json:"elementInstanceKey"`
	Name        string `json:"messageName"`
	Correlation string `json:"correlationKey"`
}

type processInstance struct {
	Key     string `json:"processInstanceKey"`
	Process string `json:"processDefinitionId"`
	Caller  string `json:"parentElementInstanceKey"`
}

type waitState struct {
	Element  string `json:"elementId"`
	Instance string `json:"elementInstanceKey"`
	Details  struct {
		Type       string `json:"waitStateType"`
		Due        int64  `json:"dueDate"` // of TIMER, milliseconds since the Unix epoch
		Signal     string `json:"signalName"`
		Expression string `json:"expression"` // of CONDITION
	} `json:"details"`
}

// jobOpen are the states of jobs that are not done.
var jobOpen = []string{"CREATED", "FAILED", "RETRIES_UPDATED", "TIMED_OUT", "MIGRATED"}

// taskOpen are the states of user tasks that are not done.
var taskOpen = []string{"CREATING", "CREATED", "ASSIGNING", "UPDATING", "COMPLETING"}

// isBody reports whether an element instance is about others, which have the
// tokens. It has one itself only while it waits for something of its own.
func (e *elementInstance) isBody() bool {
	switch e.Type {
	case "SUB_PROCESS", "EVENT_SUB_PROCESS", "AD_HOC_SUB_PROCESS", "AD_HOC_SUB_PROCESS_INNER_INSTANCE", "MULTI_INSTANCE_BODY":
		return true
	}
	return false
}

// hasFlow reports whether the arrival and departure of an element instance count:
// those of a multi-instance body are those of the instances inside.
func (e *elementInstance) hasFlow() bool {
	return e.Type != "MULTI_INSTANCE_BODY" && e.Type != "AD_HOC_SUB_PROCESS_INNER_INSTANCE"
}

// micros returns a time of the API in microseconds since the Unix epoch. ok is
// false if it is invalid.
func micros(text string) (at int64, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		if t, err = time.Parse("2006-01-02T15:04:05.999999999Z0700", strings.TrimSpace(text)); err != nil {
			return 0, false
		}
	}
	at = t.UnixMicro()
	return at, at > 0 && at <= telemetry.MaxTime
}
