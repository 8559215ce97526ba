// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

// outageRules raise an alarm for the token old, and none for young, which came five minutes ago.
const outageRules = `
settle: 1s
defaults: {starved: off, stuck: {after: 10m}}
`

// outage is an adapter of a server's tables of ownMapping, a sidecar and snmptrapd.
type outage struct {
	t    *testing.T
	w    *watch
	cfg  Config
	side *sidecar.Sidecar
	sink *snmptest.Snmptrapd
}

// TestAlarmsOutliveTheAdapterAndTheDatabase kills both. Meanwhile it is not known whether the alarm still holds, but it is not over,
// and no other one about a token comes.
func TestAlarmsOutliveTheAdapterAndTheDatabase(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and MariaDB")
	}
	for name, start := range map[string]func(*testing.T) *server{"PostgreSQL": startPostgres, "MariaDB": startMaria} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			driver := "pgx"
			if name == "MariaDB" {
				driver = "mysql"
			}
			change(t, s.open(driver, s.writer()), "CREATE TABLE work (id VARCHAR(9) PRIMARY KEY, node VARCHAR(9), came TIMESTAMP NULL, gone TIMESTAMP NULL)",
				"CREATE INDEX a ON work(came)", "CREATE INDEX b ON work(gone)", "CREATE TABLE model (text TEXT)",
				`INSERT INTO model VALUES ('<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"><userTask id="desk"/></process></definitions>')`,
				"INSERT INTO work VALUES ('old', 'desk', '"+at(time.Hour)+"', NULL), ('young', 'desk', '"+at(5*time.Minute)+"', NULL)")
			o := &outage{t: t, w: newWatch(t), cfg: ownConfig(t, s.address), sink: snmptest.StartTrapd(t)}
			o.cfg.State = filepath.Join(t.TempDir(), "state")
			o.side = newSidecar(t, o.w.url, outageRules, o.sink)
			kill := o.adapter()
			o.shows("up", "")
			before := o.ages()

			kill()
			o.shows("gone", "unknown")
			kill = o.adapter()
			o.shows("up", "")
			if d := agree(before, o.ages()); d != "" {
				t.Error("ages after a restart of the adapter: ", d)
			}

			s.kill()
			stopped := time.Now()
			o.shows("gone", "unknown")
			t.Logf("the database stopped: its tokens are unknown after %v", time.Since(stopped).Round(100*time.Millisecond))
			s.start()
			o.shows("up", "")
			if d := agree(before, o.ages()); d != "" {
				t.Error("ages after a restart of the database: ", d)
			}
			kill()
			if kinds := o.kinds(); slices.ContainsFunc(kinds[1:], func(k string) bool { return k == "1" || k == "2" }) || kinds[0] != "1" {
				t.Errorf("notifications %q; expected one that a token is stuck, and none that it moves", kinds)
			}
		})
	}
}

// adapter runs the adapter with a connection of its own, which is cut before it could say that it ends.
func (o *outage) adapter() (kill func()) {
	o.t.Helper()
	conn, err := nats.Connect(o.w.url)
	if err != nil {
		o.t.Fatal(err)
	}
	cfg := o.cfg
	cfg.Overlap = time.Minute
	cfg.Polling = ledger.Polling{Conn: conn, Subjects: o.w.subjects, Source: "adapter", Interval: 200 * time.Millisecond, Timeout: 2 * time.Second, State: o.cfg.State,
		Log: slog.New(slog.NewTextHandler(o.t.Output(), nil))}
	a, err := New(cfg)
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(o.t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	return func() {
		conn.Close()
		cancel()
		<-done
	}
}

// shows waits until the source is in a state, and the only alarm about a token is as it is then: known, or unknown.
func (o *outage) shows(state, alarm string) {
	o.t.Helper()
	client := api.Client{URL: "http://" + o.side.WebAddress(), HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	until(o.t, func() string {
		overview, err := api.Get[api.Overview](o.t.Context(), client, "overview", nil)
		if err != nil {
			o.t.Fatal(err)
		}
		alarms, err := api.Get[api.Alarms](o.t.Context(), client, "alarms", nil)
		if err != nil {
			o.t.Fatal(err)
		}
		var got []string
		for _, s := range overview.Sources {
			got = append(got, "source "+s.State)
		}
		for _, a := range alarms.Active {
			if a.Alarm == "tokenStuck" {
				got = append(got, fmt.Sprintf("%s %d %t", a.Instance, *a.Affected, a.Unknown != ""))
			}
		}
		return cmp.Diff([]string{"source " + state, fmt.Sprintf("old 1 %t", alarm != "")}, got)
	})
}

// ages returns since when the adapter shows the tokens.
func (o *outage) ages() (found []held) {
	o.w.until(func() string {
		found = o.w.held()
		if len(found) != 2 {
			return fmt.Sprintf("%d tokens; expected 2", len(found))
		}
		return ""
	})
	return found
}

// kinds returns the kinds of all notifications, as the last number of each.
func (o *outage) kinds() (all []string) {
	for _, n := range o.sink.Wait(o.t, 1) {
		text := fmt.Sprint(n.Variables[1].Value)
		all = append(all, text[strings.LastIndex(text, ".")+1:])
	}
	return all
}
