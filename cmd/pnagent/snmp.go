// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"

	"github.com/pnagent/pnagent/cli"
)

// defaultCommunity is that of SNMPv2c where no other is set.
const defaultCommunity = "public"

// community returns the community of SNMPv2c, or "" where only users of SNMPv3 are
// answered, and whether it may be used off the loopback.
func (f *sidecarFlags) community() (community string, set bool, err error) {
	if f.Community != "" {
		community, err = readCommunity(f.Community)
		return community, true, cli.OfFlag("snmp.community-file", err)
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
		return "", cli.Usage(fmt.Errorf("--snmp.community-file: %s has the mode %#o; expected 0600, or 0640 for a group that may read it", name, mode))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("reading the SNMP community: %w", err)
	}
	community := strings.TrimSpace(string(text))
	if community == "" {
		return "", cli.Usage(fmt.Errorf("--snmp.community-file: %s is empty; expected a community", name))
	}
	return community, nil
}

// networks reads the networks of --snmp.allow-from.
func networks(texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil || network.Addr().Is4In6() {
			return nil, cli.Wrong("snmp.allow-from", "%q; expected a network such as 192.0.2.0/24 or 2001:db8::/32", text)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}
