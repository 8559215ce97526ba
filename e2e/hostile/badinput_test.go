// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// times is how often each bad message is sent.
const times = 20

// attacked is a sidecar with one valid engine, and a client that sends invalid
// messages.
type attacked struct {
	side   *kit.Sidecar
	engine *kit.Engine
	nc     *nats.Conn
	digest string // of the net claims
	taken  uint64 // claims so far
}

// attack starts a sidecar to be attacked. Its NATS server takes larger
// messages than a snapshot may have.
func attack(t *testing.T) *attacked {
	t.Helper()
	url := kit.StartNATS(t, "-c", kit.Write(t, "nats.conf", "max_payload: 8MB\nmax_pending: 256MB\n"))
	a := &attacked{nc: kit.Connect(t, url), taken: 40}
	a.side = kit.Serve(t, url, "--mib-dir", "", "--snmp", "127.0.0.1:0")
	a.engine = kit.RunEngine(t, url, "good", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "the good engine is received", func() error {
		v := a.side.View(t)
		if v.Source("claims", "good") != "up" {
			return fmt.Errorf("it is %q", v.Source("claims", "good"))
		}
		a.digest = v.Nets[0].Digests[0].Digest
		return nil
	})
	return a
}

// rejected is how many messages were, by reason, as Prometheus sees it.
func (a *attacked) rejected(t *testing.T) map[string]uint64 {
	t.Helper()
	n := map[string]uint64{}
	for _, one := range a.side.Self(t).All("pnagent_messages_rejected_total") {
		n[one.Labels["reason"]] = uint64(one.Value)
	}
	return n
}

// send publishes messages, by the reason to refuse them, and waits until the sidecar has
// counted them, and nothing else.
func (a *attacked) send(t *testing.T, by map[string][]*nats.Msg) {
	t.Helper()
	want := a.rejected(t)
	for reason, messages := range by {
		want[reason] += uint64(len(messages))
		for _, m := range messages {
			if err := a.nc.PublishMsg(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	kit.Until(t, "all messages are counted by their reasons", func() error {
		if diff := cmp.Diff(want, a.rejected(t)); diff != "" {
			return fmt.Errorf("-want +got\n%s", diff)
		}
		return nil
	})
}

// logged is how often the sidecar logged that it did not take a message from a
// subject, by reason.
func (a *attacked) logged(t *testing.T, subject string) map[string]int {
	t.Helper()
	n := map[string]int{}
	for line := range strings.Lines(a.side.Err.String()) {
		var l struct{ Msg, From, Err string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("the log has %q", line)
		}
		if l.From != subject || !strings.HasPrefix(l.Msg, "message not taken") {
			continue
		}
		for reason := range a.rejected(t) {
			if kit.Submatch(l.Err, `\b`+reason+`\b`) != nil {
				n[reason]++
			}
		}
	}
	return n
}

// stillWorks has the good engine do something, and looks for it everywhere.
func (a *attacked) stillWorks(t *testing.T) {
	t.Helper()
	for _, page := range []string{"/-/healthy", "/-/ready"} {
		if status, body, err := a.side.Get(page); status != http.StatusOK {
			t.Errorf("%s: got %d, %v: %s; want 200", page, status, err, body)
		}
	}
	kit.Request(t, a.nc, "inject", "claims", "good", `{"instance":0,"place":"inbox","tokens":2}`)
	a.taken += 2
	want := kit.Claims(a.taken, 0)
	kit.Until(t, "the good engine's numbers are right", func() error {
		if diff := cmp.Diff(want, numbersOf(a.side.View(t).Numbers(), "claims")); diff != "" {
			return fmt.Errorf("-want +view\n%s", diff)
		}
		if diff := cmp.Diff(want, numbersOf(a.side.Scrape(t).Numbers(), "claims")); diff != "" {
			return fmt.Errorf("-want +metrics\n%s", diff)
		}
		return nil
	})
}

// end ends both, which must be able to.
func (a *attacked) end(t *testing.T) {
	t.Helper()
	a.engine.Stop(t, syscall.SIGTERM)
	a.side.Stop(t, syscall.SIGTERM)
}

// snapshot is a good snapshot of claims at rest without a token, by a source.
func (a *attacked) snapshot(source string, seq uint64) *telemetry.Snapshot {
	return &telemetry.Snapshot{Source: source, Epoch: 1, Seq: seq, SentAt: time.Now().UnixMicro(), Interval: 1000 * time.Second,
		Net: "claims", Digest: a.digest, Full: true,
		Rows: stats.Rows{Columns: stats.ColTokens | stats.ColArrivals | stats.ColDepartures | stats.ColFirings,
			Places: make([]stats.Place, 4), Transitions: make([]stats.Transition, 4)}}
}

// packed is a snapshot as a message on its subject.
func packed(t *testing.T, s *telemetry.Snapshot) *nats.Msg {
	t.Helper()
	data, err := new(telemetry.Encoder).Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return &nats.Msg{Subject: telemetry.Subjects{}.Snapshot(s.Net, s.Source), Data: data}
}

func TestEachBadMessageIsCountedByReasonLoggedOnceAndDoesNoHarm(t *testing.T) {
	t.Parallel()
	a := attack(t)
	asJSON := nats.Header{telemetry.ContentTypeHeader: {telemetry.ContentTypeJSON}}
	wrong := a.snapshot("narrow", 1)
	wrong.Rows.Places = make([]stats.Place, 3)
	beyond := a.snapshot("wide", 1)
	beyond.Full, beyond.PlaceIndex = false, []uint32{4}
	beyond.Rows = stats.Rows{Columns: stats.ColTokens, Places: []stats.Place{{Tokens: 1}}}
	uneven := packed(t, a.snapshot("uneven", 1))
	uneven.Data = append(uneven.Data, 12<<3|2, 4, 10<<3|2, 2, 0, 0) // transitions with two times of their last firing
	elsewhere := packed(t, a.snapshot("elsewhere", 1))
	elsewhere.Subject = telemetry.Subjects{}.Snapshot("claims", "another")
	huge := a.snapshot("huge", 1)
	huge.Rows.Places[0].Tokens = 1 << 63

	cases := map[string]struct {
		reason  string
		message *nats.Msg
	}{
		"no protobuf":                            {"not_protobuf", &nats.Msg{Subject: "petrinet.v1.snapshot.claims.noise", Data: []byte("\xff\xff\xff no protobuf")}},
		"a MiB":                                  {"not_protobuf", &nats.Msg{Subject: "petrinet.v1.snapshot.claims.mib", Data: make([]byte, 1<<20)}},
		"more than a MiB":                        {"too_large", &nats.Msg{Subject: "petrinet.v1.snapshot.claims.more", Data: make([]byte, 1<<20+1)}},
		"4 MiB as a goodbye":                     {"too_large", &nats.Msg{Subject: "petrinet.v1.bye.claims.more", Data: make([]byte, 4<<20)}},
		"no JSON in the JSON lane":               {"not_json", &nats.Msg{Subject: "petrinet.v1.snapshot.claims.json", Header: asJSON, Data: []byte(`{"source":`)}},
		"JSON that is no snapshot":               {"not_json", &nats.Msg{Subject: "petrinet.v1.snapshot.claims.list", Header: asJSON, Data: []byte(`[1, 2, 3]`)}},
		"JSON of a hundred thousand brackets":    {"not_json", &nats.Msg{Subject: "petrinet.v1.snapshot.claims.deep", Header: asJSON, Data: bytes.Repeat([]byte("["), 1e5)}},
		"nothing":                                {"bad_name", &nats.Msg{Subject: "petrinet.v1.snapshot.claims.nothing"}},
		"a net with the wrong number of columns": {"wrong_size", packed(t, wrong)},
		"a row beyond the net":                   {"wrong_size", packed(t, beyond)},
		"columns of different lengths":           {"bad_columns", uneven},
		"the subject of another source":          {"bad_subject", elsewhere},
		"a number beyond what can be added up":   {"bad_value", packed(t, huge)},
		"a subject that nothing escapes to":      {"not_protobuf", &nats.Msg{Subject: "petrinet.v1.snapshot.=ZZ.!", Data: []byte{0xff}}},
		"a source of 255 wide characters":        {"bad_name", packed(t, a.snapshot(strings.Repeat("☃", 255), 1))},
		"a source of 255 control characters":     {"bad_name", packed(t, a.snapshot(strings.Repeat("\x01", 255), 1))},
		"a source of 255 bytes that are no text": {"bad_name", unreadable(t, a)},
	}
	all := map[string][]*nats.Msg{}
	for _, c := range cases {
		all[c.reason] = append(all[c.reason], slices.Repeat([]*nats.Msg{c.message}, times)...)
	}
	a.send(t, all)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(map[string]int{c.reason: 1}, a.logged(t, c.message.Subject)); diff != "" {
				t.Errorf("log lines about %d messages: -want +got\n%s", times, diff)
			}
		})
	}
	a.stillWorks(t)
	a.end(t)
}

// unreadable is a snapshot whose source is 255 bytes that are no UTF-8. The
// encoder refuses to write that, so they are put in afterwards.
func unreadable(t *testing.T, a *attacked) *nats.Msg {
	name := strings.Repeat("x", 255)
	m := packed(t, a.snapshot(name, 1))
	no := strings.Repeat("\xff", 255)
	m.Data = bytes.Replace(m.Data, []byte(name), []byte(no), 1)
	m.Subject = telemetry.Subjects{}.Snapshot("claims", no)
	return m
}

func TestCountersThatFallAreNotBelieved(t *testing.T) {
	t.Parallel()
	a := attack(t)
	first := a.snapshot("liar", 1)
	first.Rows.Transitions[0].Firings = 5
	if err := a.nc.PublishMsg(packed(t, first)); err != nil {
		t.Fatal(err)
	}
	kit.Until(t, "the first snapshot is taken", func() error {
		if n := a.side.View(t).Numbers().Firings[kit.Key{Net: "claims", ID: "take"}]; n != a.taken+5 {
			return fmt.Errorf("%d firings", n)
		}
		return nil
	})
	var falling []*nats.Msg
	for i := range times {
		falling = append(falling, packed(t, a.snapshot("liar", uint64(i)+2)))
	}
	a.send(t, map[string][]*nats.Msg{"counter_fell": falling})
	if diff := cmp.Diff(map[string]int{"counter_fell": 1}, a.logged(t, falling[0].Subject)); diff != "" {
		t.Error(diff)
	}
	if n := a.side.View(t).Numbers().Firings[kit.Key{Net: "claims", ID: "take"}]; n != a.taken+5 {
		t.Errorf("%d firings, want %d", n, a.taken+5)
	}
	a.end(t)
}

func TestASourceNameOf255OddCharactersIsShownAsItIs(t *testing.T) {
	t.Parallel()
	a := attack(t)
	name := strings.ToValidUTF8(strings.Repeat(`"\{}☃é.*> =%'`, 20)[:255], "")
	name += strings.Repeat("*", 255-len(name)) // a character was cut at the end
	if err := a.nc.PublishMsg(packed(t, a.snapshot(name, 1))); err != nil {
		t.Fatal(err)
	}
	kit.Until(t, "the source is shown", func() error {
		if a.side.View(t).Source("claims", name) != "up" {
			return fmt.Errorf("sources are %+v", a.side.View(t).Sources)
		}
		return nil
	})
	if up, ok := a.side.Scrape(t).Value("petrinet_source_up", "net", "claims", "source", name); !ok || up != 1 {
		t.Errorf("petrinet_source_up is %v, %t", up, ok)
	}
	t.Run("in pnSourceTable", func(t *testing.T) {
		snmptest.RequireTools(t)
		kit.Until(t, "the walk shows the source", func() error {
			names := kit.WalkColumn(t, snmptest.Client{Addr: a.side.SNMP}, kit.SourceTable, kit.ColumnID)
			for _, v := range names {
				if v.Str == name {
					return nil
				}
			}
			return fmt.Errorf("sources are %v", names)
		})
	})
	a.stillWorks(t)
	a.end(t)
}

func TestRandomBytesOnEverySubjectStopNothing(t *testing.T) {
	t.Parallel()
	a := attack(t)
	random := rand.New(rand.NewPCG(3, 4))
	noise := func() []byte {
		b := make([]byte, random.IntN(2000))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	received := []string{"petrinet.v1.snapshot.claims.good", "petrinet.v1.bye.claims.good", "petrinet.v1.snapshot.claims.random",
		"petrinet.v1.snapshot.=.=", "petrinet.v1.snapshot.=00.=FF", "petrinet.v1.bye.x.y"}
	others := []string{"petrinet.v1.hello", "petrinet.v1.full.claims.good", "petrinet.v1.net.claims." + a.digest, "petrinet.v1.instances.claims.good",
		"petrinet.v1.inject.claims.good", "petrinet.v1.fire.claims.good", "petrinet.v1.snapshot", "petrinet.v1.snapshot.claims",
		"petrinet.v1.snapshot.claims.good.more", "petrinet.v1", "$SRV.PING", "$SRV.INFO.petrinet-source", "$SRV.STATS"}
	before := sum(a.rejected(t))
	for range times {
		for _, subject := range slices.Concat(received, others) {
			m := &nats.Msg{Subject: subject, Data: noise(), Reply: a.nc.NewInbox()}
			if random.IntN(2) == 0 {
				m.Header = nats.Header{telemetry.ContentTypeHeader: {telemetry.ContentTypeJSON}}
			}
			if err := a.nc.PublishMsg(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	kit.Until(t, "every message that the sidecar received is counted", func() error {
		if n := sum(a.rejected(t)) - before; n != uint64(times*len(received)) {
			return fmt.Errorf("%d of %d are", n, times*len(received))
		}
		return nil
	})
	for _, subject := range received {
		for reason, n := range a.logged(t, subject) {
			if n != 1 {
				t.Errorf("%s is logged %d times as %s", subject, n, reason)
			}
		}
	}
	if state := a.side.View(t).Source("claims", "good"); state != "up" {
		t.Errorf("the good source is %q", state)
	}
	a.stillWorks(t)
	a.end(t)
}

func sum(counts map[string]uint64) uint64 {
	var n uint64
	for v := range maps.Values(counts) {
		n += v
	}
	return n
}

// A source may name a definition that turns out to be no net.
func TestADefinitionThatIsNoNetIsCountedAndLeftAlone(t *testing.T) {
	t.Parallel()
	a := attack(t)
	junk := []byte("<pnml><net id='evil'><place")
	digest := telemetry.Digest(junk)
	asked, err := a.nc.Subscribe(telemetry.Subjects{}.Definition("evil", digest), func(m *nats.Msg) { _ = m.Respond(junk) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = asked.Unsubscribe() }()
	s := a.snapshot("evil", 1)
	s.Net, s.Digest = "evil", digest
	want := a.rejected(t)["bad_definition"] + 1
	if err := a.nc.PublishMsg(packed(t, s)); err != nil {
		t.Fatal(err)
	}
	kit.Until(t, "the definition is counted as bad", func() error {
		if n := a.rejected(t)["bad_definition"]; n != want {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
	if state := a.side.View(t).Source("evil", "evil"); state != "undefined" {
		t.Errorf("got source %q; want undefined", state)
	}
	a.stillWorks(t)
	a.end(t)
}

func TestGarbageForSNMPAndHTTPIsCountedAndDoesNoHarm(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	a := attack(t)
	random := rand.New(rand.NewPCG(5, 6))
	conn, err := net.Dial("udp", a.side.SNMP)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range times {
		packet := make([]byte, 1+random.IntN(1400))
		for i := range packet {
			packet[i] = byte(random.Uint32())
		}
		if _, err := conn.Write(packet); err != nil {
			t.Fatal(err)
		}
	}
	kit.Until(t, "every packet is counted", func() error {
		var n float64
		for _, one := range a.side.Self(t).All("pnagent_snmp_dropped_total") {
			n += one.Value
		}
		if n != times {
			return fmt.Errorf("%v of %d are", n, times)
		}
		return nil
	})
	for _, path := range []string{"/nowhere", "/api/v1/view/../../etc/passwd", "/metrics/nets/none", "/metrics/nets/%00%ff"} {
		if status, _, err := a.side.Get(path); err != nil || status/100 == 5 {
			t.Errorf("%s: got %d, %v; want no server error", path, status, err)
		}
	}
	a.stillWorks(t)
	kit.Until(t, "the walk shows the same", func() error { // it may be a second behind
		if diff := cmp.Diff(kit.Claims(a.taken, 0), kit.Walk(t, snmptest.Client{Addr: a.side.SNMP}).Numbers()); diff != "" {
			return fmt.Errorf("-want +got\n%s", diff)
		}
		return nil
	})
	a.end(t)
}

// numbersOf keeps one net.
func numbersOf(n kit.Numbers, net string) kit.Numbers {
	one := kit.NewNumbers()
	for k, v := range n.Tokens {
		if k.Net == net {
			one.Tokens[k] = v
		}
	}
	for k, v := range n.Firings {
		if k.Net == net {
			one.Firings[k] = v
		}
	}
	return one
}
