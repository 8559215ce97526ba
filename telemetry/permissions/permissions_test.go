// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/telemetry"
)

// roles are all of them.
var roles = []Role{Engine, Adapter, Sidecar, Leaf, Operator, Observer}

func TestASourcePublishesUnderItsOwnNameAndNetsOnly(t *testing.T) {
	d := Deployment{Sources: []string{"shop 1", "shop-2"}, Nets: []string{"orders", "a.b"}, Events: []string{"paid"}}
	got := d.Users(Engine)[0]
	want := User{
		Name: "shop 1", Role: Engine, Answers: true,
		Publish: []string{
			"petrinet.v1.snapshot.a=2Eb.shop=201", "petrinet.v1.snapshot.orders.shop=201",
			"petrinet.v1.bye.a=2Eb.shop=201", "petrinet.v1.bye.orders.shop=201", "petrinet.v1.audit.a=2Eb.shop=201", "petrinet.v1.audit.orders.shop=201", "petrinet.v1.signal.paid",
		},
		Subscribe: []string{
			"petrinet.v1.hello", "$SRV.>", "_INBOX.>",
			"petrinet.v1.full.a=2Eb.shop=201", "petrinet.v1.full.orders.shop=201",
			"petrinet.v1.notice.a=2Eb.shop=201", "petrinet.v1.notice.orders.shop=201",
			"petrinet.v1.instances.a=2Eb.shop=201", "petrinet.v1.instances.orders.shop=201",
			"petrinet.v1.net.a=2Eb.*", "petrinet.v1.net.orders.*",
			"petrinet.v1.inject.a=2Eb.shop=201", "petrinet.v1.inject.orders.shop=201",
			"petrinet.v1.fire.a=2Eb.shop=201", "petrinet.v1.fire.orders.shop=201",
			"petrinet.v1.message.*.shop=201", "petrinet.v1.signal.*",
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := got.Password(); got != "NATS_PASSWORD_SHOP_1" {
		t.Errorf("got the variable %s; want NATS_PASSWORD_SHOP_1", got)
	}
}

// What changes an instance, or what sidecars decide, is for one role each.
func TestWhoMayPublishWhat(t *testing.T) {
	subjects, err := telemetry.NewSubjects("acme.nets")
	if err != nil {
		t.Fatal(err)
	}
	d := Deployment{Subjects: subjects}
	for _, c := range []struct {
		kind  string
		roles []Role
	}{
		{"snapshot", []Role{Engine, Adapter, Leaf}},
		{"bye", []Role{Engine, Adapter, Leaf}},
		{"inject", []Role{Operator}},
		{"audit", []Role{Engine}},
		{"fire", []Role{Operator}},
		{"message", []Role{Operator}},
		{"signal", []Role{Engine, Operator}},
		{"full", []Role{Sidecar}},
		{"notice", []Role{Sidecar}},
		{"sidecars", []Role{Sidecar}},
		{"hello", []Role{Sidecar, Observer}},
		{"net", []Role{Sidecar, Operator, Observer}},
		{"instances", []Role{Sidecar, Operator, Observer}},
	} {
		var got []Role
		for _, r := range roles {
			u := d.Users(r)[0]
			if slices.ContainsFunc(u.Publish, func(s string) bool { return s == ">" || strings.HasPrefix(s+".", "acme.nets."+c.kind+".") }) {
				got = append(got, r)
			}
		}
		if d := cmp.Diff(c.roles, got); d != "" {
			t.Errorf("%s: %s", c.kind, d)
		}
	}
}

func TestNSC(t *testing.T) {
	var out strings.Builder
	d := Deployment{Sources: []string{"it's"}, Nets: []string{"n"}}
	if err := d.WriteNSC(&out, d.Users(Adapter)); err != nil {
		t.Fatal(err)
	}
	const want = `nsc add user --name 'it'\''s' \
  --allow-pub 'petrinet.v1.snapshot.n.it=27s,petrinet.v1.bye.n.it=27s' \
  --allow-sub 'petrinet.v1.hello,$SRV.>,_INBOX.>,petrinet.v1.full.n.it=27s,petrinet.v1.notice.n.it=27s,petrinet.v1.instances.n.it=27s,petrinet.v1.net.n.*' \
  --allow-pub-response=1024 --response-ttl 1m
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

// With JetStream, engines have an account of their own. What they publish leaves it for
// their nets only, and no other user has JetStream.
func TestEnginesWithJetStreamHaveAnAccount(t *testing.T) {
	d := Deployment{Sources: []string{"shop-1"}, Nets: []string{"orders"}, Events: []string{"paid"}, JetStream: true}
	got := map[bool][]string{}
	for _, c := range d.Crossings() {
		got[c.Requests] = append(got[c.Requests], c.Subject)
	}
	want := map[bool][]string{
		false: {"petrinet.v1.snapshot.orders.*", "petrinet.v1.bye.orders.*", "petrinet.v1.audit.orders.*", "petrinet.v1.parts.orders"},
		true: {"petrinet.v1.full.orders.*", "petrinet.v1.notice.orders.*", "petrinet.v1.net.orders.*", "petrinet.v1.instances.orders.*",
			"petrinet.v1.inject.orders.*", "petrinet.v1.fire.orders.*", "petrinet.v1.message.paid.*", "petrinet.v1.signal.paid", "petrinet.v1.hello", "$SRV.>"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, r := range roles {
		u := d.Users(r)[0]
		want := Monitor
		if r == Engine {
			want = Engines
		}
		if u.Account != want {
			t.Errorf("%s: got the account %q; want %q", r, u.Account, want)
		}
		for _, s := range u.Publish {
			journal := strings.HasPrefix(s, "$JS.") || strings.HasPrefix(s, "$O.") || strings.HasPrefix(s, "pnagent.log.")
			if s == ">" || s == "$JS.API.>" || journal && r != Engine || strings.Contains(s, "DELETE") && !strings.Contains(s, "CONSUMER") || strings.Contains(s, "UPDATE") {
				t.Errorf("%s: may publish at %s", r, s)
			}
		}
	}
	d.JetStream = false
	if d.Crossings() != nil || d.Users(Engine)[0].Account != "" {
		t.Error("got accounts without JetStream; want none")
	}
}

func TestNSCWithJetStream(t *testing.T) {
	var out strings.Builder
	d := Deployment{Sources: []string{"s"}, Nets: []string{"n"}, Events: []string{"e"}, JetStream: true}
	if err := d.WriteNSC(&out, d.Users(Observer)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"nsc add account --name engines\nnsc edit account --name engines --js-disk-storage -1 --js-mem-storage -1\nnsc add account --name monitor\n",
		"nsc add export --account engines --name 'petrinet.v1.snapshot.n.*' --subject 'petrinet.v1.snapshot.n.*'\n",
		"nsc add import --account monitor --name 'petrinet.v1.snapshot.n.*' --src-account \"$engines\" --remote-subject 'petrinet.v1.snapshot.n.*'\n",
		"nsc add export --account engines --name '$SRV.>' --subject '$SRV.>' --service --response-type Stream\n",
		"nsc add user --account monitor --name 'observer' ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%s\nwant %s", out.String(), want)
		}
	}
}

// A sidecar of a tree with one connection publishes at the subjects above too, and
// nothing more at those below.
func TestASidecarOfATreeWithOneConnection(t *testing.T) {
	above, err := telemetry.NewSubjects("fleet")
	if err != nil {
		t.Fatal(err)
	}
	d := Deployment{Nets: []string{"orders"}}
	want := d.Users(Sidecar)[0]
	d.Up = &above
	got := d.Users(Sidecar)[0]
	want.Answers = true
	want.Publish = append(want.Publish, "fleet.snapshot.orders.*", "fleet.bye.orders.*")
	want.Subscribe = append(want.Subscribe, "fleet.hello", "$SRV.>", "fleet.full.orders.*", "fleet.notice.orders.*", "fleet.instances.orders.*", "fleet.net.orders.*")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
