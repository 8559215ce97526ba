// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pnagent/pnagent/attach/internal/enginetest"
)

// emulation serves the searches of the Orchestration Cluster REST API from an
// engine's records. It keeps of each record what Camunda's exporter keeps, and
// accepts the filters and sort fields of the published specification of 8.8, and
// for wait states of 8.10, and no other ones.
type emulation struct {
	t *testing.T
	*httptest.Server

	mu    sync.Mutex
	items map[string]map[string]item // by path and key
	xml   map[string][]byte          // by definition
	ten   bool                       // 8.10: there are wait states
	page  int                        // most items of a page
	deny  int                        // status of all answers, if not 0
	seen  map[string]int             // requests by path
}

// item is one item of a search.
type item map[string]any

// searchable are the fields by which a search filters, and those by which it sorts.
var searchable = map[string]struct{ filter, sort, key string }{
	definitionsPath:   {"name isLatestVersion resourceName version versionTag processDefinitionId tenantId processDefinitionKey hasStartForm", "processDefinitionKey name resourceName version versionTag processDefinitionId tenantId", "processDefinitionKey"},
	elementsPath:      {"processDefinitionId state type elementId elementName hasIncident tenantId elementInstanceKey processInstanceKey processDefinitionKey incidentKey startDate endDate elementInstanceScopeKey", "elementInstanceKey processInstanceKey processDefinitionKey processDefinitionId startDate endDate elementId elementName type state incidentKey tenantId", "elementInstanceKey"},
	incidentsPath:     {"errorType creationTime state processDefinitionId errorMessage elementId tenantId incidentKey processDefinitionKey processInstanceKey elementInstanceKey jobKey", "incidentKey processDefinitionKey processDefinitionId processInstanceKey errorType errorMessage elementId elementInstanceKey creationTime state jobKey tenantId", "incidentKey"},
	jobsPath:          {"jobKey type worker state kind listenerEventType processDefinitionId processDefinitionKey processInstanceKey elementId elementInstanceKey tenantId", "jobKey type worker state kind listenerEventType retries isDenied deniedReason hasFailedWithRetriesLeft errorCode errorMessage customHeaders deadline endTime processDefinitionId processDefinitionKey processInstanceKey elementId elementInstanceKey tenantId", "jobKey"},
	tasksPath:         {"state elementId tenantId processDefinitionId userTaskKey processDefinitionKey processInstanceKey elementInstanceKey assignee priority candidateGroup candidateUser creationDate completionDate followUpDate dueDate localVariables processInstanceVariables", "creationDate completionDate followUpDate dueDate priority", "userTaskKey"},
	subscriptionsPath: {"messageSubscriptionState messageSubscriptionKey processDefinitionId lastUpdatedDate processInstanceKey elementId elementInstanceKey messageName correlationKey tenantId", "messageSubscriptionKey processDefinitionId processInstanceKey elementId elementInstanceKey messageSubscriptionState lastUpdatedDate messageName correlationKey tenantId", "messageSubscriptionKey"},
	instancesPath:     {"processDefinitionId processDefinitionName processDefinitionVersion processDefinitionVersionTag processDefinitionKey processInstanceKey parentProcessInstanceKey parentElementInstanceKey startDate endDate state hasIncident tenantId variables batchOperationId errorMessage hasRetriesLeft elementInstanceState elementId hasElementInstanceIncident incidentErrorHashCode tags", "processInstanceKey processDefinitionId processDefinitionName processDefinitionVersion processDefinitionVersionTag processDefinitionKey parentProcessInstanceKey parentElementInstanceKey startDate endDate state hasIncident tenantId", "processInstanceKey"},
	waitStatesPath:    {"elementInstanceKey processInstanceKey rootProcessInstanceKey elementId elementType waitStateType", "elementInstanceKey processInstanceKey rootProcessInstanceKey elementId", "key"},
}

func newEmulation(t *testing.T, ten bool) *emulation {
	t.Helper()
	e := &emulation{t: t, items: map[string]map[string]item{}, xml: map[string][]byte{}, ten: ten, page: 10_000, seen: map[string]int{}}
	for path := range searchable {
		e.items[path] = map[string]item{}
	}
	e.Server = httptest.NewServer(e)
	t.Cleanup(func() { e.Close() })
	return e
}

// kill closes the server and its connections. again starts it at the same address.
func (e *emulation) kill() (again func()) {
	address := e.Listener.Addr().String()
	e.CloseClientConnections()
	e.Close()
	return func() {
		l, err := net.Listen("tcp", address)
		for tries := 0; err != nil && tries < 300; tries++ { // the port may be in use for a moment
			<-time.After(100 * time.Millisecond)
			l, err = net.Listen("tcp", address)
		}
		if err != nil {
			e.t.Fatal(err)
		}
		e.Server = &httptest.Server{Listener: l, Config: &http.Server{Handler: e}}
		e.Start()
	}
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

// put changes an item, and makes it.
func (e *emulation) put(path, key string, fields item) {
	x := e.items[path][key]
	if x == nil {
		x = item{searchable[path].key: key}
		e.items[path][key] = x
	}
	for k, v := range fields {
		x[k] = v
	}
}

// refuse makes all answers have a status, or none if it is 0.
func (e *emulation) refuse(status int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deny = status
}

func date(millis int64) string {
	return time.UnixMilli(millis).UTC().Format("2006-01-02T15:04:05.000Z")
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

func (e *emulation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	path, isSearch := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v2"), "/search")
	e.seen[path]++
	fields, known := searchable[path]
	parts := strings.Split(path, "/")
	switch {
	case e.deny != 0:
		problem(w, e.deny, "denied by the test")
	case r.Method == http.MethodGet && path == "/topology":
		fmt.Fprintf(w, `{"gatewayVersion":"8.%d.0"}`, map[bool]int{false: 8, true: 10}[e.ten])
	case r.Method == http.MethodGet && len(parts) == 4 && parts[1] == "process-definitions" && parts[3] == "xml" && e.xml[parts[2]] != nil:
		w.Header().Set("Content-Type", "text/xml")
		w.Write(e.xml[parts[2]])
	case r.Method != http.MethodPost || !isSearch || !known || path == waitStatesPath && !e.ten:
		problem(w, http.StatusNotFound, "no such path")
	default:
		var q struct {
			Filter map[string]any
			Sort   []order
			Page   pageRequest
		}
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil {
			problem(w, http.StatusBadRequest, err.Error())
			return
		}
		for f := range q.Filter {
			if !slices.Contains(strings.Fields(fields.filter), f) {
				problem(w, http.StatusBadRequest, "unknown filter "+f)
				return
			}
		}
		for _, s := range q.Sort {
			if !slices.Contains(strings.Fields(fields.sort), s.Field) || s.Order != "ASC" {
				problem(w, http.StatusBadRequest, "unknown sort "+s.Field)
				return
			}
		}
		e.answer(w, path, q.Filter, q.Sort, q.Page)
	}
}

func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"status": status, "title": http.StatusText(status), "detail": detail})
}

// answer writes a page. A cursor is the sort values of an item, and its key.
func (e *emulation) answer(w http.ResponseWriter, path string, filter map[string]any, sort []order, page pageRequest) {
	position := func(x item) []string {
		var out []string
		for _, s := range append(slices.Clone(sort), order{Field: searchable[path].key}) {
			text := fmt.Sprint(x[s.Field])
			if _, err := strconv.ParseInt(text, 10, 64); err == nil {
				text = fmt.Sprintf("%20s", text)
			}
			out = append(out, text)
		}
		return out
	}
	var after []string
	if page.After != "" {
		text, err := base64.StdEncoding.DecodeString(page.After)
		if err != nil || json.Unmarshal(text, &after) != nil {
			problem(w, http.StatusBadRequest, "cursor")
			return
		}
	}
	items, total := []item{}, 0
	for _, x := range e.items[path] {
		if matches(x, filter) {
			if total++; page.After == "" || slices.Compare(position(x), after) > 0 {
				items = append(items, x)
			}
		}
	}
	slices.SortFunc(items, func(a, b item) int { return slices.Compare(position(a), position(b)) })
	items = items[:min(len(items), page.Limit, e.page)]
	var end any
	if len(items) > 0 {
		text, _ := json.Marshal(position(items[len(items)-1]))
		end = base64.StdEncoding.EncodeToString(text)
	}
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(item{"items": items, "page": item{"totalItems": total, "startCursor": nil, "endCursor": end, "hasMoreTotalItems": false}}); err != nil {
		e.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(out.Bytes())
}

// matches reports whether an item passes a filter.
func matches(x item, filter map[string]any) bool {
	for field, want := range filter {
		got, has := x[field]
		has = has && got != nil
		conditions, advanced := want.(map[string]any)
		if !advanced {
			conditions = map[string]any{"$eq": want}
		}
		for op, arg := range conditions {
			ok := false
			switch op {
			case "$eq":
				ok = has && fmt.Sprint(got) == fmt.Sprint(arg)
			case "$in":
				ok = has && slices.Contains(arg.([]any), any(fmt.Sprint(got)))
			case "$exists":
				ok = has == arg.(bool)
			case "$gte":
				ok = has && fmt.Sprint(got) >= fmt.Sprint(arg)
			}
			if !ok {
				return false
			}
		}
	}
	return true
}

// answers answers every request with itself.
type answers string

func (text answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(text)))}, nil
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
