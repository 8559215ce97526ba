// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp"
)

// defaultCommunity is that of SNMPv2c where no other is set.
const defaultCommunity = "public"

// community returns the community of SNMPv2c, or "" where only users of SNMPv3 are
// answered, and whether it may be used off the loopback.
func (f *sidecarFlags) community() (community string, set bool, err error) {
	if f.Community != "" {
		community, err = readCommunity(f.Community)
		return community, true, err
	}
	if c := os.Getenv("PNAGENT_SNMP_COMMUNITY"); c != "" {
		return c, c != defaultCommunity || f.AllowPublic, nil
	}
	if f.Users != "" && !f.AllowPublic {
		return "", true, nil // SNMPv3 alone
	}
	return defaultCommunity, f.AllowPublic, nil
}

// readCommunity reads a file with a community, which others must not be able to read.
func readCommunity(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", fmt.Errorf("reading the SNMP community: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 && runtime.GOOS != "windows" {
		return "", usageError{fmt.Errorf("--snmp.community-file: %s has the mode %#o; expected 0600, or 0640 for a group that may read it", name, mode)}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("reading the SNMP community: %w", err)
	}
	community := strings.TrimSpace(string(text))
	if community == "" {
		return "", usageError{fmt.Errorf("--snmp.community-file: %s is empty; expected a community", name)}
	}
	return community, nil
}

// networks reads the networks of --snmp.allow-from.
func networks(texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil || network.Addr().Is4In6() {
			return nil, usageError{fmt.Errorf("--snmp.allow-from: %q; expected a network such as 192.0.2.0/24 or 2001:db8::/32", text)}
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

// engineName is the file in the directory of the state that keeps the SNMPv3 engine.
const engineName = "snmp-engine"

// netSNMP is the private enterprise number in the id of an engine whose OIDs are
// those of no enterprise.
const netSNMP = 8072

// openEngine opens the SNMPv3 engine, if there are users.
func (s *sidecar) openEngine() (err error) {
	if len(s.cfg.users) == 0 {
		return nil
	}
	name, enterprise := "", uint32(netSNMP)
	if s.cfg.stateDir != "" {
		name = filepath.Join(s.cfg.stateDir, engineName)
	}
	if enterprises := (smi.OID{1, 3, 6, 1, 4, 1}); s.cfg.root.HasPrefix(enterprises) && len(s.cfg.root) > len(enterprises) {
		enterprise = s.cfg.root[len(enterprises)]
	}
	s.engine, err = snmp.OpenEngine(name, enterprise, time.Now())
	return err
}

func (s *sidecar) openSNMP(host string) (err error) {
	if s.cfg.snmp == "" {
		return nil
	}
	addr, err := net.ResolveUDPAddr("udp", s.cfg.snmp)
	if err != nil {
		return usageError{fmt.Errorf("SNMP address: %w", err)}
	}
	if !s.cfg.communitySet && !addr.IP.IsLoopback() {
		return usageError{fmt.Errorf("--snmp %s is not of the loopback, and the community is public; expected --snmp.users-file, --snmp.community-file, or --snmp.allow-public", s.cfg.snmp)}
	}
	cfg := s.cfg.responder
	cfg.Users, cfg.Engine = s.cfg.users, s.engine
	cfg.Community, cfg.Table, cfg.Log = s.cfg.community, s.freshTable, s.cfg.log
	cfg.System = snmp.System{Descr: "pnagent " + versionOf().Version + ", state of Petri nets", ObjectID: s.cfg.root, Name: host}
	if s.responder, err = snmp.New(cfg); err != nil {
		return usageError{err}
	}
	if s.udp, err = net.ListenUDP("udp", addr); err != nil {
		return fmt.Errorf("listening for SNMP: %w", err)
	}
	return nil
}
