// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/internal/plaintext"
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

# Fields of notifications without the number of the alarm behind their names.
[[processors.regex]]
  namepass = ["snmp_trap"]

  [[processors.regex.field_rename]]
    pattern = "^(pnAlarm[A-Za-z]+)[.][0-9]+$"
    replacement = "${1}"
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
reads the modules: without them its fields are OIDs. Its measurement is ~snmp_trap~ with the tag ~name~, such as ~pnTokenStuck~, and the
field ~pnAlarmText~. Tried with 1.37.2, encrypted. All OIDs are below ROOT.
`
