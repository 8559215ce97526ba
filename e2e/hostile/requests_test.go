// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/pnagent/pnagent/e2e/kit"
)

// A client that may publish requests to inject can neither put billions of tokens
// nor keep the engine from its work. The permissions refuse all others: see
// TestThePermissionsAllowWhatIsNeededAndNoMore.
//
//promise:bounds hostile
func TestRequestsOfAnAttackerAreBounded(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL)
	kit.RunEngine(t, natsURL, "shop-1", "--instances", "1", "--inject.place", "5000", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "the engine is shown", func() error { return side.Shows(t, "claims") })
	nc := kit.Connect(t, natsURL)
	subject := "petrinet.v1.inject.claims.shop-1"
	for body, want := range map[string]string{
		`{"place":"awaiting answer","tokens":4000000000}`:  "4000000000 tokens in one request; expected at most 10000",
		`{"place":"awaiting answer","tokens":90000000000}`: "90000000000 tokens in one request; expected at most 10000",
		`{"place":"awaiting answer","tokens":6000}`:        "tokens; expected at most 5000",
	} {
		m, err := nc.Request(subject, []byte(body), 30*time.Second)
		if err != nil || !strings.Contains(string(m.Data), want) {
			t.Errorf("%s: got %v, %v; want %q", body, m, err, want)
		}
	}
	attacker := attacked{nc: kit.Connect(t, natsURL)}
	end := attacker.publish(func(int) *nats.Msg {
		return &nats.Msg{Subject: subject, Data: []byte(`{"place":"awaiting answer","tokens":1}`)}
	})
	kit.Until(t, "a request to fire is answered during the flood", func() error {
		m, err := nc.Request("petrinet.v1.fire.claims.shop-1", []byte(`{"transition":"no such"}`), 5*time.Second)
		if err == nil && !strings.Contains(string(m.Data), "no such transition") {
			err = fmt.Errorf("%s", m.Data)
		}
		return err
	})
	// Snapshots continue during the flood, and so show what it puts.
	kit.Until(t, "the flood is shown", func() error {
		if n := side.View(t).Numbers().Tokens[kit.Key{Net: "claims", ID: "awaiting answer"}]; n < 1000 {
			return fmt.Errorf("%d tokens", n)
		}
		return nil
	})
	if err := end(); err != nil {
		t.Fatal(err)
	}
	ended := now(side.Process)
	kit.Until(t, "a request to inject is accepted after the flood", func() error {
		m, err := nc.Request(subject, []byte(`{"place":"inbox","tokens":1}`), 5*time.Second)
		if err == nil && string(m.Data) != `{"ok":true}` {
			err = fmt.Errorf("%s", m.Data)
		}
		return err
	})
	within(t, "a request to inject is accepted", 10*time.Second, ended, time.Now())
}

// Requests with too many tokens or bytes, without pause, are counted at the sidecar and
// at the one above it, which fire a rule: no engine has to be scraped for it. The counts
// rise no more after the flood, and those of the next process of the engine continue.
//
//promise:dropped hostile
func TestRefusedRequestsFireARule(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	root, side := kit.ServeRoot(t, natsURL), kit.Serve(t, natsURL, "--mib-dir", "", "--up", kit.Upper, "--up.source", "region")
	run := func() *kit.Engine {
		return kit.RunEngine(t, natsURL, "shop-1", "--instances", "1", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	}
	refused := func(w kit.Web, source string) (n map[string]float64) {
		n = map[string]float64{}
		for _, one := range w.Scrape(t).All("petrinet_source_requests_refused_total") {
			if one.Labels["net"] == "claims" && one.Labels["source"] == source {
				n[one.Labels["reason"]] = one.Value
			}
		}
		return n
	}
	e := run()
	calm := map[string]float64{"too many tokens": 0, "place full": 0, "queue full": 0, "request too large": 0}
	kit.Until(t, "both sidecars show that no request was refused", func() error {
		if at, above := refused(side.Web, "shop-1"), refused(root.Web, "region"); !maps.Equal(at, calm) || !maps.Equal(above, calm) {
			return fmt.Errorf("%v, and above %v", at, above)
		}
		return nil
	})
	a := attacked{nc: kit.Connect(t, natsURL)}
	subject := "petrinet.v1.inject.claims.shop-1"
	bodies := [][]byte{[]byte(`{"place":"inbox","tokens":10001}`), bytes.Repeat([]byte(" "), 64<<10+1)}
	end := a.publish(func(i int) *nats.Msg { return &nats.Msg{Subject: subject, Data: bodies[min(i%100, 1)]} })
	for _, at := range []kit.Web{side.Web, root.Web} {
		at.Alarmed(t, "PnagentRequestsRefused", "petrinet_source_requests_refused_total")
	}
	kit.Until(t, "both reasons are counted", func() error {
		n := refused(side.Web, "shop-1")
		if n["too many tokens"] == 0 || n["request too large"] == 0 {
			return fmt.Errorf("%v", n)
		}
		return nil
	})
	if err := end(); err != nil {
		t.Error(err)
	}
	ended := flushed(t, a.nc, side.Process, e.Process)
	accepted := func() {
		kit.Until(t, "a request is accepted", func() error {
			m, err := a.nc.Request(subject, []byte(`{"place":"inbox","tokens":1}`), 5*time.Second)
			if err == nil && string(m.Data) != `{"ok":true}` {
				err = fmt.Errorf("%s", m.Data)
			}
			return err
		})
	}
	accepted()
	last, over := refused(side.Web, "shop-1"), time.Now()
	kit.Until(t, "the counts have not risen for three intervals", func() error {
		if n := refused(side.Web, "shop-1"); !maps.Equal(n, last) {
			last, over = n, time.Now()
		}
		if time.Since(over) < 3*time.Second {
			return fmt.Errorf("%v", last)
		}
		return nil
	})
	within(t, "the last refusal is counted", 10*time.Second, ended, over)
	kit.Until(t, "the sidecar above has the same counts", func() error {
		if n := refused(root.Web, "region"); !maps.Equal(n, last) {
			return fmt.Errorf("%v; want %v", n, last)
		}
		return nil
	})
	e.Kill(t)
	run()
	accepted()
	if _, err := a.nc.Request(subject, bodies[0], kit.Patience); err != nil {
		t.Fatal(err)
	}
	last["too many tokens"]++
	kit.Until(t, "the refusal of the next process is counted", func() error {
		if n := refused(side.Web, "shop-1"); !maps.Equal(n, last) {
			return fmt.Errorf("%v; want %v", n, last)
		}
		return nil
	})
}
