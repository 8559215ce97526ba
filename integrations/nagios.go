// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/petri"
)

// check is one call of check_snmp.
type check struct {
	name     string // unique, of letters, digits and dashes: pn-2-place-7
	title    string // for people; it has names of the net
	oid      string
	label    string
	units    string
	warning  string // range; "" for none
	critical string
}

// checks returns those of the agent, and of each net that was given, with the thresholds of
// the rules for alarms.
func (s *site) checks() (all []check) {
	add := func(name, title, object string, index smi.OID, warning, critical string) {
		all = append(all, s.check(name, title, object, index, warning, critical)...)
	}
	scalar := smi.OID{0}
	add("pn-view-age", "numbers are current", "pnAgentViewAge", scalar, "", strconv.Itoa(oldView))
	add("pn-nats", "connection to NATS", "pnAgentNatsState", scalar, "", "1")
	add("pn-stale", "silent sources", "pnAgentSourcesStale", scalar, "0", "")
	add("pn-refused", "refused sources", "pnAgentSourcesRefused", scalar, "0", "")
	for _, r := range s.severities() {
		warning, critical := thresholds(r.severity, "0")
		add("pn-alarms-"+r.severity.String(), "alarms that are "+r.severity.String(), r.count.Name, scalar, warning, critical)
	}
	for _, net := range s.Nets {
		all = append(all, s.netChecks(net)...)
	}
	return all
}

// netChecks returns the checks of a net with numbers.
func (s *site) netChecks(net *petri.Net) (all []check) {
	add := func(name, title, object string, index smi.OID, warning, critical string) {
		all = append(all, s.check(name, title, object, index, warning, critical)...)
	}
	locked := s.Lock.Net(net.ID)
	n := strconv.Itoa(int(locked.Number))
	if rule := s.Rules.Of(alarm.NetDeadlocked, net.ID, ""); rule.On {
		warning, critical := thresholds(rule.Severity, strconv.FormatFloat(rule.Above, 'f', -1, 64))
		add("pn-"+n+"-deadlocked", net.ID+": deadlocked instances", "pnNetDeadlockedInstances", smi.OID{locked.Number}, warning, critical)
	}
	final := net.FinalPlaces()
	for i := range net.Places {
		p := &net.Places[i]
		rule, e := s.Rules.Of(alarm.TokenStuck, net.ID, p.ID), locked.Place(p.ID)
		if final[i] || !rule.On {
			continue
		}
		warning, critical := thresholds(rule.Severity, seconds(rule.After))
		add(fmt.Sprintf("pn-%s-place-%d", n, e.Number), net.ID+": oldest token of "+cmp.Or(p.Name, p.ID), "pnPlaceOldestAge", smi.OID{locked.Number, e.Number}, warning, critical)
	}
	for i := range net.Transitions {
		t := &net.Transitions[i]
		rule, e := s.Rules.Of(alarm.TransitionStarved, net.ID, t.ID), locked.Transition(t.ID)
		if !rule.On || !hasInput(net, t.ID) {
			continue
		}
		warning, critical := thresholds(rule.Severity, seconds(rule.After))
		add(fmt.Sprintf("pn-%s-transition-%d", n, e.Number), net.ID+": waiting work of "+cmp.Or(t.Name, t.ID), "pnTransitionEnabledAge", smi.OID{locked.Number, e.Number}, warning, critical)
	}
	return all
}

// check returns a check of an object; none if the module does not have it.
func (s *site) check(name, title, object string, index smi.OID, warning, critical string) []check {
	o, is := s.objects[object]
	if !is {
		return nil
	}
	c := check{name: name, title: title, oid: o.OID.Append(index...).String(), label: snake(o), warning: warning, critical: critical}
	if o.Units == "seconds" {
		c.units = "s"
	}
	return []check{c}
}

// hasInput reports whether a transition has an input. One without is always enabled.
func hasInput(net *petri.Net, id string) bool {
	for i := range net.Arcs {
		if net.Arcs[i].Target == id {
			return true
		}
	}
	return false
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }

// thresholds returns a limit as a warning or as critical, by the severity of its alarm.
func thresholds(s alarm.Severity, limit string) (warning, critical string) {
	if s == alarm.Critical || s == alarm.Major {
		return "", limit
	}
	return limit, ""
}

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

1. Copy them, and replace what says CHANGE. check_snmp is of *monitoring-plugins*.
2. Add the hosts of pnagent to the host group ~pnagent~.
3. ~nagios4 -v /etc/nagios4/nagios.cfg; systemctl reload nagios4~

Nagios discovers nothing: the services are those of the nets that were given to ~pnagent integrations nagios NET…~, with the numbers of
~oids.lock~. Run it again when a net changes; numbers never change. Thresholds are those of ~--alarms~: a rule that is critical or major
is critical here, minor or warning is a warning. An object that no source reports is UNKNOWN.

All OIDs are below ROOT.
`

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
is critical here, minor or warning is a warning. An object that no source reports is UNKNOWN. check_snmp is of *monitoring-plugins*.

All OIDs are below ROOT.
`
