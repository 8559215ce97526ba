// SPDX-License-Identifier: Apache-2.0

package main

import "time"

// The flags of the commands of pnagent-full, except those of attach, which are in attach.go. Files
// with what the commands do are left out of a program with the tag slim: see FullOnly.

// What help texts have of packages that such a program does not have either.
const (
	defaultRunbooks = "https://github.com/pnagent/pnagent/blob/main/docs/runbooks"
	defaultJob      = "pnagent"
	allTools        = "zabbix, snmp-exporter, telegraf, nagios, icinga, collectd, librenms, cacti, snmptrapd, snmptt"
)

type demoCmd struct {
	FullOnly
	For       time.Duration `placeholder:"60s" help:"Stop after this time. Without it the demo runs until it is interrupted."`
	Instances int           `default:"50" help:"Instances of each net at each of the two sources."`
	HTTP      string        `name:"http" default:"127.0.0.1:9797" help:"TCP address for metrics and the API."`
	SNMP      string        `name:"snmp" default:"127.0.0.1:1161" help:"UDP address of the built-in SNMP responder."`
	NATS      string        `name:"nats" default:"127.0.0.1:0" help:"TCP address of the embedded NATS server; port 0 selects a free one."`
	AgentX    string        `name:"agentx" placeholder:"ADDR" help:"Also serve through this AgentX master: unix:/path or tcp:host:port."`
	sidecarFlags
}

type dashboardsCmd struct {
	FullOnly
	Dir      string `default:"dashboards" help:"Directory to write grafana/ and prometheus/ into."`
	Runbooks string `default:"${runbooks}" placeholder:"URL" help:"Address of the runbooks in alerts."`
	Job      string `default:"${job}" help:"Name of the job by which Prometheus scrapes pnagent."`
}

type integrationsCmd struct {
	FullOnly
	Tool    string     `arg:"" help:"Tool to configure: ${tools}, or all."`
	Dir     string     `default:"integrations" help:"Directory to write a directory for each tool into."`
	OIDRoot string     `name:"oid-root" default:"${oid_root}" help:"OID under which everything is served."`
	MibDir  string     `name:"mib-dir" default:"mibs" help:"Directory of the lock."`
	Lock    string     `placeholder:"FILE" help:"File that holds the numbers of nets, places and transitions. Default: oids.lock in --mib-dir."`
	Alarms  string     `placeholder:"FILE" help:"YAML file with the thresholds of alarms, as for serve. Checks of places and transitions have the same."`
	Files   []string   `arg:"" name:"net" optional:"" help:"PNML or BPMN files; - is standard input. Nagios and Icinga get checks of their places and transitions; other tools discover them."`
	Limit   limitFlags `embed:""`
}

type reportCmd struct {
	FullOnly
	apiFlags
	Prometheus string        `placeholder:"URL" help:"URL of the Prometheus that scrapes the sidecars. Without it, the report covers the last hour, as kept by the sidecar."`
	Since      time.Duration `default:"1h" placeholder:"DURATION" help:"Length of the report, up to now, such as 1h or 7d."`
	Net        string        `placeholder:"ID" help:"The only net to report."`
	Output     string        `short:"o" default:"report.html" placeholder:"FILE" help:"File to write the page to; - is standard output."`
}

type topCmd struct {
	FullOnly
	apiFlags
	Show string `enum:"nets,places,transitions,sources,alarms" default:"places" help:"The first table: nets, places, transitions, sources or alarms."`
	Once bool   `help:"Print the whole table once as plain text, and exit; for scripts and screen readers."`
}
