// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// getBulk is a GetBulk of 50 rows of everything, version 2c, community public.
const getBulk = "\x30\x22\x02\x01\x01\x04\x06public\xa5\x15\x02\x01\x07\x02\x01\x00\x02\x01\x32\x30\x0a\x30\x08\x06\x04\x2b\x06\x01\x02\x05\x00"

// dialSNMP returns a socket to a responder.
func dialSNMP(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestPublicOffTheLoopbackIsRefused(t *testing.T) {
	t.Parallel()
	nats := kit.StartNATS(t)
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		kit.WantFailure(t, kit.Pnagent(t, "serve", "--nats", nats, "--mib-dir", "", "--web.listen-address", "127.0.0.1:0", "--snmp", address), 2,
			"--snmp "+regexp.QuoteMeta(address)+" is not of the loopback, and the community is public; expected --snmp.users-file, --snmp.community-file, or --snmp.allow-public")
	}
	for _, flags := range [][]string{
		{"--snmp", "0.0.0.0:0", "--snmp.allow-public"},
		{"--snmp", "0.0.0.0:0", "--snmp.community-file", kit.Write(t, "community", "public\n")},
		{"--snmp", "127.0.0.1:0"},
		{"--snmp", "localhost:0"},
	} {
		kit.Serve(t, nats, append(flags, "--mib-dir", "")...)
	}
}

// The environment does not permit public, and others can read no file with a community.
func TestACommunityThatOthersKnowIsRefused(t *testing.T) {
	t.Parallel()
	nats := kit.StartNATS(t)
	flags := []string{"serve", "--nats", nats, "--mib-dir", "", "--web.listen-address", "127.0.0.1:0", "--snmp", "0.0.0.0:0"}
	kit.WantFailure(t, kit.RunIn(t, "", append(kit.CleanEnv(), "PNAGENT_SNMP_COMMUNITY=public"), kit.Built().Pnagent, flags...), 2, "the community is public; expected --snmp.users-file")
	file := kit.Write(t, "community", "CHANGE-ME\n")
	kit.Serve(t, nats, "--mib-dir", "", "--snmp", "0.0.0.0:0", "--snmp.community-file", file)
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	kit.WantFailure(t, kit.Pnagent(t, append(flags, "--snmp.community-file", file)...), 2, regexp.QuoteMeta(file)+" has the mode 0644; expected 0600")
	kit.WantFailure(t, kit.Pnagent(t, append(flags, "--snmp.community-file", kit.Write(t, "empty", "\n"))...), 2, "empty is empty; expected a community")
}

// With users of SNMPv3 no notification is SNMPv2c with public, unless that is said.
func TestTrapsWithUsersNeedAUserOrACommunity(t *testing.T) {
	t.Parallel()
	nats, users := kit.StartNATS(t), kit.Write(t, "users", "noc SHA-256 authenticate-me AES-128 encrypt-me-too\n")
	flags := []string{"--mib-dir", "", "--snmp.users-file", users, "--snmp.trap-sink", "127.0.0.1:9"}
	kit.WantFailure(t, kit.Pnagent(t, append([]string{"serve", "--nats", nats, "--web.listen-address", "127.0.0.1:0"}, flags...)...), 2,
		"--snmp.trap-sink and --snmp.users-file without --snmp.trap-user: .* expected --snmp.trap-user, or a community for them by --snmp.community-file")
	for _, more := range [][]string{{"--snmp.trap-user", "noc"}, {"--snmp.allow-public"}, {"--snmp.community-file", kit.Write(t, "community", "CHANGE-ME\n")}} {
		kit.Serve(t, nats, append(flags, more...)...)
	}
}

// An attacker sends the largest request with the address of its victim, who does
// not continue the walk.
func TestAnUnprovenAddressIsSentFiveTimesWhatItSent(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	side := kit.Serve(t, kit.StartNATS(t), "--mib-dir", "", "--snmp", "127.0.0.1:0", kit.Write(t, "claims.pnml", kit.StuckNet))
	victim := dialSNMP(t, side.SNMP)
	in, out := 0, 0
	for range 200 {
		n, err := victim.Write([]byte(getBulk))
		if err != nil {
			t.Fatal(err)
		}
		in += n
		answer := make([]byte, 1<<16)
		if err := victim.SetReadDeadline(time.Now().Add(kit.Patience)); err != nil {
			t.Fatal(err)
		}
		n, err = victim.Read(answer)
		if err != nil {
			t.Fatal(err)
		}
		if out += n; out > 5*in {
			t.Fatalf("%d bytes for %d", out, in)
		}
	}
	t.Logf("%d bytes for %d", out, in)
	if cut, _ := side.Scrape(t).Value("pnagent_snmp_shortened_total"); cut == 0 {
		t.Error("the metrics have no cut response")
	}
	// Managers notice nothing.
	client := snmptest.Client{Addr: side.SNMP}
	rows := client.Walk(t, smi.OID{1, 3, 6, 1})
	if bulk := client.BulkWalk(t, 50, smi.OID{1, 3, 6, 1}); len(rows) < 50 || len(bulk) != len(rows) {
		t.Errorf("%d rows by GetNext, %d by GetBulk", len(rows), len(bulk))
	}
}

func TestOtherNetworksGetNoAnswerFromSNMP(t *testing.T) {
	t.Parallel()
	nats := kit.StartNATS(t)
	side := kit.Serve(t, nats, "--mib-dir", "", "--snmp", "127.0.0.1:0", "--snmp.allow-from", "192.0.2.0/24", "--snmp.allow-from", "2001:db8::/32")
	stranger := dialSNMP(t, side.SNMP)
	if _, err := stranger.Write([]byte(getBulk)); err != nil {
		t.Fatal(err)
	}
	kit.Until(t, "the packet is counted", func() error {
		if n, _ := side.Scrape(t).Value("pnagent_snmp_dropped_total", "reason", "network"); n != 1 {
			return fmt.Errorf("%v packets of other networks", n)
		}
		return nil
	})
	side.Alarmed(t, "PnagentSNMPDropped", "pnagent_snmp_dropped_total")
	if err := stranger.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := stranger.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	kit.WantFailure(t, kit.Pnagent(t, "serve", "--nats", nats, "--mib-dir", "", "--snmp", "127.0.0.1:0", "--snmp.allow-from", "192.0.2.0"), 2,
		`--snmp.allow-from: "192.0.2.0"; expected a network such as 192.0.2.0/24`)
}
