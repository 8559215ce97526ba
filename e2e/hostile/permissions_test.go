// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/pnagent/pnagent/e2e/kit"
)

// With the permissions that pnagent prints everything works, and no source, operator
// or stranger can do what another one may.
func TestThePermissionsAllowWhatIsNeededAndNoMore(t *testing.T) {
	t.Parallel()
	p := kit.Permit(t, nil, "--source", "shop-1,shop-2", "--net", shopNet)
	side := kit.Serve(t, p.URL("sidecar"))
	for _, source := range []string{"shop-1", "shop-2"} {
		kit.RunEngine(t, p.URL(source), source, shop(t)...)
	}
	kit.Until(t, "both engines are shown", func() error {
		if n := len(side.View(t).Sources); n != 2 {
			return fmt.Errorf("%d sources", n)
		}
		return side.Shows(t, shopNet)
	})
	kit.Request(t, userOf(t, p, "operator"), "inject", shopNet, "shop-2", `{"place":"placed"}`)
	kit.Until(t, "the page shows an instance", func() error {
		status, body, err := side.Get("/api/v1/instance?net=" + shopNet + "&instance=0")
		if err != nil || status != 200 {
			return errors.Join(err, fmt.Errorf("%d %s", status, body))
		}
		return nil
	})
	if r := kit.Pnagent(t, "wire", "check", "--nats", p.URL("observer"), "--for", "2s"); r.Code != 0 {
		t.Errorf("wire check: got %d:\n%s%s", r.Code, r.Out, r.Err)
	}

	for _, c := range []struct{ name, user, publish, subscribe string }{
		{"numbers of another source", "shop-1", "snapshot." + shopNet + ".shop-2", ""},
		{"the end of another source", "shop-1", "bye." + shopNet + ".shop-2", ""},
		{"a new name for every message", "shop-1", "snapshot." + shopNet + ".x9", ""},
		{"a net that is not its own", "shop-1", "snapshot.payments.shop-1", ""},
		{"a flood of garbage as no source", "shop-1", "snapshot.garbage.1", ""},
		{"a definition of its net under another source's name", "shop-1", "snapshot." + shopNet + ".canary", ""},
		{"a definition that is not its own", "shop-1", "", "net.payments.*"},
		{"an order to another engine", "shop-1", "inject." + shopNet + ".shop-2", ""},
		{"an observer that injects", "observer", "inject." + shopNet + ".shop-1", ""},
		{"a sidecar that injects", "sidecar", "inject." + shopNet + ".shop-1", ""},
		{"firing at another engine", "shop-1", "fire." + shopNet + ".shop-2", ""},
		{"a message to another engine", "shop-1", "message.paid.shop-2", ""},
		{"an audit of another source", "shop-1", "audit." + shopNet + ".shop-2", ""},
		{"an operator that forges audits", "operator", "audit." + shopNet + ".shop-1", ""},
		{"a forged sidecar", "shop-1", "sidecars.default", ""},
		{"forged alarms of a sidecar", "shop-1", "sidecars.default-alarms", ""},
		{"forged sources of a sidecar", "shop-1", "sidecars.default-sources", ""},
		{"a question to all sources", "shop-1", "hello", ""},
		{"a notice about another source", "shop-1", "notice." + shopNet + ".shop-2", ""},
		{"listening to all sources", "shop-1", "", "snapshot.>"},
		{"listening to orders for another", "shop-1", "", "inject.*.*"},
		{"an operator that publishes numbers", "operator", "snapshot." + shopNet + ".shop-1", ""},
		{"an operator that silences sidecars", "operator", "sidecars.default", ""},
		{"an observer that fires", "observer", "fire." + shopNet + ".shop-1", ""},
		{"an observer that silences sidecars", "observer", "sidecars.default", ""},
		{"a sidecar that fires", "sidecar", "fire." + shopNet + ".shop-1", ""},
		{"a sidecar that publishes numbers", "sidecar", "snapshot." + shopNet + ".shop-1", ""},
	} {
		nc := userOf(t, p, c.user)
		if c.publish != "" {
			if err := nc.Publish("petrinet.v1."+c.publish, []byte("{}")); err != nil {
				t.Fatal(err)
			}
		} else if _, err := nc.SubscribeSync("petrinet.v1." + c.subscribe); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil { // its answer comes after the refusal
			t.Fatal(err)
		}
		if err := nc.LastError(); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%s: %s at %s%s: got %v; want that the server refuses it", c.name, c.user, c.publish, c.subscribe, err)
		}
	}
	if _, err := nats.Connect("nats://" + p.At); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a stranger: got %v; want %v", err, nats.ErrAuthorization)
	}
	if got := side.View(t).Sources; len(got) != 2 || got[0].State != "up" || got[1].State != "up" {
		t.Errorf("sources after the attacks: got %+v; want the two, up", got)
	}
}
