// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// check-config --connect reaches the peers that run, and says why it does not reach others.
func TestCheckConfigTriesThePeers(t *testing.T) {
	t.Parallel()
	snmpd := hardened(t)
	trapd := snmptest.StartTrapd(t)
	prometheus := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/query" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(prometheus.Close)
	closed := porttest.Addr(t)
	check := func(code int, text string) (all struct {
		OK    bool
		Found []struct{ What, Value, State, Error string }
	}) {
		t.Helper()
		r := kit.Pnagent(t, "check-config", "--connect", "--json", kit.Write(t, "pnagent.yml", "mib-dir: "+t.TempDir()+"\n"+text))
		if err := json.Unmarshal([]byte(r.Out), &all); err != nil || r.Code != code || all.OK != (code == 0) || r.Err != "" {
			t.Fatalf("got %v, %+v; want exit code %d", err, r, code)
		}
		return all
	}
	reached := 0
	for _, part := range check(0, "nats: "+kit.StartNATS(t)+"\nagentx: unix:"+snmpd.socket+"\nsnmp.trap-sink: ["+trapd.Addr+"]\nweb.prometheus: "+prometheus.URL+"\n").Found {
		if part.State == "reached" {
			reached++
		}
	}
	if reached != 4 {
		t.Errorf("%d peers are reached; want 4", reached)
	}
	unreached := check(1, "nats: nats://"+closed+"\nagentx: unix:"+snmpd.socket+".gone\nsnmp.trap-sink: ["+closed+"]\nweb.prometheus: http://"+closed+"\nup: above.v1\nup.nats: nats://"+closed+"\n")
	for _, part := range unreached.Found {
		want := map[string]string{"NATS": "connection refused", "NATS above": "connection refused", "AgentX": "no such file", "trap sink": "connection refused", "Prometheus": "connection refused"}[part.What]
		if !strings.Contains(part.Error, want) || (part.State == "not reached") != (want != "") {
			t.Errorf("%s: %s, %s; want %q", part.What, part.State, part.Error, want)
		}
	}
}
