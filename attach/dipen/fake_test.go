// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fake is a gateway with scripted answers.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	cluster  int
	revision int64
	oldest   int64      // revisions before it are compacted
	keys     []fakeKey  // sorted by key
	page     int        // largest number of keys in one answer
	watches  [][]string // lines for each watch; the last watch repeats
	asked    []string   // "range REVISION", "watch FROM", "login"
	token    string     // that must be sent; "" for none
	down     bool
}

type fakeKey struct {
	key, value string
	create     int64
}

func startFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{cluster: 7, revision: 10, page: 1000, watches: [][]string{{created}}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

// do changes the script.
func (f *fake) do(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fake) has(key, value string, create int64) {
	f.keys = append(f.keys, fakeKey{key, value, create})
	slices.SortFunc(f.keys, func(a, b fakeKey) int { return strings.Compare(a.key, b.key) })
}

// was reports whether a request was made.
func (f *fake) was(asked string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.asked, asked)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	switch {
	case f.down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/v3/auth/authenticate":
		f.asked = append(f.asked, "login")
		if !strings.Contains(string(body), `"password":"secret"`) {
			refuse(w, 400, 3, "etcdserver: authentication failed, invalid user ID or password")
			return
		}
		f.token = fmt.Sprint("token-", len(f.asked))
		fmt.Fprintf(w, `{"token":%q}`, f.token)
	case r.Header.Get("Authorization") != f.token:
		refuse(w, http.StatusUnauthorized, 16, "etcdserver: invalid auth token")
	case r.URL.Path == "/v3/kv/range":
		f.serveRange(w, body)
	case r.URL.Path == "/v3/watch":
		f.serveWatch(w, r, body)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"code":%d,"message":%q}`, code, message)
}

func (f *fake) serveRange(w http.ResponseWriter, body []byte) {
	var r rangeRequest
	if err := json.Unmarshal(body, &r); err != nil {
		refuse(w, 400, 3, err.Error())
		return
	}
	if !r.Count {
		f.asked = append(f.asked, fmt.Sprint("range ", r.Revision))
		if r.Revision < f.oldest {
			refuse(w, 400, codeOutOfRange, "etcdserver: mvcc: required revision has been compacted")
			return
		}
	}
	var kvs []string
	more := false
	for _, k := range f.keys {
		if r.Count || k.key < string(r.Key) || k.key >= string(r.End) {
			continue
		}
		if more = len(kvs) == f.page; more {
			break
		}
		kvs = append(kvs, kvJSON(k.key, k.value, k.create, k.create))
	}
	fmt.Fprintf(w, `{"header":{"cluster_id":"%d","revision":"%d"},"kvs":[%s],"more":%v}`, f.cluster, f.revision, strings.Join(kvs, ","), more)
}

func (f *fake) serveWatch(w http.ResponseWriter, r *http.Request, body []byte) {
	var req struct {
		Create struct {
			From int64 `json:"start_revision,string"`
		} `json:"create_request"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		refuse(w, 400, 3, err.Error())
		return
	}
	f.asked = append(f.asked, fmt.Sprint("watch ", req.Create.From))
	lines := f.watches[0]
	if req.Create.From < f.oldest {
		lines = []string{created, fmt.Sprintf(`{"result":{"canceled":true,"compact_revision":"%d"}}`, f.oldest)}
	} else if len(f.watches) > 1 {
		f.watches = f.watches[1:]
	}
	for _, line := range lines {
		if line == hangUp {
			return
		}
		_, _ = io.WriteString(w, line+"\n") // fails when the client is gone
	}
	_ = http.NewResponseController(w).Flush()
	f.mu.Unlock()
	<-r.Context().Done()
	f.mu.Lock()
}

// Lines of a watch.
const (
	created = `{"result":{"header":{"revision":"10"},"created":true}}`
	hangUp  = ""
)

func kvJSON(key, value string, create, mod int64) string {
	return fmt.Sprintf(`{"key":%q,"value":%q,"create_revision":"%d","mod_revision":"%d"}`, b64(key), b64(value), create, mod)
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func putJSON(key, value string, mod int64) string {
	return fmt.Sprintf(`{"kv":%s}`, kvJSON(key, value, mod, mod))
}

func delJSON(key string, create, mod int64) string {
	return fmt.Sprintf(`{"type":"DELETE","kv":{"key":%q,"mod_revision":"%d"},"prev_kv":%s}`, b64(key), mod, kvJSON(key, "x", create, create))
}

func answer(fragment bool, events ...string) string {
	return fmt.Sprintf(`{"result":{"header":{"revision":"99"},"fragment":%v,"events":[%s]}}`, fragment, strings.Join(events, ","))
}
