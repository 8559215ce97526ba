// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// shopNet is the id of theNet.
const shopNet = "order-fulfilment"

// permitted is a nats-server with the permissions that pnagent prints.
type permitted struct{ at string }

// permit runs a nats-server with the permissions of all roles. The password of each
// user is its name, in lower case.
func permit(t *testing.T, flags []string, printed ...string) permitted {
	t.Helper()
	return permitWith(t, flags, permissions(t, printed...))
}

// permissions returns what pnagent prints.
func permissions(t *testing.T, args ...string) string {
	t.Helper()
	r := pnagent(t, append([]string{"permissions"}, args...)...)
	if r.code != 0 {
		t.Fatalf("permissions: got %d, %s; want 0", r.code, r.err)
	}
	return r.out
}

// permitWith runs a nats-server with a configuration of users.
func permitWith(t *testing.T, flags []string, users string) permitted {
	t.Helper()
	var conf strings.Builder
	for _, m := range regexp.MustCompile(`\$PNAGENT_([A-Z0-9_]+)`).FindAllStringSubmatch(users, -1) {
		fmt.Fprintf(&conf, "PNAGENT_%s: %q\n", m[1], strings.ToLower(strings.ReplaceAll(m[1], "_", "-")))
	}
	conf.WriteString(users)
	url := startNATS(t, append(flags, "--config", write(t, "nats.conf", conf.String()))...)
	return permitted{strings.TrimPrefix(url, "nats://")}
}

// url returns the address for a user.
func (p permitted) url(user string) string { return "nats://" + user + ":" + user + "@" + p.at }

// user connects as a user.
func (p permitted) user(t *testing.T, name string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(p.url(name), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // LastError has it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// With the permissions that pnagent prints everything works, and no source, operator
// or stranger can do what another one may.
func TestThePermissionsAllowWhatIsNeededAndNoMore(t *testing.T) {
	t.Parallel()
	p := permit(t, nil, "--source", "shop-1,shop-2", "--net", shopNet)
	side := serve(t, p.url("sidecar"))
	for _, source := range []string{"shop-1", "shop-2"} {
		runEngine(t, p.url(source), source, "--instances", "1", theNet(t))
	}
	until(t, "both engines are shown", func() error {
		if n := len(side.view(t).Sources); n != 2 {
			return fmt.Errorf("%d sources", n)
		}
		return side.shows(t, shopNet)
	})
	request(t, p.user(t, "operator"), "inject", shopNet, "shop-2", `{"place":"placed"}`)
	until(t, "the page shows an instance", func() error {
		status, body, err := side.get("/api/v1/instance?net=" + shopNet + "&instance=0")
		if err != nil || status != 200 {
			return errors.Join(err, fmt.Errorf("%d %s", status, body))
		}
		return nil
	})
	if r := pnagent(t, "wire", "check", "--nats", p.url("observer"), "--for", "2s"); r.code != 0 {
		t.Errorf("wire check: got %d:\n%s%s", r.code, r.out, r.err)
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
		nc := p.user(t, c.user)
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
	if _, err := nats.Connect("nats://" + p.at); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a stranger: got %v; want %v", err, nats.ErrAuthorization)
	}
	if got := side.view(t).Sources; len(got) != 2 || got[0].State != "up" || got[1].State != "up" {
		t.Errorf("sources after the attacks: got %+v; want the two, up", got)
	}
}
