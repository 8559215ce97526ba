// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib"
)

// trapdFiles returns the configuration of net-snmp's snmptrapd, which prints notifications
// in words.
func trapdFiles(s *site) []File {
	var conf strings.Builder
	conf.WriteString(`# pnagent wrote this file; it goes to /etc/snmp/snmptrapd.conf.
# A trap of SNMPv3 is signed with the id of its sender's engine, an inform with that of this
# program. For informs leave out "-e ID".
createUser -e 0xCHANGE-THE-ENGINE-ID noc SHA-256 CHANGE-THE-AUTH-PASSPHRASE AES CHANGE-THE-PRIV-PASSPHRASE
authUser log,execute noc
# For SNMPv2c: authCommunity log,execute CHANGE-THE-COMMUNITY

format2 %04y-%02.2m-%02.2l %02.2h:%02.2j:%02.2k %B %v\n

# A program for each kind of notification: it has the varbinds on standard input, in the order of
# the module. Texts in them are of your nets: no shell may read them.
`)
	for i := range s.described.Notifications {
		n := &s.described.Notifications[i]
		fmt.Fprintf(&conf, "# traphandle .%v /etc/pnagent/on-trap %s\n", n.OID, n.Name)
	}
	return []File{
		{Path: "snmptrapd/snmptrapd.conf", Content: []byte(conf.String())},
		{Path: "snmptrapd/snmptrapd.service.d/pnagent.conf", Content: []byte(trapdUnit("-OQ"))},
		s.readme("snmptrapd", trapdPage),
	}
}

// trapdUnit returns an override of Debian's unit, with which snmptrapd reads the module.
func trapdUnit(output string) string {
	return `[Service]
ExecStart=
ExecStart=/usr/sbin/snmptrapd -LOw -f -m PETRINET-MIB -M +/etc/pnagent/mibs:/etc/pnagent/mibs/smi ` + output + ` udp:162 udp6:162
`
}

const trapdPage = `# snmptrapd prints notifications of pnagent

| file | goes to |
|---|---|
| ~../mibs~ | ~/etc/pnagent/mibs~ |
| ~snmptrapd.conf~ | ~/etc/snmp/snmptrapd.conf~, mode 0600 |
| ~snmptrapd.service.d/pnagent.conf~ | ~/etc/systemd/system/snmptrapd.service.d/~ |

1. Copy them, and replace what says CHANGE. The engine id is the first word of ~snmp-engine~ in ~--state-dir~ of pnagent. If snmpd
   sends the traps (~--agentx~): ~echo 0x$(snmpget -v3 -u noc … -Oqvx HOST .1.3.6.1.6.3.10.2.1.1.0 | tr -dc 0-9A-Fa-f)~.
2. ~systemctl daemon-reload; systemctl restart snmptrapd~
3. ~pnagent serve … --snmp.trap-sink THIS-HOST:162 --snmp.trap-user noc~

The module turns numbers into words: ~pnAlarmKind.17 = tokenStuck~. Without it texts beyond ASCII are printed as octets.
Lines with ~traphandle~ start a program for each kind. All OIDs are below ROOT.
`

// snmpttFiles returns the events of snmptt: one for each notification, and for a raise one for
// each severity.
func snmpttFiles(s *site) []File {
	var conf strings.Builder
	conf.WriteString("# pnagent wrote this file; name it in snmptt_conf_files of snmptt.ini.\n")
	for i := range s.described.Notifications {
		n := &s.described.Notifications[i]
		switch {
		case n.Kind == 0:
			snmpttEvent(&conf, n, "WARNING", "")
			continue
		case n.Clears:
			snmpttEvent(&conf, n, "Normal", "")
			continue
		}
		for _, severity := range alarm.Severities() {
			match := fmt.Sprintf("MATCH $%d: (^(%v|%d)$)\n", varbind(n, "pnAlarmSeverity"), severity, severity)
			snmpttEvent(&conf, n, strings.ToUpper(severity.String()), match)
		}
	}
	return []File{{Path: "snmptt/snmptt.conf.pnagent", Content: []byte(conf.String())}, s.readme("snmptt", snmpttPage)}
}

func snmpttEvent(conf *strings.Builder, n *mib.Notification, severity, match string) {
	format := "$1"
	if n.Kind != 0 {
		format = fmt.Sprintf("$%d $%d: $%d", varbind(n, "pnAlarmNet"), varbind(n, "pnAlarmSubject"), varbind(n, "pnAlarmText"))
	}
	fmt.Fprintf(conf, "\nEVENT %s .%v \"Petri nets\" %s\nFORMAT %s\n%sSDESC\n%s\n%s\nEDESC\n", n.Name, n.OID, severity, format, match, n.Text, n.Runbook)
}

const snmpttPage = `# snmptt translates notifications of pnagent

1. Copy ~snmptt.conf.pnagent~ to ~/etc/snmp/~, and add it to ~snmptt_conf_files~ in ~snmptt.ini~.
2. Have snmptrapd run with ~-On~ and ~traphandle default /usr/sbin/snmptthandler~; see the output of
   ~pnagent integrations snmptrapd~ for its users.
3. ~systemctl restart snmptt snmptrapd~

A raise has an event for each severity, chosen by ~MATCH~. A shell reads a line ~EXEC~, and $7 and others are texts of your nets and engines:
pass only $A, $N and numbers to it, for example

~~~
EXEC /usr/local/bin/page-someone "$N" "$A"
~~~

Tried with SNMPTT 1.5. All OIDs are below ROOT.
`
