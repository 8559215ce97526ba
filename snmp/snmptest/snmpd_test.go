// SPDX-License-Identifier: Apache-2.0

package snmptest_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	system  = smi.OID{1, 3, 6, 1, 2, 1, 1}
	sysName = system.Append(5, 0)
)

func TestSnmpdAnswersAndStartsAgain(t *testing.T) {
	for name, config := range map[string]snmptest.Config{
		"unix": {Lines: []string{"sysName a name"}},
		"tcp":  {Lines: []string{"sysName a name"}, TCP: true},
	} {
		t.Run(name, func(t *testing.T) {
			snmpd := snmptest.Start(t, config)
			for range 2 {
				got := snmpd.Get(t, sysName, system.Append(99, 0))
				if got[0].Value != smi.OctetString("a name") || got[1].Value != smi.NoSuchObject() {
					t.Fatal(got)
				}
				if next := snmpd.GetNext(t, sysName[:8]); next[0].Name.Compare(sysName) != 0 {
					t.Fatal(next)
				}
				snmpd.Stop()
				if snmpd.Pid() != 0 {
					t.Fatal("still there")
				}
				snmpd.Start(t)
				snmpd.Kill()
				snmpd.Start(t)
			}
		})
	}
}

func TestEveryWalkGivesTheSame(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	orTable := system.Append(9, 1, 2) // sysORID, which does not change
	walked := snmpd.Walk(t, orTable)
	bulk := snmpd.BulkWalk(t, 7, orTable)
	if len(walked) < 3 || len(walked) != len(bulk) {
		t.Fatalf("%d by GetNext, %d by GetBulk", len(walked), len(bulk))
	}
	for i := range walked {
		if walked[i].String() != bulk[i].String() {
			t.Errorf("variable %d: got %v by walk and %v by bulk walk; want the same", i, walked[i], bulk[i])
		}
	}
	if got := snmpd.BulkGet(t, 1, 2, sysName[:8], orTable); len(got) != 3 {
		t.Errorf("got %v; want three variables", got)
	}
}

func TestSetIsRefusedToThePublic(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	if err := snmpd.Set(t.Context(), sysName, 1); err == nil {
		t.Fatal("not refused")
	}
}

var operator = snmptest.User{Name: "operator", Passphrase: "long-enough"}

func TestAUserIsAnsweredOverV3AndAStrangerIsNot(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{Lines: append(operator.Lines(), "sysName a name")})
	noc := snmptest.Client{Addr: snmpd.Addr, User: operator}
	if got := noc.Get(t, sysName); got[0].Value != smi.OctetString("a name") {
		t.Fatal(got)
	}
	noc.User.Passphrase = "something else"
	if err := noc.Set(t.Context(), sysName, 1); err == nil || !strings.Contains(err.Error(), "uthentication") {
		t.Fatal(err)
	}
}

func TestADaemonThatIsPausedDoesNotAnswerUntilItIsResumed(t *testing.T) {
	snmpd := snmptest.Start(t, snmptest.Config{})
	snmpd.Pause(t)
	if out, err := snmpd.Run(t.Context(), "snmpget", []string{"-t", "0.2", "-r", "0"}, sysName.String()); err == nil {
		t.Fatal(out)
	}
	snmpd.Resume(t)
	snmpd.Get(t, sysName)
}
