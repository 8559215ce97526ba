// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// house is the whole path: a NATS server, a sidecar, and two networks'
// management: a snmpd that it is a subagent of, and a Prometheus.
type house struct {
	NATS string
	Side *Sidecar
	NOC  snmptest.Client
	Prom Prometheus
}

// StartHouse runs three engines and all that shows them.
func StartHouse(t *testing.T) *house {
	t.Helper()
	Need(t, "prometheus", "prometheus")
	snmpd := snmptest.Start(t, snmptest.Config{})
	h := &house{NATS: StartNATS(t), NOC: snmpd.Client}
	h.Side = Serve(t, h.NATS, "--agentx", snmpd.AgentX, "--mib-dir", t.TempDir())
	h.Prom = StartPrometheus(t, h.Side.Web)
	return h
}

// EveryFaceShows waits until all faces show these numbers.
func (h *house) EveryFaceShows(t *testing.T, want Numbers) {
	t.Helper()
	for _, face := range []struct {
		name string
		look func() Numbers
	}{
		{"the view", func() Numbers { return h.Side.View(t).Numbers() }},
		{"/metrics", func() Numbers { return h.Side.Scrape(t).Numbers() }},
		{"Prometheus", func() Numbers { return h.Prom.numbers(t) }},
		{"a walk through snmpd", func() Numbers { return Walk(t, h.NOC).Numbers() }},
		{"pnagent dump", func() Numbers { return dump(t, h.Side.Web).Numbers() }},
	} {
		Until(t, face.name+" shows the numbers", func() error {
			if diff := cmp.Diff(want, face.look()); diff != "" {
				return errors.New("-want +got\n" + diff)
			}
			return nil
		})
	}
}

// dump is the view that "pnagent dump" prints.
func dump(t *testing.T, w Web) View {
	t.Helper()
	r := Pnagent(t, "dump", "--url", w.URL)
	v, err := ParseView([]byte(r.Out))
	if r.Code != 0 || err != nil {
		t.Fatalf("pnagent dump: %+v, %v", r, err)
	}
	return v
}

// Claims returns the numbers of stuckNet after a number of claims were taken up and a
// number of them answered.
func Claims(taken, answered uint64) Numbers {
	return Numbers{
		Tokens: map[Key]uint64{{"claims", "inbox"}: 0, {"claims", "review"}: 0,
			{"claims", "awaiting answer"}: taken - answered, {"claims", "paid €"}: answered},
		Firings: map[Key]uint64{{"claims", "take"}: taken, {"claims", "ask"}: taken,
			{"claims", "answer"}: answered, {"claims", "archive"}: 0},
	}
}
