// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// ordersBindings perform it, with the URL of a bookkeeper and the path of a file
// that a command writes labels into.
const ordersBindings = `nets:
  orders:
    instances: {0: 7, 1: 3}
    transitions:
      price:  {nats: {subject: orders.price}, retry: {first: 50ms}}
      accept: {guard: total < 100}
      refuse: {guard: total >= 100}
      book:
        http: {url: "%s/book", method: PUT, headers: {X-Office: east}, timeout: 1m}
        retry: {first: 50ms, factor: 1}
      label:
        command: [sh, -c, 'test $PNAGENT_ATTEMPT = 2 || { echo out of paper >&2; exit 3; }; cat >>"$0"', "%s"]
        retry: {first: 50ms, attempts: 5}
      ask:    {nats: {subject: orders.ask}, timeout: 300ms, retry: {first: 50ms, attempts: 2}}
`

// office is who performs what the bindings say.
type office struct {
	url, labels string
	open        chan struct{} // closed when the bookkeeper may answer

	mu   sync.Mutex
	seen []kit.Asked
}

func (o *office) note(a kit.Asked) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = append(o.seen, a)
}

// startOffice answers requests for prices, keeps the books, and counts requests that it
// never answers. A price is ten times the order's number; that of order 3 is
// answered at the second attempt only. The books of order 1 are closed at first.
func startOffice(t *testing.T, nc *nats.Conn) *office {
	t.Helper()
	o := &office{labels: filepath.Join(t.TempDir(), "labels"), open: make(chan struct{})}
	_, err := nc.Subscribe("orders.price", func(m *nats.Msg) {
		a := kit.ParseAsked(t, m.Data)
		o.note(a)
		order := a.Tokens[0].Data.Order
		answer := fmt.Sprintf(`{"data":{"order":%d,"total":%d}}`, order, 10*order)
		if order == 3 && a.Attempt == 1 {
			answer = `{"error":"no price yet"}`
		}
		_ = m.Respond([]byte(answer)) // the test sees that no answer came
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Subscribe("orders.ask", func(m *nats.Msg) { o.note(kit.ParseAsked(t, m.Data)) }); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var a kit.Asked
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || r.Method != http.MethodPut || r.Header.Get("X-Office") != "east" || r.Header.Get("Idempotency-Key") != a.Key {
			t.Errorf("%s with %v: %+v, %v", r.Method, r.Header, a, err)
		}
		o.note(a)
		if a.Tokens[0].Data.Order == 1 && a.Attempt == 1 {
			http.Error(w, "closed", http.StatusServiceUnavailable)
			return
		}
		select {
		case <-o.open:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	o.url = server.URL
	return o
}

// labelled lists the orders of which there is a label.
func (o *office) labelled(t *testing.T) (orders []int) {
	t.Helper()
	text, err := os.ReadFile(o.labels)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		orders = append(orders, kit.ParseAsked(t, []byte(line)).Tokens[0].Data.Order)
	}
	slices.Sort(orders)
	return orders
}

// People who write no Go have a process performed over NATS, HTTP and by a
// command, see in /metrics and over SNMP what went wrong, and every order comes
// out where its data say.
func TestYAMLPerformsANetOverNATSHTTPAndCommands(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	nc := kit.Connect(t, natsURL)
	o := startOffice(t, nc)
	snmpd := snmptest.Start(t, snmptest.Config{})
	side := kit.Serve(t, natsURL, "--agentx", snmpd.AgentX, "--mib-dir", t.TempDir())
	bindings := kit.Write(t, "bindings.yaml", fmt.Sprintf(ordersBindings, o.url, o.labels))
	e := kit.RunEngine(t, natsURL, "desk", "--dispatch", "strict", "--instances", "3", "--bindings", bindings, kit.Write(t, "orders.pnml", kit.OrdersNet))
	for order := 1; order <= 15; order++ {
		kit.Request(t, nc, "inject", "orders", "desk", fmt.Sprintf(`{"instance":%d,"place":"inbox","data":{"order":%d}}`, order%3, order))
	}
	kit.Request(t, nc, "inject", "orders", "desk", `{"instance":2,"place":"waiting","data":{"order":99}}`)

	// Orders 1 to 9 cost less than 100. Their books wait for the office to open.
	metricsShow(t, side.Web, map[string]map[string]float64{
		"price":  {"firings_total": 15, "failures_total": 1, "retries_total": 1, "durations": 15},
		"accept": {"firings_total": 9}, "refuse": {"firings_total": 6},
		"book": {"failures_total": 1, "retries_total": 1, "running": 9},
		"ask":  {"timeouts_total": 2, "cancels_total": 2, "retries_total": 1, "late_answers_total": 2},
	})
	if age, ok := side.Scrape(t).Value("petrinet_transition_running_age_seconds", "net", "orders", "transition", "book"); !ok || age <= 0 {
		t.Errorf("the book is running for %v seconds", age)
	}
	close(o.open)
	s := metricsShow(t, side.Web, map[string]map[string]float64{
		"book":  {"firings_total": 9, "failures_total": 1, "retries_total": 1, "durations": 9},
		"label": {"firings_total": 9, "failures_total": 9, "retries_total": 9, "durations": 9},
	})
	kit.PromtoolIsSilent(t, s.Text)
	queuesShow(t, s)
	stationSees(t, snmpd.Client)

	e.Signal(t, syscall.SIGTERM)
	r := e.End(t)
	if want := map[string]uint64{"done": 9, "refused": 6, "waiting": 1}; fmt.Sprint(r.Nets["orders"].Tokens) != fmt.Sprint(want) {
		t.Errorf("tokens %v, want %v", r.Nets["orders"].Tokens, want)
	}
	if got := o.labelled(t); !slices.Equal(got, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("got labels of %v; want 1 to 9", got)
	}
	o.check(t)
	for _, why := range []string{"no price yet", "503", "out of paper"} {
		if !strings.Contains(e.Err.String(), why) {
			t.Errorf("the engine does not log %q", why)
		}
	}
}

// check looks at what the office was asked: no try twice, and each says whose
// it is.
func (o *office) check(t *testing.T) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	keys := map[string]bool{}
	for _, a := range o.seen {
		order := a.Tokens[0].Data.Order
		if keys[a.Key] || a.Key == "" || a.Net != "orders" || a.Source != "desk" || a.Tokens[0].ID == 0 || order != 99 && a.Instance != order%3 {
			t.Errorf("got request %+v; want another key, net orders, source desk, a token and instance %d", a, order%3)
		}
		keys[a.Key] = true
	}
	if len(o.seen) != 15+1+9+1+2 {
		t.Errorf("got %d requests; want 28", len(o.seen))
	}
}

// queuesShow checks the families of queues: instance 0 has priority 7, instance
// 1 has 3, instance 2 has 0; and each was played.
func queuesShow(t *testing.T, s kit.Scrape) {
	t.Helper()
	for _, priority := range []string{"0", "3", "7"} {
		if n, ok := s.Value("petrinet_queue_served_total", "net", "orders", "priority", priority); !ok || n < 5 {
			t.Errorf("priority %s: got %v served, %v; want at least 5", priority, n, ok)
		}
		if n, ok := s.Value("petrinet_queue_ready", "net", "orders", "priority", priority); !ok || n != 0 {
			t.Errorf("priority %s: got %v ready, %v; want 0", priority, n, ok)
		}
	}
	if all := s.All("petrinet_queue_served_total"); len(all) != 3 {
		t.Errorf("got queues %+v; want 3", all)
	}
	if n, ok := s.Value("petrinet_queue_waiting", "net", "orders"); !ok || n != 0 {
		t.Errorf("got %v waiting, %v; want 0", n, ok)
	}
}

// What a network management station knows of actions and queues.
const (
	queueTable         = 11
	queueServed        = 7
	failuresColumn     = 13
	timeoutsColumn     = 20
	lateAnswersColumns = 21
)

// stationSees waits until a walk through snmpd shows the actions and queues.
func stationSees(t *testing.T, noc snmptest.Client) {
	t.Helper()
	kit.Until(t, "a walk shows the actions", func() error {
		w := kit.Walk(t, noc)
		for _, c := range []struct {
			column int
			id     string
			want   uint64
		}{{failuresColumn, "label", 9}, {timeoutsColumn, "ask", 2}, {lateAnswersColumns, "ask", 2}, {timeoutsColumn, "book", 0}} {
			if got := w.Rows(kit.TransitionTable, c.column)[kit.Key{Net: "orders", ID: c.id}].Num; got != c.want {
				return fmt.Errorf("column %d of %s is %d, want %d", c.column, c.id, got, c.want)
			}
		}
		served := w.Column(queueTable, queueServed)
		for _, index := range []string{"1.0", "1.3", "1.7"} {
			if served[index].Num < 5 {
				return errors.New("too little is served: " + fmt.Sprint(served))
			}
		}
		return nil
	})
}

func TestEveryFaultOfBindingsIsNamedWithItsPosition(t *testing.T) {
	t.Parallel()
	net := kit.Write(t, "orders.pnml", kit.OrdersNet)
	for _, c := range []struct {
		name, text string
		want       []string // each line, after the file's name
	}{
		{"faults that need the net", `nets:
  orders:
    transitions:
      price:  {nats: {subject: "orders price"}}
      accept: {guard: total <}
      refuse: {timeout: 5s}
      book:   {http: {url: "ftp://books"}}
      label:  {command: [/nowhere/label]}
      asks:   manual
      ask:    {nats: {subject: orders.ask}}
`, []string{
			`:4:16: found the subject "orders price"; expected one without wildcards and spaces`,
			`:5:23: the guard: column 7: unexpected token EOF`,
			`:6:7: transition "refuse": a time limit without an action`,
			`:7:16: found no URL; expected one such as`,
			`:8:16: no program "/nowhere/label"`,
			`:9:7: net "orders" has no transition "asks"`,
			`:10:16: an action over NATS without a connection`,
		}},
		{"two actions", "nets: {orders: {transitions: {ask: {command: [true], nats: {subject: a}}}}}", []string{`:1:54: a second action "nats"`}},
		{"an unknown key", "nets: {orders: {transitions: {ask: {command: [true], retries: 3}}}}", []string{`:1:54: unknown key "retries"`}},
		{"a retry that shrinks", "nets: {orders: {transitions: {ask: {command: [true], retry: {factor: 0.5}}}}}", []string{`:1:70: found`}},
		{"a time limit of nothing", "nets: {orders: {transitions: {ask: {command: [true], timeout: 0s}}}}", []string{`:1:63: found`}},
		{"a priority too high", "nets: {orders: {instances: {1-3: 8}}}", []string{`:1:34: found`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bindings := kit.Write(t, "bindings.yaml", c.text)
			r := kit.Pnagent(t, "engine", "--firings", "1", "--bindings", bindings, net)
			lines := strings.Split(strings.TrimSuffix(r.Err, "\n"), "\n")
			if r.Code != 1 || len(lines) != len(c.want) {
				t.Fatalf("got exit code %d, %d lines; want 1 and %d:\n%s", r.Code, len(lines), len(c.want), r.Err)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(lines[i], "pnagent: "+bindings+want) {
					t.Errorf("line %d is %q, want %s", i+1, lines[i], want)
				}
			}
		})
	}
}

// transitionRow is what /metrics shows of a transition of the net orders.
func transitionRow(s kit.Scrape, id string) map[string]float64 {
	row := map[string]float64{}
	for _, column := range []string{"firings_total", "failures_total", "retries_total", "timeouts_total", "cancels_total", "late_answers_total", "running"} {
		if v, ok := s.Value("petrinet_transition_"+column, "net", "orders", "transition", id); !ok {
			row[column] = -1
		} else if v > 0 {
			row[column] = v
		}
	}
	for _, m := range s.Families["petrinet_transition_duration_seconds"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "transition" && l.GetValue() == id && m.GetHistogram().GetSampleCount() > 0 {
				row["durations"] = float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return row
}

// metricsShow waits until /metrics shows these rows of transitions; what is not
// named is 0.
func metricsShow(t *testing.T, w kit.Web, want map[string]map[string]float64) kit.Scrape {
	t.Helper()
	var s kit.Scrape
	kit.Until(t, "/metrics shows the actions", func() error {
		s = w.Scrape(t)
		for id, row := range want {
			if got := transitionRow(s, id); fmt.Sprint(got) != fmt.Sprint(row) {
				return fmt.Errorf("%s: %v, want %v", id, got, row)
			}
		}
		return nil
	})
	return s
}
