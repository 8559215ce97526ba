// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/pnagent/pnagent/archive"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/notify"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/sidecar"
)

// netFlags select the nets that a sidecar shows.
type netFlags struct {
	Allow  []string      `name:"net-allow" placeholder:"NAME" help:"Show only nets of these names, and those of --net and net files; * stands for any characters and ? for one. Messages of other nets are rejected as net_not_allowed. Default: all nets."`
	Forget time.Duration `name:"forget-nets-after" default:"24h" help:"Time without a source after which a net, or a place or transition that only gone sources had, is no longer shown, unless a file names it. Its OIDs stay taken. If a net returns, its counters begin again; those of a single place or transition continue."`
}

func (f *netFlags) fill(cfg *sidecar.Config) error {
	if err := positive(map[string]time.Duration{"forget-nets-after": f.Forget}); err != nil {
		return err
	}
	cfg.Allow, cfg.Merge.ForgetNets = f.allow(cfg.Nets), f.Forget
	return nil
}

// allow returns whether a net is shown: it is in a file, or the flag names it. Nil
// allows all.
func (f *netFlags) allow(files []*petri.Net) func(string) bool {
	if len(f.Allow) == 0 {
		return nil
	}
	return func(net string) bool {
		return slices.ContainsFunc(files, func(n *petri.Net) bool { return n.ID == net }) ||
			slices.ContainsFunc(f.Allow, func(pattern string) bool { return alarm.Match(pattern, net) })
	}
}

// alarmFlags configure alarms and their receivers.
type alarmFlags struct {
	Rules   rulesFlag `name:"alarms" placeholder:"FILE" help:"YAML file with the thresholds of alarms; in the configuration file the thresholds may be here themselves. Default: 10 minutes for stuck tokens and starved transitions, silent sources, deadlocks of a minute."`
	History int       `name:"alarm-history" default:"1000" help:"Number of cleared alarms to keep, 1 to 10,000. They are in a file beside --alarm-state, as are acknowledgements and silences, with .notes for its extension."`
	State   string    `name:"alarm-state" type:"path" placeholder:"FILE" help:"File that keeps active alarms over restarts; each sidecar needs its own. Default: alarms.state in --mib-dir."`
	Sinks   []string  `name:"snmp.trap-sink" placeholder:"ADDR" help:"Address to send traps to when alarms are raised and cleared, host:port; may be given again. They are SNMPv2c with the community of --snmp.community-file, or SNMPv3 with --snmp.trap-user, which --snmp.users-file needs unless a community is set."`
	User    string    `name:"snmp.trap-user" placeholder:"NAME" help:"User of --snmp.users-file for notifications to the trap sinks, which are SNMPv3 then instead of SNMPv2c. See docs/snmpv3.md."`
	Inform  bool      `name:"snmp.inform" help:"Send informs to the trap sinks, which they acknowledge, instead of traps. One without an acknowledgement is repeated for 10 minutes."`
}

// stateName is what the state file is called beside the lock.
const stateName = "alarms.state"

// fill takes the rules, and reads the file of them that the flags name.
func (f *alarmFlags) fill(cfg *sidecar.Config, mibDir string) (err error) {
	if f.History < 1 || f.History > alarm.MaxHistory {
		return cli.Wrong("alarm-history", "%d alarms; expected 1 to %d", f.History, alarm.MaxHistory)
	}
	cfg.AlarmState = f.State
	cfg.AlarmHistory = f.History
	cfg.TrapSinks = f.Sinks
	cfg.TrapUser = f.User
	cfg.Inform = f.Inform
	if f.State == "" && mibDir != "" {
		cfg.AlarmState = filepath.Join(mibDir, stateName)
	}
	switch {
	case f.Rules.inline != nil:
		cfg.Alarms = f.Rules.inline.Rules
	case f.Rules.file != "":
		cfg.Alarms, err = cli.ReadFile(f.Rules.file, "the rules for alarms", alarm.ReadRules)
	}
	if err == nil && cfg.Alarms != nil {
		cfg.Sinks, err = notify.Read(cfg.Alarms)
	}
	return cli.OfFlag(alarmsFlag, err)
}

// archiveFlags say which Prometheus has what is older than the last hour.
type archiveFlags struct {
	URL        string `name:"prometheus" placeholder:"URL" help:"URL of the Prometheus that scrapes this sidecar. The live page and the API then show older moments than the last hour from it."`
	HTTPConfig string `name:"prometheus.config.file" type:"path" placeholder:"FILE" help:"YAML file with HTTP client settings for --web.prometheus, in promtool's format: basic_auth, authorization, tls_config, proxy_url."`
	Matchers   string `name:"prometheus.matchers" placeholder:"MATCHERS" help:"Matchers of the series of this sidecar at --web.prometheus, such as job=\"pnagent\",instance=\"host:9797\". Without them all sidecars that it scrapes count as one."`
}

// open returns the archive, or nil without one.
func (f *archiveFlags) open(log *slog.Logger) (*archive.Archive, error) {
	if f.URL == "" {
		return nil, nil
	}
	at := apiFlags{URL: f.URL, HTTPConfig: f.HTTPConfig}
	client, err := at.clientOf("web.prometheus", "web.prometheus.config.file")
	if err != nil {
		return nil, err
	}
	a, err := archive.New(archive.Config{URL: at.URL, HTTP: client, Matchers: f.Matchers, Log: log})
	if err != nil {
		return nil, cli.Wrong("web.prometheus.matchers", "%w", err)
	}
	return a, nil
}
