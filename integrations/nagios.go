// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// nagiosFiles returns the objects of Nagios, and of what reads its files.
func nagiosFiles(s *site) []File {
	var conf strings.Builder
	conf.WriteString(`# pnagent wrote this file; it goes to /etc/nagios4/objects/. Hosts of the group "pnagent" get all services.
define hostgroup {
  hostgroup_name  pnagent
  alias           Agents of Petri nets
}

define command {
  command_name  pn_snmp
  command_line  $USER1$/check_snmp -H $HOSTADDRESS$ --extra-opts=pnagent@/etc/nagios4/pnagent.ini -m '' -o $ARG1$ -l $ARG2$ $ARG3$
}

define service {
  name                   pn-service
  hostgroup_name         pnagent
  max_check_attempts     3
  check_interval         1
  retry_interval         1
  check_period           24x7
  notification_interval  60
  notification_period    24x7
  register               0
}
`)
	taken := map[string]bool{}
	for _, c := range s.checks() {
		title := nagiosText(c.title)
		if taken[title] {
			title += " " + c.name
		}
		taken[title] = true
		limits := ""
		if c.warning != "" {
			limits += " -w " + c.warning
		}
		if c.critical != "" {
			limits += " -c " + c.critical
		}
		if c.units != "" {
			limits += " -u " + c.units
		}
		fmt.Fprintf(&conf, "\ndefine service {\n  use                  pn-service\n  service_description  %s\n  check_command        pn_snmp!%s!%s!%s\n}\n",
			title, c.oid, c.label, strings.TrimSpace(limits))
	}
	const ini = `# pnagent wrote this file; it goes to /etc/nagios4/, mode 0640 of nagios' group. Replace what says CHANGE.
[pnagent]
port=161
protocol=3
seclevel=authPriv
secname=noc
authproto=SHA-256
authpasswd=CHANGE-THE-AUTH-PASSPHRASE
privproto=AES
privpasswd=CHANGE-THE-PRIV-PASSPHRASE
`
	return []File{{Path: "nagios/pnagent.cfg", Content: []byte(conf.String())}, {Path: "nagios/pnagent.ini", Content: []byte(ini)}, s.readme("nagios", nagiosPage)}
}

// nagiosText returns a text as a name of Nagios: without what ends a value, begins a comment
// or a macro, or is not allowed in names.
func nagiosText(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("`~!$%^&*|'\"<>?,()=;{}#\\", r) {
			return '_'
		}
		return r
	}, strings.Join(strings.Fields(plaintext.Escape(s)), " "))
}

const nagiosPage = `# Nagios reads pnagent

| file | goes to |
|---|---|
| ~pnagent.cfg~ | ~/etc/nagios4/objects/~, and a line ~cfg_file~ in ~nagios.cfg~ |
| ~pnagent.ini~ | ~/etc/nagios4/~, mode 0640: the user of SNMPv3, which is on no command line of Nagios then |

1. Copy them, and replace what says CHANGE. check_snmp is of *monitoring-plugins* (Debian: monitoring-plugins-standard).
2. Add the hosts of pnagent to the host group ~pnagent~. The services notify the contacts of their host:

~~~
define host {
  use             linux-server
  host_name       shop
  address         192.0.2.1
  hostgroups      pnagent
  contact_groups  admins
}
~~~

3. ~nagios4 -v /etc/nagios4/nagios.cfg; systemctl reload nagios4~

Nagios discovers nothing: the services are those of the nets that were given to ~pnagent integrations nagios NET…~, with the numbers of
~oids.lock~. Run it again when a net changes; numbers never change. Thresholds are those of ~--alarms~: a rule that is critical or major
is critical here, minor or warning is a warning. An object that no source reports is UNKNOWN.

Tried with Nagios 4.4.6 and check_snmp 2.3.3. All OIDs are below ROOT.
`
