// SPDX-License-Identifier: Apache-2.0

package camunda8

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/collector/merge"
)

func TestAnAddressIsThatOfTheAPI(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:8080":     "http://127.0.0.1:8080/v2",
		"https://c8.example/a/v2/":  "https://c8.example/a/v2",
		"https://c8.example/orders": "https://c8.example/orders/v2",
	} {
		if c, err := newClient(address, nil); err != nil || c.base != want {
			t.Errorf("%s: %v, %v; expected %s", address, c, err, want)
		}
	}
	for _, address := range []string{"", "127.0.0.1:8080", "ftp://a", "http://", "http://a?b=c", "http://user:secret@\x00"} {
		if _, err := newClient(address, nil); !errors.Is(err, ErrConfig) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v; expected an error about the configuration without the password", address, err)
		}
	}
}

// TestAllPagesAreRead compares searches in pages of all sizes with the items.
func TestAllPagesAreRead(t *testing.T) {
	api := newEmulation(t, false)
	for i := range 7 {
		api.put(jobsPath, fmt.Sprint(100+i), item{"state": "CREATED", "type": fmt.Sprint(i)})
	}
	api.put(jobsPath, "50", item{"state": "COMPLETED", "type": "done"})
	c, err := newClient(api.URL, api.Client())
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"0", "1", "2", "3", "4", "5", "6"}
	for c.page = 1; c.page < 10; c.page++ {
		for _, most := range []int{3, 6, 7, 100} {
			var got []string
			more, err := search(t.Context(), c, jobsPath, query{Filter: map[string]any{"state": in(jobOpen...)}, Sort: by("jobKey")}, most, func(j *job) error {
				got = append(got, j.Type)
				return nil
			})
			if err != nil || !slices.Equal(got, all[:min(most, 7)]) || more != (most < 7) {
				t.Errorf("pages of %d, at most %d: %v, more: %v, %v", c.page, most, got, more, err)
			}
		}
	}
}

// A gateway may return fewer items than a page was asked for. What it then says of the total
// shows that there are more.
func TestAPageThatIsShorterThanAskedForIsNotTheLast(t *testing.T) {
	api := newEmulation(t, false)
	api.page = 2
	for i := range 7 {
		api.put(jobsPath, fmt.Sprint(100+i), item{"state": "CREATED", "type": fmt.Sprint(i)})
	}
	c, err := newClient(api.URL, api.Client())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if _, err := search(t.Context(), c, jobsPath, query{Sort: by("jobKey")}, 100, func(*job) error { n++; return nil }); err != nil || n != 7 {
		t.Errorf("%d of 7 items, %v", n, err)
	}
}

// An answer with the status 200 and without items is not one to a search, so it does not mean zero items.
func TestAnAnswerWithoutItemsIsAnError(t *testing.T) {
	for _, body := range []string{"", "{}", "null", "[]", `{"items":null,"page":{"totalItems":3}}`, `{"message":"ok"}`, "<html>Log in</html>"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		c, err := newClient(server.URL, server.Client())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := search(t.Context(), c, jobsPath, query{}, 100, func(*job) error { return nil }); err == nil || !strings.HasPrefix(err.Error(), "POST /jobs/search: ") {
			t.Errorf("%q: %v", body, err)
		}
		server.Close()
	}
}

// What the client may not read any more, the API leaves out. Tokens are not over while
// neither definitions nor element instances, also those that ended, are shown.
func TestWhatTheAPIHidesIsNotOver(t *testing.T) {
	e := newEmulation(t, true)
	e.put(definitionsPath, "1", item{"processDefinitionId": "p", "version": 1})
	started := date(time.Now().UnixMilli())
	e.put(elementsPath, "100", item{"state": "ACTIVE", "type": "USER_TASK", "elementId": "a", "processDefinitionId": "p", "processDefinitionKey": "1", "processInstanceKey": "9", "startDate": started})
	a, err := New(Config{Address: e.URL, Client: e.Client(), Tokens: 100, Polling: ledger.Polling{Interval: time.Second, Timeout: time.Minute, Source: "s", Log: discard()}})
	if err != nil {
		t.Fatal(err)
	}
	poll := func() error {
		a.definitions.TokensAt = 0 // it is due
		return a.poll(t.Context())
	}
	if err := poll(); err != nil {
		t.Fatal(err)
	}
	hidden := e.items[elementsPath]
	e.items[elementsPath] = map[string]item{}
	for range 2 {
		if err := poll(); !errors.Is(err, errVanished) {
			t.Errorf("element instances are hidden: %v", err)
		}
	}
	e.items[elementsPath] = hidden
	e.put(elementsPath, "100", item{"state": "COMPLETED", "endDate": started})
	for range 2 {
		if err := poll(); err != nil {
			t.Errorf("the last one ended: %v", err)
		}
	}
	e.items[definitionsPath], a.definitions.ListedAt = map[string]item{}, 0
	if err := poll(); !errors.Is(err, errVanished) {
		t.Errorf("definitions are hidden: %v", err)
	}
}

func TestACursorThatDoesNotMoveEndsTheSearch(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"items":[{}],"page":{"endCursor":"x"}}`)
	}))
	defer server.Close()
	c, err := newClient(server.URL, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	c.page = 1
	if _, err := search(t.Context(), c, jobsPath, query{}, 100, func(*job) error { return nil }); !errors.Is(err, errPages) {
		t.Error(err)
	}
}

func TestARefusalSaysWhatWasRefused(t *testing.T) {
	api := newEmulation(t, false)
	c, err := newClient(api.URL, api.Client())
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[int]string{
		http.StatusUnauthorized: "POST /jobs/search: 401 Unauthorized: denied by the test",
		http.StatusNotFound:     "POST /jobs/search: 404 Not Found: denied by the test: not in this version of the API",
	} {
		api.refuse(status)
		if _, err := search(t.Context(), c, jobsPath, query{}, 1, func(*job) error { return nil }); err == nil || err.Error() != want {
			t.Errorf("%v; expected %s", err, want)
		}
	}
	api.refuse(0)
	if _, err := search(t.Context(), c, jobsPath, query{Filter: map[string]any{"nonsense": 1}}, 1, func(*job) error { return nil }); err == nil || !strings.Contains(err.Error(), "unknown filter") {
		t.Errorf("%v; expected that the emulation refuses what the specification does not have", err)
	}
}

func TestCheckNamesWhatTheVersionDoesNotHave(t *testing.T) {
	for _, ten := range []bool{false, true} {
		api := newEmulation(t, ten)
		version, absent, err := Check(t.Context(), api.URL, api.Client())
		if want := map[bool]string{false: "8.8.0 [/element-instances/wait-states]", true: "8.10.0 []"}[ten]; err != nil || fmt.Sprint(version, " ", absent) != want {
			t.Errorf("%s %v %v; expected %s", version, absent, err, want)
		}
		api.refuse(http.StatusForbidden)
		if _, _, err := Check(t.Context(), api.URL, api.Client()); err == nil {
			t.Error("no error although everything is refused")
		}
	}
}

// The Date of an answer has whole seconds, so the difference is known by an
// interval, and the estimate moves as little as it must.
func TestTimesAreReadInTheFormsOfTheAPI(t *testing.T) {
	for text, want := range map[string]int64{
		"2025-10-07T12:34:56.789Z":      1759840496789000,
		"2025-10-07T14:34:56.789+02:00": 1759840496789000,
		"2025-10-07T12:34:56.789+0000":  1759840496789000,
		"2025-10-07T12:34:56Z":          1759840496000000,
	} {
		if got, ok := micros(text); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "null", "2025-10-07", "0001-01-01T00:00:00Z", "1759840496"} {
		if got, ok := micros(text); ok {
			t.Errorf("%q is %d; expected no time", text, got)
		}
	}
}

func TestAJobSaysWhatTheAPIKnowsOfIt(t *testing.T) {
	got := map[string]string{}
	for name, j := range map[string]job{
		"created":   {Type: "ship", State: "CREATED", Left: 3},
		"failed":    {Type: "ship", State: "FAILED", Left: 1, Worker: "w", Message: "no stock"},
		"timed out": {Type: "ship", State: "TIMED_OUT", Left: 3, Worker: "w"},
		"exhausted": {Type: "ship", State: "RETRIES_UPDATED"},
		"listener":  {Type: "audit", Kind: "EXECUTION_LISTENER", Listener: "START", State: "CREATED", Left: 3},
	} {
		text, detail := jobText(&j)
		got[name] = text + "|" + detail
	}
	want := map[string]string{
		"created":   "job ship, 3 retries|",
		"failed":    "job ship, failed at worker w, 1 retry|no stock",
		"timed out": "job ship, timed out at worker w, 3 retries|",
		"exhausted": "job ship, out of retries|",
		"listener":  "job audit of a listener (start), 3 retries|",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The list of definitions is read once more in a poll for those that are unknown.
func TestUnknownDefinitionsAreLookedUpOnceInAPoll(t *testing.T) {
	e := newEmulation(t, true)
	for i := range 20 {
		key := strconv.Itoa(100 + i)
		e.put(elementsPath, key, item{"state": "ACTIVE", "type": "USER_TASK", "elementId": "a", "processDefinitionId": "gone", "processDefinitionKey": "1", "processInstanceKey": key, "startDate": date(time.Now().UnixMilli())})
	}
	a, err := New(Config{Address: e.URL, Client: e.Client(), Tokens: 100, Polling: ledger.Polling{Interval: time.Second, Timeout: time.Minute, Source: "s", Log: discard()}})
	if err != nil {
		t.Fatal(err)
	}
	for polls := 1; polls <= 3; polls++ {
		a.definitions.TokensAt = 0 // it is due
		if err := a.poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := e.seen[definitionsPath]; got != polls+1 {
			t.Errorf("the definitions were listed %d times in %d polls; expected one for each, and one at the start", got, polls)
		}
	}
	e.put(definitionsPath, "1", item{"processDefinitionId": "gone", "version": 1})
	a.definitions.TokensAt = 0
	if err := a.poll(t.Context()); err != nil || a.definitions.Nets["gone"] == nil {
		t.Errorf("%v; expected the definition to be found", err)
	}
}

// TestAJoinLacksWhatTheVersionOfItsTokenSays has a token of each of two versions at a join
// of two flows, and of three.
func TestAJoinLacksWhatTheVersionOfItsTokenSays(t *testing.T) {
	e := newEmulation(t, true)
	for i, branches := range []string{"ab", "abc"} {
		text, key := `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"><parallelGateway id="j"/>`, strconv.Itoa(i+1)
		for _, b := range branches {
			text += fmt.Sprintf(`<task id="%c"/><sequenceFlow id="f%c" sourceRef="%c" targetRef="j"/>`, b, b, b)
		}
		e.xml[key] = []byte(text + "</process></definitions>")
		e.put(definitionsPath, key, item{"processDefinitionId": "p", "version": i + 1})
		e.put(elementsPath, key, item{"state": "ACTIVE", "type": "PARALLEL_GATEWAY", "elementId": "j", "processDefinitionId": "p", "processDefinitionKey": key,
			"processInstanceKey": key, "startDate": date(time.Now().UnixMilli())})
	}
	w := newWatch(t)
	w.adapter(e, "")
	w.until(func(v *merge.View) string {
		got := map[string]uint32{}
		if v.Net("p") == nil {
			return "no net is published"
		}
		for _, p := range v.Net("p").Rows.Places {
			for _, token := range p.Stuck {
				for _, wait := range token.Waits {
					got[token.Instance] += wait.Count
				}
			}
		}
		return cmp.Diff(map[string]uint32{"1": 1, "2": 2}, got)
	})
}

// TestANewerModelArrives has a second version of a process, whose flow nodes are those of the
// first one.
func TestANewerModelArrives(t *testing.T) {
	e := newEmulation(t, true)
	deploy := func(version int) {
		e.mu.Lock()
		defer e.mu.Unlock()
		key := strconv.Itoa(version)
		e.xml[key] = fmt.Appendf(nil, `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"><task id="a"/><textAnnotation id="version%d"/></process></definitions>`, version)
		e.put(definitionsPath, key, item{"processDefinitionId": "p", "version": version})
		e.put(elementsPath, key, item{"state": "ACTIVE", "type": "TASK", "elementId": "a", "processDefinitionId": "p", "processDefinitionKey": key,
			"processInstanceKey": key, "startDate": date(time.Now().UnixMilli())})
	}
	w := newWatch(t)
	shows := func(version int) {
		w.until(func(v *merge.View) string {
			if v.Net("p") == nil || v.Net("p").Def.Model == nil {
				return "no net with a model is published"
			}
			text, err := v.Net("p").Def.Model.Texts()
			if err != nil || !strings.Contains(string(text[0]), fmt.Sprintf("version%d", version)) {
				return fmt.Sprintf("the model is %s, %v; want that of version %d", text, err, version)
			}
			return ""
		})
	}
	deploy(2)
	w.adapter(e, "")
	shows(2)
	deploy(1) // whose token is found later
	deploy(3)
	shows(3)
}

// FuzzAnswers gives the adapter any bytes as every answer.
func FuzzAnswers(f *testing.F) {
	f.Add(`{"items":[{"processDefinitionKey":"1","processDefinitionId":"p"}],"page":{"endCursor":"a"}}`)
	f.Add(`{"items":[{"elementInstanceKey":"3","elementId":"a","processDefinitionKey":"1","processInstanceKey":"2","startDate":"2025-10-07T12:34:56.789Z","details":{"waitStateType":"TIMER","dueDate":1}}]}`)
	f.Fuzz(func(t *testing.T, answer string) {
		a, err := New(Config{Address: "http://c8", Tokens: 10, Polling: ledger.Polling{Interval: time.Second, Timeout: time.Second, Source: "s", Log: discard()},
			Client: &http.Client{Transport: answers(answer)}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_ = a.poll(ctx) // whether it is an error depends on the answer
		if err := ctx.Err(); err != nil {
			t.Error(err)
		}
	})
}
