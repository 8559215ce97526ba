// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/watch"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp"
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

// informRetries and the sender's default time-out give a sink 12 seconds, before an inform
// is repeated less often.
const informRetries = 5

// fill takes the rules, and reads the file of them that the flags name.
func (f *alarmFlags) fill(cfg *sidecarConfig, mibDir string) (err error) {
	if f.History < 1 || f.History > alarm.MaxHistory {
		return usageError{fmt.Errorf("--alarm-history: %d alarms; expected 1 to %d", f.History, alarm.MaxHistory)}
	}
	cfg.alarms = *f
	if f.State == "" && mibDir != "" {
		cfg.alarms.State = filepath.Join(mibDir, stateName)
	}
	switch {
	case f.Rules.inline != nil:
		cfg.rules = f.Rules.inline.Rules
	case f.Rules.file != "":
		cfg.rules, err = readFile(f.Rules.file, "the rules for alarms", alarm.ReadRules)
	}
	return err
}

// notesFile returns the file of acknowledgements, silences and cleared alarms; "" for none.
func (f *alarmFlags) notesFile() string {
	if f.State == "" {
		return ""
	}
	return strings.TrimSuffix(f.State, filepath.Ext(f.State)) + ".notes"
}

func (s *sidecar) openTraps() (err error) {
	user, err := s.trapUser()
	if err != nil || len(s.cfg.alarms.Sinks) == 0 {
		return err
	}
	if user == nil && s.cfg.community == "" {
		return usageError{errors.New("--snmp.trap-sink and --snmp.users-file without --snmp.trap-user: the notifications would be SNMPv2c with the community public; expected --snmp.trap-user, or a community for them by --snmp.community-file")}
	}
	cfg := snmp.SenderConfig{Sinks: s.cfg.alarms.Sinks, Community: s.cfg.community, User: user, Engine: s.engine,
		Inform: s.cfg.alarms.Inform, Repeats: informRetries, Keep: watch.KeepUnsent, Log: s.cfg.log}
	if s.responder != nil { // one agent, one sysUpTime
		cfg.UpTime = func() uint32 { return s.responder.UpTime(time.Now()) }
	}
	s.sender, err = snmp.NewSender(cfg)
	if err != nil {
		return usageError{err}
	}
	return nil
}

// trapUser returns the user of notifications, or nil for SNMPv2c.
func (s *sidecar) trapUser() (*snmp.User, error) {
	name := s.cfg.alarms.User
	if name == "" {
		return nil, nil
	}
	i := slices.IndexFunc(s.cfg.users, func(u snmp.User) bool { return u.Name == name })
	if i < 0 {
		return nil, usageError{fmt.Errorf("--snmp.trap-user %q is not in the file of users; expected a user of --snmp.users-file", name)}
	}
	return &s.cfg.users[i], nil
}

// openAlarms creates the watcher and its sinks.
func (s *sidecar) openAlarms() {
	var sinks []watch.Sink
	if s.subagent != nil {
		sinks = append(sinks, watch.Sink{Name: "agentx", Send: s.notifyMaster, Keep: watch.KeepUnsent})
	}
	if s.sender != nil {
		sinks = append(sinks, watch.Sink{Name: "snmp", Deliver: s.notifySinks})
	}
	cfg := watch.Config{Rules: s.cfg.rules, Views: s.collector.Subscribe(), Need: s.collector.Need, ForgetAfter: s.cfg.flags.ForgetAfter,
		StateFile: s.cfg.alarms.State, NotesFile: s.cfg.alarms.notesFile(), History: s.cfg.alarms.History, Sinks: sinks, Log: s.cfg.log}
	if s.member != nil {
		cfg.Duty, cfg.Turned, cfg.Share, cfg.ShareNotes = s.duty, s.member.Turned(), s.member.Share, s.member.ShareNotes
		cfg.Name = fmt.Sprintf("sidecar %q of priority %d", s.agent.Name, s.cfg.agentXPriority)
	}
	s.watcher = watch.New(cfg)
}

// variables returns a notification as SNMP has it.
func (s *sidecar) variables(n *alarm.Notification) ([]smi.Variable, error) {
	if n.Suppressed != 0 {
		return s.builder.Suppressed(n.Suppressed), nil
	}
	return s.builder.Notification(n.Alarm, n.Raise)
}

// notifyMaster sends a notification through AgentX. While there is no session it waits for
// one.
func (s *sidecar) notifyMaster(ctx context.Context, n alarm.Notification) error {
	variables, err := s.variables(&n)
	connected := s.subagent.Connected()
	if err == nil {
		err = s.subagent.Notify(ctx, variables)
	}
	if errors.Is(err, agentx.ErrNotConnected) {
		return &watch.NotReadyError{Err: err, Ready: connected}
	}
	return err
}

// notifySinks sends a notification to the trap sinks.
func (s *sidecar) notifySinks(n alarm.Notification, done func(error)) {
	variables, err := s.variables(&n)
	if err != nil {
		done(err)
		return
	}
	about := snmp.Delivery{Variables: variables, Done: done}
	if n.Suppressed == 0 {
		about.Alarm, about.Clears = n.Alarm.Index, !n.Raise
	}
	s.sender.Deliver(about)
}
