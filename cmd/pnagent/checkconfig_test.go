// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// errorLines returns the lines in which a command says why it ends.
func errorLines(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out, log bytes.Buffer
	code := run(t.Context(), args, streams{strings.NewReader(""), &out, &log})
	var lines []string
	for line := range strings.Lines(log.String()) {
		if strings.HasPrefix(line, "pnagent: ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ""), code
}

// What serve refuses check-config refuses with the same words, at the line and column of the value.
func TestCheckConfigRefusesWhatServeRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a-file")
	if err := os.WriteFile(file, []byte("no credentials\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const ports = "a port from 0 to 65535"
	for name, c := range map[string]struct{ text, at, want string }{
		"an AgentX master without its kind":    {"agentx: /var/agentx/master\n", ":2:9: ", `"/var/agentx/master"; expected unix:/path or tcp:host:port`},
		"a port of SNMP that does not exist":   {"snmp: 127.0.0.1:99999\n", ":2:7: ", ports},
		"a port of HTTP that does not exist":   {"web.listen-address: 127.0.0.1:99999\n", ":2:21: ", ports},
		"a port of NATS that does not exist":   {"nats: nats://127.0.0.1:99999\n", ":2:7: ", "a port from 1 to 65535"},
		"a port of AgentX that does not exist": {"agentx: tcp:127.0.0.1:99999\n", ":2:9: ", "a port from 1 to 65535"},
		"the community public for all":         {"snmp: 0.0.0.0:0\n", ":2:7: ", "expected --snmp.users-file, --snmp.community-file, or --snmp.allow-public"},
		"credentials that are not there":       {"nats.creds: " + dir + "/none.creds\n", ":2:13: ", "no such file"},
		"credentials without a key":            {"nats.creds: " + file + "\n", ":2:13: ", "reading the NATS credentials"},
		"an invalid seed":                      {"nats.nkey: " + file + "\n", ":2:12: ", "reading the NKey seed"},
		"a token that is not there":            {"nats.token-file: " + dir + "/none\n", ":2:18: ", "no such file"},
		"invalid authorities":                  {"nats.tls-ca: " + file + "\n", ":2:14: ", "expected PEM"},
		"a certificate without its key":        {"nats.tls-cert: " + file + "\n", ":2:16: ", "expected both"},
		"an invalid URL":                       {"nats: \"nats://[::1\"\n", ":2:7: ", "invalid URL"},
		"a URL of another kind":                {"nats: http://127.0.0.1:4222\n", ":2:7: ", "expected nats://HOST:PORT"},
		"an invalid prefix":                    {"nats.prefix: a..b\n", ":2:14: ", `"a..b"`},
		"a trap sink without a port":           {"snmp.trap-sink: [127.0.0.1]\n", ":2:17: ", "expected host:port"},
		"a web configuration that is missing":  {"web.config.file: " + dir + "/none.yml\n", ":2:18: ", "no such file"},
		"an invalid web configuration":         {"web.config.file: " + file + "\n", ":2:18: ", "read the web configuration"},
		"a Prometheus without a host":          {"web.prometheus: http://\n", ":2:17: ", "expected http://HOST:PORT"},
		"settings of Prometheus not there":     {"web.prometheus: http://127.0.0.1:1\nweb.prometheus.config.file: " + dir + "/none\n", ":3:29: ", "no such file"},
		"a directory that cannot be written":   {"state-dir: " + file + "/counters\n", ":2:12: ", "expected a directory"},
		"rules for alarms not there":           {"alarms: " + dir + "/none.yaml\n", ":2:9: ", "no such file"},
		"a net that is not there":              {"net: [" + dir + "/none.pnml]\n", "", "no such file"},
		"users that are not there":             {"snmp.users-file: " + dir + "/none\n", ":2:18: ", "no such file"},
		"no viewers":                           {"web.viewers: 0\n", ":2:14: ", "0; expected more than 0"},
		"a time without length":                {"forget-after: 0s\n", ":2:15: ", "0s; expected more than 0"},
		"a root of another organisation":       {"oid-root: 1.3.6.1.2.1.1\n", ":2:11: ", "expected"},
		"the servers above without a prefix":   {"up.nats: nats://127.0.0.1:1\n", "", "need --up"},
		"credentials above not there":          {"up: above.v1\nup.nats: nats://127.0.0.1:1\nup.nats.creds: " + dir + "/none\n", ":4:16: ", "no such file"},
		"changes for clients without a name":   {"web.actions: true\nweb.listen-address: 0.0.0.0:0\n", ":2:14: ", "the client is not known"},
		"a key that is misspelt":               {"web.listenaddress: 127.0.0.1:0\n", ":2:1: ", `unknown key "web.listenaddress"; expected web.listen-address`},
		"an invalid level":                     {"log.level: loud\n", ":2:12: ", "debug"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := filepath.Join(t.TempDir(), "pnagent.yml")
			text := "mib-dir: " + t.TempDir() + "\n" + c.text
			if !strings.Contains(text, "web.listen-address") && !strings.Contains(text, "web.actions") {
				text += "web.listen-address: 127.0.0.1:0\n"
			}
			refused(t, config, text, c.at, c.want)
		})
	}
	t.Run("an empty file", func(t *testing.T) {
		t.Parallel()
		config := filepath.Join(t.TempDir(), "pnagent.yml")
		refused(t, config, "", ":1:1: ", "found nothing; expected a mapping")
		refused(t, config, "# nothing yet\n", ":1:1: ", "found nothing; expected a mapping")
	})
	t.Run("a mib-dir that is a file", func(t *testing.T) {
		t.Parallel()
		refused(t, filepath.Join(t.TempDir(), "pnagent.yml"), "mib-dir: "+file+"\n", ":1:10: ", "is not writable")
	})
}

func refused(t *testing.T, config, text, at, want string) {
	t.Helper()
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	checked, code := errorLines(t, "check-config", config)
	served, serveCode := errorLines(t, "serve", "--config", config)
	if checked != served || code != serveCode || code == exitDone {
		t.Errorf("check-config ends with %d: %s\nserve ends with %d: %s", code, checked, serveCode, served)
	}
	if at != "" {
		at = config + at
	}
	if !strings.HasPrefix(checked, "pnagent: "+at) || !strings.Contains(checked, want) {
		t.Errorf("got %s\nwant %s with %s", checked, at, want)
	}
}
