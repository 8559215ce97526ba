// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/sidecar"
)

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
		return cli.Usage(fmt.Errorf("--alarm-history: %d alarms; expected 1 to %d", f.History, alarm.MaxHistory))
	}
	cfg.AlarmState, cfg.AlarmHistory, cfg.TrapSinks, cfg.TrapUser, cfg.Inform = f.State, f.History, f.Sinks, f.User, f.Inform
	if f.State == "" && mibDir != "" {
		cfg.AlarmState = filepath.Join(mibDir, stateName)
	}
	switch {
	case f.Rules.inline != nil:
		cfg.Alarms = f.Rules.inline.Rules
	case f.Rules.file != "":
		cfg.Alarms, err = cli.ReadFile(f.Rules.file, "the rules for alarms", alarm.ReadRules)
	}
	return err
}
