// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/mib"
)

// telegrafFiles returns a file for Telegraf's telegraf.d: a measurement for the agent and for
// each table, and one for notifications.
func telegrafFiles(s *site) []File {
	var conf strings.Builder
	conf.WriteString(`# pnagent wrote this file; it goes to /etc/telegraf/telegraf.d/. Replace what says CHANGE.
[[inputs.snmp]]
  agents = ["udp://CHANGE-THE-HOST:161"]
  version = 3
  sec_name = "noc"
  sec_level = "authPriv"
  auth_protocol = "SHA256"
  auth_password = "CHANGE-THE-AUTH-PASSPHRASE"
  priv_protocol = "AES"
  priv_password = "CHANGE-THE-PRIV-PASSPHRASE"
  name = "pn_agent"
  agent_host_tag = "source"
  interval = "30s"
  max_repetitions = 50
  path = ["/etc/pnagent/mibs/smi", "/etc/pnagent/mibs"]
`)
	for _, o := range s.known(scalars()) {
		telegrafField(&conf, "field", snake(o), o.OID.String()+".0", "")
	}
	for _, t := range tables() {
		fmt.Fprintf(&conf, "\n  [[inputs.snmp.table]]\n    name = %s\n    index_as_tag = true\n", tomlText("pn_"+t.key))
		for i, o := range s.known(t.names()) {
			tag := "net"
			if i > 0 {
				tag = strings.TrimPrefix(snake(o), t.key+"_")
			}
			telegrafField(&conf, "table.field", tag, o.OID.String(), "      is_tag = true\n")
		}
		for _, o := range s.numbers(&t) {
			telegrafField(&conf, "table.field", snake(o), o.OID.String(), "")
		}
	}
	conf.WriteString(`
[[inputs.snmp_trap]]
  service_address = "udp://:162"
  version = "3"
  sec_name = "noc"
  sec_level = "authPriv"
  auth_protocol = "SHA256"
  auth_password = "CHANGE-THE-AUTH-PASSPHRASE"
  priv_protocol = "AES"
  priv_password = "CHANGE-THE-PRIV-PASSPHRASE"
  path = ["/etc/pnagent/mibs/smi", "/etc/pnagent/mibs"]
`)
	return []File{{Path: "telegraf/pnagent.conf", Content: []byte(conf.String())}, s.readme("telegraf", telegrafPage)}
}

func telegrafField(conf *strings.Builder, kind, name, oid, more string) {
	fmt.Fprintf(conf, "\n    [[inputs.snmp.%s]]\n      name = %s\n      oid = %s\n%s", kind, tomlText(name), tomlText(oid), more)
}

// tomlText returns a text of one line as a basic string of TOML.
func tomlText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plaintext.Escape(s)) + `"`
}

const telegrafPage = `# Telegraf reads pnagent

1. Copy ~pnagent.conf~ to ~/etc/telegraf/telegraf.d/~, and ~../mibs~ to ~/etc/pnagent/mibs~.
2. In ~telegraf.conf~ set ~snmp_translator = "gosmi"~ under ~[agent]~.
3. Replace what says CHANGE. For SNMPv2c: ~version = 2~ and ~community~ instead of the lines of the user.
4. ~telegraf --config-directory /etc/telegraf/telegraf.d --test~ prints the measurements.

| measurement | tags | a field |
|---|---|---|
| ~pn_agent~ | source | ~view_age_seconds~: above 10, no other number can be trusted |
| ~pn_net~ | source, net | ~oldest_age_seconds~ |
| ~pn_place~ | source, net, id, name | ~oldest_age_seconds~, ~tokens~ |
| ~pn_transition~ | source, net, id, name | ~enabled_age_seconds~, ~firings~ |
| ~pn_source~ | source, net, name | ~state~: 1 up, 2 stale, 3 gone, 4 undefined, 5 refused |

Counters are as they are: use ~non_negative_derivative~. ~inputs.snmp_trap~ needs the right to open port 162, and is the one part that
reads the modules: without them its fields are OIDs. All OIDs are below ROOT.
`

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
collectd has no alarms: read ~duration-view_age_seconds~ above 10 as "no other number can be trusted".

All OIDs are below ROOT.
`
