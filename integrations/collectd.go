// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/mib"
)

// collectdFiles returns a file for collectd's snmp plugin.
func collectdFiles(s *site) []File {
	var conf strings.Builder
	conf.WriteString("# pnagent wrote this file; it goes to /etc/collectd/collectd.conf.d/. Replace what says CHANGE.\nLoadPlugin snmp\n<Plugin snmp>\n")
	var collected []string
	data := func(name string, lines ...string) {
		collected = append(collected, strconv.Quote(name))
		fmt.Fprintf(&conf, "  <Data %q>\n    %s\n  </Data>\n", name, strings.Join(lines, "\n    "))
	}
	for _, o := range s.known(scalars()) {
		data("pn_"+snake(o), "Table false", `Plugin "petrinet"`, `PluginInstance "agent"`, "Type "+strconv.Quote(collectdType(o)),
			"TypeInstance "+strconv.Quote(snake(o)), "Values "+strconv.Quote("."+o.OID.String()+".0"))
	}
	for _, t := range tables() {
		net := s.objects[t.net].OID.String()
		for _, o := range s.numbers(&t) {
			lines := []string{"Table true", `Plugin "petrinet"`, "Type " + strconv.Quote(collectdType(o)), "PluginInstanceOID " + strconv.Quote("."+net)}
			if id, is := s.objects[t.id]; is {
				lines = append(lines, "TypeInstanceOID "+strconv.Quote("."+id.OID.String()), "TypeInstancePrefix "+strconv.Quote(t.key+"-"+snake(o)+"-"))
			} else {
				lines = append(lines, "TypeInstance "+strconv.Quote(t.key+"-"+snake(o)))
			}
			data("pn_"+t.key+"_"+snake(o), append(lines, "Values "+strconv.Quote("."+o.OID.String()))...)
		}
	}
	fmt.Fprintf(&conf, `  <Host "pnagent">
    Address "CHANGE-THE-HOST:161"
    Version 3
    SecurityLevel "authPriv"
    Username "collectd"
    AuthProtocol "SHA"
    AuthPassphrase "CHANGE-THE-AUTH-PASSPHRASE"
    PrivacyProtocol "AES"
    PrivacyPassphrase "CHANGE-THE-PRIV-PASSPHRASE"
    Interval 30
    BulkSize 25
    Collect %s
  </Host>
</Plugin>
`, strings.Join(collected, " "))
	return []File{{Path: "collectd/pnagent.conf", Content: []byte(conf.String())}, s.readme("collectd", collectdPage)}
}

func collectdType(o mib.Object) string {
	switch {
	case isCounter(o):
		return "derive"
	case o.Units == "seconds":
		return "duration"
	}
	return "gauge"
}

const collectdPage = `# collectd reads pnagent

1. Copy ~pnagent.conf~ to ~/etc/collectd/collectd.conf.d/~, mode 0600, and replace what says CHANGE.
2. collectd 5.12 has no SHA-2: give its user SHA-1 and AES-128 in ~--snmp.users-file~ of pnagent or in ~snmpd.conf~, and no other right than
   to read this subtree. For SNMPv2c: ~Version 2~ and ~Community~ instead of the lines of the user.
3. ~collectd -t~ checks the file.

Values are ~petrinet-NET/TYPE-place-oldest_age_seconds-ID~ and the like; the agent's are ~petrinet-agent/TYPE-view_age_seconds~.
The agent's values include the number of active alarms by severity. collectd receives no traps. Read ~duration-view_age_seconds~ above 10 as "no other number can be trusted".

Tried with 5.12.0, over SNMPv3 and SNMPv2c. All OIDs are below ROOT.
`
