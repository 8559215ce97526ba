// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/watch"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// engineName is the file in the directory of the state that keeps the SNMPv3 engine.
const engineName = "snmp-engine"

// netSNMP is the private enterprise number in the id of an engine whose OIDs are
// those of no enterprise.
const netSNMP = 8072

// openEngine opens the SNMPv3 engine, if there are users.
func (s *Sidecar) openEngine() (err error) {
	if len(s.cfg.Users) == 0 {
		return nil
	}
	name := ""
	if s.cfg.StateDir != "" {
		name = filepath.Join(s.cfg.StateDir, engineName)
	}
	s.engine, err = snmp.OpenEngine(name, s.cfg.enterprise(), time.Now())
	return err
}

func (s *Sidecar) openSNMP(host string) (err error) {
	if s.cfg.SNMP == "" {
		return nil
	}
	s.snmpAt, err = net.ResolveUDPAddr("udp", s.cfg.SNMP)
	if err != nil {
		return cli.Wrong("snmp", "%q: %w; expected HOST:PORT with a port from 0 to 65535", s.cfg.SNMP, err)
	}
	if !s.cfg.CommunitySet && !s.snmpAt.IP.IsLoopback() {
		return cli.Wrong("snmp", "--snmp %s is not of the loopback, and the community is public; expected --snmp.users-file, --snmp.community-file, or --snmp.allow-public", s.cfg.SNMP)
	}
	cfg := s.cfg.Responder
	cfg.Users, cfg.Engine = s.cfg.Users, s.engine
	cfg.Community, cfg.Table, cfg.Log = s.cfg.Community, s.freshTable, s.cfg.Log
	cfg.System = snmp.System{Descr: "pnagent " + s.cfg.Version + ", state of Petri nets", ObjectID: s.cfg.Root, Name: host}
	s.responder, err = snmp.New(cfg)
	return cli.OfFlag("snmp", cli.UsageIf(err, snmp.ErrConfig))
}

func (s *Sidecar) openAgentX() (err error) {
	if s.cfg.AgentX == "" {
		return nil
	}
	s.subagent, err = agentx.New(agentx.Config{Addr: s.cfg.AgentX, Subtrees: []smi.OID{s.cfg.Root}, Tables: s.freshTable,
		ID: s.cfg.Root, Description: "pnagent " + s.cfg.Version, Priority: s.cfg.AgentXPriority, Logger: s.cfg.Log,
		StateChanged: func() {
			select {
			case s.ability <- struct{}{}:
			default:
			}
		},
		Caps: []agentx.Caps{{ID: mib.CapabilitiesID(s.cfg.Root), Description: mib.CapabilitiesText}}})
	return cli.OfFlag("agentx", cli.UsageIf(err, agentx.ErrConfig))
}

// master returns the state of the session with the AgentX master; nil without AgentX.
func (s *Sidecar) master() *merge.Master {
	if s.subagent == nil {
		return nil
	}
	now := s.subagent.Stats()
	out := &merge.Master{ConnState: natslink.ConnState{Connected: now.State == agentx.StateUp, Since: now.Changed.UnixMicro(),
		Server: s.cfg.AgentX, Reason: now.Reason, Disconnects: now.Losses}}
	if s.member != nil {
		out.Others = s.member.State().Unable
	}
	return out
}

// informRetries and the sender's default time-out give a sink 12 seconds, before an inform
// is repeated less often.
const informRetries = 5

// openTraps opens the sender of notifications, if there are sinks.
func (s *Sidecar) openTraps() (err error) {
	user, err := s.cfg.trapUser()
	if err != nil || len(s.cfg.TrapSinks) == 0 {
		return err
	}
	if user == nil && s.cfg.Community == "" {
		return cli.Wrong("snmp.trap-sink", "--snmp.trap-sink and --snmp.users-file without --snmp.trap-user: the notifications would be SNMPv2c with the community public; expected --snmp.trap-user, or a community for them by --snmp.community-file")
	}
	cfg := snmp.SenderConfig{Sinks: s.cfg.TrapSinks, Community: s.cfg.Community, User: user, Engine: s.engine,
		Inform: s.cfg.Inform, Repeats: informRetries, Keep: watch.KeepUnsent, Log: s.cfg.Log}
	if s.responder != nil { // one agent, one sysUpTime
		cfg.UpTime = func() uint32 { return s.responder.UpTime(time.Now()) }
	}
	s.sender, err = snmp.NewSender(cfg)
	return cli.OfFlag("snmp.trap-sink", cli.UsageIf(err, snmp.ErrConfig))
}

// trapUser returns the user of notifications, or nil for SNMPv2c.
func (c *Config) trapUser() (*snmp.User, error) {
	name := c.TrapUser
	if name == "" {
		return nil, nil
	}
	i := slices.IndexFunc(c.Users, func(u snmp.User) bool { return u.Name == name })
	if i < 0 {
		return nil, cli.Wrong("snmp.trap-user", "--snmp.trap-user %q is not in the file of users; expected a user of --snmp.users-file", name)
	}
	return &c.Users[i], nil
}

// openAlarms creates the watcher and its sinks.
func (s *Sidecar) openAlarms() {
	var sinks []watch.Sink
	if s.subagent != nil {
		sinks = append(sinks, watch.Sink{Name: "agentx", Send: s.notifyMaster, Keep: watch.KeepUnsent})
	}
	if s.sender != nil {
		sinks = append(sinks, watch.Sink{Name: "snmp", Deliver: s.notifySinks})
	}
	sinks = append(sinks, s.receivers.set(&s.cfg)...)
	cfg := watch.Config{Rules: s.cfg.Alarms, Views: s.collector.Subscribe(), Need: s.collector.Need, ForgetAfter: s.cfg.Merge.ForgetAfter,
		StateFile: s.cfg.AlarmState, NotesFile: s.cfg.notesFile(), History: s.cfg.AlarmHistory, Sinks: sinks, Log: s.cfg.Log}
	if s.member != nil {
		cfg.Duty, cfg.Turned = s.duty, s.member.Turned()
		cfg.Share, cfg.ShareNotes, cfg.ShareSent = s.member.Share, s.member.ShareNotes, s.member.ShareSent
		cfg.Name = fmt.Sprintf("sidecar %q of priority %d", s.agent.Name, s.cfg.AgentXPriority)
	}
	s.watcher = watch.New(cfg)
}

// variables returns a notification as SNMP has it.
func (s *Sidecar) variables(n *alarm.Notification) ([]smi.Variable, error) {
	if n.Suppressed != 0 {
		return s.builder.Suppressed(n.Suppressed), nil
	}
	s.showRows()
	return s.builder.Notification(n.Alarm, n.Raise)
}

// notifyMaster sends a notification through AgentX. While there is no session it waits for
// one.
func (s *Sidecar) notifyMaster(ctx context.Context, n alarm.Notification) error {
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
func (s *Sidecar) notifySinks(n alarm.Notification, done func(error)) {
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
