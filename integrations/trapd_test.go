// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/mib"
)

func TestSnmpttHasAnEventForEachNotificationAndSeverity(t *testing.T) {
	o := options(t, mib.DefaultRoot)
	text := written(t, o, "snmptt/snmptt.conf.pnagent")
	events := map[string]int{}
	for _, block := range strings.Split(text, "\nEVENT ")[1:] {
		m := regexp.MustCompile(`^(\S+) \.([0-9.]+) "Petri nets" (\S+)\nFORMAT (.+)\n(MATCH \$(\d+): \(.*\)\n)?SDESC\n(?:.*\n)+EDESC\n$`).FindStringSubmatch(block)
		if m == nil {
			t.Errorf("not an event: %s", block)
			continue
		}
		events[m[1]]++
		if events[m[1]] > 1 && m[5] == "" {
			t.Errorf("a second event of %s has no match", m[1])
		}
		if strings.Contains(block, "\nEXEC") {
			t.Errorf("%s runs a program", m[1])
		}
	}
	for _, n := range mib.Describe(o.Root).Notifications {
		want := 1
		if n.Kind != 0 && !n.Clears {
			want = 4
		}
		if events[n.Name] != want {
			t.Errorf("%s has %d events, want %d", n.Name, events[n.Name], want)
		}
		if want == 4 && n.Objects[varbind(n, "pnAlarmSeverity")-1] != "pnAlarmSeverity" {
			t.Errorf("%s: the severity is not where it is matched", n.Name)
		}
	}
}

func TestSnmptrapdNamesEveryNotification(t *testing.T) {
	o := options(t, mib.DefaultRoot)
	text := written(t, o, "snmptrapd/snmptrapd.conf")
	for _, n := range mib.Describe(o.Root).Notifications {
		if !strings.Contains(text, "# traphandle ."+n.OID.String()+" /etc/pnagent/on-trap "+n.Name+"\n") {
			t.Errorf("there is no line for %s", n.Name)
		}
	}
}
