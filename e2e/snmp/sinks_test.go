// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
)

// A sink is one of the receivers of the example's snmpd.conf.
type sink struct {
	*kit.Process
	addr, dir string
}

// The last two receivers of the example are for v2c, and commented out there.
const (
	oldInforms = "nms3.example.com:162"
	oldTraps   = "nms4.example.com:162"
)

// receive runs snmptrapd at an address with a configuration. dir holds what it
// remembers of its peers.
func receive(t *testing.T, addr, dir, conf string) sink {
	t.Helper()
	s := sink{addr: addr, dir: dir}
	files := kit.Write(t, "snmptrapd.conf", conf)
	if known := filepath.Join(dir, "persistent", "snmptrapd.conf"); exists(known) {
		files += "," + known
	}
	s.Process = kit.Start(t, kit.Need(t, "env", "coreutils"), "MIBS=", "SNMP_PERSISTENT_DIR="+filepath.Join(dir, "persistent"),
		kit.Need(t, "snmptrapd", "snmptrapd"), "-f", "-Lo", "-C", "-c", files, "-On", "-F", `%P|%v\n`, "udp:"+addr)
	kit.Until(t, "snmptrapd is there", func() error {
		if !strings.Contains(s.Out.String(), "NET-SNMP version") {
			return fmt.Errorf("got %q", s.Out.String())
		}
		return nil
	})
	return s
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// received returns the number of notifications of a kind, each in the form of pdu.
func (s sink) received(pdu, notification string) (n int) {
	of := regexp.MustCompile(`(?m)^` + pdu + `.*\|.*\.1\.3\.6\.1\.6\.3\.1\.1\.4\.1\.0 = OID: \.` + regexp.QuoteMeta(notification) + `(\t|$)`)
	return len(of.FindAllString(s.Out.String(), -1))
}

// engineID asks the snmpd for what a receiver of its traps must know.
func (g guarded) engineID(t *testing.T) string {
	t.Helper()
	const snmpEngineID = ".1.3.6.1.6.3.10.2.1.1.0"
	r := g.noc(t, noModules(), "snmpget", []string{"-Oqvx"}, snmpEngineID)
	id := strings.NewReplacer(`"`, "", " ", "", "\n", "").Replace(r.Out)
	if len(id) < 10 || r.Code != 0 {
		t.Fatalf("the engine id of snmpd is %+v", r)
	}
	return "0x" + id
}

// The receivers are named as in the example, and started as it says: that of
// informs knows the user, that of traps the engine as well.
func TestTheExampleSnmpdConfSendsEncryptedInformsAndTraps(t *testing.T) {
	t.Parallel()
	kit.Need(t, "snmptrapd", "snmptrapd")
	const known = "createUser trapper SHA-256 CHANGE-THE-AUTH-PASSPHRASE AES CHANGE-THE-PRIV-PASSPHRASE\nauthUser log trapper priv\n"
	const community = "authCommunity log CHANGE-THE-COMMUNITY\n"
	informed := receive(t, porttest.Addr(t), t.TempDir(), known)
	oldInformed := receive(t, porttest.Addr(t), t.TempDir(), community)
	oldTrapped := receive(t, porttest.Addr(t), t.TempDir(), community)
	trapAddr := porttest.Addr(t)
	// On a busy machine an acknowledgement takes longer than one second, and the notification
	// would be sent again.
	snmpd := hardened(t, "#trapsess", "trapsess", "-t 1 -r 1", "-t 20 -r 1", informs, informed.addr, traps, trapAddr, oldInforms, oldInformed.addr, oldTraps, oldTrapped.addr)
	trapped := receive(t, trapAddr, t.TempDir(),
		"createUser -e "+snmpd.engineID(t)+" noc SHA-256 authentication AES encryption\nauthUser log noc priv\n")

	url := kit.StartNATS(t)
	kit.Serve(t, url, "--agentx", "unix:"+snmpd.socket, "--mib-dir", "", "--alarms", kit.Write(t, "alarms.yaml", kit.Impatient)).Registered(t)
	kit.RunEngine(t, url, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	notifies := func(notification string) {
		t.Helper()
		for _, c := range []struct {
			sink
			pdu string
		}{
			{informed, "INFORM, SNMP v3, user trapper"},
			{trapped, "TRAP2, SNMP v3, user noc"},
			{oldInformed, "INFORM, SNMP v2c, community CHANGE-THE-COMMUNITY"},
			{oldTrapped, "TRAP2, SNMP v2c, community CHANGE-THE-COMMUNITY"},
		} {
			kit.Until(t, c.pdu+" comes", func() error {
				if c.received(c.pdu, notification) == 0 {
					return fmt.Errorf("there is only %q", c.Out.String())
				}
				return nil
			})
			if n := c.received("", notification); n != 1 { // not sent again
				t.Errorf("%s: got %d notifications; want 1", c.pdu, n)
			}
			if !strings.Contains(c.Out.String(), `"awaiting answer"`) {
				t.Errorf("%s does not name the place: %s", c.pdu, c.Out.String())
			}
		}
		if said := snmpd.Err.String(); strings.Contains(said, "send_trap") {
			t.Errorf("got messages of snmpd about a failed notification; want none:\n%s", said)
		}
	}
	notifies(kit.TokenStuck)

	// A receiver that was away, and comes back as the engine that it was, takes
	// informs again.
	informed.Signal(t, syscall.SIGTERM)
	informed.Wait(t)
	informed = receive(t, informed.addr, informed.dir, known)
	nc := kit.Connect(t, url)
	for range 40 {
		kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	notifies(kit.TokenMoving)
}

// What snmpd logs without an acknowledgement, which it does not log above.
func TestTheExampleSnmpdConfContinuesWithoutAcknowledgements(t *testing.T) {
	t.Parallel()
	snmpd := hardened(t)
	snmpd.Says(t, "send_trap: Timeout")
	if r := snmpd.noc(t, noModules(), "snmpget", nil, ".1.3.6.1.2.1.1.5.0"); r.Code != 0 {
		t.Errorf("it does not answer: %+v", r)
	}
	if _, err := os.Stat(snmpd.socket); err != nil {
		t.Error(err)
	}
}
