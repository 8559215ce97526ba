// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// A client that may publish requests to inject can neither put billions of tokens
// nor keep the engine from its work. The permissions refuse all others: see
// TestThePermissionsAllowWhatIsNeededAndNoMore.
func TestRequestsOfAnAttackerAreBounded(t *testing.T) {
	t.Parallel()
	natsURL := startNATS(t)
	side := serve(t, natsURL)
	runEngine(t, natsURL, "shop-1", "--instances", "1", "--inject.place", "5000", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	until(t, "the engine is shown", func() error { return side.shows(t, "claims") })
	nc := connect(t, natsURL)
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
	stop := make(chan struct{})
	stopped := make(chan error, 1)
	go func() {
		attacker, err := nats.Connect(natsURL)
		for err == nil {
			select {
			case <-stop:
				attacker.Close()
				stopped <- nil
				return
			default:
				err = attacker.Publish(subject, []byte(`{"place":"awaiting answer","tokens":1}`))
			}
		}
		stopped <- err
	}()
	until(t, "a request to fire is answered during the flood", func() error {
		m, err := nc.Request("petrinet.v1.fire.claims.shop-1", []byte(`{"transition":"no such"}`), 5*time.Second)
		if err == nil && !strings.Contains(string(m.Data), "no such transition") {
			err = fmt.Errorf("%s", m.Data)
		}
		return err
	})
	// Snapshots continue during the flood, and so show what it puts.
	until(t, "the flood is shown", func() error {
		if n := side.view(t).numbers().Tokens[key{"claims", "awaiting answer"}]; n < 1000 {
			return fmt.Errorf("%d tokens", n)
		}
		return nil
	})
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	until(t, "a request to inject is accepted after the flood", func() error {
		m, err := nc.Request(subject, []byte(`{"place":"inbox","tokens":1}`), 5*time.Second)
		if err == nil && string(m.Data) != `{"ok":true}` {
			err = fmt.Errorf("%s", m.Data)
		}
		return err
	})
	within(t, "a request to inject is accepted", 10*time.Second, ended, time.Now())
}
