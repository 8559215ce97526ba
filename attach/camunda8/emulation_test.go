// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"bytes"
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

	"github.com/pnagent/pnagent/internal/porttest"
)

// emulation serves the searches of the Orchestration Cluster REST API from an
// engine's records. It keeps of each record what Camunda's exporter keeps, and
// accepts the filters and sort fields of the published specification of 8.8, and
// for wait states of 8.10, and no other ones.
type emulation struct {
	t *testing.T
	*httptest.Server
	addr string // the same when it is started again

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
	e.addr = porttest.Addr(t)
	e.start()
	t.Cleanup(func() { e.Close() })
	return e
}

func (e *emulation) start() {
	e.t.Helper()
	l, err := net.Listen("tcp", e.addr)
	if err != nil {
		e.t.Fatal(err)
	}
	e.Server = &httptest.Server{Listener: l, Config: &http.Server{Handler: e}}
	e.Start()
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
			total++
			if page.After == "" || slices.Compare(position(x), after) > 0 {
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
