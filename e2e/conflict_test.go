// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry"
)

// cautious clears an alarm when it has been over for three seconds.
var cautious = strings.Replace(impatient, "clear_after: 0s", "clear_after: 3s", 1)

// waitsFor waits until a number of requests wait for an answer.
func (s *sidecar) waitsFor(t *testing.T, want uint64) {
	t.Helper()
	until(t, fmt.Sprintf("%d tokens wait for an answer", want), func() error {
		if got, ok := s.scrape(t).value("petrinet_place_tokens", "net", "claims", "place", "awaiting answer"); !ok || got != float64(want) {
			return fmt.Errorf("%v", got)
		}
		return nil
	})
}

func (s *sidecar) cleared(t *testing.T) float64 {
	t.Helper()
	n, _ := s.scrape(t).value("pnagent_alarms_cleared_total", "alarm", "tokenStuck")
	return n
}

// digest is that of the definition of the only net, by which engines name it.
func (s *sidecar) digest(t *testing.T) string {
	t.Helper()
	var v struct {
		Nets []struct {
			Digests []struct{ Digest string }
		}
	}
	if err := json.Unmarshal(s.page(t, "/api/v1/view"), &v); err != nil || len(v.Nets) != 1 || len(v.Nets[0].Digests) != 1 {
		t.Fatalf("got %v, %+v; want one net with one digest", err, v)
	}
	return v.Nets[0].Digests[0].Digest
}

// Two engines run under one name, and the second one leaves. It was an all-clear:
// the first one was refused from then on.
func TestTwoEnginesOfOneNameAreNoAllClear(t *testing.T) {
	t.Parallel()
	natsURL := startNATS(t)
	net, bindings := write(t, "claims.pnml", stuckNet), write(t, "bindings.yaml", stuckBindings)
	side := serve(t, natsURL, "--alarms", write(t, "alarms.yaml", cautious))
	first := runEngine(t, natsURL, "berlin", "--bindings", bindings, net)
	until(t, "tokens are stuck", func() error {
		if active := side.alarms(t); len(active) != 1 || active[0].Alarm != "tokenStuck" {
			return fmt.Errorf("%+v", active)
		}
		return nil
	})
	side.waitsFor(t, 40)
	// The second one has one token, and that moves.
	second := runEngine(t, natsURL, "berlin", "--bindings", bindings, write(t, "claims.pnml", strings.Replace(stuckNet, ">40<", ">1<", 1)))
	until(t, "there is an alarm about two processes", func() error {
		active := side.alarms(t)
		if !slices.ContainsFunc(active, func(a activeAlarm) bool { return a.Alarm == "sourceConflict" && a.Source == "berlin" }) {
			return fmt.Errorf("%+v", active)
		}
		if v := side.view(t); v.source("claims", "berlin") != "refused" {
			return fmt.Errorf("the source is %s", v.source("claims", "berlin"))
		}
		return nil
	})
	first.says(t, "collector rejects snapshots.*two processes publish as this source")
	second.says(t, "another process publishes as this source")
	second.stop(t, syscall.SIGTERM)
	side.waitsFor(t, 40)
	until(t, "the first one is up", func() error {
		if v := side.view(t); v.source("claims", "berlin") != "up" {
			return fmt.Errorf("the source is %s", v.source("claims", "berlin"))
		}
		return nil
	})
	if n := side.cleared(t); n != 0 {
		t.Errorf("%v alarms about stuck tokens were cleared", n)
	}
}

// One message of another process, and a bye that is not the engine's own, silence
// nothing: what the engine does is shown after each of them.
func TestForgedMessagesSilenceNoEngine(t *testing.T) {
	t.Parallel()
	natsURL := startNATS(t)
	side := serve(t, natsURL, "--alarms", write(t, "alarms.yaml", cautious))
	runEngine(t, natsURL, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	until(t, "tokens are stuck", func() error {
		if active := side.alarms(t); len(active) != 1 {
			return fmt.Errorf("%+v", active)
		}
		return nil
	})
	nc := connect(t, natsURL)
	for i, m := range []map[string]any{
		{"epoch": time.Now().UnixMicro()},
		{"epoch": time.Now().UnixMicro(), "bye": true},
		{"epoch": time.Now().UnixMicro(), "digest": telemetry.Digest(nil)}, // of an unknown definition
		{"epoch": time.Now().Add(time.Hour).UnixMicro()},
		{"epoch": int64(telemetry.MaxTime), "bye": true},
	} {
		if m["digest"] == nil {
			m["digest"] = side.digest(t)
		}
		m["source"], m["net"], m["seq"], m["interval"], m["full"] = "berlin", "claims", 1, 3_600_000_000, true
		m["sent_at"] = time.Now().UnixMicro()
		payload, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		subject := telemetry.Subjects{}.Snapshot("claims", "berlin")
		if m["bye"] == true {
			subject = telemetry.Subjects{}.Bye("claims", "berlin")
		}
		msg := &nats.Msg{Subject: subject, Data: payload, Header: nats.Header{telemetry.ContentTypeHeader: {telemetry.ContentTypeJSON}}}
		if err := nc.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		side.waitsFor(t, uint64(40+i))
		request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":1}`)
		side.waitsFor(t, uint64(40+i+1)) // what the engine does is shown
	}
	until(t, "the engine is up", func() error {
		if v := side.view(t); v.source("claims", "berlin") != "up" {
			return fmt.Errorf("the source is %s", v.source("claims", "berlin"))
		}
		return nil
	})
	if n := side.cleared(t); n != 0 {
		t.Errorf("%v alarms about stuck tokens were cleared", n)
	}
}
