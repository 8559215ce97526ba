// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/pnagent/pnagent/agentx"
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
		return configError{fmt.Errorf("SNMP address: %w", err)}
	}
	if !s.cfg.CommunitySet && !addr.IP.IsLoopback() {
		return configError{fmt.Errorf("--snmp %s is not of the loopback, and the community is public; expected --snmp.users-file, --snmp.community-file, or --snmp.allow-public", s.cfg.SNMP)}
	}
	cfg := s.cfg.Responder
	cfg.Users, cfg.Engine = s.cfg.Users, s.engine
	cfg.Community, cfg.Table, cfg.Log = s.cfg.Community, s.freshTable, s.cfg.Log
	cfg.System = snmp.System{Descr: "pnagent " + s.cfg.Version + ", state of Petri nets", ObjectID: s.cfg.Root, Name: host}
	if s.responder, err = snmp.New(cfg); err != nil {
		return configError{err}
	}
	if s.udp, err = net.ListenUDP("udp", addr); err != nil {
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
		return configError{err}
	}
	return nil
}
