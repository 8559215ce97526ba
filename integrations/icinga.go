// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// icingaFiles returns services of Icinga 2.
func icingaFiles(s *site) []File {
	var conf strings.Builder
	conf.WriteString(`// pnagent wrote this file; it goes to /etc/icinga2/conf.d/. Hosts with vars.pnagent get all services.
template Service "pn-service" {
  check_command = "snmpv3"
  check_interval = 1m
  retry_interval = 30s
  vars.snmpv3_address = "$address$"
  vars.snmpv3_user = PnagentUser
  vars.snmpv3_auth_alg = "SHA-256"
  vars.snmpv3_auth_key = PnagentAuthPassphrase
  vars.snmpv3_priv_alg = "AES"
  vars.snmpv3_priv_key = PnagentPrivPassphrase
  vars.snmpv3_miblist = ""
}
`)
	for _, c := range s.checks() {
		fmt.Fprintf(&conf, "\napply Service %s {\n  import \"pn-service\"\n  display_name = %s\n  vars.snmpv3_oid = %s\n  vars.snmpv3_label = %s\n",
			icingaText(c.name), icingaText(c.title), icingaText(c.oid), icingaText(c.label))
		for _, v := range [][2]string{{"warn", c.warning}, {"crit", c.critical}, {"units", c.units}} {
			if v[1] != "" {
				fmt.Fprintf(&conf, "  vars.snmpv3_%s = %s\n", v[0], icingaText(v[1]))
			}
		}
		conf.WriteString("  assign where host.vars.pnagent\n}\n")
	}
	return []File{{Path: "icinga/pnagent.conf", Content: []byte(conf.String())}, s.readme("icinga", icingaPage)}
}

// icingaText returns a text as a string of Icinga's language.
func icingaText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plaintext.Escape(s)) + `"`
}

const icingaPage = `# Icinga 2 reads pnagent

1. Copy ~pnagent.conf~ to ~/etc/icinga2/conf.d/~.
2. In ~/etc/icinga2/constants.conf~, which only Icinga reads, set the user of SNMPv3:

~~~
const PnagentUser = "noc"
const PnagentAuthPassphrase = "CHANGE-THE-AUTH-PASSPHRASE"
const PnagentPrivPassphrase = "CHANGE-THE-PRIV-PASSPHRASE"
~~~

3. Give the hosts of pnagent ~vars.pnagent = true~, and ~vars.snmpv3_port~ if it is not 161.
4. ~icinga2 daemon -C && systemctl reload icinga2~

Icinga discovers nothing: the services are those of the nets that were given to ~pnagent integrations icinga NET…~, with the numbers of
~oids.lock~. Run it again when a net changes; numbers never change. Thresholds are those of ~--alarms~: a rule that is critical or major
is critical here, minor or warning is a warning. An object that no source reports is UNKNOWN. check_snmp is of *monitoring-plugins* (Debian: monitoring-plugins-standard).

Tried with Icinga 2.13.6 and check_snmp 2.3.3. All OIDs are below ROOT.
`
