// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/telemetry"
)

// eventNet waits for the message paid and the signal stop.
const eventNet = `<?xml version="1.0" encoding="UTF-8"?>
<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="events" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">
<place id="unpaid"><initialMarking><text>1</text></initialMarking></place><place id="running"><initialMarking><text>1</text></initialMarking></place>
<place id="manual"><initialMarking><text>1</text></initialMarking></place><place id="done"/>
<transition id="pay"><toolspecific tool="pnagent" version="1"><trigger kind="event"/><catches kind="message" name="paid"/></toolspecific></transition>
<transition id="stop"><toolspecific tool="pnagent" version="1"><trigger kind="event"/><catches kind="signal" name="stop"/></toolspecific></transition>
<transition id="sign"/>
<arc id="a1" source="unpaid" target="pay"/><arc id="a2" source="pay" target="done"/>
<arc id="a3" source="running" target="stop"/><arc id="a4" source="stop" target="done"/>
<arc id="a5" source="manual" target="sign"/><arc id="a6" source="sign" target="done"/>
</page></net></pnml>`

func TestThePermissionsAllowAnOperatorToFireAndSend(t *testing.T) {
	t.Parallel()
	p := kit.Permit(t, nil, "--source", "shop-1", "--net", "events", "--event", "paid,stop")
	side := kit.Serve(t, p.URL("sidecar"), "--mib-dir", "")
	e := kit.RunEngine(t, p.URL("shop-1"), "shop-1", "--instances", "1", "--bindings", kit.Write(t, "bindings.yaml", "nets:\n  events:\n    transitions:\n      sign: manual\n"), kit.Write(t, "events.pnml", eventNet))
	kit.Until(t, "the net is shown", func() error { return side.Shows(t, "events") })
	kit.RefusedNothing(t, side.Process, e.Process)
	nc := userOf(t, p, "operator")
	for subject, body := range map[string]string{"fire.events.shop-1": `{"transition":"sign"}`, "message.paid.shop-1": `{}`, "signal.stop": `{}`} {
		m, err := nc.Request("petrinet.v1."+subject, []byte(body), kit.Patience)
		if err != nil || !strings.HasPrefix(string(m.Data), `{"ok":true`) {
			t.Errorf("%s: got %v, %+v; want that it is done", subject, err, m)
		}
	}
	kit.Until(t, "all three are shown", func() error {
		if n := side.View(t).Numbers().Tokens[kit.Key{Net: "events", ID: "done"}]; n != 3 {
			return fmt.Errorf("%d tokens", n)
		}
		return nil
	})
	kit.RefusedNothing(t, side.Process, e.Process)
}

func TestThePermissionsAllowAnAdapterAndAPair(t *testing.T) {
	t.Parallel()
	p := kit.PermitWith(t, nil, kit.Permissions(t, "--role", "adapter,sidecar", "--source", "shop", "--net", shopNet))
	lines := filepath.Join(t.TempDir(), "lines")
	a := kit.AttachLines(t, p.URL("shop"), "--follow", lines)
	kit.AppendTo(t, lines, kit.OrderEvent(time.Now(), "alice", "browse"))
	flags := []string{"--snmp.trap-sink", "127.0.0.1:9", "--mib-dir", "", "--standby.key-file", kit.Write(t, "key", theKey)}
	primary := kit.Serve(t, p.URL("sidecar"), append(flags, "--agentx.priority", "100")...)
	standby := kit.Serve(t, p.URL("sidecar"), append(flags, "--agentx.priority", "127")...)
	kit.OnDuty(t, primary, standby)
	kit.Until(t, "both show the adapter's net", func() error { return errors.Join(primary.Shows(t, shopNet), standby.Shows(t, shopNet)) })
	primary.Kill(t)
	kit.OnDuty(t, standby)
	kit.RefusedNothing(t, a.Process, primary.Process, standby.Process)
}

// A sidecar publishes to the one above: by a connection of its own to another server,
// or by that to its sources.
func TestThePermissionsAllowATree(t *testing.T) {
	t.Parallel()
	shown := func(t *testing.T, root, child *kit.Sidecar, e *kit.Engine) {
		t.Helper()
		kit.Until(t, "the root shows the net", func() error {
			if v := root.View(t); v.Source(shopNet, "region") != "up" {
				return fmt.Errorf("sources %+v", v.Sources)
			}
			return root.Shows(t, shopNet)
		})
		kit.RefusedNothing(t, root.Process, child.Process, e.Process)
	}
	t.Run("two servers", func(t *testing.T) {
		t.Parallel()
		below := kit.Permit(t, nil, "--source", "shop-1", "--net", shopNet)
		above := kit.PermitWith(t, nil, kit.Permissions(t, "--role", "leaf,sidecar", "--source", "region", "--net", shopNet, "--nats.prefix", kit.Upper))
		root := kit.ServeRoot(t, above.URL("sidecar"))
		child := kit.Serve(t, below.URL("sidecar"), "--mib-dir", "", "--up", kit.Upper, "--up.source", "region", "--up.nats", above.URL("region"))
		shown(t, root, child, kit.RunEngine(t, below.URL("shop-1"), "shop-1", shop(t)...))
	})
	t.Run("one connection", func(t *testing.T) {
		t.Parallel()
		const first, end = "  users = [\n", "  ]\n}\n"
		child := kit.Permissions(t, "--role", "engine,sidecar", "--source", "shop-1", "--net", shopNet, "--up", kit.Upper)
		root := kit.Permissions(t, "--role", "sidecar", "--net", shopNet, "--nats.prefix", kit.Upper)
		_, root, _ = strings.Cut(strings.NewReplacer(`user: "sidecar"`, `user: "root"`, "$NATS_PASSWORD_SIDECAR", "$NATS_PASSWORD_ROOT").Replace(root), first)
		p := kit.PermitWith(t, nil, strings.TrimSuffix(child, end)+root)
		above := kit.ServeRoot(t, p.URL("root"))
		below := kit.Serve(t, p.URL("sidecar"), "--mib-dir", "", "--up", kit.Upper, "--up.source", "region")
		shown(t, above, below, kit.RunEngine(t, p.URL("shop-1"), "shop-1", shop(t)...))
	})
}

// What the attackers of the other tests send, sent by a source with the permissions:
// nats-server refuses each message, and neither sidecar nor engine sees one.
func TestTheServerRefusesTheAttacks(t *testing.T) {
	t.Parallel()
	p := kit.Permit(t, nil, "--source", "shop-1,shop-2", "--net", shopNet)
	side := kit.Serve(t, p.URL("sidecar"), "--mib-dir", "")
	kit.RunEngine(t, p.URL("shop-2"), "shop-2", shop(t)...)
	kit.Until(t, "the net is shown", func() error { return side.Shows(t, shopNet) })
	before := side.View(t)
	garbage := func(net, source string) *nats.Msg {
		return &nats.Msg{Subject: telemetry.Subjects{}.Snapshot(net, source), Data: []byte("garbage")}
	}
	var forged []*nats.Msg
	for _, m := range forgedOf("petrinet.v1.sidecars.default") {
		forged = append(forged, &m)
	}
	order := func(kind, body string) *nats.Msg {
		return &nats.Msg{Subject: "petrinet.v1." + kind + "." + shopNet + ".shop-2", Data: []byte(body)}
	}
	poisoned, digest := hostileNet(shopNet, "POISONED", 3000)
	for name, messages := range map[string][]*nats.Msg{
		"unknown digests":                 {packed(t, hostileRows("net-1", telemetry.Digest([]byte("1")), "stranger-1", 1, 1)), packed(t, hostileRows("unknown", telemetry.Digest([]byte("2")), "stranger-2", 1, 1))},
		"many nets":                       {packed(t, hostileRows("filler-1", digest, "stranger-1", 1, 1))},
		"a large net":                     {packed(t, hostileRows("large-1", telemetry.Digest([]byte("3")), "stranger-1", 1, 15_000))},
		"a definition that renames a net": {packed(t, hostileRows(shopNet, digest, "canary", 1, 3000)), packed(t, hostileRows(shopNet, digest, "shop-2", 1, 3000))},
		"a flood of garbage":              {garbage("garbage", "1"), garbage(shopNet, "shop-2")},
		"a forged sidecar":                forged,
		"billions of tokens":              {order("inject", `{"place":"placed","tokens":4000000000}`), order("inject", `{"place":"placed","tokens":1}`)},
		"a firing":                        {order("fire", `{"transition":"browse"}`)},
	} {
		for i, m := range messages {
			nc := userOf(t, p, "shop-1")
			if err := errors.Join(nc.PublishMsg(m), nc.Flush()); err != nil {
				t.Fatal(err)
			}
			if err := nc.LastError(); !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), m.Subject) {
				t.Errorf("%s: message %d at %s: got %v; want that the server refuses it", name, i, m.Subject, err)
			}
		}
	}
	// It may answer for its own net, but a definition with another digest is none that was asked for.
	answerDefinition(t, userOf(t, p, "shop-1"), shopNet, digest, poisoned)
	kit.Request(t, userOf(t, p, "operator"), "inject", shopNet, "shop-2", `{"place":"placed"}`)
	v, s := side.View(t), side.Scrape(t)
	if len(v.Sources) != 1 || v.Source(shopNet, "shop-2") != "up" || len(v.Nets) != 1 || len(v.Nets[0].Places) != len(before.Nets[0].Places) {
		t.Errorf("got %+v; want shop-2 and its net as it was", v)
	}
	for _, one := range append(s.All("pnagent_messages_rejected_total"), s.All("pnagent_sidecar_messages_rejected_total")...) {
		if one.Value != 0 {
			t.Errorf("got %v messages rejected as %v; want that none arrives", one.Value, one.Labels)
		}
	}
	if peers, _ := s.Value("pnagent_sidecar_peers"); peers != 0 {
		t.Errorf("got %v peers; want none", peers)
	}
}

// shopNet is the id of theNet.
const shopNet = "order-fulfilment"
