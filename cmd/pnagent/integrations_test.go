// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The checks of a net have the numbers of its lock and the thresholds of the file.
func TestIntegrationsTakesTheLockAndTheRules(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "alarms.yaml")
	if err := os.WriteFile(rules, []byte("overrides: [{net: order-fulfilment, place: cart, stuck: {after: 2h, severity: major}}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"integrations", "nagios", "--dir", dir, "--oid-root", "1.3.6.1.4.1.32473.7", "--mib-dir", filepath.Join("..", "..", "mibs"), "--alarms", rules,
		filepath.Join("..", "..", "examples", "order-fulfilment.pnml")}
	var out, log bytes.Buffer
	path := filepath.Join(dir, "nagios", "pnagent.cfg")
	for _, state := range []string{"written", "unchanged"} {
		out.Reset()
		if code := run(t.Context(), args, streams{strings.NewReader(""), &out, &log}); code != exitDone || !strings.Contains(out.String(), state+strings.Repeat(" ", 11-len(state))+path+"\n") {
			t.Fatalf("exit status %d, %s%s; want %s", code, out.String(), log.String(), state)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// mibs/oids.lock has net 2, place 2.2 "cart".
	if want := "pn_snmp!1.3.6.1.4.1.32473.7.1.1.3.1.6.2.2!oldest_age_seconds!-c 7200 -u s\n"; !strings.Contains(string(text), want) {
		t.Errorf("there is no %q in\n%s", want, text)
	}
}
