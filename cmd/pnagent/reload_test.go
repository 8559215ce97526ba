// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/cli"
)

// A reload logs each key that changed, and when that takes effect. After a fault nothing is in force
// that was not before.
func TestAReloadLogsWhatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config, token, rules := filepath.Join(dir, "pnagent.yml"), filepath.Join(dir, "token"), filepath.Join(dir, "rules.yaml")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(token, "one\n")
	write(rules, "settle: 10s\n")
	first := "mib-dir: " + dir + "\nnats.token-file: " + token + "\nalarms: " + rules + "\nsnmp.community-file: " + token + "\n"
	write(config, first)
	var out bytes.Buffer
	var level slog.LevelVar
	reread, err := rereader(cli.Arguments{"serve", "--config", config, "--web.viewers=5"}, streams{in: strings.NewReader("")}, &level, slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	reads := func(want ...string) {
		t.Helper()
		out.Reset()
		if _, err := reread(); err != nil {
			t.Error(err)
		}
		for _, line := range want {
			if !strings.Contains(out.String(), line) {
				t.Errorf("no %s in\n%s", line, out.String())
			}
		}
		if got := strings.Count(out.String(), "\n"); got != len(want) {
			t.Errorf("%d lines; want %d:\n%s", got, len(want), out.String())
		}
	}
	reads()
	write(token, "two\n")
	write(rules, "settle: 20s\n")
	reads("key=alarms effect=now", `key=nats.token-file effect="at the next connection to NATS"`, "key=snmp.community-file effect=now")
	write(config, first+"log.level: debug\nweb.viewers: 6\nsnmp: 127.0.0.1:1161\n") // a flag overrides one of them
	reads("key=log.level effect=now", `key=snmp effect="at the next start"`)
	if level.Level() != slog.LevelDebug {
		t.Errorf("the level is %s; want debug", level.Level())
	}
	write(config, first+"log.level: error\nagentx: /nowhere\n")
	if _, err := reread(); err == nil || !strings.HasPrefix(err.Error(), config+":6:9: ") || level.Level() != slog.LevelDebug {
		t.Errorf("%v, level %s; want the fault and debug", err, level.Level())
	}
}

// A login has the token that the file has then.
func TestALoginHasTheTokenOfItsTime(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	var o nats.Options
	for i, token := range []string{"one", "two"} {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			options, err := (cli.NATS{Token: file}).Secrets()
			if err != nil || len(options) != 1 || options[0](&o) != nil {
				t.Fatalf("%d options, %v", len(options), err)
			}
		}
		if got := o.TokenHandler(); got != token {
			t.Errorf("got %q; want %q", got, token)
		}
	}
}
