// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

const patience = 30 * time.Second

// until polls until check returns "", which otherwise says what is missing.
func until(t *testing.T, a *Adapter, check func() string) {
	t.Helper()
	end := time.Now().Add(patience)
	for {
		var missing string
		if err := a.poll(t.Context()); err != nil {
			missing = err.Error()
		} else {
			missing = check()
		}
		if missing == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(missing)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// aJob returns a Job of the CronJob report, with a status.
func aJob(uid, status string) string {
	return fmt.Sprintf(`{"metadata":{"uid":%q,"namespace":"prod","name":"report-%s","creationTimestamp":"2026-01-01T00:00:00Z",
		"ownerReferences":[{"kind":"CronJob","name":"report","uid":"r","controller":true}]},"spec":{"completions":1},"status":{"startTime":"2026-01-01T00:00:01Z"%s}}`, uid, uid, status)
}

// Ends of Jobs, ten seconds after their start.
const (
	isComplete = `,"succeeded":1,"completionTime":"2026-01-01T00:00:11Z","conditions":[{"type":"Complete","status":"True","lastTransitionTime":"2026-01-01T00:00:11Z"}]`
	hasFailed  = `,"failed":1,"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded","message":"Job has reached the specified backoff limit","lastTransitionTime":"2026-01-01T00:00:11Z"}]`
)

// flow is what is counted of the place of the net of report, and how many tokens it has.
type flow struct {
	Arrivals, Departures, Firings, Starts uint64
	Tokens                                int
}

func (a *Adapter) flow() flow {
	n := a.nets["prod/cronjob/report"]
	if n == nil {
		return flow{}
	}
	out := flow{Tokens: len(a.tokens()[n])}
	out.Arrivals, out.Departures, out.Firings = n.Counts(n.FindPlace(stepJob+in), n.FindTransition(stepJob))
	_, _, out.Starts = n.Counts(-1, n.FindTransition(started))
	return out
}

// Each Job is counted once, whatever happens to the watches, the server and the adapter
// meanwhile. Jobs that were there before the adapter are shown, and counted from then on.
func TestEachJobIsCountedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		before, after func(s *server)
		restart       bool
	}{
		"nothing happens":                     {},
		"the watches end":                     {before: (*server).sever},
		"the version is forgotten":            {before: (*server).sever, after: (*server).forget},
		"the server is not there for a while": {before: func(s *server) { s.stop(http.StatusServiceUnavailable) }, after: func(s *server) { s.stop(0) }},
		"the adapter is started again":        {restart: true},
		"both are started again":              {restart: true, before: func(s *server) { s.stop(http.StatusServiceUnavailable) }, after: func(s *server) { s.forget(); s.stop(0) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			for i := range 5 {
				s.put("jobs", fmt.Sprint("old", i), aJob(fmt.Sprint("old", i), map[bool]string{true: isComplete}[i < 3]))
			}
			a, stop := s.adapter("")
			expect := func(want flow) {
				t.Helper()
				until(t, a, func() string { return gocmp.Diff(want, a.flow()) })
			}
			expect(flow{Tokens: 2})
			for _, uid := range []string{"a", "b", "c"} {
				s.put("jobs", uid, aJob(uid, ""))
			}
			expect(flow{Arrivals: 3, Starts: 3, Tokens: 5})

			if c.restart {
				stop()
			}
			if c.before != nil {
				c.before(s)
			}
			s.put("jobs", "a", aJob("a", isComplete))
			s.put("jobs", "old3", aJob("old3", isComplete))
			s.put("jobs", "b", aJob("b", hasFailed))
			s.delete("jobs", "c")
			s.put("jobs", "d", aJob("d", isComplete))
			if c.after != nil {
				c.after(s)
			}
			if c.restart {
				text, err := json.Marshal(a.state)
				if err != nil {
					t.Fatal(err)
				}
				a, _ = s.adapter("")
				if err := json.Unmarshal(text, &a.state); err != nil {
					t.Fatal(err)
				}
				// The counters of a process begin at 0.
				expect(flow{Arrivals: 1, Departures: 5, Firings: 3, Starts: 1, Tokens: 2})
			} else {
				expect(flow{Arrivals: 4, Departures: 5, Firings: 3, Starts: 4, Tokens: 2})
			}
			if d := gocmp.Diff([]string{"a", "b", "d", "old0", "old1", "old2", "old3", "old4"}, sorted(a.state.Counted)); d != "" {
				t.Error(d)
			}
		})
	}
}

// A watch continues at the version that it reached, and only a version that the server has
// forgotten leads to another list.
func TestAWatchContinues(t *testing.T) {
	s := newServer(t)
	s.put("jobs", "a", aJob("a", ""))
	a, _ := s.adapter("")
	until(t, a, func() string { return gocmp.Diff(flow{Tokens: 1}, a.flow()) })
	watches := func(n int) {
		t.Helper()
		until(t, a, func() string {
			if got := s.asked("watch jobs"); got < n {
				return fmt.Sprintf("%d watches; expected %d", got, n)
			}
			return ""
		})
	}
	watches(1)
	s.sever()
	watches(2)
	s.put("jobs", "b", aJob("b", ""))
	until(t, a, func() string { return gocmp.Diff(flow{Arrivals: 1, Starts: 1, Tokens: 2}, a.flow()) })
	if n := s.asked("list jobs"); n != 1 {
		t.Errorf("%d lists; expected 1", n)
	}
	s.stop(http.StatusServiceUnavailable)
	s.put("jobs", "c", aJob("c", ""))
	s.put("jobs", "d", aJob("d", ""))
	s.forget()
	s.stop(0)
	until(t, a, func() string { return gocmp.Diff(flow{Arrivals: 3, Starts: 3, Tokens: 4}, a.flow()) })
	if r := a.Status().Requests["jobs"]; r.Lists != 2 || r.Expired != 1 {
		t.Errorf("%+v; expected 2 lists, as a version was forgotten once", r)
	}
}

// What the server refuses at the start ends the adapter, and the error names what is refused.
// Later refusals are retried.
func TestARefusal(t *testing.T) {
	for _, refused := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable} {
		s := newServer(t)
		s.stop(refused)
		a, _ := s.adapter("")
		err := a.poll(t.Context())
		if want := fmt.Sprintf("/v1alpha1: %d %s: is refused", refused, http.StatusText(refused)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v; expected %s", err, want)
		}
		s.stop(0)
		until(t, a, func() string { return "" })
	}
}

// A kind that the API does not have is no error, and is not shown as zero.
//
//promise:unknown version
func TestAKindThatIsAbsent(t *testing.T) {
	s := newServer(t)
	out := newChanges()
	c := newCollection(argo(false)[1], "", s.cluster(), out)
	if _, err := c.once(t.Context(), ""); !errors.Is(err, errAbsent) {
		t.Errorf("%v; expected %v", err, errAbsent)
	}
	if _, lists := out.take(); len(lists) != 0 {
		t.Error("a list of what is absent")
	}
}

// A list whose next page the server has forgotten begins again, as one answer.
func TestAPageThatIsGone(t *testing.T) {
	s := newServer(t)
	for i := range 5 {
		s.put("jobs", fmt.Sprint(i), aJob(fmt.Sprint(i), ""))
	}
	out := newChanges()
	c := newCollection(jobs(false)[1], "", s.cluster(), out)
	read := c.read
	c.read = func(text json.RawMessage) (object, error) {
		s.mu.Lock()
		s.forgotten = s.version + 1
		s.mu.Unlock()
		return read(text)
	}
	if _, err := c.list(t.Context()); !gone(err) {
		t.Fatalf("%v; expected that the page is gone", err)
	}
	if _, err := c.list(t.Context()); err != nil {
		t.Fatal(err)
	}
	if byUID, _ := out.take(); len(byUID) != 5 {
		t.Errorf("%d Jobs; expected 5", len(byUID))
	}
}

// Answers that are no list, or no watch, are errors that say why.
func TestInvalidAnswers(t *testing.T) {
	for text, want := range map[string]string{
		``:               "EOF",
		`[]`:             "the answer begins with [; expected {",
		`{"items":{}}`:   "items begin with {; expected [",
		`{"items":null}`: "a list without a resource version",
		`{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"x"}}]}`:                           `an object "x" of namespace "" with UID ""; expected a name and a UID`,
		`{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"creationTimestamp":"yesterday"}}]}`:      "a Job: ",
		`{"metadata":{"resourceVersion":"1"},"items":[{"x":"` + strings.Repeat("x", maxObject+4096) + `"}]}`: fmt.Sprintf("an object of more than %d bytes", maxObject),
	} {
		_, err := readList(strings.NewReader(text), func(o json.RawMessage) error {
			_, err := readJob(o)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v; expected %s", text, err, want)
		}
	}
}

// collection returns the collection of a name.
func (a *Adapter) collection(name string) *collection {
	return a.collections[slices.IndexFunc(a.collections, func(c *collection) bool { return c.name == name })]
}

// Ten thousand Jobs of the size that kubectl shows, each with a pod, take less than 100 MiB.
func TestMemoryOfTenThousandJobs(t *testing.T) {
	const many = 10_000
	padding := `"managedFields":"` + strings.Repeat("f:spec ", 300) + `"` // most of an object
	s := newServer(t)
	a, err := New(Config{Cluster: s.cluster(), Polling: ledger.Polling{Source: "test", Interval: time.Second, Timeout: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range many {
		uid := fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)
		job := strings.Replace(aJob(uid, map[bool]string{true: isComplete}[i%2 == 0]), `"uid"`, padding+`,"uid"`, 1)
		if err := a.collection("jobs").put(json.RawMessage(job)); err != nil {
			t.Fatal(err)
		}
		pod := fmt.Sprintf(`{"metadata":{"uid":"pod-%s","name":"report-%s-abcde","namespace":"prod",%s,"ownerReferences":[{"kind":"Job","uid":%q,"controller":true}]},
			"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes are available: 3 Insufficient cpu.","lastTransitionTime":"2026-01-01T00:00:02Z"}]}}`, uid, uid, padding, uid)
		if err := a.collection("pods with job-name").put(json.RawMessage(pod)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range a.collections {
		c.settle(nil)
	}
	if err := a.poll(context.Background()); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	size := float64(after.HeapAlloc-before.HeapAlloc) / (1 << 20)
	t.Logf("%.1f MiB of heap for %d Jobs and %d pods", size, len(a.runs), len(a.pods))
	if len(a.runs) != many || len(a.pods) != many || size > 50 { // the collector lets the heap double
		t.Errorf("%.1f MiB for %d Jobs and %d pods; expected at most 50", size, len(a.runs), len(a.pods))
	}
}

// FuzzAnswers reads lists and events of watches as each resource does. Each answer is either an
// error or objects with a name and a UID.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"metadata":{"resourceVersion":"1"},"items":[` + aJob("a", hasFailed) + `]}`))
	f.Add([]byte(`{"type":"DELETED","object":` + aJob("a", isComplete) + `}{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}{"type":"ERROR","object":{"code":410}}`))
	for _, c := range stuckJobs {
		f.Add([]byte(`{"metadata":{"resourceVersion":"1"},"items":[` + strings.Join(c.objects(), ",") + `]}`))
	}
	for _, c := range stuckRuns {
		for _, o := range c.objects {
			f.Add([]byte(`{"metadata":{"resourceVersion":"1"},"items":[` + o.text + `]}`))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for kind := range kinds {
			for _, r := range kinds[kind](true) {
				out := newChanges()
				c := newCollection(r, "", nil, out)
				_, _ = readList(strings.NewReader(string(text)), c.put)
				_ = readWatch(strings.NewReader(string(text)), func(kind string, object json.RawMessage) error {
					_, err := c.apply(kind, object)
					return err
				})
				byUID, _ := out.take()
				for uid, change := range byUID {
					if r, is := change.last.(*run); is && (r.instance == "/" || cmp.Or(r.id, "") != uid || len(r.steps) == 0) {
						t.Errorf("%+v", r)
					}
				}
			}
		}
	})
}
