// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/sidecar/doctor"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// relay passes datagrams to agents: those of one client to one agent, and each client to the next, as
// a balancer does. It drops answers that have more than most bytes; 0 drops none.
func relay(t *testing.T, most int, agents ...string) string {
	t.Helper()
	front, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = front.Close() })
	go func() {
		flows := map[string]net.Conn{}
		packet := make([]byte, 1<<16)
		for {
			n, client, err := front.ReadFrom(packet)
			if err != nil {
				for _, back := range flows {
					_ = back.Close()
				}
				return
			}
			back := flows[client.String()]
			if back == nil {
				back, err = net.Dial("udp", agents[len(flows)%len(agents)])
				if err != nil {
					return
				}
				flows[client.String()] = back
				go answers(front, client, back, most)
			}
			_, _ = back.Write(packet[:n]) // a lost datagram is sent again
		}
	}()
	return front.LocalAddr().String()
}

// answers passes what an agent answers to the client of one flow.
func answers(front net.PacketConn, client net.Addr, back net.Conn, most int) {
	packet := make([]byte, 1<<16)
	for {
		n, err := back.Read(packet)
		if err != nil {
			return
		}
		if most == 0 || n <= most {
			_, _ = front.WriteTo(packet[:n], client) // a lost datagram is asked for again
		}
	}
}

// private writes a file that only its owner can read.
func private(t *testing.T, name, text string) string {
	t.Helper()
	file := kit.Write(t, name, text+"\n")
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// noc are the lines of a user for snmpd.conf, with an engine id.
func noc(engine string) snmptest.Config {
	return snmptest.Config{Lines: []string{"engineID " + engine, "createUser noc SHA-256 long-passphrase AES long-passphrase", "rouser noc priv"}}
}

// asNOC returns the flags by which the doctor asks an agent as that user.
func asNOC(t *testing.T, address string) []string {
	t.Helper()
	users := private(t, "users", "noc SHA-256 long-passphrase AES-128 long-passphrase")
	return []string{"--agentx", "unix:" + filepath.Join(t.TempDir(), "x"), "--manager.address", address, "--manager.user", "noc", "--manager.users-file", users, "--url", unused(t)}
}

func TestTwoAgentsAtOneAddress(t *testing.T) {
	t.Parallel()
	one, two := snmptest.Start(t, noc("first-host")), snmptest.Start(t, noc("second-host"))
	found, _ := examine(t, asNOC(t, relay(t, 0, one.Addr, two.Addr))...)
	says(t, found, "master", doctor.Fails, fmt.Sprintf("two agents answer at this address, with the engine ids 80001f8804%x and 80001f8804%x", "first-host", "second-host"), "agentAddress udp:ADDRESS-OF-THIS-HOST-ALONE")
	// The cure is an address for each.
	found, _ = examine(t, asNOC(t, one.Addr)...)
	says(t, found, "master", doctor.OK, "it answers")
}

// TestACopyOfAHost has two agents with the same engine id of which one started more often, as
// after a host was copied.
func TestACopyOfAHost(t *testing.T) {
	t.Parallel()
	one := noc("the-same-host")
	one.Lines = append(one.Lines, "engineBoots 41", fmt.Sprintf("oldEngineID 0x80001f8804%x", "the-same-host"))
	original, copied := snmptest.Start(t, one), snmptest.Start(t, noc("the-same-host"))
	found, _ := examine(t, asNOC(t, relay(t, 0, original.Addr, copied.Addr))...)
	says(t, found, "master", doctor.Fails, "requests are outside of the time window of one of them", "systemctl stop snmpd; rm /var/lib/snmp/snmpd.conf; systemctl start snmpd")
}

// TestAnEngineThatIsNotKept has a snmpd that could write its file once, and cannot any more. Its engine
// id is another one after each start.
func TestAnEngineThatIsNotKept(t *testing.T) {
	t.Parallel()
	config := noc("")
	config.Lines = config.Lines[1:]
	snmpd := snmptest.Start(t, config)
	dir := filepath.Join(filepath.Dir(strings.TrimPrefix(snmpd.AgentX, "unix:")), "persistent")
	file := filepath.Join(dir, "snmpd.conf")
	flags := append(asNOC(t, snmpd.Addr), "--manager.snmpd-state", file)
	found, _ := examine(t, flags...)
	says(t, found, "master.engine", doctor.OK, "keeps its engine id")

	snmpd.Stop()
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // so that also root cannot write below it
		t.Fatal(err)
	}
	snmpd.Start(t)
	flags[len(flags)-1] = kit.Write(t, "snmpd.conf", string(kept))
	found, _ = examine(t, flags...)
	says(t, found, "master", doctor.OK, "")
	says(t, found, "master.engine", doctor.Fails, "errors of the engine id or of the time window", "chown -R USER-OF-SNMPD "+filepath.Dir(flags[len(flags)-1])+" && systemctl restart snmpd")
	flags[len(flags)-1] = filepath.Join(t.TempDir(), "none")
	found, _ = examine(t, flags...)
	says(t, found, "master.engine", doctor.Unknown, "--manager.snmpd-state")
}

// column returns the OID of a column of PETRINET-MIB.
func column(t *testing.T, name string) smi.OID {
	t.Helper()
	root, err := mib.ParseRoot(kit.OIDRoot)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range mib.Describe(root).Sections {
		for _, o := range s.Objects {
			if o.Name == name {
				return o.OID
			}
		}
	}
	t.Fatalf("no column %s", name)
	return nil
}

func TestTablesThatEndEarly(t *testing.T) {
	t.Parallel()
	places := "." + column(t, "pnPlaceName").String()
	for _, c := range []struct {
		name   string
		lines  []string // of snmpd.conf, beside a view that includes all
		most   int      // bytes of an answer
		cause  string
		hints  []string
		cured  func(lines []string) []string
		answer doctor.Outcome
	}{
		{"a view hides all places but the first", []string{"view noc excluded " + places, "view noc included " + places + ".1.1"}, 0, "a view of snmpd.conf hides the rest", []string{"(remove) view noc excluded " + places}, nil, doctor.Fails},
		{"a view hides a column", []string{"view noc excluded ." + column(t, "pnPlaceTokens").String()}, 0, "hides other columns: pnPlaceTokens", []string{"(remove) view noc excluded ." + column(t, "pnPlaceTokens").String()}, nil, doctor.Fails},
		{"a view hides the nets", []string{"view noc excluded ." + column(t, "pnNetName").String()}, 0, "0 of the 1 nets of the sidecar are in the table: a view of snmpd.conf hides the rest", nil, nil, doctor.Fails},
		{"snmpd cuts answers", []string{"maxGetbulkRepeats 1"}, 0, "rows with 1: a walk takes that many times the requests", []string{"maxGetbulkRepeats 0"}, nil, doctor.Fails},
		{"a firewall drops large packets", nil, 600, "its answer about 25 rows is lost", []string{"maxGetbulkRepeats 5"}, func([]string) []string { return []string{"maxGetbulkRepeats 5"} }, doctor.Fails},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := func(lines []string) []doctor.Finding {
				socket := "unix:" + filepath.Join(filepath.Dir(kit.Write(t, "x", "")), "m")
				lines = slices.Concat([]string{"view noc included .1", "rocommunity public default -V noc", "master agentx", "agentXSocket " + socket}, lines)
				snmpd := snmptest.Start(t, snmptest.Config{Bare: true, Lines: lines})
				snmpd.AgentX = socket
				_, flags := monitored(t, snmpd)
				if c.most > 0 {
					flags[slices.Index(flags, snmpd.Addr)] = relay(t, c.most, snmpd.Addr)
				}
				found, _ := examine(t, append(flags, "--manager.snmpd-conf", kit.Write(t, "snmpd.conf", strings.Join(lines, "\n")+"\n"))...)
				return found
			}
			says(t, run(c.lines), "master.tables", doctor.Fails, c.cause, c.hints...)
			var lines []string
			if c.cured != nil {
				lines = c.cured(c.lines)
			}
			for _, f := range of(run(lines), "master.tables") {
				if f.Outcome != doctor.OK && c.most == 0 || strings.Contains(f.Cause, c.cause) {
					t.Errorf("with the cure: got %+v", f)
				}
			}
		})
	}
}

// TestAnAgentThatEndsEarly has a sidecar, and another subagent at snmpd which has fewer rows.
func TestAnAgentThatEndsEarly(t *testing.T) {
	t.Parallel()
	snmpd := snmptest.Start(t, snmptest.Config{})
	_, flags := monitored(t, nil)
	root, err := mib.ParseRoot(kit.OIDRoot)
	if err != nil {
		t.Fatal(err)
	}
	url := kit.StartNATS(t) // of others
	kit.Serve(t, url, "--mib-dir", "", "--agentx", snmpd.AgentX).Registered(t)
	found, _ := examine(t, append(flags, "--agentx", snmpd.AgentX, "--manager.address", snmpd.Addr)...)
	says(t, found, "master.tables", doctor.Fails, "0 of the 1 nets of the sidecar are in the table: what answers has no more rows", "--agentx.priority=LESS-THAN-THAT-OF-THE-OTHER")

	// One that is too slow for snmpd.
	slow := snmptest.Start(t, snmptest.Config{})
	subagent, err := agentx.New(agentx.Config{Addr: slow.AgentX, Subtrees: []smi.OID{root}, Tables: func() *smi.Table { time.Sleep(3 * time.Second); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = subagent.Run(ctx) }()
	defer func() { end(); <-ended }()
	found = registered(t, "master.root", "the agent answers for itself", append(flags, "--agentx", slow.AgentX, "--manager.address", slow.Addr)...)
	says(t, found, "master.root", doctor.Fails, "the agent answers for itself, and not about the subtree", "agentXTimeout 5")
}

// TestATrapSinkOfSNMPv3 has a receiver that knows the user at its own engine: that suffices for informs, and
// not for traps, whose engine is the sidecar's.
func TestATrapSinkOfSNMPv3(t *testing.T) {
	t.Parallel()
	trapd := snmptest.StartTrapd(t, "createUser noc SHA-256 long-passphrase AES long-passphrase")
	users := private(t, "users", "noc SHA-256 long-passphrase AES-128 long-passphrase\nops SHA-256 long-passphrase AES-128 long-passphrase")
	flags := []string{"--snmp.trap-sink", trapd.Addr, "--snmp.users-file", users, "--url", unused(t)}
	found, _ := examine(t, append(flags, "--snmp.trap-user", "noc")...)
	says(t, found, "sink", doctor.Unknown, "only if it knows the user at the engine of the sidecar", "--snmp.inform=true")
	found, _ = examine(t, append(flags, "--snmp.trap-user", "noc", "--snmp.inform")...)
	says(t, found, "sink", doctor.OK, "it acknowledges informs")
	found, _ = examine(t, append(flags, "--snmp.trap-user", "ops", "--snmp.inform")...)
	says(t, found, "sink", doctor.Fails, "unknown username", "createUser ops SHA-256 PASSPHRASE AES PASSPHRASE")
}
