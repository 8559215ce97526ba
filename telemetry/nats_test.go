// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
)

const patience = time.Minute // enough for events that take milliseconds on an idle machine

// anyPort has a server choose a free port.
const anyPort = "127.0.0.1:-1"

// startServer starts a NATS server for the test.
func startServer(t *testing.T, addr string) natstest.Server {
	t.Helper()
	return natstest.Run(t, fmt.Sprintf("listen: %q", addr))
}

func connect(t *testing.T, url string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	closed := make(chan struct{})
	opts = append([]nats.Option{nats.Timeout(patience), nats.ClosedHandler(func(*nats.Conn) { close(closed) })}, opts...)
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); <-closed })
	return nc
}

func start(t *testing.T, cfg Config) *Publisher {
	t.Helper()
	p, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience) // the context of the test has ended
		defer cancel()
		if err := p.Close(ctx); err != nil && cfg.Conn.IsConnected() {
			t.Error(err)
		}
	})
	return p
}

// listen subscribes and waits until the server has the subscription.
func listen(t *testing.T, nc *nats.Conn, subject string) *nats.Subscription {
	t.Helper()
	sub, err := nc.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return sub
}

func nextSnapshot(t *testing.T, sub *nats.Subscription) *Snapshot {
	t.Helper()
	msg, err := sub.NextMsg(patience)
	if err != nil {
		t.Fatal(err)
	}
	var s Snapshot
	if err := new(Decoder).DecodeMsg(Subjects{}, msg, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// From the engine through Publisher, NATS and Decoder, rows arrive unchanged.
func TestRowsArriveAsTheEngineMeansThem(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	size := [2]int{7, 5}
	r, rows := rand.New(rand.NewPCG(1, 7)), stats.Rows{}
	var mu sync.Mutex
	meant := map[int64]stats.Rows{} // by the time that the Publisher passed
	cfg := testConfig("orders of größe 7.*")
	cfg.Conn, cfg.Interval = nc, 5*time.Millisecond
	cfg.Nets[0].Places, cfg.Nets[0].Transitions = size[0], size[1]
	cfg.Rows = func(_ int, now int64, into *stats.Rows) error {
		mu.Lock()
		defer mu.Unlock()
		if rows.Places == nil {
			rows = randomRows(r, now, size)
		} else {
			rows = mutate(r, rows, now, size)
		}
		*into, meant[now] = rows, rows
		return nil
	}
	sub, bye := listen(t, nc, Subjects{}.Snapshots()), listen(t, nc, Subjects{}.Byes())
	p := start(t, cfg)
	reader := newReader(size)
	for range 40 {
		msg, err := sub.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		checkHeard(t, reader, msg, &mu, meant)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil { // then all have arrived
		t.Fatal(err)
	}
	left, _, err := sub.Pending()
	if err != nil {
		t.Fatal(err)
	}
	for range left {
		msg, err := sub.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		checkHeard(t, reader, msg, &mu, meant)
	}
	msg, err := bye.NextMsg(patience)
	if err != nil {
		t.Fatal(err)
	}
	checkHeard(t, reader, msg, &mu, meant)
	if got := p.Stats(); got.Messages != reader.seq || got.Errors+got.Missed > 0 {
		t.Errorf("stats %+v, after %d messages", got, reader.seq)
	}
}

func checkHeard(t *testing.T, reader *reader, msg *nats.Msg, mu *sync.Mutex, meant map[int64]stats.Rows) {
	t.Helper()
	var s Snapshot
	if err := new(Decoder).DecodeMsg(Subjects{}, msg, &s); err != nil {
		t.Fatal(err)
	}
	if err := reader.receive(msg.Data); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	rows := meant[s.SentAt]
	if d := reader.diff(&rows); d != "" {
		t.Fatalf("seq %d (-sent +received):\n%s", s.Seq, d)
	}
}

func TestHelloAndFullAreAnsweredWithAFullSnapshot(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	cfg := testConfig("a", "b.c")
	cfg.Conn, cfg.Interval = nc, time.Hour
	sub := listen(t, nc, Subjects{}.Snapshots())
	start(t, cfg)
	expect := func(when string, nets ...string) {
		t.Helper()
		for _, net := range nets {
			if s := nextSnapshot(t, sub); s.Net != net || !s.Full {
				t.Errorf("%s: net %q, full %t, want a full one of %q", when, s.Net, s.Full, net)
			}
		}
	}
	expect("start", "a", "b.c")
	if err := nc.Publish(Subjects{}.Hello(), nil); err != nil {
		t.Fatal(err)
	}
	expect("hello", "a", "b.c")
	if err := nc.Publish(Subjects{}.Full("b.c", "host-1"), nil); err != nil {
		t.Fatal(err)
	}
	expect("full", "b.c")
}

func TestDefinitionIsAnsweredByItsDigest(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	large := fmt.Appendf(nil, "<pnml>%s</pnml>", strings.Repeat(`<arc id="a" source="p" target="t"/>`, 100_000))
	cfg := testConfig("a b", "large")
	cfg.Conn, cfg.Nets[1].PNML = nc, large
	start(t, cfg)
	for _, n := range cfg.Nets {
		got, err := RequestDefinition(t.Context(), nc, Subjects{}, n.ID, Digest(n.PNML))
		if err != nil {
			t.Fatal(err)
		}
		if got.Net != n.ID || got.Digest != Digest(n.PNML) || !bytes.Equal(got.PNML, n.PNML) {
			t.Errorf("%s: got net %q, digest %s, %d bytes, want %d bytes", n.ID, got.Net, got.Digest, len(got.PNML), len(n.PNML))
		}
	}
	_, err := RequestDefinition(t.Context(), nc, Subjects{}, "a b", Digest([]byte("another")))
	if !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("another digest: got %v, want %v", err, nats.ErrNoResponders)
	}
}

// The largest model of a net leaves room for a large net.
func TestADefinitionWithTheLargestModelFitsOneMessage(t *testing.T) {
	n := &petri.Net{ID: "n", Model: &petri.Model{Kind: petri.ModelBPMN, Packed: make([]byte, petri.MaxModelPacked)}}
	for i, r := 0, rand.New(rand.NewPCG(1, 1)); i < len(n.Model.Packed); i++ {
		n.Model.Packed[i] = byte(r.Uint32())
	}
	for i := range 20_000 {
		n.Places = append(n.Places, petri.Place{ID: fmt.Sprint("place-", i), Name: fmt.Sprint("Name of ", i*i)})
	}
	var text bytes.Buffer
	if err := pnml.Write(&text, n); err != nil {
		t.Fatal(err)
	}
	reply, encoding, err := pack(text.Bytes(), MaxMessage)
	if err != nil || encoding != encodingGzip {
		t.Errorf("%d bytes of PNML became %d %s: %v", text.Len(), len(reply), encoding, err)
	}
}

func TestDefinitionOfAnotherDigestIsRejected(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	bomb, _, err := pack(bytes.Repeat([]byte{'x'}, MaxDefinition), MaxMessage)
	if err != nil {
		t.Fatal(err)
	}
	bomb = append(bomb, bomb...) // gzip allows several members in a row
	for name, c := range map[string]struct {
		reply nats.Msg
		want  error
	}{
		"another":       {nats.Msg{Data: []byte("<pnml/>")}, WrongDigest},
		"beyond bounds": {nats.Msg{Data: bomb, Header: nats.Header{encodingHeader: {encodingGzip}}}, TooLarge},
	} {
		digest := Digest([]byte(name))
		sub, err := nc.Subscribe(Subjects{}.Definition("a", digest), func(msg *nats.Msg) { _ = msg.RespondMsg(&c.reply) })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := RequestDefinition(t.Context(), nc, Subjects{}, "a", digest); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if err := sub.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDefinitionThatFitsNoMessageIsRejectedAtTheStart(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	cfg := testConfig("a")
	cfg.Conn, cfg.Nets[0].PNML = nc, make([]byte, 2*MaxMessage)
	for i, r := 0, rand.New(rand.NewPCG(1, 1)); i < len(cfg.Nets[0].PNML); i++ {
		cfg.Nets[0].PNML[i] = byte(r.Uint32()) // cannot be compressed
	}
	if _, err := Start(cfg); !errors.Is(err, TooLarge) {
		t.Errorf("got %v, want %v", err, TooLarge)
	}
}

func TestOldestTokensOfAPlaceAreAnswered(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	cfg := testConfig("a")
	digest := Digest(cfg.Nets[0].PNML)
	cfg.Conn = nc
	cfg.Oldest = func(_, place int, q *stats.Query) (stats.Found, error) {
		if place == 0 {
			return stats.Found{}, errors.New("shard is gone")
		}
		if *q == (stats.Query{Limit: 5, Name: "Case", Data: "order=7", Until: 9, From: 3, FromName: "a"}) {
			return stats.Found{Tokens: []stats.FoundToken{{Token: stats.Token{Instance: "case 9", Injected: now0}, N: 2, Data: `{"order":7}`}}, More: true, Matches: 4000}, nil
		}
		wait := stats.Wait{Transition: 0, Reason: stats.ReasonMissing, Place: 0, Count: 2}
		all := []stats.FoundToken{{Token: stats.Token{Instance: "case 7", Injected: now0, Waits: []stats.Wait{wait}}}, {Token: stats.Token{Instance: "case 8", Injected: now0 + 1}}}
		return q.Of(all), nil
	}
	start(t, cfg)
	for name, c := range map[string]struct{ request, code, reply string }{
		"all": {request: `{"digest":"` + digest + `","place":1}`, reply: `{"place":1,"tokens":[{"instance":"case 7","injected":"1790000000000000",` +
			`"waits":[{"transition":0,"reason":"REASON_MISSING","place":1,"count":2,"until":"0","what":""}],"n":"0","data":""},{"instance":"case 8","injected":"1790000000000001","waits":[],"n":"0","data":""}],"more":false,"matches":"2","groups":[]}`},
		"limited": {request: `{"digest":"` + digest + `","place":1,"limit":1}`, reply: `{"place":1,"tokens":[{"instance":"case 7","injected":"1790000000000000","waits":[{"transition":0,"reason":"REASON_MISSING","place":1,"count":2,"until":"0","what":""}],"n":"0","data":""}],"more":true,"matches":"2","groups":[]}`},
		"selected": {request: `{"digest":"` + digest + `","place":1,"limit":5,"name":"Case","data":"order=7","until":9,"from":3,"from_instance":"a"}`,
			reply: `{"place":1,"tokens":[{"instance":"case 9","injected":"1790000000000000","waits":[],"n":"2","data":"{\"order\":7}"}],"more":true,"matches":"4000","groups":[]}`},
		"engine's error": {request: `{"digest":"` + digest + `","place":0}`, code: "500"},
		"no such place":  {request: `{"digest":"` + digest + `","place":2}`, code: "404"},
		"negative place": {request: `{"digest":"` + digest + `","place":-1}`, code: "404"},
		"other digest":   {request: `{"digest":"00","place":1}`, code: "409"},
		"too many":       {request: `{"digest":"` + digest + `","place":1,"limit":1001}`, code: "400"},
		"not json":       {request: `hello`, code: "400"},
		"too long":       {request: strings.Repeat(" ", maxRequest+1), code: "413"},
	} {
		msg, err := nc.Request(Subjects{}.Instances("a", "host-1"), []byte(c.request), patience)
		if err != nil {
			t.Fatal(err)
		}
		if code := msg.Header.Get(micro.ErrorCodeHeader); code != c.code {
			t.Errorf("%s: code %q, want %q", name, code, c.code)
		}
		var got bytes.Buffer
		if c.reply != "" && (json.Compact(&got, msg.Data) != nil || got.String() != c.reply) {
			t.Errorf("%s: reply %s, want %s", name, got.String(), c.reply)
		}
	}
}

// An answer that is too large for a message has fewer tokens, and says that there are more.
func TestAnAnswerFitsIntoAMessage(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	cfg := testConfig("a")
	cfg.Conn = nc
	cfg.Oldest = func(_, _ int, q *stats.Query) (stats.Found, error) {
		token := stats.FoundToken{Token: stats.Token{Instance: "case 9", Injected: now0}, Data: `{"order":"` + strings.Repeat("x", 3000) + `"}`}
		return stats.Found{Tokens: slices.Repeat([]stats.FoundToken{token}, q.Limit), Matches: 1000}, nil
	}
	start(t, cfg)
	found, err := AskOldest(t.Context(), nc, Subjects{}, "a", "host-1", Digest(cfg.Nets[0].PNML), 1, &stats.Query{Limit: MaxFound})
	if err != nil || len(found.Tokens) != MaxFound/4 || !found.More || found.Matches != 1000 {
		t.Errorf("got %d tokens of %d, more: %t, %v; want a quarter, and that there are more", len(found.Tokens), found.Matches, found.More, err)
	}
}

func TestAnInstanceIsAnsweredByItsName(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	cfg := testConfig("a")
	cfg.Conn = nc
	want := &Instance{Instance: "case 7", At: now0, Tokens: []InstanceToken{{Place: "p", Tokens: 2, Injected: now0 - 5,
		Waits: []InstanceWait{{Transition: "t", Reason: "missing", Place: "q", Count: 1}}}}}
	cfg.Instance = func(_ int, name string) (*Instance, error) {
		switch name {
		case "case 7":
			return want, nil
		case "huge":
			tokens := make([]InstanceToken, 2*MaxHeld)
			for i := range tokens {
				tokens[i] = InstanceToken{Place: strings.Repeat("p", 2000), Tokens: 3}
			}
			return &Instance{Instance: name, Tokens: tokens}, nil
		case "broken":
			return nil, errors.New("shard is gone")
		}
		return nil, ErrNoInstance
	}
	start(t, cfg)
	ask := func(name string) (*Instance, error) {
		return AskInstance(t.Context(), nc, Subjects{}, "a", "host-1", name)
	}
	if got, err := ask("case 7"); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	if got, err := ask("huge"); err != nil || len(got.Tokens) == 0 || uint64(len(got.Tokens))*3+got.LeftOut != 6*MaxHeld {
		t.Errorf("an instance with too many tokens: %v, %v", got, err)
	}
	if _, err := ask("case 8"); !errors.Is(err, ErrNoInstance) {
		t.Errorf("an instance of another source: %v", err)
	}
	for _, name := range []string{"broken", strings.Repeat("x", MaxName+1)} {
		if _, err := ask(name); err == nil || errors.Is(err, ErrNoInstance) {
			t.Errorf("%.9s: %v", name, err)
		}
	}
}

// A source of an older version, which only answers about places, returns an error
// other than ErrNoInstance.
func TestASourceWithoutTheRequest(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	cfg := testConfig("a")
	cfg.Conn = nc
	cfg.Oldest = func(int, int, *stats.Query) (stats.Found, error) { return stats.Found{}, nil }
	start(t, cfg)
	if _, err := AskInstance(t.Context(), nc, Subjects{}, "a", "host-1", "x"); err == nil || errors.Is(err, ErrNoInstance) {
		t.Errorf("%v", err)
	}
	cfg = testConfig("b")
	cfg.Conn, cfg.Instance = nc, func(int, string) (*Instance, error) { return &Instance{}, nil }
	start(t, cfg)
	request := []byte(`{"digest":"` + Digest(cfg.Nets[0].PNML) + `","place":1}`)
	if msg, err := nc.Request(Subjects{}.Instances("b", "host-1"), request, patience); err != nil || msg.Header.Get(micro.ErrorCodeHeader) != "501" {
		t.Errorf("a source that only reports instances: %v, %v", msg, err)
	}
}

func TestSourceIsFoundByTheServiceConventions(t *testing.T) {
	nc := connect(t, startServer(t, anyPort).ClientURL())
	cfg := testConfig("a", "b")
	cfg.Conn = nc
	p := start(t, cfg)
	msg, err := nc.Request("$SRV.INFO."+ServiceName, nil, patience)
	if err != nil {
		t.Fatal(err)
	}
	var got micro.Info
	if err := json.Unmarshal(msg.Data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Metadata["source"] != "host-1" || got.Metadata["epoch"] != fmt.Sprint(p.Epoch()) || got.Version != ServiceVersion {
		t.Errorf("%+v", got)
	}
	var subjects []string
	for _, e := range got.Endpoints {
		subjects = append(subjects, e.Subject)
	}
	want := []string{Subjects{}.Definition("a", Digest(cfg.Nets[0].PNML)), Subjects{}.Definition("b", Digest(cfg.Nets[1].PNML))}
	if d := cmp.Diff(want, subjects); d != "" {
		t.Errorf("endpoints (-want +got):\n%s", d)
	}
	for _, verb := range []string{"PING", "STATS"} {
		if _, err := nc.Request("$SRV."+verb, nil, patience); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
}

// A source connects if its server starts later, and reconnects if the server
// restarts.
func TestServerMayComeLaterAndGoAndComeBack(t *testing.T) {
	addr := porttest.Addr(t)
	url := "nats://" + addr
	retry := []nats.Option{nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(5 * time.Millisecond)}
	cfg := testConfig("a")
	cfg.Conn, cfg.Interval, cfg.Log = connect(t, url, retry...), 5*time.Millisecond, slog.New(slog.DiscardHandler)
	p := start(t, cfg)
	for p.Stats().Missed < 3 {
		<-time.After(time.Millisecond)
	}
	for round := range 2 {
		s := startServer(t, addr)
		reader := connect(t, url)
		sub := listen(t, reader, Subjects{}.Snapshots())
		for !nextSnapshot(t, sub).Full {
		}
		if _, err := RequestDefinition(t.Context(), reader, Subjects{}, "a", Digest(cfg.Nets[0].PNML)); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		reader.Close()
		natstest.Stop(s)
	}
	if got := p.Stats(); got.Missed == 0 || got.Messages == 0 {
		t.Errorf("stats %+v", got)
	}
}
