// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What serve prints as its configuration means the same when it is read.
func TestAPrintedConfigurationMeansTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inline := filepath.Join(dir, "inline.yml")
	rules := "settle: 10s\ndefaults:\n  stuck: {after: 2m}\noverrides:\n  - net: orders\n    place: inbox\n    stuck: {after: 1h}\n"
	if err := os.WriteFile(inline, []byte("alarms:\n  "+strings.ReplaceAll(strings.TrimSpace(rules), "\n", "\n  ")+"\nweb.viewers: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"defaults": nil,
		"values": {"--agentx=unix:/var/agentx/master", "--snmp.trap-sink=a:1", "--snmp.trap-sink=b:2", "--forget-after=90s", "--forget-nets-after=7d", "--share=2/8", "--share.by=net",
			"--web.grafana-url=http://g/d?a={net}&b=\"#: x\"", "--snmp.inform", "--web.runbooks=", "--mib-dir=", "--state-dir=", "--agentx.priority=127", "--log.level=debug", "--alarms=rules.yaml", "--net-allow=order-*", "--up=above.v1"},
		"rules in the file": {"--config=" + inline},
		"numbers as text":   {"--up.source=010", "--net-allow=true", "--snmp.trap-user=~"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := parsedKeys(t, args)
			code, out, errs := called(t.Context(), append([]string{"serve", "--print-config"}, args...)...)
			if code != exitDone || errs != "" {
				t.Fatalf("exit status %d, %s", code, errs)
			}
			printed := filepath.Join(t.TempDir(), "printed.yml")
			if err := os.WriteFile(printed, []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
			after := parsedKeys(t, []string{"--config=" + printed})
			before.Serve.Config, after.Serve.Config = "", ""
			if d := cmp.Diff(before, after, cmp.Exporter(func(reflect.Type) bool { return true }), cmp.Comparer(sameRules)); d != "" {
				t.Errorf("the printed configuration differs:\n%s\n%s", d, out)
			}
			for name := range must(t, serveFlags) {
				if !strings.Contains(out, "\n"+name+": ") && !strings.Contains(out, "\n# "+name+": ") && !strings.Contains(out, "\n"+name+":\n") {
					t.Errorf("no key %s in\n%s", name, out)
				}
			}
		})
	}
}

// sameRules compares rules by their text: they hold functions.
func sameRules(a, b *inlineRules) bool {
	return (a == nil) == (b == nil) && (a == nil || a.at.String() == b.at.String())
}

func must[T any](t *testing.T, read func() (T, error)) T {
	t.Helper()
	v, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func parsedKeys(t *testing.T, args []string) *serveKeys {
	t.Helper()
	var keys serveKeys
	parser, err := newParser(&keys, &values{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &keys
}

// A password is not printed, and where it belongs is.
func TestAPrintedConfigurationHasNoPassword(t *testing.T) {
	t.Setenv("PNAGENT_NATS", "nats://a:1,nats://ada:lovelace@b:2")
	code, out, errs := called(t.Context(), "serve", "--print-config", "--web.prometheus=https://bob:builder@p")
	if code != exitDone || errs != "" || strings.Contains(out, "lovelace") || strings.Contains(out, "builder") || !strings.Contains(out, "Set PNAGENT_NATS.\n# nats:\n") {
		t.Errorf("exit status %d, %s\n%s", code, errs, out)
	}
}
