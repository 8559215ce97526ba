// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/cli"
)

// An engine connects with the flags of the sidecar; what is secret, or the sidecar's own, is a
// word to replace.
func TestTheCommandLineOfAnEngine(t *testing.T) {
	for name, c := range map[string]struct {
		flags cli.NATS
		line  string
		fill  string
	}{
		"the default":                  {cli.NATS{URL: "nats://127.0.0.1:4222", Subjects: "petrinet.v1"}, "pnagent engine --nats nats://127.0.0.1:4222 NET.pnml", "NET.pnml nats://127.0.0.1:4222"},
		"a prefix":                     {cli.NATS{URL: "tls://nats.example.org", Subjects: "petrinet.shop"}, "pnagent engine --nats tls://nats.example.org --nats.prefix petrinet.shop NET.pnml", "NET.pnml"},
		"two servers without a scheme": {cli.NATS{URL: "a:4222, b:4223", Subjects: "petrinet.v1"}, "pnagent engine --nats nats://a:4222,nats://b:4223 NET.pnml", "NET.pnml"},
		"a password": {cli.NATS{URL: "nats://eve:s3cret@a:4222,nats://eve:s3cret@b:4222/s3cret?k=s3cret", Subjects: "petrinet.v1"},
			"PNAGENT_NATS_URL=nats://USER:PASSWORD@a:4222,nats://USER:PASSWORD@b:4222 pnagent engine NET.pnml", "NET.pnml USER PASSWORD"},
		"a token in the URL": {cli.NATS{URL: "nats://s3cret@a:4222", Subjects: "petrinet.v1"}, "PNAGENT_NATS_URL=nats://TOKEN@a:4222 pnagent engine NET.pnml", "NET.pnml TOKEN"},
		"files": {cli.NATS{URL: "nats://a:4222", Creds: "/etc/s3cret.creds", NKey: "/etc/s3cret.nk", Token: "/etc/s3cret", CA: "/etc/nats ca.pem", Cert: "/etc/s3cret.crt", Key: "/etc/s3cret.key", Subjects: "petrinet.v1"},
			"pnagent engine --nats nats://a:4222 --nats.creds ENGINE.creds --nats.nkey ENGINE.nk --nats.token-file ENGINE.token --nats.tls-ca '/etc/nats ca.pem' --nats.tls-cert ENGINE.crt --nats.tls-key ENGINE.key NET.pnml",
			"NET.pnml ENGINE.creds ENGINE.nk ENGINE.token /etc/nats ca.pem ENGINE.crt ENGINE.key"},
		"no URL":        {cli.NATS{URL: "nats://[::1", Subjects: "petrinet.v1"}, "pnagent engine --nats '' NET.pnml", "NET.pnml"},
		"a shell's own": {cli.NATS{URL: "nats://a;reboot:4222", Subjects: "p.$(reboot)"}, "pnagent engine --nats 'nats://a;reboot:4222' --nats.prefix 'p.$(reboot)' NET.pnml", "NET.pnml"},
	} {
		t.Run(name, func(t *testing.T) {
			d := document(c.flags)
			if got := d.Commands[0].Line; got != c.line {
				t.Errorf("got  %s\nwant %s", got, c.line)
			}
			var words []string
			for _, b := range d.Commands[0].Fill {
				words = append(words, b.Word)
			}
			if got := strings.Join(words, " "); got != c.fill {
				t.Errorf("got %s to fill in; want %s", got, c.fill)
			}
			if got, want := d.Commands[1].Line, strings.Replace(strings.Replace(c.line, "engine ", "attach lines ", 1), "NET.pnml", "--follow EVENTS.json NET.pnml", 1); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			text, err := json.Marshal(d)
			if err != nil || strings.Contains(string(text), "s3cret") {
				t.Errorf("a secret is shown, %v: %s", err, text)
			}
		})
	}
}
