// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// server is a small API server: it lists in pages, watches from a version with bookmarks, and
// answers 410 for a version that it has forgotten.
type server struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	version   int
	objects   map[string]map[string]json.RawMessage // by resource and UID
	events    []watchEvent
	forgotten int // versions up to it
	changed   chan struct{}
	cut       chan struct{}
	custom    bool // it has the resources of other projects
	down      int  // the code that all requests are answered with; 0 for none
	requests  []string
}

type watchEvent struct {
	version        int
	resource, kind string
	object         json.RawMessage
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, objects: map[string]map[string]json.RawMessage{}, changed: make(chan struct{}), cut: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.sever()
		s.Close()
	})
	return s
}

// put creates or replaces an object of a resource, from JSON with UID as its uid.
func (s *server) put(resource, uid, text string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[resource] == nil {
		s.objects[resource] = map[string]json.RawMessage{}
	}
	kind := "ADDED"
	if s.objects[resource][uid] != nil {
		kind = "MODIFIED"
	}
	s.version++
	object := s.versioned(text)
	s.objects[resource][uid] = object
	s.tell(watchEvent{s.version, resource, kind, object})
}

// delete deletes an object.
func (s *server) delete(resource, uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	object := s.versioned(string(s.objects[resource][uid]))
	delete(s.objects[resource], uid)
	s.tell(watchEvent{s.version, resource, "DELETED", object})
}

// versioned returns an object with the present version.
func (s *server) versioned(text string) json.RawMessage {
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	o["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(s.version)
	out, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *server) tell(e watchEvent) {
	s.events = append(s.events, e)
	close(s.changed)
	s.changed = make(chan struct{})
}

// sever ends all watches.
func (s *server) sever() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cut)
	s.cut = make(chan struct{})
}

// forget forgets all versions but the present one.
func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten = s.version
}

// stop answers all requests with a code until it is 0, and ends all watches.
func (s *server) stop(code int) {
	s.mu.Lock()
	s.down = code
	s.mu.Unlock()
	s.sever()
}

// asked returns how often a kind of request came: "list jobs" or "watch jobs".
func (s *server) asked(kind string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if r == kind {
			n++
		}
	}
	return n
}

func (s *server) refuse(w http.ResponseWriter, code int, message string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","code":%d,"message":%q}`, code, message)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := path.Base(r.URL.Path)
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	switch {
	case down != 0:
		s.refuse(w, down, "is refused")
	case strings.HasPrefix(resource, "v1"):
		s.discover(w, r.URL.Path)
	case r.URL.Query().Get("watch") != "":
		s.note("watch " + resource)
		s.watch(w, r, resource)
	default:
		s.note("list " + resource)
		s.list(w, r.URL.Query(), resource)
	}
}

func (s *server) note(request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
}

// discover answers with the resources of a group and version.
func (s *server) discover(w http.ResponseWriter, root string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := map[string][]string{"/api/v1": {"pods", "events"}, "/apis/batch/v1": {"jobs", "cronjobs"}, "/apis/argoproj.io/v1alpha1": {"workflows", "cronworkflows"},
		"/apis/tekton.dev/v1": {"pipelineruns", "taskruns"}, "/apis/tekton.dev/v1beta1": {"customruns"}, "/apis/actions.github.com/v1alpha1": {"ephemeralrunners"}}[root]
	if names == nil || strings.Contains(root, ".") && !s.custom {
		s.refuse(w, http.StatusNotFound, "the server could not find the requested resource")
		return
	}
	fmt.Fprintf(w, `{"kind":"APIResourceList","resources":[{"name":"%s"}]}`, strings.Join(names, `"},{"name":"`))
}

// list answers with a page of at most two objects. A page after the first one is by the
// version of the first one, and gone once that is forgotten.
func (s *server) list(w http.ResponseWriter, q url.Values, resource string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, from := s.version, 0
	if token := q.Get("continue"); token != "" {
		if _, err := fmt.Sscanf(token, "%d:%d", &version, &from); err != nil || version < s.forgotten {
			s.refuse(w, http.StatusGone, "the provided continue parameter is too old")
			return
		}
	}
	var all []json.RawMessage
	for _, uid := range sorted(s.objects[resource]) {
		if object := s.objects[resource][uid]; selects(q, object) {
			all = append(all, object)
		}
	}
	to, next := len(all), ""
	if q.Get("limit") != "" && to > from+2 {
		to = from + 2
		next = fmt.Sprintf("%d:%d", version, to)
	}
	items := all[from:to]
	answer := map[string]any{"kind": "List", "metadata": map[string]string{"resourceVersion": strconv.Itoa(version), "continue": next}, "items": items}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		s.t.Error(err)
	}
}

// selects reports whether an object has the label of a query.
func selects(q url.Values, object json.RawMessage) bool {
	label := q.Get("labelSelector")
	var o struct {
		Metadata struct{ Labels map[string]string }
	}
	err := json.Unmarshal(object, &o)
	_, has := o.Metadata.Labels[label]
	return err == nil && (label == "" || has)
}

// watch sends the events after a version, and a bookmark after them.
func (s *server) watch(w http.ResponseWriter, r *http.Request, resource string) {
	from, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil {
		s.refuse(w, http.StatusBadRequest, "resourceVersion")
		return
	}
	s.mu.Lock()
	old := from < s.forgotten
	cut := s.cut
	s.mu.Unlock()
	if old {
		s.refuse(w, http.StatusGone, "too old resource version")
		return
	}
	w.WriteHeader(http.StatusOK)
	for {
		s.mu.Lock()
		var out []watchEvent
		for _, e := range s.events {
			if e.resource == resource && e.version > from && selects(r.URL.Query(), e.object) {
				out = append(out, e)
			}
		}
		from = s.version
		changed := s.changed
		s.mu.Unlock()
		for _, e := range out {
			fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", e.kind, e.object)
		}
		fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"%d"}}}`+"\n", from)
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// cluster returns the server as a cluster.
func (s *server) cluster() *Cluster {
	base, err := url.Parse(s.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	return &Cluster{client: s.Client(), base: base}
}

// adapter returns an adapter of the server, which watches until stop.
func (s *server) adapter(file string) (a *Adapter, stop func()) {
	s.t.Helper()
	a, err := New(Config{Cluster: s.cluster(), Polling: ledger.Polling{Source: "test", State: file, Interval: time.Second, Timeout: time.Minute, Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		s.t.Fatal(err)
	}
	stop = a.watch(s.t.Context())
	s.t.Cleanup(stop)
	return a, stop
}
