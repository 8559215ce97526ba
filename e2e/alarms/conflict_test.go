// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/web/api"
)

// cautious clears an alarm when it has been over for three seconds.
var cautious = strings.NewReplacer("clear_after: 0s", "clear_after: 3s", "  lost: off\n", "  lost: off\n  conflict: {for: 1s}\n").Replace(kit.Impatient)

// Two engines run under one name, and the second one leaves. It was an all-clear:
// the first one was refused from then on.
//
//promise:evidence hostile
func TestTwoEnginesOfOneNameAreNoAllClear(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	net, bindings := kit.Write(t, "claims.pnml", kit.StuckNet), kit.Write(t, "bindings.yaml", kit.StuckBindings)
	side := kit.Serve(t, natsURL, "--alarms", kit.Write(t, "alarms.yaml", cautious))
	first := kit.RunEngine(t, natsURL, "berlin", "--bindings", bindings, net)
	kit.Until(t, "tokens are stuck", func() error {
		if active := side.Alarms(t); len(active) != 1 || active[0].Alarm != "tokenStuck" {
			return fmt.Errorf("%+v", active)
		}
		return nil
	})
	waitsFor(t, side, 40)
	// The second one has one token, and that moves.
	second := kit.RunEngine(t, natsURL, "berlin", "--bindings", bindings, kit.Write(t, "claims.pnml", strings.Replace(kit.StuckNet, ">40<", ">1<", 1)))
	kit.Until(t, "there is an alarm about two processes", func() error {
		active := side.Alarms(t)
		if !slices.ContainsFunc(active, func(a api.Alarm) bool { return a.Alarm == "sourceConflict" && a.Source == "berlin" }) {
			return fmt.Errorf("%+v", active)
		}
		if v := side.View(t); v.Source("claims", "berlin") != "refused" {
			return fmt.Errorf("the source is %s", v.Source("claims", "berlin"))
		}
		return nil
	})
	first.Says(t, "collector rejects snapshots.*two processes publish as this source")
	second.Says(t, "another process publishes as this source")
	second.Stop(t, syscall.SIGTERM)
	waitsFor(t, side, 40)
	kit.Until(t, "the first one is up", func() error {
		if v := side.View(t); v.Source("claims", "berlin") != "up" {
			return fmt.Errorf("the source is %s", v.Source("claims", "berlin"))
		}
		return nil
	})
	if n := clearedAlarms(t, side); n != 0 {
		t.Errorf("%v alarms about stuck tokens were cleared", n)
	}
}

// One message of another process, and a bye that is not the engine's own, silence
// nothing: what the engine does is shown after each of them.
func TestForgedMessagesSilenceNoEngine(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--alarms", kit.Write(t, "alarms.yaml", cautious))
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "tokens are stuck", func() error {
		if active := side.Alarms(t); len(active) != 1 {
			return fmt.Errorf("%+v", active)
		}
		return nil
	})
	nc := kit.Connect(t, natsURL)
	for i, m := range []map[string]any{
		{"epoch": time.Now().UnixMicro()},
		{"epoch": time.Now().UnixMicro(), "bye": true},
		{"epoch": time.Now().UnixMicro(), "digest": telemetry.Digest(nil)}, // of an unknown definition
		{"epoch": time.Now().Add(time.Hour).UnixMicro()},
		{"epoch": int64(telemetry.MaxTime), "bye": true},
	} {
		if m["digest"] == nil {
			m["digest"] = side.Digest(t)
		}
		m["source"] = "berlin"
		m["net"] = "claims"
		m["seq"] = 1
		m["interval"] = 3_600_000_000
		m["full"] = true
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
		time.Sleep(time.Second) // an interval of the engine, in which nothing may change
		waitsFor(t, side, uint64(40+i))
		kit.Request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":1}`)
		waitsFor(t, side, uint64(40+i+1)) // what the engine does is shown
	}
	kit.Until(t, "the engine is up", func() error {
		if v := side.View(t); v.Source("claims", "berlin") != "up" {
			return fmt.Errorf("the source is %s", v.Source("claims", "berlin"))
		}
		return nil
	})
	if n := clearedAlarms(t, side); n != 0 {
		t.Errorf("%v alarms about stuck tokens were cleared", n)
	}
}

// waitsFor waits until a number of requests wait for an answer.
func waitsFor(t *testing.T, s *kit.Sidecar, want uint64) {
	t.Helper()
	kit.Until(t, fmt.Sprintf("%d tokens wait for an answer", want), func() error {
		if got, ok := s.Scrape(t).Value("petrinet_place_tokens", "net", "claims", "place", "awaiting answer"); !ok || got != float64(want) {
			return fmt.Errorf("%v", got)
		}
		return nil
	})
}

// clearedAlarms returns how many alarms the sidecar has cleared.
func clearedAlarms(t *testing.T, s *kit.Sidecar) float64 {
	t.Helper()
	n, _ := s.Self(t).Value("pnagent_alarms_cleared_total", "alarm", "tokenStuck")
	return n
}
