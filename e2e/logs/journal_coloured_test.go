// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/pnagent/pnagent/e2e/kit"
)

// parcelsNet prices numbered orders, sorts them, and packs the even ones, which
// makes a slip of each. Audits count what came out and put it into "kept".
const parcelsNet = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="parcels" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">
    <place id="inbox"/><place id="priced"/><place id="even"/><place id="odd"/><place id="packed"/><place id="slips"/><place id="kept"/><place id="final"/>
    <transition id="price"/><transition id="sort even"/><transition id="sort odd"/><transition id="pack"/>
    <transition id="audit odd"/><transition id="audit packed"/><transition id="audit slips"/><transition id="again"/>
    <arc id="1" source="inbox" target="price"/><arc id="2" source="price" target="priced"/>
    <arc id="3" source="priced" target="sort even"/><arc id="4" source="sort even" target="even"/>
    <arc id="5" source="priced" target="sort odd"/><arc id="6" source="sort odd" target="odd"/>
    <arc id="7" source="even" target="pack"/><arc id="8" source="pack" target="packed"/><arc id="9" source="pack" target="slips"/>
    <arc id="10" source="odd" target="audit odd"/><arc id="11" source="audit odd" target="kept"/>
    <arc id="12" source="packed" target="audit packed"/><arc id="13" source="audit packed" target="kept"/>
    <arc id="14" source="slips" target="audit slips"/><arc id="15" source="audit slips" target="kept"/>
    <arc id="16" source="kept" target="again"/><arc id="17" source="again" target="final"/>
  </page></net>
</pnml>
`

// parcelsBindings want the URL of the office, and how audits and the last one
// fire.
const parcelsBindings = `nets:
  parcels:
    transitions:
      price:     {http: {url: "%[1]s/price"}, timeout: 30s, retry: {first: 10ms}}
      sort even: {guard: order %% 2 == 0}
      sort odd:  {guard: order %% 2 == 1}
      pack:      {http: {url: "%[1]s/pack"}, timeout: 30s, retry: {first: 10ms}}
      audit odd: %[2]s
      audit packed: %[2]s
      audit slips:  %[2]s
      again: %[3]s
`

// parcel is the data of a token: an order with its price, or the slip of one.
type parcel struct{ Order, Total int }

// slip is the total of the slip of an order.
const slip = -1

func (p parcel) String() string { return fmt.Sprintf("%d for %d", p.Order, p.Total) }

// ledger is what the office was asked for.
type ledger struct {
	url string

	mu      sync.Mutex
	faults  []string
	effects map[string]int // "/price 7": how often it was done
	keys    map[string]int // "/price KEY": how often it was asked for
	audited map[string]int // by transition and parcel
}

// startLedger performs the actions of parcels. One try in twenty fails, before
// or after it was done.
func startLedger(t *testing.T) *ledger {
	l := &ledger{effects: map[string]int{}, keys: map[string]int{}, audited: map[string]int{}}
	mux := http.NewServeMux()
	for path, answer := range map[string]func(*kit.Asked) string{
		"/price": func(a *kit.Asked) string {
			return fmt.Sprintf(`{"data":{"order":%d,"total":%d}}`, a.Tokens[0].Data.Order, 3*a.Tokens[0].Data.Order)
		},
		"/pack": func(a *kit.Asked) string {
			return fmt.Sprintf(`{"put":[{"place":"packed","token":%d},{"place":"slips","data":{"order":%d,"total":%d}}]}`, a.Tokens[0].ID, a.Tokens[0].Data.Order, slip)
		},
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			a := l.asked(r)
			l.mu.Lock()
			l.keys[path+" "+a.Key]++
			l.mu.Unlock()
			if rand.IntN(40) == 0 {
				http.Error(w, "not today", http.StatusServiceUnavailable)
				return
			}
			l.mu.Lock()
			l.effects[fmt.Sprint(path, " ", a.Tokens[0].Data.Order)]++
			l.mu.Unlock()
			if rand.IntN(40) == 0 {
				http.Error(w, "done, but the answer is lost", http.StatusBadGateway)
				return
			}
			_, _ = io.WriteString(w, answer(a)) // a killed engine does not receive it
		})
	}
	mux.HandleFunc("/audit", func(_ http.ResponseWriter, r *http.Request) { l.audit(l.asked(r)) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

func (l *ledger) asked(r *http.Request) *kit.Asked {
	a := &kit.Asked{}
	body, cut := io.ReadAll(r.Body) // an engine that is killed while it asks does not count
	if err := json.Unmarshal(body, a); err != nil || len(a.Tokens) != 1 {
		if cut == nil {
			l.fault("asked %s: %v", body, err)
		}
		a.Tokens = make([]kit.AskedToken, 1)
	}
	return a
}

func (l *ledger) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// audit notes a token, with the transition that takes it.
func (l *ledger) audit(a *kit.Asked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.audited[fmt.Sprint(a.Transition, ": ", parcel(a.Tokens[0].Data))]++
}

// tokens returns how many different ones were audited.
func (l *ledger) tokens() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.audited)
}

// take returns the audits and resets them.
func (l *ledger) take() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.audited
	l.audited = map[string]int{}
	return all
}

// injector injects numbered orders into the engine of a subject.
type injector struct {
	nc      *nats.Conn
	subject string
	next    atomic.Int64

	mu    sync.Mutex
	acked map[int]bool
	open  map[int]bool // may be there or not
}

// run injects one order after another until ctx ends, and at last some more
// without waiting for the answer.
func (j *injector) run(ctx context.Context, instances int) {
	order := func() (int, []byte) {
		n := int(j.next.Add(1))
		return n, fmt.Appendf(nil, `{"instance":%d,"place":"inbox","data":{"order":%d}}`, rand.IntN(instances), n)
	}
	for ctx.Err() == nil {
		n, body := order()
		asking, cancel := context.WithTimeout(ctx, time.Second)
		m, err := j.nc.RequestWithContext(asking, j.subject, body)
		cancel()
		j.mu.Lock()
		if err == nil && string(m.Data) == `{"ok":true}` {
			j.acked[n] = true
		} else {
			j.open[n] = true
		}
		j.mu.Unlock()
		if errors.Is(err, nats.ErrNoResponders) {
			select {
			case <-ctx.Done():
			case <-time.After(kit.PollEvery):
			}
		}
	}
	for range 20 {
		n, body := order()
		j.mu.Lock()
		j.open[n] = true
		j.mu.Unlock()
		_ = j.nc.Publish(j.subject, body) // no caller waits for it
	}
	_ = j.nc.Flush()
}

// acknowledged is how many orders are.
func (j *injector) acknowledged() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.acked)
}

// wanted are the audits of an order.
func wanted(order int) []string {
	if order%2 == 1 {
		return []string{fmt.Sprint("audit odd: ", parcel{order, 3 * order})}
	}
	return []string{fmt.Sprint("audit packed: ", parcel{order, 3 * order}), fmt.Sprint("audit slips: ", parcel{order, slip})}
}

// account checks that each acknowledged order came out once and whole, that
// those that were under way did or did not, and nothing else. What came out is
// acknowledged from then on.
func (j *injector) account(l *ledger) (faults []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := range j.open {
		if l.audited[wanted(n)[0]] > 0 {
			j.acked[n] = true
		}
	}
	clear(j.open)
	tokens := 0
	for n := range j.acked {
		for _, want := range wanted(n) {
			tokens++
			if got := l.audited[want]; got != 1 {
				faults = append(faults, fmt.Sprintf("%s came %d times", want, got))
			}
		}
		if l.effects[fmt.Sprint("/price ", n)] < 1 || n%2 == 0 && l.effects[fmt.Sprint("/pack ", n)] < 1 {
			faults = append(faults, fmt.Sprintf("order %d came out, but was not worked at", n))
		}
	}
	if len(l.audited) != tokens {
		faults = append(faults, fmt.Sprintf("%d different tokens were audited; expected %d", len(l.audited), tokens))
	}
	return append(faults, l.faults...)
}

// An engine of a net with data, guards and actions that is killed at any moment,
// under load, has every order again when it is started again, with its data,
// wherever it was; no transition has fired by half; and each action of an order
// that has come out was done, at least once.
//
//promise:durable kill
func TestKilledEngineLosesNoOrderAndItsData(t *testing.T) {
	t.Parallel()
	const instances = 50
	natsURL := kit.StartNATS(t)
	l := startLedger(t)
	j := &injector{nc: kit.Connect(t, natsURL), subject: "petrinet.v1.inject.parcels.lives", acked: map[int]bool{}, open: map[int]bool{}}
	net, dir := kit.Write(t, "parcels.pnml", parcelsNet), filepath.Join(t.TempDir(), "journal")
	bindings := func(audit, again string) string {
		return kit.Write(t, "bindings.yaml", fmt.Sprintf(parcelsBindings, l.url, audit, again))
	}
	auditing := fmt.Sprintf(`{http: {url: "%s/audit"}}`, l.url)
	work, audit, again := bindings("manual", "manual"), bindings(auditing, "manual"), bindings("manual", auditing)
	arguments := func(bindings string, more ...string) []string {
		return append([]string{"--journal", dir, "--instances", strconv.Itoa(instances), "--workers", "2", "--bindings", bindings}, append(more, net)...)
	}
	toRest := func(bindings string) kit.Report { // until nothing can fire any more
		return kit.ParseReport(t, kit.Pnagent(t, append([]string{"engine"}, arguments(bindings, "--firings", "1000000000")...)...).Out)
	}
	tokens := 0
	lives := kills()
	for life := range lives {
		e := kit.RunEngine(t, natsURL, "lives", arguments(work)...)
		ctx, cancel := context.WithCancel(t.Context())
		var injecting sync.WaitGroup
		before := j.acknowledged()
		for range 4 {
			injecting.Go(func() { j.run(ctx, instances) })
		}
		if life%2 == 0 { // else it may be killed before it is there
			kit.Until(t, "an order is acknowledged", func() error {
				if j.acknowledged() == before {
					return errors.New("none is")
				}
				return nil
			})
		}
		time.AfterFunc(time.Duration(rand.IntN(400))*time.Millisecond, cancel)
		injecting.Wait()
		e.Kill(t)
		if life%3 == 1 && life < lives-1 {
			continue // killed again before all has come to rest
		}
		r := toRest(audit)
		for _, fault := range j.account(l) {
			t.Errorf("life %d: %s", life, fault)
		}
		tokens = l.tokens()
		if kept := r.Nets["parcels"].Tokens; kept["kept"] != uint64(tokens) || len(kept) > 1 {
			t.Errorf("life %d: tokens %v; expected %d in kept", life, kept, tokens)
		}
		if t.Failed() {
			return
		}
	}
	// Those that were kept over all lives are still the same.
	before := l.take()
	toRest(again)
	after := l.take()
	for kept := range before {
		_, data, _ := strings.Cut(kept, ": ")
		if n := after["again: "+data]; n != 1 {
			t.Errorf("%s was kept, and is there %d times", data, n)
		}
	}
	if len(after) != tokens || tokens == 0 {
		t.Errorf("%d tokens were kept; expected %d", len(after), tokens)
	}
	t.Logf("%d kills, %d orders, %d tokens", lives, len(j.acked), tokens)
}
