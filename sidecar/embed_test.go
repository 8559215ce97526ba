// SPDX-License-Identifier: Apache-2.0

package sidecar_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// No goroutine is left when Run has returned.
func TestMain(m *testing.M) { natstest.Main(m) }

const net = `<pnml><net id="orders" type="ptnet"><place id="inbox"/><transition id="ship"/><arc id="a" source="inbox" target="ship"/></net></pnml>`

// config is the least that a program sets, with the link to a NATS server of the test's own.
func config(t *testing.T, server natstest.Server) sidecar.Config {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	link, err := natslink.Open(natslink.Config{Name: "embedded", Log: log, Options: []nats.Option{nats.InProcessServer(server)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(link.Close)
	root, err := mib.ParseRoot(mib.DefaultRoot)
	if err != nil {
		t.Fatal(err)
	}
	return sidecar.Config{Link: link, Root: root, Web: "127.0.0.1:0", Log: log}
}

// runs runs a sidecar until stop is called, which fails the test unless Run returns nil.
func runs(t *testing.T, cfg sidecar.Config) (side *sidecar.Sidecar, stop func()) {
	t.Helper()
	side, err := sidecar.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- side.Run(ctx) }()
	return side, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// shows waits until /metrics has a line.
func shows(t *testing.T, side *sidecar.Sidecar, line string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var body []byte
	for range 600 { // a minute
		r, err := client.Get("http://" + side.WebAddress() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		body, err = io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if strings.Contains("\n"+string(body), "\n"+line+"\n") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("/metrics has no line %s", line)
}

// engine publishes one token in the place until the test ends.
func engine(t *testing.T, server natstest.Server) {
	t.Helper()
	p, err := telemetry.Start(telemetry.Config{Conn: natstest.Connect(t, server), Source: "shop-1", Log: slog.New(slog.DiscardHandler),
		Nets: []telemetry.SourceNet{{ID: "orders", PNML: []byte(net), Places: 1, Transitions: 1}},
		Rows: func(_ int, _ int64, into *stats.Rows) error {
			into.Columns, into.Places[0].Tokens = stats.ColTokens, 1
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A program embeds sidecars: two share the process and the NATS server, and each shows what an engine publishes.
func TestAProgramEmbedsSidecars(t *testing.T) {
	server := natstest.Run(t)
	engine(t, server)
	first, second := config(t, server), config(t, server)
	first.SNMP, first.Community, first.StateDir = "127.0.0.1:0", "public", filepath.Join(t.TempDir(), "counters")
	one, stopOne := runs(t, first)
	two, stopTwo := runs(t, second)
	for _, side := range []*sidecar.Sidecar{one, two} {
		shows(t, side, `petrinet_place_tokens{net="orders",place="inbox"} 1`)
	}
	if one.SNMPAddress() == "" || two.SNMPAddress() != "" {
		t.Errorf("SNMP at %q and %q; want an address of the first alone", one.SNMPAddress(), two.SNMPAddress())
	}
	stopTwo()
	stopOne()

	again, stop := runs(t, first) // what the first held is free
	shows(t, again, `petrinet_place_tokens{net="orders",place="inbox"} 1`)
	stop()
}

// A notification has the row of its place, although the tables of the View that raised the alarm are not made yet.
func TestANotificationHasItsRowBeforeTheTablesAreMade(t *testing.T) {
	server := natstest.Run(t)
	engine(t, server)
	side, err := sidecar.New(t.Context(), config(t, server))
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- side.Collector().Run(ctx) }() // and not what makes tables
	for views := side.Collector().Subscribe(); (<-views).Net("orders") == nil; {
	}
	variables, err := side.Notification(&alarm.Notification{Change: alarm.Change{Raise: true, Alarm: alarm.Alarm{Index: 7, Kind: alarm.TokenStuck, Net: "orders", Subject: "inbox"}}})
	row := mib.DefaultRoot + ".1.1.3.1.2.1.1"
	if err != nil || !slices.ContainsFunc(variables, func(v smi.Variable) bool { return v.Value.OID().String() == row }) {
		t.Errorf("%v, %v; want the row %s", variables, err, row)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// New says which errors are the caller's mistakes, and leaves nothing open.
func TestAConfigurationThatIsWrong(t *testing.T) {
	server := natstest.Run(t)
	dir := filepath.Join(t.TempDir(), "counters")
	for rule, c := range map[string]struct {
		change func(*sidecar.Config)
		want   string
	}{
		"an address of AgentX":       {func(c *sidecar.Config) { c.AgentX = "nowhere" }, "nowhere"},
		"the community off loopback": {func(c *sidecar.Config) { c.SNMP, c.Community = "0.0.0.0:0", "public" }, "--snmp 0.0.0.0:0 is not of the loopback"},
		"an unknown user for traps":  {func(c *sidecar.Config) { c.TrapUser = "eve" }, `--snmp.trap-user "eve" is not in the file of users`},
		"changes without a proof":    {func(c *sidecar.Config) { c.Web, c.Actions = "0.0.0.0:0", true }, "--web.actions at "},
	} {
		cfg := config(t, server)
		cfg.StateDir = dir // held by none of them
		c.change(&cfg)
		_, err := sidecar.New(t.Context(), cfg)
		if !cli.IsUsage(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", rule, err, c.want)
		}
		if checked := sidecar.Check(cfg); checked == nil || checked.Error() != err.Error() {
			t.Errorf("%s: Check returns %v; want %v", rule, checked, err)
		}
	}
}

// Check neither takes what a sidecar of the same configuration holds nor leaves anything.
func TestAConfigurationIsCheckedBesideItsSidecar(t *testing.T) {
	server := natstest.Run(t)
	cfg := config(t, server)
	dir := t.TempDir()
	cfg.StateDir, cfg.Lock, cfg.AlarmState = filepath.Join(dir, "counters"), filepath.Join(dir, mib.LockFile), filepath.Join(dir, "alarms.state")
	if err := sidecar.Check(cfg); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("Check leaves %v, %v", files, err)
	}
	side, stop := runs(t, cfg)
	cfg.Web = side.WebAddress()
	if err := sidecar.Check(cfg); err != nil {
		t.Error(err)
	}
	stop()
}
