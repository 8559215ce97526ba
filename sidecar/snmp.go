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
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp"
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
	name, enterprise := "", uint32(netSNMP)
	if s.cfg.StateDir != "" {
		name = filepath.Join(s.cfg.StateDir, engineName)
	}
	if enterprises := (smi.OID{1, 3, 6, 1, 4, 1}); s.cfg.Root.HasPrefix(enterprises) && len(s.cfg.Root) > len(enterprises) {
		enterprise = s.cfg.Root[len(enterprises)]
	}
	s.engine, err = snmp.OpenEngine(name, enterprise, time.Now())
	return err
}

func (s *Sidecar) openSNMP(host string) (err error) {
	if s.cfg.SNMP == "" {
		return nil
	}
	addr, err := net.ResolveUDPAddr("udp", s.cfg.SNMP)
	if err != nil {
		return cli.Usage(fmt.Errorf("SNMP address: %w", err))
	}
	if !s.cfg.CommunitySet && !addr.IP.IsLoopback() {
		return cli.Usage(fmt.Errorf("--snmp %s is not of the loopback, and the community is public; expected --snmp.users-file, --snmp.community-file, or --snmp.allow-public", s.cfg.SNMP))
	}
	cfg := s.cfg.Responder
	cfg.Users, cfg.Engine = s.cfg.Users, s.engine
	cfg.Community, cfg.Table, cfg.Log = s.cfg.Community, s.freshTable, s.cfg.Log
	cfg.System = snmp.System{Descr: "pnagent " + s.cfg.Version + ", state of Petri nets", ObjectID: s.cfg.Root, Name: host}
	s.responder, err = snmp.New(cfg)
	if err != nil {
		return cli.Usage(err)
	}
	s.udp, err = net.ListenUDP("udp", addr)
	if err != nil {
		return fmt.Errorf("listening for SNMP: %w", err)
	}
	return nil
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
	if err != nil {
		return cli.Usage(err)
	}
	return nil
}

// informRetries and the sender's default time-out give a sink 12 seconds, before an inform
// is repeated less often.
const informRetries = 5

// openTraps opens the sender of notifications, if there are sinks.
func (s *Sidecar) openTraps() (err error) {
	user, err := s.trapUser()
	if err != nil || len(s.cfg.TrapSinks) == 0 {
		return err
	}
	if user == nil && s.cfg.Community == "" {
		return cli.Usage(errors.New("--snmp.trap-sink and --snmp.users-file without --snmp.trap-user: the notifications would be SNMPv2c with the community public; expected --snmp.trap-user, or a community for them by --snmp.community-file"))
	}
	cfg := snmp.SenderConfig{Sinks: s.cfg.TrapSinks, Community: s.cfg.Community, User: user, Engine: s.engine,
		Inform: s.cfg.Inform, Repeats: informRetries, Keep: watch.KeepUnsent, Log: s.cfg.Log}
	if s.responder != nil { // one agent, one sysUpTime
		cfg.UpTime = func() uint32 { return s.responder.UpTime(time.Now()) }
	}
	s.sender, err = snmp.NewSender(cfg)
	if err != nil {
		return cli.Usage(err)
	}
	return nil
}

// trapUser returns the user of notifications, or nil for SNMPv2c.
func (s *Sidecar) trapUser() (*snmp.User, error) {
	name := s.cfg.TrapUser
	if name == "" {
		return nil, nil
	}
	i := slices.IndexFunc(s.cfg.Users, func(u snmp.User) bool { return u.Name == name })
	if i < 0 {
		return nil, cli.Usage(fmt.Errorf("--snmp.trap-user %q is not in the file of users; expected a user of --snmp.users-file", name))
	}
	return &s.cfg.Users[i], nil
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
	cfg := watch.Config{Rules: s.cfg.Alarms, Views: s.collector.Subscribe(), Need: s.collector.Need, ForgetAfter: s.cfg.Merge.ForgetAfter,
		StateFile: s.cfg.AlarmState, NotesFile: s.cfg.notesFile(), History: s.cfg.AlarmHistory, Sinks: sinks, Log: s.cfg.Log}
	if s.member != nil {
		cfg.Duty, cfg.Turned, cfg.Share, cfg.ShareNotes = s.duty, s.member.Turned(), s.member.Share, s.member.ShareNotes
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
