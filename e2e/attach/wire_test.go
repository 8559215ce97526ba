// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/buildtest"
	"github.com/pnagent/pnagent/telemetry"
)

const attachExamples = "../../examples/attach"

// absolute is a path below the examples, for programs that run elsewhere.
func absolute(t *testing.T, elem ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{attachExamples}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// compileC builds a C file as the strictest reader would.
func compileC(t *testing.T, file string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(file), ".c"))
	flags = append([]string{"-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-o", program, file}, flags...)
	if out, err := exec.Command(kit.Need(t, "cc", "gcc"), flags...).CombinedOutput(); err != nil {
		t.Fatalf("cc %s: %v\n%s", strings.Join(flags, " "), err, out)
	}
	return program
}

// runsOrders starts the orders engine of one language; its oldest orders have
// been there for a number of seconds.
type runsOrders func(t *testing.T, natsURL, pnml, source string, seconds int) *kit.Process

func ordersInPython(t *testing.T, natsURL, pnml, source string, seconds int) *kit.Process {
	return kit.Start(t, kit.Need(t, "python3", "python3"), absolute(t, "python", "orders.py"), natsURL, pnml, source, fmt.Sprint(seconds))
}

func ordersInC(t *testing.T, natsURL, pnml, source string, seconds int) *kit.Process {
	host, port, _ := strings.Cut(strings.TrimPrefix(natsURL, "nats://"), ":")
	digest := kit.Tool(t, nil, kit.Need(t, "sha256sum", "coreutils"), pnml)
	return kit.Start(t, compileC(t, absolute(t, "c", "orders.c")), host, port, pnml, digest.Out[:32], source, fmt.Sprint(seconds))
}

func ordersInGo(t *testing.T, natsURL, pnml, source string, seconds int) *kit.Process {
	program := filepath.Join(t.TempDir(), "orders")
	if err := buildtest.Build(t.Context(), ".", program, "github.com/pnagent/pnagent/examples/attach/go"); err != nil {
		t.Fatal(err)
	}
	return kit.Start(t, program, natsURL, pnml, source, fmt.Sprint(seconds))
}

// The same five orders, three of them stuck for a known time, are the same in
// every output, for every language; and a bye removes them.
func TestOrdersAreTheSameInEveryLanguage(t *testing.T) {
	t.Parallel()
	ordersAreTheSame(t, []language{{"python", ordersInPython}, {"c", ordersInC}, {"go", ordersInGo}})
}

// language has a program that plays the orders.
type language struct {
	name string
	run  runsOrders
}

func ordersAreTheSame(t *testing.T, languages []language) {
	h := kit.StartHouse(t)
	pnml := absolute(t, "orders.pnml")
	shipped := uint64(0)
	for _, language := range languages {
		t.Run(language.name, func(t *testing.T) {
			const seconds = 90
			began := time.Now()
			engine := language.run(t, h.NATS, pnml, "shop-"+language.name, seconds)
			shipped += 2
			h.EveryFaceShows(t, kit.Numbers{
				Tokens:  map[kit.Key]uint64{{Net: "orders", ID: "inbox"}: 3, {Net: "orders", ID: "shipped"}: 2},
				Firings: map[kit.Key]uint64{{Net: "orders", ID: "ship"}: shipped},
			})
			inbox, ago, received := kit.Key{Net: "orders", ID: "inbox"}, -seconds*time.Second, time.Now()
			shownSince(t, h.Side.Web, h.NOC, inbox).Within(t, "the faces of one view", began.Add(ago), received.Add(ago))
			scrapedSince(t, h.Prom, inbox).Within(t, "Prometheus", began.Add(ago), received.Add(ago))
			checked := kit.Pnagent(t, "wire", "check", "--nats", h.NATS, "--for", "3s")
			if checked.Code != 0 || !strings.Contains(checked.Out, "shop-"+language.name) {
				t.Errorf("wire check: got exit code %d:\n%s%s\nwant 0 and shop-%s", checked.Code, checked.Out, checked.Err, language.name)
			}
			engine.Stop(t, syscall.SIGTERM)
			h.EveryFaceShows(t, kit.Numbers{Tokens: map[kit.Key]uint64{}, Firings: map[kit.Key]uint64{{Net: "orders", ID: "ship"}: shipped}})
		})
	}
}

// bad is a broken engine.
type bad struct {
	name    string
	publish func(nc *nats.Conn, say func(change map[string]any))
	want    string // in the output
}

func TestWireCheckReportsFindings(t *testing.T) {
	t.Parallel()
	for _, c := range []bad{
		{"columns differ in length", func(_ *nats.Conn, say func(map[string]any)) {
			say(map[string]any{"places": map[string]any{"tokens": []int{1}, "arrivals": []int{1, 2}}})
		}, "bad_columns"},
		{"a value out of range", func(_ *nats.Conn, say func(map[string]any)) {
			say(map[string]any{"places": map[string]any{"tokens": []int{-1, 0}}})
		}, "not_json"},
		{"a gap", func(_ *nats.Conn, say func(map[string]any)) { say(nil); say(map[string]any{"seq": 5}) }, "3 messages are missing"},
		{"the same seq again", func(_ *nats.Conn, say func(map[string]any)) { say(nil); say(map[string]any{"seq": 1}) }, "seq 1 came after 1"},
		{"an epoch that falls", func(_ *nats.Conn, say func(map[string]any)) { say(nil); say(map[string]any{"epoch": 5}) }, "epoch fell"},
		{"a counter that falls", func(_ *nats.Conn, say func(map[string]any)) {
			say(nil)
			say(map[string]any{"seq": 2, "transitions": map[string]any{"firings": []int{6}}})
		}, "fell from 7 to 6"},
		{"a clock that is off", func(_ *nats.Conn, say func(map[string]any)) {
			say(map[string]any{"sent_at": time.Now().Add(-time.Hour).UnixMicro()})
		}, "clock"},
		{"rows that do not fit", func(_ *nats.Conn, say func(map[string]any)) {
			say(map[string]any{"transitions": map[string]any{"firings": []int{1, 2}}})
		}, "2 rows of transitions"},
		{"another net than the definition's", func(_ *nats.Conn, say func(map[string]any)) { say(map[string]any{"digest": strings.Repeat("0", 32)}) }, "no source answers"},
		{"a collector refuses it", func(nc *nats.Conn, say func(map[string]any)) {
			say(nil)
			_ = nc.Publish(telemetry.Subjects{}.Notice("orders", "broken"), []byte(`{"source":"broken","net":"orders","epoch":7,"reason":"conflict","text":"two of them"}`))
		}, `messages of two processes as this source and rejects epoch 7: "two of them"`},
		{"an interval that is not kept", func(_ *nats.Conn, say func(map[string]any)) { say(map[string]any{"interval": 100_000}) }, "no message came for"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checked := checkWire(t, kit.StartNATS(t), c)
			if checked.Code != 1 || !strings.Contains(checked.Out, c.want) {
				t.Errorf("%d:\n%s%s\nwant 1 and %q", checked.Code, checked.Out, checked.Err, c.want)
			}
		})
	}
}

// checkWire runs wire check while a broken engine publishes.
func checkWire(t *testing.T, server string, c bad) kit.Result {
	t.Helper()
	nc := kit.Connect(t, server)
	pnml := []byte(brokenNet)
	digest := telemetry.Digest(pnml)
	answers, err := nc.Subscribe(telemetry.Subjects{}.Definition("orders", digest), func(m *nats.Msg) { _ = m.Respond(pnml) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answers.Unsubscribe() }()
	epoch := time.Now().UnixMicro()
	hello, err := nc.SubscribeSync(telemetry.Subjects{}.Hello())
	if err != nil || nc.Flush() != nil {
		t.Fatal(err)
	}
	defer func() { _ = hello.Unsubscribe() }()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		if _, err := hello.NextMsg(kit.Patience); err != nil {
			return
		}
		c.publish(nc, func(change map[string]any) {
			now := time.Now().UnixMicro()
			s := map[string]any{"source": "broken", "epoch": epoch, "seq": 1, "sent_at": now, "interval": 60_000_000, "net": "orders", "digest": digest, "full": true,
				"places": map[string]any{"tokens": []int{3, 2}}, "transitions": map[string]any{"firings": []int{7}}}
			for k, v := range change {
				s[k] = v
			}
			payload, _ := json.Marshal(s)
			msg := nats.NewMsg(telemetry.Subjects{}.Snapshot("orders", "broken"))
			msg.Data = payload
			msg.Header.Set(telemetry.ContentTypeHeader, telemetry.ContentTypeJSON)
			_ = nc.PublishMsg(msg)
		})
	}()
	checked := kit.Pnagent(t, "wire", "check", "--nats", server, "--for", "2s")
	<-finished
	return checked
}

const brokenNet = `<pnml><net id="orders" type="ptnet"><page id="p"><place id="inbox"/><place id="shipped"/><transition id="ship"/>
<arc id="1" source="inbox" target="ship"/><arc id="2" source="ship" target="shipped"/></page></net></pnml>`

func TestWireCheckFindsNothingAboutThisProjectsEngines(t *testing.T) {
	t.Parallel()
	server := kit.StartNATS(t)
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	net := func(name string) string { return filepath.Join(examples, name) }
	engines := []*kit.Engine{
		kit.RunEngine(t, server, "shop", "--interval", "1s", "--bindings", net("bindings.yaml"), "--instances", "20", net("order-fulfilment.pnml"), net("packaging-line.pnml"), net("backup-window.pnml")),
		kit.RunEngine(t, server, "claims", "--interval", "1s", "--bindings", net("claim.yaml"), "--instances", "5", net("claim.bpmn")),
	}
	var checked kit.Result
	kit.Until(t, "all engines are received", func() error {
		checked = kit.Pnagent(t, "wire", "check", "--nats", server, "--for", "4s")
		if strings.Count(checked.Out, "answered and holds") < 4 {
			return fmt.Errorf("received\n%s%s", checked.Out, checked.Err)
		}
		return nil
	})
	if checked.Code != 0 {
		t.Errorf("got exit code %d:\n%s\nwant 0", checked.Code, checked.Out)
	}
	for _, e := range engines {
		e.Stop(t, syscall.SIGTERM)
	}
}
