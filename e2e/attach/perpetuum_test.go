// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// perpetuumLine is what the header for Perpetuum writes.
type perpetuumLine struct {
	Net, Instance, Transition, Place string
	Tokens                           int
	Time                             int64
	Dropped                          uint64
}

func trafficLight(t *testing.T) string {
	t.Helper()
	return compileC(t, absolute(t, "perpetuum", "traffic_light.c"), "-D_POSIX_C_SOURCE=200809L")
}

func parsePerpetuum(t *testing.T, text string) []perpetuumLine {
	t.Helper()
	var all []perpetuumLine
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	for {
		var l perpetuumLine
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		all = append(all, l)
	}
}

func TestPerpetuumWritesOneLineAnEvent(t *testing.T) {
	t.Parallel()
	began := time.Now().UnixMicro()
	lines := parsePerpetuum(t, kit.Tool(t, nil, trafficLight(t), "4").Out)
	for i := range lines {
		if at := lines[i].Time; at < began || at > time.Now().UnixMicro() {
			t.Errorf("line %d: got time %d; want one between %d and now", i, at, began)
		}
		lines[i].Time = 0
	}
	const crossing = `crossing "5"`
	want := []perpetuumLine{
		{Net: "traffic_light", Instance: "main", Place: "red", Tokens: 2},
		{Net: "traffic_light", Instance: crossing, Transition: "go"},
		{Net: "traffic_light", Instance: crossing, Transition: "caution"},
		{Net: "traffic_light", Instance: crossing, Transition: "stop"},
		{Net: "traffic_light", Instance: crossing, Transition: "go"},
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// No process reads the pipe: the engine still runs to its end, and reports how many events
// did not fit.
func TestPerpetuumDropsAndCountsWhatItCannotWriteAtOnce(t *testing.T) {
	t.Parallel()
	program := trafficLight(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.CommandContext(t.Context(), program, "50000")
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = w, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), r.SetReadDeadline(time.Now().Add(kit.Patience))); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := parsePerpetuum(t, string(text))
	var dropped, all int
	if _, err := fmt.Sscanf(stderr.String(), "pnagent: %d of %d events were dropped", &dropped, &all); err != nil {
		t.Fatalf("%q: %v", stderr.String(), err)
	}
	if all != 50001 || dropped == 0 || len(lines) != all-dropped {
		t.Errorf("got %d lines, %d of %d dropped; want 50001, each as a line or dropped", len(lines), dropped, all)
	}
}

// From the C header over UDP and attach lines to both faces.
func TestPerpetuumsTokensAreAsOldInSNMPAsInPrometheus(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	program := trafficLight(t)
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--snmp", "127.0.0.1:0")
	adapter := kit.Start(t, kit.Built().Pnagent, "attach", "lines", "--nats", natsURL, "--source", "crossings", "--udp", "127.0.0.1:0", "--interval", "200ms",
		"--log.format", "json", absolute(t, "perpetuum", "traffic_light.pnml"))
	at := adapter.Says(t, `"receiving datagrams","udp":"([^"]*)"`)
	_, port, err := net.SplitHostPort(at[1])
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	if r := kit.Tool(t, nil, program, "100", port); r.Code != 0 || r.Err != "" {
		t.Fatalf("got exit code %d: %s; want 0 and no message", r.Code, r.Err)
	}
	after := time.Now()
	place := kit.Key{Net: "traffic_light", ID: "green"} // after 100 firings, and nothing more comes
	kit.Until(t, "all firings are shown", func() error {
		n := side.View(t).Numbers()
		fired := n.Firings[kit.Key{Net: place.Net, ID: "go"}] + n.Firings[kit.Key{Net: place.Net, ID: "caution"}] + n.Firings[kit.Key{Net: place.Net, ID: "stop"}]
		if fired != 100 || n.Tokens[place] != 1 {
			return fmt.Errorf("%d firings, %d tokens", fired, n.Tokens[place])
		}
		return nil
	})
	shown := shownSince(t, side.Web, snmptest.Client{Addr: side.SNMP, Community: "public"}, place)
	shown.Within(t, "green", before, after)
}
