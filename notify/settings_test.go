// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"mime"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/collector/alarm"
)

func decoded(header string) (string, error) { return new(mime.WordDecoder).DecodeHeader(header) }

func TestFaultsOfSinksNamePositionAndExpectation(t *testing.T) {
	for yaml, want := range map[string]string{
		"a: {}":                                                        `a.yaml:2:6: a sink without a kind; expected one of mail, webhook and syslog`,
		"a: {webhook: ftp://x}":                                        `a.yaml:2:16: no address of a webhook; expected one such as`,
		"a: {webhook: http://x, mail: y}":                              `a.yaml:2:26: mail beside webhook; expected one of them`,
		"a: {webhook: http://x, facility: local0}":                     `a.yaml:2:26: unknown key "facility" of a sink of the kind webhook; expected one of severity, net, repeat`,
		"a: {webhook: http://x, format: xml}":                          `a.yaml:2:34: found "xml"; expected cloudevents, alertmanager or otlp`,
		"a: {webhook: http://x, secret: {file: /none}}":                `a.yaml:2:41: open /none: no such file or directory; expected a file with the secret`,
		"a: {webhook: http://x, secret: {env: PN_NONE}}":               `a.yaml:2:40: a secret of 0 bytes in env PN_NONE; expected 1 to 4096`,
		"a: {webhook: http://x, secret: clear}":                        `a.yaml:2:34: found "clear"; expected where the secret is`,
		"a: {webhook: {env: PN_NONE}}":                                 `a.yaml:2:22: a secret of 0 bytes`,
		"a: {webhook: http://x, timeout: 1ms}":                         `a.yaml:2:35: found "1ms"; expected a duration from 1s to 5m0s`,
		"a: {webhook: http://x, queue: 1}":                             `a.yaml:2:33: found "1"; expected how many notifications may wait`,
		"a: {webhook: http://x, repeat: 1s}":                           `a.yaml:2:34: found "1s"; expected a minute or more, such as 4h`,
		"a: {webhook: http://x, severity: bad}":                        `a.yaml:2:36: found "bad"; expected critical, major, minor or warning`,
		"a: {webhook: http://x, escalate: {after: 5m}}":                `expected when and to which sink, such as {after: 30m, to: manager}`,
		"a: {webhook: http://x, escalate: {after: 5m, to: b}}":         `a.yaml:2:52: found "b"; expected the name of a sink of this file: one of a`,
		"a: {webhook: http://x, escalate: {after: 5m, to: a}}":         `a.yaml:2:52: sink a escalates to itself, by way of a; expected a chain that ends`,
		"agentx: {webhook: http://x}":                                  `a.yaml:2:3: a sink named "agentx"; expected`,
		"A b: {webhook: http://x}":                                     `a.yaml:2:3: a sink named "A b"; expected`,
		"a: {mail: [x@y.org]}":                                         `a.yaml:2:13: a mail needs addresses, from and server`,
		"a: {mail: [x], from: a@b.org, server: h}":                     `a.yaml:2:14: found "x"; expected an address such as oncall@example.org`,
		"a: {mail: x@y.org, from: a@b.org, server: h:0}":               `a.yaml:2:45: found "h:0"; expected a host, or a host and a port`,
		"a: {mail: x@y.org, from: a@b.org, server: h, encryption: on}": `a.yaml:2:60: found "on"; expected starttls, tls or none`,
		"a: {mail: x@y.org, from: a@b.org, server: h, encryption: none, user: u, password: {env: PATH}}": `a.yaml:2:13: user, password and encryption; expected all of them`,
		"a: {syslog: log.example.org}":         `expected where the server listens, such as udp://127.0.0.1:514`,
		"a: {syslog: udp://h, facility: nine}": `expected a facility: one of kern, user`,
		"a: {syslog: udp://h, ca_file: /none}": `expected a file with certificates of authorities (PEM)`,
	} {
		rules, err := alarm.ReadRules(strings.NewReader("sinks:\n  "+yaml+"\n"), "a.yaml")
		if err == nil {
			_, err = Read(rules)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", yaml, err, want)
		}
	}
}

func TestSettingsOfSinks(t *testing.T) {
	for yaml, want := range map[string]string{
		"{webhook: https://ops.example.org/secret}":             "webhook cloudevents https://ops.example.org",
		"{webhook: \"http://[::1]:80/\", format: alertmanager}": "webhook alertmanager http://[::1]:80",
		"{mail: a@example.org, from: b@example.org, server: h}": "mail a@example.org",
		"{syslog: udp://h}":           "syslog udp://h:514",
		"{syslog: \"tls://[::1]\"}":   "syslog tls://[::1]:6514",
		"{syslog: \"tcp://h:1514/\"}": "syslog tcp://h:1514",
	} {
		if s := settings(t, yaml); s.Kind+" "+s.Address != want {
			t.Errorf("%s: %s %s; want %s", yaml, s.Kind, s.Address, want)
		}
	}
}
