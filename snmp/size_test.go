// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// sizes are the answers of an agent to requests for one name many times, of SNMPv2c and SNMPv3,
// as the error and the number of variables.
func sizes(t *testing.T, addr string, c combination) map[string]string {
	t.Helper()
	udp, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for version, change := range map[string]func(*gosnmp.GoSNMP){"SNMPv2c": nil, "SNMPv3": func(g *gosnmp.GoSNMP) {
		g.Version, g.SecurityModel, g.MsgFlags = gosnmp.Version3, gosnmp.UserSecurityModel, gosnmp.AuthPriv
		g.SecurityParameters = &gosnmp.UsmSecurityParameters{UserName: c.name(), AuthenticationPassphrase: authPassphrase, PrivacyPassphrase: privPassphrase,
			AuthenticationProtocol: gosnmp.SHA, PrivacyProtocol: gosnmp.AES}
	}} {
		client := connect(t, udp, func(g *gosnmp.GoSNMP) {
			g.MaxOids = 1000
			if change != nil {
				change(g)
			}
		})
		for _, n := range []int{1, 60, 120, 128, 300, 900} {
			names := strings.Split(strings.TrimSuffix(strings.Repeat(".1.3.6.1.2.1.1.5.0 ", n), " "), " ")
			for op, request := range map[string]func([]string) (*gosnmp.SnmpPacket, error){"Get": client.Get, "GetNext": client.GetNext} {
				answer, err := request(names)
				if err != nil {
					t.Fatalf("%s of %d by %s: %v", op, n, version, err)
				}
				all[fmt.Sprintf("%s of %d by %s", op, n, version)] = fmt.Sprint(answer.Error, " ", len(answer.Variables), " ", answer.Variables[0].Type)
			}
		}
	}
	return all
}

func TestARequestForManyNamesIsAnsweredAsSnmpdDoes(t *testing.T) {
	c := combination{"SHA-1", "AES-128"}
	s := snmptest.Start(t, snmptest.Config{Lines: []string{"sysName " + system.Name,
		fmt.Sprintf("createUser %s SHA %s AES %s", c.name(), authPassphrase, privPassphrase), "rouser " + c.name() + " priv"}})
	addr := serve(t, newResponder(t, everyType(t), func(cfg *Config) {
		secured(t)(cfg)
		cfg.Community = "public"
	}))
	want, got := sizes(t, s.Addr, c), sizes(t, addr.String(), c)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
