// SPDX-License-Identifier: Apache-2.0

package permissions

import (
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/conf"

	"github.com/pnagent/pnagent/telemetry"
)

// FuzzWrite passes any name of a source: nats-server reads that name and no more than
// one user, and no line of the commands for nsc ends within quotes by it.
func FuzzWrite(f *testing.F) {
	for _, name := range []string{"shop-1", "shop 1", `a"b\c`, "it's", "$x", "a\x00b", "\u200b€", "a\nb", "\xff"} {
		f.Add(name, "order-fulfilment")
	}
	f.Fuzz(func(t *testing.T, name, net string) {
		if telemetry.CheckName(name) != nil || telemetry.CheckName(net) != nil {
			return // is refused
		}
		d := Deployment{Sources: []string{name}, Nets: []string{net}}
		users := d.Users(Engine)
		t.Setenv(users[0].Password(), "secret")
		var b strings.Builder
		if err := d.WriteServer(&b, users); err != nil {
			t.Fatal(err)
		}
		tree, err := conf.Parse(b.String())
		if err != nil {
			t.Fatalf("%q: %v:\n%s", name, err, b.String())
		}
		read := tree["authorization"].(map[string]any)["users"].([]any)
		if len(read) != 1 || read[0].(map[string]any)["user"] != name || read[0].(map[string]any)["password"] != "secret" {
			t.Fatalf("%q: nats-server reads %v of:\n%s", name, read, b.String())
		}
		d.JetStream = true
		b.Reset()
		if err := d.WriteServer(&b, d.Users(Engine)); err != nil {
			t.Fatal(err)
		}
		if tree, err = conf.Parse(b.String()); err != nil {
			t.Fatalf("%q: %v:\n%s", name, err, b.String())
		}
		accounts := tree["accounts"].(map[string]any)
		if read := accounts[Engines].(map[string]any)["users"].([]any); len(accounts) != 2 || len(read) != 1 || read[0].(map[string]any)["user"] != name {
			t.Fatalf("%q: nats-server reads %v of:\n%s", name, accounts, b.String())
		}
		d.JetStream = false
		b.Reset()
		if err := d.WriteNSC(&b, users); err != nil {
			t.Fatal(err)
		}
		rest, ok := strings.CutPrefix(b.String(), "nsc add user --name '"+strings.ReplaceAll(name, "'", `'\''`)+"' \\\n  --allow-pub 'petrinet.v1.")
		if !ok || strings.Count(rest, "'") != 3 {
			t.Fatalf("%q: %s", name, b.String())
		}
	})
}
