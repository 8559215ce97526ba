// SPDX-License-Identifier: Apache-2.0

//go:build peers

package snmp

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
)

// snmpttConf is snmptt.ini for one call of snmptt per notification.
const snmpttConf = `[General]
mode = standalone
multiple_event = 1
dns_enable = 0
net_snmp_perl_enable = 0
[Logging]
log_enable = 1
log_file = DIR/snmptt.log
unknown_trap_log_enable = 1
unknown_trap_log_file = DIR/unknown.log
log_system_enable = 0
syslog_enable = 0
syslog_system_enable = 0
[TrapFiles]
snmptt_conf_files = <<END
FILE
END
`

// oddNames are ids of places, one for each severity: with quotes, a command of a shell,
// a variable of snmptt and a line end.
var oddNames = []struct{ place, severity string }{
	{`a "quoted" 'name'`, "critical"},
	{"$(touch DIR/run) `touch DIR/run`", "major"},
	{`$7 $* $$ \ "`, "minor"},
	{"two\nlines", "warning"},
}

// snmptt reads the generated events: each raise is logged with its severity, its end as Normal,
// and texts of a net do no harm.
func TestSnmpttLogsTheSeverityOfEachNotification(t *testing.T) {
	t.Parallel()
	snmptrapd, snmptt, dir, files := kit.Need(t, "snmptrapd", "snmptrapd"), kit.Need(t, "snmptt", "snmptt"), t.TempDir(), t.TempDir()
	if r := kit.Pnagent(t, "integrations", "snmptt", "--dir", files); r.Code != 0 {
		t.Fatalf("pnagent integrations: got %+v", r)
	}
	ini := kit.Write(t, "snmptt.ini", strings.NewReplacer("DIR", dir, "FILE", filepath.Join(files, "snmptt", "snmptt.conf.pnagent")).Replace(snmpttConf))
	sink := porttest.Addr(t)
	conf := kit.Write(t, "snmptrapd.conf", "disableAuthorization yes\ntraphandle default "+snmptt+" --ini="+ini+"\n")
	trapd := kit.Start(t, kit.Need(t, "env", "coreutils"), "SNMP_PERSISTENT_DIR="+t.TempDir(), snmptrapd, "-f", "-Lo", "-m", "", "-On", "-C", "-c", conf, "udp:"+sink)
	kit.Until(t, "snmptrapd is there", func() error {
		if !strings.Contains(trapd.Out.String(), "NET-SNMP version") {
			return fmt.Errorf("got %q", trapd.Out.String())
		}
		return nil
	})

	var net, bound, rules strings.Builder
	for i, one := range oddNames {
		id := html.EscapeString(strings.ReplaceAll(one.place, "DIR", dir))
		fmt.Fprintf(&net, `<place id="%s"><initialMarking><text>1</text></initialMarking></place><transition id="t%d"/><arc id="a%d" source="%[1]s" target="t%[2]d"/>`,
			strings.ReplaceAll(id, "\n", "&#10;"), i, i)
		fmt.Fprintf(&bound, "      t%d: manual\n", i)
		fmt.Fprintf(&rules, "  - {place: %q, stuck: {severity: %s}}\n", []string{"a *", "*touch*", "$7*", "two*"}[i], one.severity)
	}
	bus := kit.StartNATS(t)
	kit.Serve(t, bus, "--mib-dir", "", "--alarms", kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "overrides:\n", "overrides:\n"+rules.String(), 1)), "--snmp.trap-sink", sink)
	kit.RunEngine(t, bus, "berlin", "--bindings", kit.Write(t, "bindings.yaml", "nets:\n  odd:\n    transitions:\n"+bound.String()), kit.Write(t, "odd.pnml",
		`<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="odd" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">`+net.String()+"</page></net></pnml>"))

	logged := func(event, severity string, times int) {
		t.Helper()
		kit.Until(t, "snmptt logs "+severity, func() error {
			text, err := os.ReadFile(filepath.Join(dir, "snmptt.log"))
			if err != nil || strings.Count(string(text), kit.OIDRoot+".1.0."+event+" "+severity+" \"Petri nets\" ") != times {
				return fmt.Errorf("%w: %s", err, text)
			}
			return nil
		})
	}
	for _, one := range oddNames {
		logged("1", strings.ToUpper(one.severity), 1)
	}
	nc := kit.Connect(t, bus)
	for i := range oddNames {
		kit.Request(t, nc, "fire", "odd", "berlin", fmt.Sprintf(`{"instance":0,"transition":"t%d"}`, i))
	}
	logged("2", "Normal", len(oddNames))
	text, err := os.ReadFile(filepath.Join(dir, "snmptt.log"))
	if lines := strings.Count(string(text), "\n"); err != nil || lines != 2*len(oddNames) {
		t.Errorf("snmptt logs %d lines, %v; want one for each notification:\n%s", lines, err, text)
	}
	for _, name := range []string{"run", "unknown.log"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("there is a file %s; want no command run and no notification unknown", name)
		}
	}
}
