// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
)

// zabbixTriggers returns, for each trigger of notifications in a template, the patterns of its
// problem and of its end.
func zabbixTriggers(t *testing.T, path string) (all [][2][]string) {
	t.Helper()
	var file struct {
		Export struct {
			Templates []struct {
				Items []struct {
					Type     string
					Triggers []struct {
						Expression string
						Recovery   string `yaml:"recovery_expression"`
					}
				}
			}
		} `yaml:"zabbix_export"`
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	patterns := func(expression string) (all []string) {
		for _, m := range regexp.MustCompile(`"regexp","([^"]*)"`).FindAllStringSubmatch(expression, -1) {
			all = append(all, m[1])
		}
		return all
	}
	for _, item := range file.Export.Templates[0].Items {
		if item.Type != "SNMP_TRAP" {
			continue
		}
		for _, trigger := range item.Triggers {
			all = append(all, [2][]string{patterns(trigger.Expression), patterns(trigger.Recovery)})
		}
	}
	return all
}

// matchesAll reports whether a text has a match of each pattern.
func matchesAll(patterns []string, text string) bool {
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(text) {
			return false
		}
	}
	return len(patterns) > 0
}

// trapEngine is the engine id of the sender of notifications.
const trapEngine = "80007ed905706e6167656e75"

// startZabbixTrapd runs snmptrapd as the files for Zabbix in dir say: with their arguments, their
// configuration and their handler, which writes to log. It returns the address of snmptrapd.
func startZabbixTrapd(t *testing.T, dir, log string) (addr string) {
	t.Helper()
	snmptrapd := kit.Need(t, "snmptrapd", "snmptrapd")
	read := func(name string, replace ...string) string {
		text, err := os.ReadFile(filepath.Join(dir, "zabbix", name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(replace...).Replace(string(text))
	}
	addr = porttest.Addr(t)
	conf := read("snmptrapd.conf", "CHANGE-THE-ENGINE-ID", trapEngine, "CHANGE-THE-AUTH-PASSPHRASE", "authenticate-me", "CHANGE-THE-PRIV-PASSPHRASE", "encrypt-me-too",
		"/etc/pnagent/zabbix-trap", filepath.Join(dir, "zabbix", "zabbix-trap"), "/var/log/snmptrap/zbx.log", log)
	unit := read("snmptrapd.service.d/pnagent.conf", "-LOw", "-Lo -C -c "+kit.Write(t, "snmptrapd.conf", conf), "/etc/pnagent/mibs", filepath.Join(dir, "mibs"), "udp:162 udp6:162", "udp:"+addr)
	_, arguments, _ := strings.Cut(unit, "ExecStart=/usr/sbin/snmptrapd ")
	trapd := kit.Start(t, kit.Need(t, "env", "coreutils"), append([]string{"SNMP_PERSISTENT_DIR=" + t.TempDir(), snmptrapd}, strings.Fields(arguments)...)...)
	kit.Until(t, "snmptrapd is there", func() error {
		if !strings.Contains(trapd.Out.String(), "NET-SNMP version") || strings.Contains(trapd.Out.String(), "Cannot") {
			return fmt.Errorf("got %q", trapd.Out.String())
		}
		return nil
	})
	return addr
}

// serveTraps runs a sidecar that answers by SNMP as the user noc, and sends notifications to addr.
func serveTraps(t *testing.T, natsURL, rules, addr string, args ...string) *kit.Sidecar {
	t.Helper()
	state := t.TempDir()
	if err := os.WriteFile(filepath.Join(state, "snmp-engine"), []byte(trapEngine+" 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return kit.Serve(t, natsURL, append([]string{"--alarms", kit.Write(t, "alarms.yaml", rules), "--snmp.users-file", kit.SNMPUsers(t), "--state-dir", state,
		"--snmp.trap-user", "noc", "--snmp.trap-sink", addr}, args...)...)
}

// snmptrapd runs with the files for Zabbix, and its handler writes what Zabbix reads. A trigger of
// the template sees the raise of an alarm there, and its end.
func TestSnmptrapdPassesNotificationsToZabbix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if r := kit.Pnagent(t, "integrations", "zabbix", "--dir", dir); r.Code != 0 {
		t.Fatalf("pnagent integrations: got %+v", r)
	}
	log := filepath.Join(dir, "zbx.log")
	addr := startZabbixTrapd(t, dir, log)
	natsURL := kit.StartNATS(t)
	serveTraps(t, natsURL, kit.Impatient, addr)
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))

	triggers := zabbixTriggers(t, filepath.Join(dir, "zabbix", "template-6.0.yaml"))
	seen := func(which int) func() error {
		return func() error {
			text, err := os.ReadFile(log)
			for _, trap := range strings.Split(string(text), "ZBXTRAP ")[1:] {
				for _, trigger := range triggers {
					if strings.HasPrefix(trap, "127.0.0.1\n") && matchesAll(trigger[which], trap) && strings.Contains(trap, " awaiting answer\n") {
						return nil
					}
				}
			}
			return fmt.Errorf("%w: %d triggers, %s", err, len(triggers), text)
		}
	}
	kit.Until(t, "a trigger sees the raise", seen(0))
	if seen(1)() == nil {
		t.Error("the raise is taken for the end")
	}
	nc := kit.Connect(t, natsURL)
	for range 40 {
		kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	kit.Until(t, "a trigger sees the end", seen(1))
}
